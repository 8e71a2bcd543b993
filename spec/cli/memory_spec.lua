-- Arrays and artifacts hold memory that Lua's collector does not count: a few bytes of userdata may hold megabytes.
-- Those nobody can reach must go all the same, in both modes of the collector, long before Lua's own heap has grown.
local build = require "spec.support.build"

-- The most values of `make`, a function of i, that live at one time while `count` are made in a program of its own.
local function most_alive(mode, count, make)
  local r = build.run{"-", stdin = ([==[
    local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"
    %s
    collectgarbage "%s"
    local alive, most, kept = setmetatable({}, {__mode = "k"}), 0, {}
    for i = 1, %d do
      kept[i %% 4] = make(i) -- lives on for a while, so that it grows old in the generational mode
      alive[kept[i %% 4]] = true
      local n = 0
      for _ in pairs(alive) do n = n + 1 end
      most = math.max(most, n)
    end
    print(most)]==]):format(make, mode, count)}
  assert.equal("", r.err)
  return tonumber(r.out)
end

local arrays = "local function make() return nd.zeros({256, 1024}, nl.float32) end"
local artifacts = [[
  local x = nki.decl({1, 2048}, nl.float32)
  local function make(i)
    return nki.jit(function(a)
      local t = nl.load(a)
      for _ = 1, 2000 do t = t + i end
      nl.store(a, t)
      return a
    end, {enable_cache = false, platform_target = "trn2"}):specialize(x)
  end]]

describe("what nobody can reach", function()
  for _, mode in ipairs{"incremental", "generational"} do
    it(("of arrays is gone before many pile up (%s)"):format(mode), function()
      local most = most_alive(mode, 200, arrays)
      assert.is_true(most <= 24, most .. " arrays of 1 MiB at one time")
    end)

    it(("of artifacts is gone before many pile up (%s)"):format(mode), function()
      local most = most_alive(mode, 60, artifacts)
      assert.is_true(most <= 30, most .. " artifacts of 2000 instructions at one time")
    end)
  end

  it("stays while the script has stopped the collector", function()
    assert.equal(40, most_alive("stop", 40, arrays))
  end)
end)
