-- explain_spec: k:cache_info().last, what became of the last call and why.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"

local x = nd.array({{1, 2, 3}})

local function last(k, ...)
  k:specialize(...)
  return k:cache_info().last
end

local function kept(text)
  return "miss: " .. text .. "; kept in memory"
end

describe("the first call, a hit, a call without cache", function()
  it("are told apart", function()
    local k = nki.jit(function(input)
      return input
    end)
    assert.is_nil(k:cache_info().last)
    assert.equal(kept "first call", last(k, x))
    assert.equal("hit in memory", last(k, x))
    k:clear_cache()
    assert.is_nil(k:cache_info().last)
    assert.equal(kept "first call", last(k, x))
    assert.equal(0, k:cache_info().disk_hits)
  end)

  it("enable_cache = false traces each time and keeps nothing", function()
    local runs = 0
    local k = nki.jit(function(input)
      runs = runs + 1
      return input
    end, {enable_cache = false})
    for i = 1, 3 do
      assert.equal("traced: enable_cache is false, nothing is kept", last(k, x))
      assert.equal(i, runs)
    end
    local info = k:cache_info()
    assert.same({0, 0, 0, 0}, {info.hits, info.misses, info.entries, info.disk_hits})
  end)

  it("a kernel that changes what it captures is not kept", function()
    local n = 0
    local k = nki.jit(function(input)
      n = n + 1
      return input
    end)
    assert.equal("miss: first call; not kept: the run changed captured state: n", last(k, x))
    assert.equal("miss: first call; not kept: the run changed captured state: n", last(k, x))
  end)

  it("a failed trace leaves its miss", function()
    local k = nki.jit(function(input)
      error("no", 0)
      return input
    end)
    assert.is_false((pcall(k.specialize, k, x)))
    assert.equal("miss: first call", k:cache_info().last)
  end)

  it("a specialization inside another keeps its story to itself", function()
    local inner = nki.jit(function(input)
      return input
    end)
    local outer = nki.jit(function(input)
      inner:specialize(nki.decl({2, 2}, nl.float32))
      return input
    end)
    assert.equal(kept "first call", last(outer, x))
    assert.equal(kept "first call", inner:cache_info().last)
  end)
end)

describe("the difference", function()
  it("of arguments, grid, options and target", function()
    local k = nki.jit(function(input, c, d) -- luacheck: ignore c d
      return input
    end)
    last(k, x, 1)
    assert.equal(kept "argument 'input' is float32[2,2] (was float32[1,3])", last(k, nd.zeros({2, 2}, nl.float32), 1))
    assert.equal(kept "argument 'c' is 1.0 (was 1)", last(k, x, 1.0))
    assert.equal(kept "argument 'd' is nl.exp (was nil)", last(k, x, 1.0, nl.exp))
    assert.equal(kept "argument 'd' is {1, \"two\"} (was nl.exp)", last(k, x, 1.0, nki.tuple{1, "two"}))
    assert.equal(kept "grid is 2 (was none)", last(k[2], x, 1))
    assert.equal(kept "option 'level' is 3 (was not given)", last(k:with_opts{level = 3}, x, 1))
  end)

  it("is that to the nearest, the newest of equals", function()
    local k = nki.jit(function(input, c) -- luacheck: ignore c
      return input
    end)
    last(k, x, 1)
    last(k, x, 2)
    assert.equal(kept "argument 'c' is 3 (was 2)", last(k, x, 3))
    assert.equal(kept "grid is 2 (was none)", last(k[2], x, 1))
  end)
end)

describe("captured state", function()
  it("is named, with the old and the new value when they are short", function()
    local v, w = 1, 2
    local k = nki.jit(function(input)
      local _ = v == w
      return input
    end)
    last(k, x)
    for _, pair in ipairs{{2, "2 (was 1)"}, {2.0, "2.0 (was 2)"}, {"two\n", "\"two\\x0a\" (was 2.0)"},
                          {false, "false (was \"two\\x0a\")"}, {nl.exp, "nl.exp (was false)"}} do
      v = pair[1]
      assert.equal(kept("captured 'v' is " .. pair[2]), last(k, x))
    end
    w = 7
    assert.equal(kept "captured 'w' is 7 (was 2)", last(k, x))
    v = {1}
    assert.equal(kept "captured 'v' differs", last(k, x))
    v = {2}
    assert.equal(kept "captured 'v' differs", last(k, x))
  end)

  it("behind a function that comes first is its own", function()
    local inside, after = 1, 1
    local function f()
      return inside
    end
    local k = nki.jit(function(input)
      local _ = f() + after
      return input
    end)
    last(k, x)
    after = 2
    assert.equal(kept "captured 'after' is 2 (was 1)", last(k, x))
    inside = 2
    assert.equal(kept "captured 'inside' is 2 (was 1)", last(k, x))
  end)

  it("behind a function in a table is the table's", function()
    local inside = 1
    local t = {
      a = function()
        return inside
      end,
      z = 1,
    }
    local k = nki.jit(function(input)
      local _ = t.a() + t.z
      return input
    end)
    last(k, x)
    t.z = 2
    assert.equal(kept "captured 't' differs", last(k, x))
    inside = 2
    assert.equal(kept "captured 'inside' is 2 (was 1)", last(k, x))
  end)

  it("may be a global", function()
    local env = {some_global = 4}
    local k = nki.jit(load([[
      return function(input)
        local _ = some_global
        return input
      end]], "=k", "t", env)())
    last(k, x)
    env.some_global = 5
    assert.equal(kept "captured 'some_global' is 5 (was 4)", last(k, x))
    env.some_global = nil
    assert.equal(kept "other global variables are set", last(k, x))
  end)

  it("may be the code of a function", function()
    local codes = {"return input", "local _ = 1; return input"}
    for i, code in ipairs(codes) do
      codes[i] = load("return function(input) " .. code .. " end", "=k", "t", {})()
    end
    local f = codes[1]
    local k = nki.jit(function(input, g) -- luacheck: ignore g
      return f(input)
    end)
    last(k, x)
    f = codes[2]
    assert.equal(kept "captured 'f' differs", last(k, x))
  end)
end)
