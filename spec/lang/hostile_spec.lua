-- hostile_spec: kernels whose surroundings move under them: freed operands, state that no key can hold, absurd sizes.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local raises = require "spec.support.raises"

local x = nd.ones {4, 4}

local function copied(input, plus)
  local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(input) + (plus or 0))
  return out
end

describe("an array that is freed", function()
  it("by the kernel that reads it is an error, not a read of freed memory", function()
    local a = nd.ones {4, 4}
    local k = nki.jit(function(input)
      a:free()
      return copied(input)
    end)
    raises("err_array_freed", "parameter 'input'", function() k(a) end)
  end)

  it("may be captured", function()
    local a = nd.ones {4, 4}
    local k = nki.jit(function(input)
      return copied(input, a and 1)
    end)
    k(x)
    a:free()
    assert.equal(2.0, k(x):get(0, 0))
    assert.equal(2, k:cache_info().misses)
  end)
end)

describe("an array without axes", function()
  it("can be made", function()
    assert.equal(3.5, nd.array(3.5, nl.float32):get())
  end)
end)

describe("a tensor that no machine can hold", function()
  local function huge(dtype, count, ...)
    local shape = {...}
    return nki.jit(function(input)
      local h = {}
      for i = 1, count do
        h[i] = nl.ndarray(shape, dtype, {buffer = nl.private_hbm})
        nl.store(h[i]["0:4, 0:4"], nl.load(input))
      end
      return copied(h[1]["0:4, 0:4"]), copied(h[count]["0:4, 0:4"])
    end)
  end

  it("is refused with the memory it needs", function()
    raises("err_sim_memory", "the tensors of the program need some", function()
      huge(nl.float32, 1, 1000000, 1000000)(x)
    end)
  end)

  it("is refused when the sum leaves 64 bits", function()
    raises("err_sim_memory", "more than", function()
      huge(nl.bfloat16, 40, 1 << 28, 1 << 29)(x)
    end)
  end)
end)

describe("an answer that captured state does not settle", function()
  local function counted(k, ...)
    local got = {}
    for i = 1, 3 do
      got[i] = k(x, ...):get(0, 0)
    end
    assert.equal(3, k:cache_info().impure)
    return got, k:cache_info().reason
  end

  it("comes from a coroutine", function()
    local step = coroutine.wrap(function()
      for i = 1, 3 do
        coroutine.yield(i)
      end
    end)
    assert.same({2.0, 3.0, 4.0}, (counted(nki.jit(function(input)
      return copied(input, step())
    end))))
  end)

  it("comes from an iterator over a file", function()
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write("1\n2\n3\n")
    file:close()
    local lines = io.lines(name)
    assert.same({2.0, 3.0, 4.0}, (counted(nki.jit(function(input)
      return copied(input, tonumber(lines()))
    end))))
    os.remove(name)
  end)

  it("comes from code that is compiled in the kernel", function()
    _G.hostile_count = 0
    assert.same({2.0, 3.0, 4.0}, (counted(nki.jit(function(input)
      return copied(input, load "hostile_count = hostile_count + 1 return hostile_count"())
    end))))
    _G.hostile_count = nil
  end)

  it("comes from the clock, the environment or a generator of random numbers, and is named", function()
    for _, f in ipairs {"math.random", "os.time", "os.clock", "os.date", "os.getenv", "os.tmpname"} do
      local make = load("local copied = ... return function(input) return copied(input, " .. f .. " and 1) end")
      local _, reason = counted(nki.jit(make(copied)))
      assert.equal("what it computes is not settled by captured state: " .. f, reason)
    end
  end)

  it("is no suspicion against the rest of the libraries", function()
    local k = nki.jit(function(input)
      return copied(input, math.floor(math.max(1.5, 1)) + #tostring(os and "" or print))
    end)
    k(x)
    k(x)
    assert.equal(1, k:cache_info().hits)
  end)
end)
