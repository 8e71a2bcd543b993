-- Faults that users of such tools reported, second part: arguments, caches, aliases, texts, messages.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local testing = require "nki.testing"
local raises = require "spec.support.raises"
local small = require "spec.support.small"
local trip = require "spec.support.trip"

local equal = testing.assert_equal
local NAN = 0 / 0

local jit, output, returned, apply = small.jit, small.output, small.returned, small.apply

describe("B40: operands in signature order", function()
  local k = jit(function(a, b)
    return returned(nl.subtract(nl.load(a), nl.load(b)))
  end)
  local a, b = nd.full({2, 2}, 5), nd.full({2, 2}, 3, "bfloat16")

  it("whatever the order of the call", function()
    equal(k {b = b, a = a}, nd.full({2, 2}, 2))
    equal(k(a, {b = b}), nd.full({2, 2}, 2))
    equal(k(a, b), nd.full({2, 2}, 2))
    assert.equal(1, k:cache_info().entries)
    local artifact = k:specialize {b = b, a = a}
    assert.same({"a", "b"}, artifact.input_names)
    assert.matches("float32\\?\"?.*bfloat16", artifact.hlo and artifact:hlo():gsub("f32", "float32"):gsub("bf16",
      "bfloat16") or "")
    equal(artifact:simulate(a, b), nd.full({2, 2}, 2))
    equal(artifact:simulate {b = b, a = a}, nd.full({2, 2}, 2))
  end)

  it("and constants are none, wherever they stand", function()
    local mixed = jit(function(s, x, t, y)
      return returned(nl.load(x) * s + nl.load(y) * (t or 100))
    end)
    local x, y = nd.full({1, 2}, 2), nd.full({1, 2}, 7)
    equal(mixed(10, x, 1, y), {{27, 27}})
    equal(mixed {y = y, s = 10, x = x}, {{720, 720}})
    assert.same({"x", "y"}, mixed:specialize(10, x, 1, y).input_names)
  end)
end)

describe("B44: 1, 1.0 and true are three constants", function()
  local body = function(x, c)
    local kind = math.type(c)
    local out = output(x, kind == "integer" and nl.int32 or nl.float32)
    nl.store(out, nl.copy(nl.load(x), out.dtype))
    assert(kind, "no number")
    return out
  end
  local x = nd.full({1, 2}, 3)

  it("in every order of the calls", function()
    local orders = {{1, 1.0, true}, {1, true, 1.0}, {1.0, 1, true}, {1.0, true, 1}, {true, 1, 1.0}, {true, 1.0, 1}}
    for _, order in ipairs(orders) do
      local k = jit(body)
      for _ = 1, 2 do
        for _, c in ipairs(order) do
          local ok, got = pcall(k, x, c)
          if c == true then
            assert.is_false(ok)
            assert.matches("no number", tostring(got))
          else
            assert.equal(math.type(c) == "integer" and "int32" or "float32", got.dtype)
          end
        end
      end
      assert.equal(2, k:cache_info().entries)
    end
  end)

  it("so are 0.0, -0.0 and NaN, and strings that look like numbers", function()
    local k = jit(function(t, c)
      return returned(nl.load(t) * (tonumber(c) or -1))
    end)
    for _, c in ipairs {0.0, -0.0, NAN, "0.0", 0} do
      k(x, c)
      k(x, c)
    end
    assert.equal(5, k:cache_info().entries)
    assert.equal(5, k:cache_info().hits)
    assert.equal("\0\0\0\x80", k(x, -0.0):bytes():sub(1, 4))
    assert.equal("\0\0\0\0", k(x, 0.0):bytes():sub(1, 4))
  end)
end)

describe("B50: a captured value that changes", function()
  local x = nd.ones {1, 2}
  local function scaled(factor)
    return jit(function(t)
      return returned(nl.load(t) * factor())
    end)
  end

  it("is seen, in an upvalue", function()
    local s = 1
    local k = jit(function(t) return returned(nl.load(t) * s) end)
    equal(k(x), {{1, 1}})
    s = 2
    equal(k(x), {{2, 2}})
    s = 1
    equal(k(x), {{1, 1}})
    assert.equal(2, k:cache_info().entries)
  end)

  it("is seen, in a function's upvalue, a table, a global and a global's table", function()
    local s, t = 1, {deep = {s = 1}}
    _G.users_spec_s, _G.users_spec_t = 1, {s = 1}
    local kernels = {
      {scaled(function() return s end), function(v) s = v end},
      {scaled(function() return t.deep.s end), function(v) t.deep.s = v end},
      {scaled(function() return users_spec_s end), function(v) users_spec_s = v end}, -- luacheck: ignore
      {scaled(function() return users_spec_t.s end), function(v) users_spec_t.s = v end}, -- luacheck: ignore
    }
    for i, pair in ipairs(kernels) do
      local k, set = pair[1], pair[2]
      for _, v in ipairs {1, 2, 3, 2} do
        set(v)
        equal(k(x), nd.full({1, 2}, v))
      end
      assert.equal(3, k:cache_info().entries, i)
    end
    _G.users_spec_s, _G.users_spec_t = nil, nil
  end)

  it("is seen when another function takes its place", function()
    local f = function() return 2 end
    local k = jit(function(t) return returned(nl.load(t) * f()) end)
    equal(k(x), {{2, 2}})
    f = function() return 3 end
    equal(k(x), {{3, 3}})
  end)

  it("by the kernel itself makes it run every time", function()
    local calls = 0
    local k = jit(function(t)
      calls = calls + 1
      return returned(nl.load(t) * calls)
    end)
    for n = 1, 3 do
      equal(k(x), nd.full({1, 2}, n))
    end
    assert.equal(0, k:cache_info().entries)
  end)
end)

describe("B56: an input that is returned", function()
  local x = nd.array {{1, 2, 3}}

  it("unchanged is an output of its own", function()
    local k = jit(function(t)
      return returned(nl.load(t) * 2), t
    end)
    local given = x:copy()
    local double, same = k(given)
    equal(double, {{2, 4, 6}})
    equal(same, {{1, 2, 3}})
    assert.is_false(rawequal(same, given))
    same:set(0, 0, 99)
    equal(given, x)
    local names = k:specialize(x).output_names
    assert.equal(2, #names)
    assert.not_equal(names[1], names[2])
  end)

  it("and written is that input", function()
    local k = jit(function(t)
      local old = nl.load(t)
      nl.store(t, old * 2)
      return returned(old), t
    end)
    local given = x:copy()
    local old, new = k(given)
    equal(old, x)
    equal(new, {{2, 4, 6}})
    assert.is_true(rawequal(new, given))
    assert.same({{0, 1}}, k:specialize(x).operand_output_aliases)
  end)

  it("is never returned twice, but a fresh tensor may be", function()
    raises("err_alias_twice", "outputs 0 and 1 are both operand 0", function() jit(function(t) return t, t end)(x) end)
    local a, b = jit(function(t)
      local out = returned(nl.load(t))
      return out, out
    end)(x)
    equal(a, x)
    equal(b, x)
    a:set(0, 0, 99)
    equal(b, x)
  end)

  it("keeps names apart", function()
    local k = jit(function(output_0)
      local a, b = output(output_0), nl.ndarray(output_0.shape, output_0.dtype,
        {buffer = nl.shared_hbm, name = "output_0"})
      nl.store(a, nl.load(output_0))
      nl.store(b, nl.load(output_0))
      return a, b, output_0
    end)
    local seen = {}
    for _, name in ipairs(k:specialize(x).output_names) do
      assert.is_nil(seen[name], name)
      seen[name] = true
    end
  end)
end)

describe("B57: aliases without a body", function()
  it("pass each array through, in any order and number", function()
    local arrays = {nd.ones {1, 2}, nd.full({1, 2}, 2), nd.full({1, 2}, 3)}
    local bodies = {
      {function(x, y) return x, y end, {1, 2}},
      {function(x, y) return y, x end, {2, 1}},
      {function(x) return x end, {1}},
      {function(x, y, z) return z, x, y end, {3, 1, 2}},
      {function(x, y, _) return {y, x} end, {2, 1}},
    }
    for _, pair in ipairs(bodies) do
      local k, order = jit(pair[1]), pair[2]
      local out = table.pack(trip.run(k, table.unpack(arrays, 1, math.max(table.unpack(order)))))
      local aliases = k:specialize(table.unpack(arrays, 1, math.max(table.unpack(order)))).operand_output_aliases
      assert.equal(#order, out.n)
      for i, which in ipairs(order) do
        equal(out[i], nd.full({1, 2}, which))
        assert.same({which - 1, i - 1}, aliases[i])
      end
    end
  end)
end)

describe("B65: bytes that are no text", function()
  local x = nd.ones {1, 2}

  it("in a name are refused, not cut", function()
    for _, name in ipairs {"a\0b", "", "a\xff", "a\nb"} do
      local ok, e = pcall(function()
        return nki.jit(function(t) return t end, {func_name = name, platform_target = "trn1"}):specialize(x)
      end)
      assert.is_false(ok, ("%q"):format(name))
      assert.truthy(e.id == "err_func_name" or e.id == "err_kernel_option", tostring(e))
    end
  end)

  it("in a constant are carried whole, never cut", function()
    local k = jit(function(t, _) return returned(nl.load(t)) end)
    local function carried(c)
      return trip.decoded(k:specialize(x, c)).constant_values[1]
    end
    assert.same({name = "_", kind = "bytes", value = "AP/+"}, carried "\0\xff\xfe")
    assert.same({name = "_", kind = "bytes", value = "YQBi"}, carried "a\0b")
    local text = "line\nü\"\\\t\x7f"
    assert.same({name = "_", kind = "string", value = text}, carried(text))
    raises("err_opt_value", "opts.flag is the string '\\xff'", function() k:with_opts{flag = "\xff"} end)
  end)

  it("in base64 come back whole", function()
    local config = jit(function(t) return t end):specialize(x).backend_config
    assert.matches("^[%w+/]+=*$", config)
    assert.equal(0, #config % 4)
    for _, cut in ipairs {config:sub(1, -5), config .. "AAAA", config:sub(2), config .. "\n\n", "\0" .. config} do
      assert.is_false(pcall(nki.decode, cut))
    end
    assert.is_true(pcall(nki.decode, config .. "\n"))
  end)
end)

describe("B80: an access out of range", function()
  local x = nd.ones {16, 128}

  local function fails(text, access)
    local k = jit(function(o)
      for i in nl.affine_range(4) do
        access(o, i)
      end
      return o
    end)
    local e = raises("err_tensor_access_out_of_bound", text, function() k(x:copy()) end)
    assert.truthy(e.message:find("o[16,128]", 1, true), e.message)
    assert.truthy(e.where:find("in the iteration with value 2 of the loop at users_calls_spec.lua:", 1, true), e.where)
    assert.equal("users_calls_spec.lua", e.file)
    assert.equal(debug.getinfo(access, "S").linedefined, e.line)
  end

  it("names kind, tensor, range, shape, iteration and line", function()
    fails("[96, 144)", function(o, i) nl.store(o[{{}, nl.ds(i * 48, 48)}], nl.zeros({16, 48}, nl.float32)) end)
    fails("[96, 144)", function(o, i) nl.load(o[{{}, nl.ds(i * 48, 48)}]) end)
    fails("[14, 21)", function(o, i) nl.load(o[{{i * 7, i * 7 + 7}}]) end)
    fails("16", function(o, i) return o[i * 8] end)
    fails("-17", function(o, i) return o[i * -8 - 1] end)
    fails("129", function(o, i) return o:slice(1, 0, i + 127) end)
    fails("128", function(o, i) return o:select(1, i * 64) end)
  end)
end)

describe("B83: values that Lua cannot see", function()
  it("do not decide branches", function()
    for _, compare in ipairs {
      function(t) return t < 0 end, function(t) return 0 < t end, function(t) return t <= t end,
        function(t) return t > 1.5 end,
    } do
      raises("err_dynamic_control_flow_not_supported", "nl.", function()
        jit(function(x)
          compare(nl.load(x))
          return x
        end)(nd.ones {1, 2})
      end)
    end
  end)

  it("of registers neither", function()
    raises("err_dynamic_control_flow_not_supported", "not known before the kernel runs", function()
      jit(function(x)
        local r = nisa.register_alloc(3)
        if r > 2 then
          return x
        end
        return x
      end)(nd.ones {1, 2})
    end)
  end)

  it("are masks element by element with &, | and ~", function()
    local m1, m2 = nd.array({{1, 1, 0, 0}}, "uint8"), nd.array({{1, 0, 1, 0}}, "uint8")
    equal(apply(function(a, b) return a & b end, m1, m2), nd.array({{1, 0, 0, 0}}, "uint8"))
    equal(apply(function(a, b) return a | b end, m1, m2), nd.array({{1, 1, 1, 0}}, "uint8"))
    equal(apply(function(a, b) return a ~ b end, m1, m2), nd.array({{0, 1, 1, 0}}, "uint8"))
    equal(apply(nl.logical_and, m1, m2), nd.array({{1, 0, 0, 0}}, "uint8"))
    equal(apply(function(a, b) return nl.where(nl.less(a, b), 5, a) end, m1, m2), nd.array({{1, 1, 5, 0}}, "int32"))
    equal(apply(function(a, b) return a and b end, m1, m2), m2) -- Lua's `and`: the second operand, whatever the values
  end)

  it("make == an identity test, which nl.equal is not", function()
    local seen
    jit(function(x)
      local t = nl.load(x)
      seen = {t == 0, 0 == t, t == t, t == nl.load(x)} -- luacheck: ignore
      return x
    end)(nd.zeros {1, 2})
    assert.same({false, false, true, false}, seen)
  end)
end)
