-- What the binaries show the world.
local build = require "spec.support.build"

local function exported(path)
  local result = build.shell("nm -D --defined-only " .. build.quote(path))
  assert.equal(0, result.code, result.err)
  local names = {}
  for name in result.out:gmatch("%x+ %u ([^\n]+)") do
    names[#names + 1] = (name:gsub("@.*", ""))
  end
  return names
end

local function dynamic(path)
  local result = build.shell("readelf -d " .. build.quote(path))
  assert.equal(0, result.code, result.err)
  return result.out
end

local function strangers(names)
  local found = {}
  for _, name in ipairs(names) do
    if not name:match("^nkl_") and not name:match("^luaopen_nki") then
      found[#found + 1] = name
    end
  end
  return found
end

local function has(names, wanted)
  for _, name in ipairs(names) do
    if name == wanted then
      return true
    end
  end
  return false
end

describe("libnkilua.so", function()
  it("exports nkl_* and luaopen_nki* only", function()
    local names = exported(build.library)
    assert.is_true(has(names, "nkl_open"))
    assert.is_true(has(names, "luaopen_nki"))
    assert.same({}, strangers(names))
  end)

  it("exports every function its header declares", function()
    local names, missing = exported(build.library), {}
    for name in build.slurp("include/nkilua.h"):gmatch("NKL_API[^;(]-(nkl_[%w_]+)%s*%(") do
      if not has(names, name) then
        missing[#missing + 1] = name
      end
    end
    assert.same({}, missing)
  end)

  it("has a soname and brings Lua and LPeg along", function()
    local text = dynamic(build.library)
    assert.matches("SONAME.-%[libnkilua%.so%.0%]", text)
    assert.matches("NEEDED.-%[liblua5%.4%.so", text)
    assert.matches("NEEDED.-%[liblua5%.4%-lpeg%.so", text)
  end)
end)

describe("the Lua module nki.so", function()
  it("exports luaopen_nki* only and links no liblua", function()
    local names = exported(build.modules .. "/nki.so")
    assert.is_true(has(names, "luaopen_nki"))
    assert.is_true(has(names, "luaopen_nki_language"))
    assert.same({}, strangers(names))
    assert.is_nil(dynamic(build.modules .. "/nki.so"):match("NEEDED.-%[liblua5%.4%.so"))
  end)
end)
