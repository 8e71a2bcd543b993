-- key_spec: what makes a call another specialization, and what does not. Never a stale answer, no needless miss.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local scaled = require "spec.support.scaled"

local x = nd.array({{1, 2, 3}})

local function misses(k)
  return k:cache_info().misses
end

describe("constants", function()
  local function typed(input, c)
    local dtype = math.type(c) == "integer" and nl.int32 or math.type(c) == "float" and nl.float32
    if not dtype then
      error("not a number", 0)
    end
    local out = nl.ndarray(input.shape, dtype, {buffer = nl.shared_hbm})
    nl.store(out, nl.copy(nl.load(input), dtype))
    return out
  end

  it("1, 1.0 and true never share an entry, in either order (B44)", function()
    local k = nki.jit(typed)
    assert.equal("int32", k(x, 1).dtype)
    assert.equal("float32", k(x, 1.0).dtype)
    assert.same({false, "not a number"}, {pcall(k, x, true)})
    assert.equal("int32", k(x, 1).dtype)
    local reverse = nki.jit(typed)
    assert.same({false, "not a number"}, {pcall(reverse, x, true)})
    assert.equal("float32", reverse(x, 1.0).dtype)
    assert.equal("int32", reverse(x, 1).dtype)
  end)

  it("are told apart by bits", function()
    local k = nki.jit(function(input, c) -- luacheck: ignore c
      return input
    end)
    local values = {1, 1.0, true, 0.0, -0.0, 0 / 0, "1", false, nl.exp, nl.add, nki.tuple{1}, "", "a\0b", "a"}
    for round = 1, 2 do
      for i = 1, #values do
        k:specialize(x, values[i])
      end
      assert.equal(#values, misses(k), "round " .. round)
    end
    assert.equal(#values, k:cache_info().hits)
  end)

  it("may be functions: their code and what they capture counts", function()
    local k = nki.jit(function(input, f)
      return scaled(input, f())
    end)
    local n = 2
    local function f()
      return n
    end
    assert.equal(2.0, k(x, f):get(0, 0))
    n = 3
    assert.equal(3.0, k(x, f):get(0, 0))
    n = 2
    assert.equal(2.0, k(x, f):get(0, 0))
    assert.same({1, 2}, {k:cache_info().hits, misses(k)})
  end)
end)

describe("tensors", function()
  it("count by shape and dtype, never by value", function()
    local k = nki.jit(function(input)
      return scaled(input, 2)
    end)
    assert.equal(2.0, k(x):get(0, 0))
    assert.equal(14.0, k(nd.array({{7, 2, 3}})):get(0, 0))
    assert.same({1, 1}, {k:cache_info().hits, misses(k)})
    k(nd.array({{1, 2}}))
    k(nd.array({{1, 2, 3}}, nl.bfloat16))
    assert.equal(3, misses(k))
  end)
end)

describe("launch and options", function()
  it("count", function()
    local k = nki.jit(function(input)
      return input
    end, {opts = {level = 1}})
    local keys = {}
    local function key(view)
      keys[#keys + 1] = view:specialize(x).cache_key
    end
    key(k)
    key(k[1])
    key(k[2])
    key(k[{2, 1}])
    key(k:with_opts{level = 2})
    key(k:with_opts{level = 1.0})
    key(k:with_opts{other = true})
    assert.equal(7, misses(k))
    local seen = {}
    for _, s in ipairs(keys) do
      assert.equal(32, #s)
      assert.is_nil(seen[s])
      seen[s] = true
    end
    key(k[2])
    assert.equal(keys[3], keys[8])
    assert.equal(1, k:cache_info().hits)
  end)

  it("a target is part of the key", function()
    local function make(target)
      return nki.jit(function(input)
        return input
      end, {platform_target = target})
    end
    assert.not_equal(make("trn1"):specialize(x).cache_key, make("trn2"):specialize(x).cache_key)
    assert.equal(make("gen3"):specialize(x).cache_key, make("trn2"):specialize(x).cache_key)
  end)
end)

-- Each case: a kernel whose answer on x is `get()`, and ways to change what it captures.
describe("captured state", function()
  local function check(k, change, values)
    for _, v in ipairs(values) do
      change(v)
      assert.equal(v * 1.0, k(x):get(0, 0))
    end
    local before = misses(k)
    change(values[1])
    assert.equal(values[1] * 1.0, k(x):get(0, 0))
    assert.equal(before, misses(k), "a state seen before is found again")
  end

  it("an upvalue (B50)", function()
    local s = 1
    local k = nki.jit(function(input)
      return scaled(input, s)
    end)
    check(k, function(v)
      s = v
    end, {1, 2, 3.0})
  end)

  it("an upvalue of a helper of a helper", function()
    local s = 1
    local function inner()
      return s
    end
    local function outer()
      return inner()
    end
    local k = nki.jit(function(input)
      return scaled(input, outer())
    end)
    check(k, function(v)
      s = v
    end, {1, 2})
  end)

  it("a helper replaced by another", function()
    local helper
    local k = nki.jit(function(input)
      return scaled(input, helper())
    end)
    local by_value = {
      function()
        return 1
      end,
      function()
        return 2
      end,
    }
    check(k, function(v)
      helper = by_value[v]
    end, {1, 2})
  end)

  it("a global, and one that does not exist at first", function()
    local k = nki.jit(function(input)
      return scaled(input, _G.spec_factor and spec_factor or 5) -- luacheck: ignore spec_factor
    end)
    check(k, function(v)
      _G.spec_factor = v ~= 5 and v or nil
    end, {5, 2, 3})
    _G.spec_factor = nil
  end)

  local function reading(source)
    local chunk = "local scaled, G = ... return function(input) return scaled(input, " .. source .. ") end"
    return nki.jit(load(chunk, "=text", "t", _G)(scaled, _G))
  end

  it("a global that is reached through _G", function()
    for _, source in ipairs {"_G.spec_factor", "G.spec_factor"} do
      check(reading(source), function(v)
        _G.spec_factor = v
      end, {1, 2, 3})
    end
    _G.spec_factor = nil
  end)

  it("a global that is reached through _G or _ENV as values", function()
    local in_callee = "(function(env) return env.spec_factor end)(%s)"
    local sources = {
      in_callee:format "_ENV",
      in_callee:format "_G",
      in_callee:format "G",
      "rawget(_ENV, 'spec_factor')",
      "_G['spec' .. '_factor']",
      "G['spec' .. '_factor']",
    }
    for _, source in ipairs(sources) do
      local k = reading(source)
      for v = 1, 3 do
        _G.spec_factor = v
        assert.equal(v * 1.0, k(x):get(0, 0))
      end
    end
    _G.spec_factor = nil
  end)

  it("a global in an environment of its own, through __index", function()
    local base = {factor = 1}
    local env = setmetatable({nl = nl, scaled = scaled}, {__index = base})
    local k = nki.jit(load("return function(input) return scaled(input, factor) end", "=text", "t", env)())
    check(k, function(v)
      base.factor = v
    end, {1, 2})
    env.factor = 7
    assert.equal(7.0, k(x):get(0, 0))
  end)

  it("a field of a table, also deep, also behind a metatable and in a cycle", function()
    local config = {a = {b = {factor = 1}}}
    config.self = config
    local proxy = setmetatable({}, {__index = config})
    local k = nki.jit(function(input)
      return scaled(input, proxy.a.b.factor)
    end)
    check(k, function(v)
      config.a.b.factor = v
    end, {1, 2})
  end)

  it("a list grows and shrinks", function()
    local list = {1, 1}
    local k = nki.jit(function(input)
      return scaled(input, #list)
    end)
    check(k, function(v)
      for i = 1, 5 do
        list[i] = i <= v and 1 or nil
      end
    end, {2, 3, 1})
  end)

  it("keys of every kind, whatever order they were put in", function()
    local function make(order)
      local t = {}
      for _, key in ipairs(order) do
        t[key] = tostring(key)
      end
      return nki.jit(function(input)
        return scaled(input, t and 1)
      end, {func_name = "same"})
    end
    local keys = {1, 2.5, "a", true, -3, "b", math.huge, 1 << 40, false, "zz"}
    local reversed = {}
    for i, key in ipairs(keys) do
      reversed[#keys + 1 - i] = key
    end
    assert.equal(make(keys):specialize(x).cache_key, make(reversed):specialize(x).cache_key)
  end)

  it("tables and functions as keys", function()
    local a, b = {}, {}
    local weights = {[a] = 1, [b] = 10, [print] = 100}
    local k = nki.jit(function(input)
      return scaled(input, weights[a] + weights[b] + weights[print])
    end)
    check(k, function(v)
      weights[b] = v - 101
    end, {111, 112})
  end)

  it("a module that the body requires", function()
    package.loaded["spec.captured.module"] = {factor = 1}
    local k = nki.jit(function(input)
      return scaled(input, require("spec.captured.module").factor)
    end)
    check(k, function(v)
      package.loaded["spec.captured.module"].factor = v
    end, {1, 2})
    package.loaded["spec.captured.module"] = nil
  end)

  it("a function put into a standard library", function()
    local k = nki.jit(function(input)
      return scaled(input, math.spec_factor()) -- luacheck: ignore
    end)
    check(k, function(v)
      rawset(math, "spec_factor", function()
        return v
      end)
    end, {1, 2})
    rawset(math, "spec_factor", nil)
  end)

  it("a host array's elements", function()
    local weights = nd.array({{1, 2}})
    local k = nki.jit(function(input)
      return scaled(input, weights:get(0, 0))
    end)
    check(k, function(v)
      weights:set(0, 0, v)
    end, {1, 2})
  end)

  it("another kernel and what it captures", function()
    local s = 1
    local inner = nki.jit(function(input, out)
      nl.store(out, nl.load(input) * s)
    end)
    local k = nki.jit(function(input)
      local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
      inner(input, out)
      return out
    end)
    check(k, function(v)
      s = v
    end, {1, 2})
  end)

  it("a file handle is told from another, and equal code in two closures is not", function()
    local function make(value)
      return nki.jit(function(input)
        return scaled(input, value and 1)
      end, {func_name = "same"})
    end
    assert.equal(make(1):specialize(x).cache_key, make(1):specialize(x).cache_key)
    assert.not_equal(make(1):specialize(x).cache_key, make(2):specialize(x).cache_key)
    assert.not_equal(make(io.stdout):specialize(x).cache_key, make(io.stderr):specialize(x).cache_key)
    assert.equal(make(io.stdout):specialize(x).cache_key, make(io.stdout):specialize(x).cache_key)
  end)

  it("standard functions and nl are captured by name: the same key in another process", function()
    local function make()
      return nki.jit(function(input)
        return scaled(input, math.min(2, select("#", nl, string.format)))
      end, {func_name = "same", platform_target = "trn2"})
    end
    assert.equal(make():specialize(x).cache_key, make():specialize(x).cache_key)
  end)

  it("too deep is an error, not a crash", function()
    local deep = {}
    for _ = 1, 5000 do
      deep = {deep}
    end
    local k = nki.jit(function(input)
      return scaled(input, deep and 1)
    end)
    local ok, e = pcall(k, x)
    assert.is_false(ok)
    assert.equal("err_captured_state_deep", e.id)
  end)
end)

describe("a kernel that changes its own captured state", function()
  it("is traced at every call, not stored, and named", function()
    local count = 0
    local k = nki.jit(function(input)
      count = count + 1
      return scaled(input, count)
    end)
    for i = 1, 3 do
      assert.equal(i * 1.0, k(x):get(0, 0))
    end
    local reason = "the run changed captured state: count"
    assert.same({hits = 0, disk_hits = 0, misses = 3, entries = 0, impure = 3, reason = reason,
                 last = "miss: first call; not kept: " .. reason}, k:cache_info())
  end)

  it("is stored once its runs change nothing more", function()
    local memo = {}
    local k = nki.jit(function(input)
      memo.factor = memo.factor or 4
      return scaled(input, memo.factor)
    end)
    for _ = 1, 3 do
      assert.equal(4.0, k(x):get(0, 0))
    end
    local info = k:cache_info()
    assert.same({1, 2, 1, 1}, {info.hits, info.misses, info.entries, info.impure})
  end)
end)

describe("the cache", function()
  local function body(input, n) -- luacheck: ignore n
    return input
  end

  it("can be off, limited and cleared", function()
    local off = nki.jit(body, {enable_cache = false})
    assert.not_equal(off:specialize(x, 1), off:specialize(x, 1))
    assert.same({0, 0}, {off:cache_info().misses, off:cache_info().entries})
    local small = nki.jit(body, {cache_size = 2})
    for n = 1, 5 do
      small:specialize(x, n)
    end
    assert.equal(2, small:cache_info().entries)
    small:specialize(x, 5)
    assert.equal(1, small:cache_info().hits)
    small:clear_cache()
    assert.same({hits = 0, disk_hits = 0, misses = 0, entries = 0, impure = 0}, small:cache_info())
    small:specialize(x, 5)
    assert.equal(1, small:cache_info().misses)
  end)

  it("belongs to the kernel: launch views share it", function()
    local k = nki.jit(body)
    local art = k[2]:specialize(x, 1)
    assert.equal(art, k[{2}]:specialize(x, 1))
    assert.equal(1, k:cache_info().hits)
  end)

  it("a hit runs no Lua", function()
    local runs = {n = 0}
    local k = nki.jit(function(input)
      rawset(debug.getregistry(), "spec_runs", (debug.getregistry().spec_runs or 0) + 1)
      return input
    end)
    k:specialize(x)
    k:specialize(x)
    assert.equal(1, debug.getregistry().spec_runs)
    assert.equal(0, runs.n)
    debug.getregistry().spec_runs = nil
  end)

  it("a failing body is not stored", function()
    local fail = true
    local k = nki.jit(function(input)
      if fail then
        error("no", 0)
      end
      return input
    end)
    assert.same({false, "no"}, {pcall(k, x)})
    assert.same({false, "no"}, {pcall(k, x)})
    assert.equal(0, k:cache_info().entries)
  end)
end)
