-- Things every file or the tree as a whole must keep to.
local tree = require "spec.support.tree"

local function grep(pattern, paths)
  local hits = {}
  for _, path in ipairs(paths) do
    for number, line in tree.lines(tree.read(path)) do
      if line:find(pattern) then
        hits[#hits + 1] = ("%s:%d: %s"):format(path, number, line)
      end
    end
  end
  return hits
end

local text_files = "%.[%a]+$"

describe("the tree", function()
  it("holds no path of somebody's machine", function()
    -- Written in two halves, so that this file does not hold one.
    local homes = {"/ho" .. "me/", "/ro" .. "ot/", "/Us" .. "ers/", "/wo" .. "rk/", "/tm" .. "p/nk/"}
    local hits = {}
    for _, home in ipairs(homes) do
      for _, hit in ipairs(grep("[%s\"'=(:`]" .. home, tree.files(text_files))) do
        hits[#hits + 1] = hit
      end
    end
    assert.same({}, hits)
  end)

  it("says in the first line of a C file its name and its room", function()
    local wrong, seen = {}, 0
    for _, path in ipairs(tree.files("%.[ch]$")) do
      local top, folder, name = path:match "^(%a+)/(%a+)/([^/]+)$"
      local room = top == "src" and "room " .. folder or top == "spec" and "spec/" .. folder
      if room then
        local head = ("/* %s -- %s: "):format(name, room)
        seen = seen + 1
        if tree.read(path):sub(1, #head) ~= head then wrong[#wrong + 1] = path .. ": " .. head end
      end
    end
    assert.same({}, wrong)
    assert.is_true(seen > 200, "the scan found only " .. seen .. " files")
  end)

  it("is licensed under Apache 2.0", function()
    local licence = tree.read("LICENSE")
    assert.matches("Apache License%s+Version 2.0, January 2004", licence)
    assert.matches("Copyright %d+ The nkilua authors", licence)
  end)

  it("has a README of at most 80 lines whose packages are those of packages.txt", function()
    local readme, wanted, named = tree.read("README.md"), {}, {}
    assert.is_true(tree.count(readme) <= 80)
    for name in tree.read("packages.txt"):gmatch("\n%l+ ([^\n]+)") do
      for choice in name:gmatch("[^|]+") do wanted[#wanted + 1] = choice end
    end
    local list = readme:match("\n## Packages\n(.*)\nNever run bare")
    for sentence in list:gmatch(":%s(.-)[;.]%s") do
      for name in sentence:gmatch("[%w+.-]+") do
        if name ~= "or" then named[#named + 1] = name end
      end
    end
    table.sort(wanted)
    table.sort(named)
    assert.same(wanted, named)
  end)

  it("has a README that names every page of docs/ and every command of ./dev and of the program", function()
    local readme, missing = tree.read("README.md"), {}
    for _, page in ipairs(tree.files("^docs/[^/]+%.md$")) do
      if not readme:find("`" .. page .. "`", 1, true) then missing[#missing + 1] = page end
    end
    local sources = {
      ["./dev"] = {tree.read("dev"), "\n#: %./dev (%l+)"},
      nkilua = {tree.read("src/cli/options.def"), "\nCOMMAND%((%l+),"},
    }
    local lists = {
      ["./dev"] = readme:match("`%./dev help` lists ([%l%s,]+)") .. " demo test setup help",
      nkilua = readme:match("\n%- The program: (.-)\n%- ") .. " version",
    }
    for program, source in pairs(sources) do
      for word in source[1]:gmatch(source[2]) do
        if not lists[program]:find("%f[%w]" .. word .. "%f[%W]") then missing[#missing + 1] = program .. " " .. word end
      end
    end
    assert.same({}, missing)
  end)

  it("has a ./dev whose help lists every command", function()
    local text, listed, taken = tree.read("dev"), {}, {}
    for word in text:gmatch("\n#: %./dev (%l+)") do listed[#listed + 1] = word end
    for word in text:match("\ncase %$command in(\n.-)\nesac"):gmatch("\n  (%l+)[ )]") do taken[#taken + 1] = word end
    table.sort(listed)
    table.sort(taken)
    assert.is_true(#taken > 10)
    assert.same(taken, listed)
  end)

  it("names one version in CMake, in the header and in the cache key", function()
    local header, parts = tree.read("include/nkilua.h"), {}
    for _, part in ipairs {"MAJOR", "MINOR", "PATCH"} do
      parts[#parts + 1] = header:match("NKL_VERSION_" .. part .. "%s+(%d+)")
    end
    local version = tree.read("CMakeLists.txt"):match("project%(nkilua VERSION ([%d.]+)")
    assert.equal(version, table.concat(parts, "."))
    assert.equal(version, tree.read("src/emit/emit.h"):match('NKILUA_BUILD_VERSION "([^"]+)"'))
  end)

  it("has C sources whose first line says what they are", function()
    local silent = {}
    for _, path in ipairs(tree.files("^src/.*%.[chd]e?f?$")) do
      local first = tree.read(path):match("^[^\n]*")
      local name = path:match("([^/]+)$")
      if not first:find("^/%* ") or not (first:find(name, 1, true) or first:find("room")) then
        silent[#silent + 1] = path .. ": " .. first
      end
    end
    assert.same({}, silent)
  end)

  it("has no tabs, no line over 120 columns and no blank line ends in its sources", function()
    local sources = tree.files("%.[chl][u]?[a]?$")
    assert.same({}, grep("\t", sources))
    assert.same({}, grep("%s$", sources))
    local wide = {}
    for _, path in ipairs(sources) do
      for number, line in tree.lines(tree.read(path)) do
        if (utf8.len(line) or #line) > 120 and not path:find("^lua/meta/") then -- generated
          wide[#wide + 1] = path .. ":" .. number
        end
      end
    end
    assert.same({}, wide)
  end)
end)
