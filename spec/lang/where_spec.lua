-- Locations: file, line, call chain, tail calls, iterations; never nkilua's own Lua, nor an absolute path.
local kernel = require "spec.support.kernel"
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local function here() return debug.getinfo(2, "l").currentline end

local function locs(art, op)
  local list = {}
  for line in art.ir:gmatch "[^\n]+" do
    if line:find('"nisa.' .. op .. '"', 1, true) then list[#list + 1] = line:match "loc(%b())$" end
  end
  return list
end

describe("locations", function()
  it("are the line that issued the instruction", function()
    local line
    local k = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, nl.shared_hbm)
      local t = nl.load(a)
      line = here() + 1
      nisa.memset(t, 1)
      nl.store(out, t)
      return out
    end, {platform_target = "trn2", enable_cache = false})
    local art = k:specialize(nki.decl({128, 64}, "float32"))
    assert.same({('("where_spec.lua":%d:0)'):format(line)}, locs(art, "memset"))
  end)

  it("follow helpers up to the kernel function", function()
    local lines = {}
    local function helper(t)
      lines[1] = here() + 1
      nisa.memset(t, 1)
    end
    local k = nki.jit(function(a)
      local t = nl.load(a)
      lines[2] = here() + 1
      helper(t)
      local out = nl.ndarray(a.shape, a.dtype, nl.shared_hbm)
      nl.store(out, t)
      return out
    end, {platform_target = "trn2", enable_cache = false})
    local got = locs(k:specialize(nki.decl({128, 64}, "float32")), "memset")
    assert.same({('(callsite("where_spec.lua":%d:0 at "where_spec.lua":%d:0))'):format(lines[1], lines[2])}, got)
  end)

  it("skip nkilua's own Lua and C frames such as pcall", function()
    local line
    local k = nki.jit(function(a)
      local t = nl.load(a)
      line = here() + 1
      local s = nl.softmax(t)
      pcall(nisa.memset, t, 1)
      local out = nl.ndarray(a.shape, a.dtype, nl.shared_hbm)
      nl.store(out, s)
      return out
    end, {platform_target = "trn2", enable_cache = false})
    local art = k:specialize(nki.decl({128, 64}, "float32"))
    assert.same({('("where_spec.lua":%d:0)'):format(line)}, locs(art, "activation_reduce"))
    assert.same({('("where_spec.lua":%d:0)'):format(line + 1)}, locs(art, "memset"))
  end)

  it("change with every line and every caller", function()
    local function helper(t)
      nisa.memset(t, 1)
      nisa.memset(t, 2)
    end
    local art = kernel.trace(function(t)
      helper(t)
      helper(t)
      nisa.memset(t, 3)
    end)
    local seen, n = {}, 0
    for _, loc in ipairs(locs(art, "memset")) do
      if not seen[loc] then n = n + 1 end
      seen[loc] = true
    end
    assert.equal(5, n)
  end)

  it("tell apart what stands on one line", function()
    local k = nki.jit(function(a)
      local t = nl.load(a)
      local function helper() nisa.memset(t, 1) end nisa.memset(t, 2) helper() nisa.memset(t, 3)
      local out = nl.ndarray(a.shape, a.dtype, nl.shared_hbm)
      nl.store(out, t)
      return out
    end, {platform_target = "trn2", enable_cache = false})
    local got = locs(k:specialize(nki.decl({128, 64}, "float32")), "memset")
    assert.equal(got[1], got[3])
    assert.falsy(got[1]:find("callsite(", 1, true))
    assert.truthy(got[2]:find("callsite(", 1, true))
  end)

  it("tell apart functions of several files that stand on equal lines, whoever is collected in between", function()
    local art = kernel.trace(function(t)
      for k = 1, 6 do
        local f = load("local nisa, t = ... nisa.memset(t, 1)", ("@file%d.lua"):format(k // 2))
        for _ = 1, 2 do f(nisa, t) end
        f = nil -- luacheck: ignore
        collectgarbage()
      end
    end)
    local files = {}
    for _, loc in ipairs(locs(art, "memset")) do files[#files + 1] = loc:match "(file%d).lua\":1:" end
    assert.equal("file0 file0 file1 file1 file1 file1 file2 file2 file2 file2 file3 file3", table.concat(files, " "))
  end)

  it("tell apart files whose long names differ at their end only", function()
    local long = ("folder/"):rep(20)
    local art = kernel.trace(function(t)
      for k = 1, 20 do
        load("local nisa, t = ... nisa.memset(t, 1)", ("@%sfile%02d.lua"):format(long, k))(nisa, t)
        load("local nisa, t = ... nisa.memset(t, 1)", ("@%s%sfile%02d.lua"):format(long, long, k))(nisa, t)
        collectgarbage()
      end
    end)
    for i, loc in ipairs(locs(art, "memset")) do
      assert.truthy(loc:find(("folder/file%02d.lua\":1:"):format((i + 1) // 2), 1, true), loc)
    end
  end)

  it("do not keep alive what was traced", function()
    local alive = setmetatable({}, {__mode = "k"})
    local function make()
      local function body(a)
        local function helper(t) nisa.memset(t, 1) end
        local t = nl.load(a)
        helper(t)
        nl.store(a, t)
        alive[helper] = true
        return a
      end
      alive[body] = true
      return nki.jit(body)
    end
    make():specialize(nki.decl({128, 64}, "float32"))
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(alive))
  end)

  it("mark frames lost to a tail call", function()
    local function inner(t, src) nisa.tensor_copy(t, src) end
    local function outer(t, src) return inner(t, src) end
    local e = kernel.error_of(function(t) outer(t, nl.add) end)
    assert.truthy((e.where .. tostring(e)):find("(tail call)", 1, true), e.where)
    e = kernel.error_of(function(t) inner(t, t) outer(t, nl.add) end) -- the same lines, once without
    assert.truthy((e.where .. tostring(e)):find("(tail call)", 1, true), e.where)
    e = kernel.error_of(function(t) outer(t, t) inner(t, nl.add) end)
    assert.falsy((e.where .. tostring(e)):find("(tail call)", 1, true), e.where)
  end)

  it("know one instruction entered by a call from the same by a tail call", function()
    local function again(t, times)
      nisa.memset(t, times)
      if times > 0 then return again(t, times - 1) end
    end
    local art = kernel.trace(function(t) again(t, 2) end)
    local got = locs(art, "memset")
    assert.equal(3, #got)
    assert.falsy(got[1]:find("(tail call)", 1, true), got[1])
    assert.truthy(got[2]:find("(tail call)", 1, true), got[2])
    assert.equal(got[2], got[3])
  end)

  it("stay right for more lines than are remembered, and for chains that are deeper", function()
    local lines = {"local nisa, t = ..."}
    for i = 2, 600 do lines[i] = "nisa.memset(t, 1)" end
    local body = load(table.concat(lines, "\n"), "@many.lua")
    local function deep(t, n)
      if n == 0 then nisa.memset(t, 2) else deep(t, n - 1) end
      return nil
    end
    local art = kernel.trace(function(t)
      for _ = 1, 3 do body(nisa, t) end
      for n = 1, 12 do deep(t, n) deep(t, n) end
    end)
    local got = locs(art, "memset")
    assert.equal(3 * 599 + 24, #got)
    for k = 1, 3 * 599 do
      assert.truthy(got[k]:find(('many.lua":%d:0'):format((k - 1) % 599 + 2), 1, true), got[k])
    end
    for k = 3 * 599 + 1, #got, 2 do
      local n = (k - 3 * 599 + 1) // 2
      assert.equal(got[k], got[k + 1])
      local _, depth = got[k]:gsub("where_spec.lua", "")
      assert.equal(n + 2, depth)
    end
  end)

  it("are right again after a kernel was traced inside another", function()
    local inner = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, nl.shared_hbm)
      nl.store(out, nl.load(a))
      return out
    end, {platform_target = "trn2", enable_cache = false})
    local line
    local art = kernel.trace(function(t)
      for _ = 1, 3 do
        line = here() + 1
        nisa.memset(t, 1)
        inner:specialize(nki.decl({128, 64}, "float32"))
      end
    end)
    local got = locs(art, "memset")
    assert.equal(3, #got)
    for _, loc in ipairs(got) do assert.truthy(loc:find(('where_spec.lua":%d:0 at'):format(line), 1, true), loc) end
  end)

  it("work inside coroutines of the kernel", function()
    local art = kernel.trace(function(t)
      local co = coroutine.wrap(function()
        nisa.memset(t, 1)
        coroutine.yield()
        nisa.memset(t, 2)
      end)
      co()
      co()
    end)
    local got = locs(art, "memset")
    assert.equal(2, #got)
    assert.truthy(got[1]:find("where_spec.lua", 1, true))
    assert.are_not.equal(got[1], got[2])
  end)

  it("name chunks that have no file", function()
    local art = kernel.trace(function(t)
      load([[local nisa, t = ...
        nisa.memset(t, 1)]])(nisa, t)
      load("local nisa, t = ...; nisa.memset(t, 1)", "=mine")(nisa, t)
    end)
    local got = locs(art, "memset")
    assert.truthy(got[1]:find("[string ", 1, true), got[1])
    assert.truthy(got[2]:find('"mine":1', 1, true), got[2])
    for _, loc in ipairs(got) do assert.falsy(loc:find('"/', 1, true), "absolute: " .. loc) end
  end)
end)

describe("tiles", function()
  it("of a finished run are refused by name, kernel and line", function()
    local kept, line
    kernel.trace(function(t)
      line = here() + 1
      kept = nl.exp(t)
    end)
    local e = kernel.error_of(function(t) return t + kept end)
    assert.equal("err_tile_stale", e.id)
    assert.truthy(e:find("parameter 'y'", 1, true), tostring(e))
    assert.truthy(e:find(("/where_spec.lua:%d)"):format(line), 1, true), tostring(e))
    for _, use in ipairs {
      function() return kept.shape end, function() return kept[0] end, function() kept[0] = 1 end,
        function() nisa.memset(kept, 0) end,
      function() nl.exp(kept) end, function() return kept:reshape {128, 64} end,
    } do
      assert.equal("err_tile_stale", kernel.error_of(use).id)
    end
    assert.is_false((pcall(function() return kept.shape end)))
    assert.equal("float32", kept.dtype) -- what needs no trace still answers
  end)

  it("of another program are refused, too", function()
    local first
    local k = nki.jit(function(a)
      local t = nl.load(a)
      first = first or t
      local out = nl.ndarray(a.shape, a.dtype, nl.shared_hbm)
      nl.store(out, nl.exp(first))
      return out
    end, {platform_target = "trn2", enable_cache = false})
    local ok, e = pcall(function() return k[2]:specialize(nki.decl({128, 64}, "float32")) end)
    assert.is_false(ok)
    assert.equal("err_tile_stale", e.id)
  end)

  it("of a kernel that still runs are refused in one that is traced inside it", function()
    local d = nki.decl({4, 4}, "float32")
    local ok, e = pcall(function()
      nki.jit(function(a)
        local kept = nl.ndarray({4, 4}, "float32", {name = "kept"})
        nki.jit(function(b)
          nl.store(b, kept)
          return b
        end):specialize(d)
        return a
      end, {func_name = "outer"}):specialize(d)
    end)
    assert.is_false(ok)
    assert.equal("err_tile_stale", e.id)
    assert.truthy(e:find("'kept' of kernel 'outer' (made at where_spec.lua:", 1, true), tostring(e))
  end)
end)
