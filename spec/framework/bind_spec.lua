-- bind_spec: arguments of a kernel: by position, by name, operands and constants.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"

local function filled(rows, cols, value, dtype)
  local t = {}
  for i = 1, rows do
    t[i] = {}
    for k = 1, cols do
      t[i][k] = value
    end
  end
  return nd.array(t, dtype)
end

local function refused(id, text, f, ...)
  local ok, e = pcall(f, ...)
  assert.is_false(ok)
  assert.equal("err_" .. id, type(e) == "table" and e.id or e)
  assert.truthy(e.message:find(text, 1, true), e.message)
end

local function difference(a, b)
  local out = nl.ndarray(a.shape, nl.float32, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a) - nl.load(b))
  return out
end

describe("kernel arguments", function()
  local kernel = nki.jit(difference, {func_name = "difference"})
  local a, b = filled(2, 3, 5, nl.float32), filled(2, 3, 3, nl.bfloat16)

  it("keep signature order when given by name in another order (B40)", function()
    assert.equal(2.0, kernel{b = b, a = a}:get(0, 0))
    local art = kernel:specialize{b = b, a = a}
    assert.same({"a", "b"}, art.input_names)
    local operands = art.config.serialize_dims.operands
    assert.equal("float32", operands[1].dtype)
    assert.equal("bfloat16", operands[2].dtype)
  end)

  it("by name, by position and mixed make one entry", function()
    local k = nki.jit(difference)
    local art = k:specialize(a, b)
    assert.equal(art, k:specialize{a = a, b = b})
    assert.equal(art, k:specialize(a, {b = b}))
    assert.equal(art, k:specialize(nki.decl({2, 3}, nl.float32), nki.decl({2, 3}, nl.bfloat16)))
    assert.same({hits = 3, disk_hits = 0, misses = 1, entries = 1, impure = 0, last = "hit in memory"}, k:cache_info())
  end)

  it("operands are the tensors in signature order, constants the rest", function()
    local k = nki.jit(function(x, scale, y, name, op, none)
      assert(name == "n" and op == nl.exp and none == nil)
      nl.store(y, nl.load(x) * scale)
      return y
    end)
    local art = k:specialize{y = a, x = a, scale = 2, name = "n", op = nl.exp}
    assert.same({"x", "y"}, art.input_names)
    local kinds = {}
    for _, c in ipairs(art.constant_values) do
      kinds[#kinds + 1] = c.name .. ":" .. c.kind
    end
    assert.same({"scale:int", "name:string", "op:token", "none:nil"}, kinds)
  end)

  it("a missing one is nil, trailing nils are nothing", function()
    local k = nki.jit(function(x, eps)
      assert(eps == nil)
      return x
    end)
    assert.equal(5.0, k(a):get(1, 2))
    assert.equal(5.0, k(a, nil, nil, nil):get(1, 2))
  end)

  it("that do not fit are refused by name", function()
    refused("kernel_surplus", "too many arguments: at most 2 (a, b), got 3", kernel, a, b, a)
    refused("kernel_keyword", "no parameter 'aa' (did you mean 'a'?); its parameters are a, b", kernel, {aa = a, b = b})
    refused("kernel_twice", "'a' is given by position and by name", kernel, a, {a = a, b = b})
    refused("kernel_mixed", "both a list part and names", kernel, {a, b = b})
    refused("nki_param_not_hashable", "parameter 'b' is a table", kernel, a, {b})
    refused("nki_param_not_hashable", "parameter 'b' is a table", kernel, a, {})
    refused("nki_param_not_hashable", "parameter 'b' is", kernel, a, coroutine.create(print))
    refused("kernel_tensor_mix", "'b' is a declaration and 'a' an array", kernel, a, nki.decl({2, 3}, nl.float32))
  end)

  it("in a tuple are compared by value and read like a list", function()
    local k = nki.jit(function(x, dims)
      assert(#dims == 2 and dims[1] == 1 and dims[3] == nil)
      local sum = 0
      for _, v in ipairs(dims) do
        sum = sum + v
      end
      assert(sum == 3)
      return x
    end)
    local art = k:specialize(a, nki.tuple{1, 2})
    assert.equal(art, k:specialize(a, nki.tuple{1, 2}))
    assert.not_equal(art, k:specialize(a, nki.tuple{1, 2.0}))
    local items = {{kind = "int", value = 1}, {kind = "int", value = 2}}
    assert.same({kind = "tuple", name = "dims", value = items}, art.constant_values[1])
    refused("tuple_item", "item 2 is a function", nki.tuple, {1, print})
    refused("tuple_item", "a named field", nki.tuple, {1, n = 2})
    local round = {1}
    round[2] = round
    refused("tuple_item", "item 1 is a list more than 30 lists deep", nki.tuple, round)
    local deep = nki.tuple{0}
    for _ = 2, 30 do deep = nki.tuple{1, deep} end
    assert.equal(deep, nki.tuple(deep))
    refused("tuple_item", "item 2 is a list more than 30 lists deep", nki.tuple, {1, deep})
    refused("tuple_item", "item 1 is a list more than 30 lists deep", nki.tuple, {1, {deep[2]}})
    assert.equal(nki.tuple{1, nki.tuple{deep[2][2]}}, nki.tuple{1, {deep[2][2]}})
    assert.equal("{1, {2, x}}", tostring(nki.tuple{1, {2, "x"}}))
    assert.has_error(function()
      nki.tuple{1}[1] = 2
    end)
  end)

  it("more than sixteen are fine", function()
    local names, uses = {}, {}
    for i = 1, 40 do
      names[i], uses[i] = "p" .. i, "assert(p" .. i .. " == " .. i .. ")"
    end
    local source = ("return function(x, %s) %s return x end"):format(table.concat(names, ", "), table.concat(uses, " "))
    local k = nki.jit(load(source)())
    local values = {}
    for i = 1, 40 do
      values[i] = i
    end
    assert.equal(5.0, k(a, table.unpack(values)):get(0, 0))
  end)
end)

describe("nki.jit", function()
  local function body(x)
    return x
  end

  it("refuses functions whose parameters have no names", function()
    refused("kernel_function", "cannot take '...'", nki.jit, function(...)
      return ...
    end)
    refused("kernel_function", "not one written in C", nki.jit, print)
    local twice = load("return function(a, a) return a end")()
    refused("kernel_function", "two parameters have the same name", nki.jit, twice)
    refused("kernel_function", "stripped", nki.jit, load(string.dump(body, true)))
    refused("kernel_function", "parameter 'fn' must be a Lua function, got 3", nki.jit, 3)
    refused("kernel_function", "a Lua function, got kernel add", nki.jit, nki.jit(body, {func_name = "add"}))
    refused("kernel_function", "a Lua function, got a declaration float32[2,3]", nki.jit, nki.decl({2, 3}, "float32"))
  end)

  it("refuses options that it does not have or that are of another kind", function()
    refused("bind_unknown", "modee", nki.jit, body, {modee = "auto"})
    local modes = "no mode 'tpu'; modes are auto, simulation, jax, torchxla, legacy, benchmark, baremetal"
    refused("kernel_option", modes, nki.jit, body, {mode = "tpu"})
    refused("kernel_option", "enable_cache must be true or false", nki.jit, body, {enable_cache = 1})
    refused("kernel_option", "cache_size must be a positive integer", nki.jit, body, {cache_size = 0})
    refused("kernel_option", "opts.a must be a boolean, a number or a string", nki.jit, body, {opts = {a = {}}})
    refused("kernel_option", "a key of opts must be a name", nki.jit, body, {opts = {1}})
    refused("unknown_platform_target", "no platform target 'trn22'", nki.jit, body, {platform_target = "trn22"})
    refused("unknown_platform_target", "target 'tr\\x0an\\xff'", nki.jit, body, {platform_target = "tr\nn\xff"})
    refused("unknown_platform_target", "target '" .. ("t"):rep(40), nki.jit, body, {platform_target = ("t"):rep(9999)})
    refused("kernel_grid", "its grid is 0", nki.jit, body, {grid = 0})
    refused("func_name", "it is empty", nki.jit, body, {func_name = ""})
    refused("func_name", "NUL", nki.jit, body, {func_name = "a\0b"})
    refused("func_name", "UTF-8", nki.jit, body, {func_name = "\xff"})
    refused("func_name", "control character", nki.jit, body, {func_name = "a\nb"})
  end)

  it("takes its options first, too", function()
    local k = nki.jit{func_name = "later", grid = {2, 1}}(body)
    assert.equal("later", k.func_name)
    assert.same({2, 1}, k.grid)
    assert.same({"x"}, k.params)
    assert.equal("kernel later(x)", tostring(k))
  end)

  it("names a kernel by its file", function()
    assert.equal("bind_spec", nki.jit(body).func_name)
    assert.equal("unnamed", nki.jit(load("return function(x) return x end", "text")()).func_name)
  end)
end)
