-- Arrays and artifacts hold memory that Lua's collector does not count: a few bytes of userdata may hold megabytes.
-- Those nobody can reach must go all the same, in both modes of the collector, long before Lua's own heap has grown.
local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"

-- The most values of make(1), make(2), ... that lived at one time.
local function most_alive(mode, count, make)
  local before = collectgarbage(mode)
  local alive, most, kept = setmetatable({}, {__mode = "k"}), 0, {}
  for i = 1, count do
    kept[i % 4] = make(i) -- lives on for a while, so that it grows old in the generational mode
    alive[kept[i % 4]] = true
    local n = 0
    for _ in pairs(alive) do n = n + 1 end
    most = math.max(most, n)
  end
  collectgarbage(before)
  return most
end

describe("what nobody can reach", function()
  for _, mode in ipairs{"incremental", "generational"} do
    it(("of arrays is gone before many pile up (%s)"):format(mode), function()
      local most = most_alive(mode, 400, function() return nd.zeros({256, 1024}, nl.float32) end)
      assert.is_true(most <= 32, most .. " arrays of 1 MiB at one time")
    end)

    it(("of artifacts is gone before many pile up (%s)"):format(mode), function()
      local x = nki.decl({1, 2048}, nl.float32)
      local most = most_alive(mode, 60, function(i)
        return nki.jit(function(a)
          local t = nl.load(a)
          for _ = 1, 2000 do t = t + i end
          nl.store(a, t)
          return a
        end, {enable_cache = false}):specialize(x)
      end)
      assert.is_true(most <= 30, most .. " artifacts of 2000 instructions at one time")
    end)
  end

  it("stays while the script has stopped the collector", function()
    collectgarbage "stop"
    local alive = setmetatable({}, {__mode = "k"})
    for _ = 1, 40 do alive[nd.zeros({256, 1024}, nl.float32)] = true end
    local n = 0
    for _ in pairs(alive) do n = n + 1 end
    collectgarbage "restart"
    assert.equal(40, n)
  end)
end)
