-- section_4_spec: the backend_config payload.
local nki, nl = require "nki", require "nki.language"
local raises = require "spec.support.raises"

local d = nki.decl({2, 2}, "float32")
local options = {func_name = "example_kernel", platform_target = "trn2", opts = {level = 2}}

local function update(in1, in2, out)
  nl.store(out, nl.load(in1) + nl.load(in2))
  return out
end

describe("section 4.1: _map_args", function()
  it("reduces a tensor to shape and dtype and lets constants pass", function()
    local k = nki.jit(update)
    local b = k:_map_args(k:bind_arguments(require "nki.ndarray".zeros({3, 4}, "bfloat16"), 7, "x"))
    assert.equal("nki.decl", getmetatable(b.arguments.in1).__name)
    assert.equal("bfloat16", b.arguments.in1.dtype)
    assert.same({in2 = 7, out = "x"}, {in2 = b.arguments.in2, out = b.arguments.out})
    assert.equal(7, k:_map_to_decltensor_or_passthrough(7))
  end)

  it("all that is of a framework is in three hooks", function()
    local calls, Mine = {}, nki.class("Mine", nki.FrameworkKernel)
    function Mine.is_framework_tensor(_, t)
      calls.is = true
      return t == "tensor"
    end
    function Mine.map_framework_tensor(_, t)
      calls.map = t
      return {2, 2}, "F32"
    end
    function Mine.translate_to_neuron_dtype(_, dtype)
      calls.dtype = dtype
      return "float32"
    end
    local k = Mine(update, options)
    assert.equal(nki.jit(update, options):dump_config(d, d, d), (k:dump_config("tensor", "tensor", "tensor")))
    assert.same({is = true, map = "tensor", dtype = "F32"}, calls)
  end)
end)

describe("section 4.2: generate_operand_output_aliases", function()
  it("pairs the operand that an output writes into with the output", function()
    assert.same({{2, 0}}, nki.jit(update):specialize(d, d, d).operand_output_aliases)
    local swapped = nki.jit(function(a, b)
      nl.store(a, nl.load(b))
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(b))
      return b, out, a
    end)
    assert.same({{1, 0}, {0, 2}}, swapped:specialize(d, d).operand_output_aliases)
  end)

  it("an output of its own has none", function()
    assert.same({}, nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(a))
      return out
    end):specialize(d).operand_output_aliases)
  end)

  it("one operand is donated once", function()
    raises("err_alias_twice", "outputs 0 and 1 are both operand 0", function()
      nki.jit(function(a)
        nl.store(a, nl.load(a))
        return a, a
      end):specialize(d)
    end)
  end)
end)

describe("section 4.3: encode_backend_config", function()
  it("is base64 of one JSON object with the fourteen keys, in order", function()
    local a = nki.jit(update, options):specialize(d, d, d)
    assert.is_nil(a.backend_config:find("[^A-Za-z0-9+/=]"))
    local at = 0
    for _, key in ipairs{"kernel_version", "func_name", "grid", "has_collectives", "matmul_mac_count",
      "platform_target", "platform_target_is_fallback", "opts", "serialize_dims", "serialize_ir_string", "tiled",
      "constant_values", "kernel_return", "result_is_sequence"} do
      local here = a.config_json:find('"' .. key .. '":', at + 1, true)
      assert.truthy(here, key)
      at = here
    end
    local c = a.config
    assert.equal("example_kernel", c.func_name)
    assert.equal("trn2", c.platform_target)
    assert.is_false(c.platform_target_is_fallback)
    assert.is_false(c.has_collectives)
    assert.is_false(c.result_is_sequence)
    assert.same({level = 2}, c.opts)
  end)

  it("holds the grid, what the tensors are, the constants and the returns", function()
    local k = nki.jit(function(a, by, mode)
      local out = nl.ndarray(a.shape, "bfloat16", {buffer = nl.shared_hbm, name = "y"})
      nl.store(out, nl.load(a) * (mode and by))
      return out
    end, options)
    local c = k[{1, 1}]:specialize(d, 3.0, "fast").config
    local y = {name = "y", dtype = "bfloat16", shape = {2, 2}}
    assert.same({1, 1}, c.grid)
    assert.same({operands = {{name = "a", dtype = "float32", shape = {2, 2}}}, outputs = {y}}, c.serialize_dims)
    assert.same({y}, c.kernel_return)
    assert.is_true(c.tiled)
    assert.same({{name = "by", kind = "float", value = 3.0}, {name = "mode", kind = "string", value = "fast"}},
      c.constant_values)
  end)

  it("carries the whole program: the config alone runs", function()
    local nd = require "nki.ndarray"
    local a = nki.jit(update, options):specialize(d, d, d)
    assert.equal(a.ir, a.config.serialize_ir_string)
    local one = nd.ones({2, 2}, "float32")
    assert.equal(2.0, nki.decode(a.backend_config):simulate(one, one, nd.zeros({2, 2}, "float32")):get(1, 1))
  end)

  it("matmul_mac_count is the sum of K*M*N of the matmuls", function()
    local nisa = require "nki.isa"
    local k = nki.jit(function(x, w)
      local out = nl.ndarray({16, 8}, "float32", {buffer = nl.shared_hbm})
      local p = nl.ndarray({16, 8}, "float32", {buffer = nl.psum})
      nisa.nc_matmul(p, nl.load(x), nl.load(w))
      nl.store(out, nl.copy(p))
      return out
    end)
    local a = k:specialize(nki.decl({32, 16}, "float32"), nki.decl({32, 8}, "float32"))
    assert.equal(32 * 16 * 8, a.config.matmul_mac_count)
  end)

  it("several results, or a list, are a sequence", function()
    local function results(body)
      return nki.jit(body):specialize(d).config.result_is_sequence
    end
    local function one(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(a))
      return out
    end
    assert.is_false(results(one))
    assert.is_true(results(function(a)
      return {one(a)}
    end))
    assert.is_true(results(function(a)
      return one(a), one(a)
    end))
  end)

  it("kernel_version is a number of the format, and a newer one is refused", function()
    local a = nki.jit(update, options):specialize(d, d, d)
    assert.equal("integer", math.type(a.config.kernel_version))
  end)
end)
