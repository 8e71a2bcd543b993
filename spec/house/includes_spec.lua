-- The doors between the rooms (docs/architecture.md): who may include what, and where third-party headers may stand.
local tree = require "spec.support.tree"

local sees = {
  base = {"base"},
  ir = {"ir", "base"},
  trace = {"trace", "ir", "base"},
  emit = {"emit", "ir", "base"},
  framework = {"framework", "emit", "ir", "base"},
  sim = {"sim", "ir", "base"},
  lang = {"lang", "trace", "framework", "emit", "sim", "ir", "base"},
  api = {"api", "include", "lang", "trace", "framework", "emit", "sim", "ir", "base"},
  cli = {"cli", "include"},
}

-- Header pattern -> the files that may include it; `one` = a single file of those.
local third_party = {
  {"^cjson/", "^src/base/json%.c$"},
  {"^b64/", "^src/base/base64%.c$"},
  {"^xxhash%.h$", "^src/base/hash%.c$"},
  {"^zlib%.h$", "^src/base/zip_"},
  {"dnnl", "^src/sim/", one = true},
  {"^sleef%.h$", "^src/sim/vmath"},
  {"histedit", "^src/cli/", one = true},
  {"^lua", "^src/lang/"},
  {"^lauxlib%.h$", "^src/lang/"},
  {"^lualib%.h$", "^src/lang/"},
}

local system = {}
for name in ([[assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
  stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
  dirent dlfcn fcntl langinfo malloc poll pthread sched strings termios unistd sys/ioctl sys/mman sys/resource sys/stat
  sys/time sys/types sys/wait sanitizer/asan_interface immintrin cpuid xmmintrin emmintrin]]):gmatch("%S+") do
  system[name .. ".h"] = true
end

-- Headers live flat in their room, so a name alone tells the room.
local function owners()
  local owner = {["nkilua.h"] = "include"}
  for _, path in ipairs(tree.files("^src/.*%.[hd]e?f?$")) do
    local room, name = path:match("^src/([%w_]+)/(.+)$")
    owner[name] = room
  end
  return owner
end

local function contains(list, value)
  for _, item in ipairs(list) do
    if item == value then
      return true
    end
  end
  return false
end

local function third_party_rule(header)
  for _, rule in ipairs(third_party) do
    if header:find(rule[1]) then
      return rule
    end
  end
end

-- check(files) -> list of faults; files = {path = text}, so that the rules themselves can be tried on made-up text.
local function check(files, owner)
  local faults, places = {}, {}
  local function fault(path, ...)
    faults[#faults + 1] = path .. ": " .. string.format(...)
  end
  local paths = {}
  for path in pairs(files) do
    paths[#paths + 1] = path
  end
  table.sort(paths)
  for _, path in ipairs(paths) do
    local room = path:match("^src/([%w_]+)/")
    for line in files[path]:gmatch("[^\n]+") do
      local own, header = line:match('^%s*#%s*include%s+"([^"]+)"'), line:match("^%s*#%s*include%s+<([^>]+)>")
      if own and not owner[own] then
        fault(path, 'no room has "%s"', own)
      elseif own and not contains(sees[room], owner[own]) then
        fault(path, 'room %s may not see "%s" of %s', room, own, owner[own])
      elseif header and not system[header] then
        local rule = third_party_rule(header)
        if not rule or not path:find(rule[2]) then
          fault(path, "<%s> does not belong here", header)
        elseif rule.one and (places[rule] or path) ~= path then
          fault(path, "<%s> is already included by %s", header, places[rule])
        else
          places[rule] = path
        end
      end
    end
  end
  return faults
end

describe("includes", function()
  it("go only through the doors between the rooms", function()
    local files, count = {}, 0
    for _, path in ipairs(tree.files("^src/.*%.[chd]e?f?$")) do
      files[path] = tree.read(path)
      count = count + 1
    end
    assert.is_true(count > 20)
    assert.same({}, check(files, owners()))
  end)

  it("are refused when they do not", function()
    local owner = {["text.h"] = "base", ["ir.h"] = "ir", ["sim.h"] = "sim", ["nkilua.h"] = "include"}
    local faults = check({
      ["src/base/a.c"] = '#include "ir.h"\n#include "text.h"\n#include <stdio.h>\n',
      ["src/base/json.c"] = "#include <cjson/cJSON.h>\n#include <lua.h>\n",
      ["src/cli/m.c"] = '#include "nkilua.h"\n#include "text.h"\n',
      ["src/sim/s.c"] = '# include "gone.h"\n#include <cjson/cJSON.h>\n#include <dnnl.h>\n',
      ["src/sim/t.c"] = "#include <dnnl.h>\n",
      ["src/lang/l.c"] = '#include "sim.h"\n#include <lauxlib.h>\n',
    }, owner)
    assert.same({
      'src/base/a.c: room base may not see "ir.h" of ir',
      "src/base/json.c: <lua.h> does not belong here",
      'src/cli/m.c: room cli may not see "text.h" of base',
      'src/sim/s.c: no room has "gone.h"',
      "src/sim/s.c: <cjson/cJSON.h> does not belong here",
      "src/sim/t.c: <dnnl.h> is already included by src/sim/s.c",
    }, faults)
  end)

  it("name every header once: no two rooms have one of the same name", function()
    local seen, twice = {}, {}
    for _, path in ipairs(tree.files("^src/.*%.h$")) do
      local name = path:match("([^/]+)$")
      if seen[name] then
        twice[#twice + 1] = seen[name] .. " and " .. path
      end
      seen[name] = path
    end
    assert.same({}, twice)
  end)
end)
