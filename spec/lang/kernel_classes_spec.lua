-- kernel_classes_spec: classes of kernels written in Lua: a step that a class overrides changes, the rest stays.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local raises, scaled = require "spec.support.raises", require "spec.support.scaled"

local function doubled(a)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a) * 2)
  return out
end

local d = nki.decl({4, 8}, "float32")
local options = {func_name = "k", platform_target = "trn2"}

-- A subclass of UnifiedKernel, or of the class given, with these methods.
local function subclass(methods, base)
  local c = nki.class("Mine", base or nki.UnifiedKernel)
  for name, f in pairs(methods) do
    c[name] = f
  end
  return c
end

local base = nki.UnifiedKernel

-- The program without the digest of constants and options, which come from the call.
local function program(ir)
  return (ir:gsub('nki%.bound = "[^"]*", ', ""))
end

describe("a class that overrides nothing", function()
  it("gives the bytes that nki.jit gives", function()
    local k = subclass({})(scaled, options)
    assert.equal(nki.jit(scaled, options):dump_config(d, 2.0), (k:dump_config(d, 2.0)))
    local x = nd.array({{1, 2}})
    assert.equal(4.0, k(x, 2.0):get(0, 1))
    assert.is_true(k:is_a(nki.UnifiedKernel))
    assert.is_false(k:is_a(nki.JAXKernel))
  end)

  it("keeps fields of its own, which a kernel of nki.jit does not", function()
    local k = subclass({})(scaled, options)
    k.note = "mine"
    assert.equal("mine", k.note)
    assert.equal("mine", k[2].note)
    raises("err_read_only", "a kernel that no class", function()
      nki.jit(doubled).note = 1
    end)
  end)

  it("may be overridden by one kernel alone", function()
    local k = subclass({})(scaled, options)
    function k:call_impl(a, by)
      return base.call_impl(self, a, by + 1)
    end
    assert.equal(3.0, k(nd.array({{1}}), 2):get(0, 0))
  end)
end)

describe("overriding", function()
  local function config(methods, ...)
    return nki.decode((subclass(methods)(scaled, options):dump_config(...))).config
  end

  it("bind_arguments binds otherwise", function()
    local c = config({bind_arguments = function(self, a)
      return base.bind_arguments(self, a, 7)
    end}, d)
    assert.equal(7, c.constant_values[1].value)
  end)

  it("_map_args changes what is traced", function()
    local c = config({_map_args = function(_, b)
      b.arguments.a = nki.decl({2, 2}, "bfloat16")
      return b
    end}, d, 1)
    assert.equal("bfloat16", c.kernel_return[1].dtype)
  end)

  it("_map_to_decltensor_or_passthrough changes one argument", function()
    local c = config({_map_to_decltensor_or_passthrough = function(_, t)
      return t == "tensor" and d or t
    end}, "tensor", 1)
    assert.same({4, 8}, c.kernel_return[1].shape)
  end)

  it("is_framework_tensor decides what a tensor is", function()
    local k = subclass{is_framework_tensor = function()
      return false
    end}(scaled, options)
    raises("err_nki_param_not_hashable", "parameter 'a' is", function()
      k(nd.array({{1}}), 2)
    end)
  end)

  it("map_framework_tensor and translate_to_neuron_dtype say shape and dtype", function()
    local c = config({
      map_framework_tensor = function()
        return {3, 5}, "half"
      end,
      translate_to_neuron_dtype = function(_, dtype)
        return dtype == "half" and "float16" or dtype
      end,
    }, d, 1)
    assert.same({name = "output_0", shape = {3, 5}, dtype = "float16"}, c.kernel_return[1])
  end)

  it("_arg_hash_key, _generate_hash_key and _return_shape_dtype_or_hashable decide what is a hit", function()
    local ways = {
      {_arg_hash_key = function()
        return "one"
      end},
      {_generate_hash_key = function()
        return "one"
      end},
      {_return_shape_dtype_or_hashable = function(self, t)
        return type(t) == "number" and 0 or base._return_shape_dtype_or_hashable(self, t)
      end},
    }
    for _, methods in ipairs(ways) do
      local k = subclass(methods)(scaled, options)
      assert.equal(k:specialize(d, 1), k:specialize(d, 2))
      assert.equal(1, k:cache_info().hits)
    end
  end)

  it("check_grid refuses a grid", function()
    local k = subclass{check_grid = function(_, grid)
      error("no grid of " .. grid[1], 0)
    end}(doubled, options)
    local ok, e = pcall(k[2], d)
    assert.is_false(ok)
    assert.equal("no grid of 2", e)
  end)

  it("specialize_and_call may trace something else", function()
    local other = nki.UnifiedKernel(doubled, options)
    local c = config({specialize_and_call = function(_, b)
      return other:specialize_and_call(other:bind_arguments(b.arguments.a))
    end}, d, 3)
    assert.equal(program(nki.jit(doubled, options):specialize(d).ir), program(c.serialize_ir_string))
  end)

  it("expand_kernel_with_ctx sets has_collectives and what the body is given", function()
    local c = config({expand_kernel_with_ctx = function(self, ctx, b)
      b.arguments.by = 5.0
      return (base.expand_kernel_with_ctx(self, ctx, b)), true
    end}, d, 3.0)
    assert.is_true(c.has_collectives)
    local ir, said = c.serialize_ir_string:gsub("nki.has_collectives = true, ", "")
    assert.equal(1, said)
    assert.equal(program(nki.jit(scaled, options):specialize(d, 5.0).ir), program(ir))
  end)

  it("call_impl runs another body, once per program", function()
    local calls = 0
    local k = subclass{call_impl = function(_, a)
      calls = calls + 1
      return doubled(a)
    end}(scaled, options)
    assert.equal(2.0, k[3](nd.array({{1}}), 9):get(0, 0))
    assert.equal(3, calls)
  end)

  it("allocate_pending_tensors and check_return replace the end of the trace", function()
    local steps = {}
    local k = subclass{
      allocate_pending_tensors = function(self, ctx)
        steps[#steps + 1] = "allocate"
        return base.allocate_pending_tensors(self, ctx)
      end,
      check_return = function()
        steps[#steps + 1] = "check"
      end,
    }(function(a)
      return nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
    end, options)
    k:specialize(d) -- an output that is never stored passes, since nobody checks
    assert.same({"allocate", "check"}, steps)
    raises("err_tensor_output_not_written_to", "output 0", function()
      nki.jit(k.func, options):specialize(d)
    end)
  end)

  it("translate_return_types names the outputs", function()
    local c = config({translate_return_types = function(self, kernel_return)
      local outputs = base.translate_return_types(self, kernel_return)
      outputs[1].name = "y"
      return outputs, true
    end}, d, 3)
    assert.same({"y"}, c.output_names)
    assert.is_true(c.result_is_sequence)
  end)

  it("generate_operand_output_aliases may leave an alias out", function()
    local function body(a)
      nl.store(a, nl.load(a) * 2)
      return a
    end
    local seen
    local k = subclass{generate_operand_output_aliases = function(self, inputs, outputs, kernel_return)
      seen = base.generate_operand_output_aliases(self, inputs, outputs, kernel_return)
      return {}
    end}(body, options)
    assert.same({}, k:specialize(d).operand_output_aliases)
    assert.same({{0, 0}}, seen)
  end)

  it("matmul_mac_count is what the config says", function()
    local k = subclass{matmul_mac_count = function(self, kernel_return)
      return base.matmul_mac_count(self, kernel_return) + 12
    end}(doubled, options)
    assert.equal(12, k:specialize(d).matmul_mac_count)
    assert.equal(12, k:specialize(d).config.matmul_mac_count)
  end)

  it("encode_backend_config is the config", function()
    local own
    local k = subclass{encode_backend_config = function(self, has_collectives, kernel_return)
      own = base.encode_backend_config(self, has_collectives, kernel_return)
      return "e30="
    end}(doubled, options)
    assert.equal("e30=", (k:dump_config(d)))
    assert.equal("{}", k:specialize(d).config_json)
    assert.equal(nki.jit(doubled, options):dump_config(d), own)
  end)

  it("assemble_result is what a call returns and what is cached, whole", function()
    local made = 0
    local k = subclass{assemble_result = function(self, config_, inputs, outputs, ...)
      made = made + 1
      return {record = base.assemble_result(self, config_, inputs, outputs, ...), inputs = inputs, config = config_}
    end}(doubled, options)
    local first = k(d)
    assert.same({"a"}, first.inputs)
    assert.equal(first.config, first.record.backend_config)
    assert.equal(first, k(d))
    assert.equal(first, k:specialize(d))
    assert.equal(1, made)
    k:clear_cache()
    k:specialize(d)
    assert.equal(2, made)
  end)

  it("dump_config_with_boundargs is the whole pipeline", function()
    local k = subclass{dump_config_with_boundargs = function(_, b)
      return "config", b.names, {"out"}, {mine = true}
    end}(doubled, options)
    local c, inputs, outputs, more = k:dump_config(d)
    assert.same({"config", {"a"}, {"out"}}, {c, inputs, outputs})
    assert.is_nil(more)
    assert.is_true(k(d).mine)
  end)

  it("inline_function is what a nested call does", function()
    local inner = subclass{inline_function = function(self, a, by)
      return base.inline_function(self, a, by + 1)
    end}(scaled, options)
    local outer = nki.jit(function(a)
      return inner(a, 1)
    end, options)
    assert.equal(4.0, outer(nd.array({{2}})):get(0, 0))
  end)

  it("call is what the call does", function()
    local k = subclass{call = function(self, ...)
      return "called", base.call(self, ...)
    end}(doubled, options)
    local word, out = k(nd.array({{2}}))
    assert.equal("called", word)
    assert.equal(4.0, out:get(0, 0))
  end)
end)

describe("a step that returns what it may not", function()
  local function refused(name, text, value, body)
    local k = subclass({[name] = function()
      return table.unpack(value)
    end})(body or doubled, options)
    raises("err_kernel_step", text, function()
      k:specialize(d)
    end)
    assert.equal(2.0, nki.jit(doubled)(nd.array({{1}})):get(0, 0)) -- and nothing is left behind
  end

  it("is named", function()
    refused("bind_arguments", "bind_arguments needs BoundArguments, got", {1})
    refused("_map_args", "_map_args needs BoundArguments", {})
    refused("_generate_hash_key", "must return a string", {1})
    refused("specialize_and_call", "must return a trace", {1, true})
    refused("expand_kernel_with_ctx", "expand_kernel_with_ctx", {nil, true})
    refused("translate_return_types", "the list of all outputs", {{}, false})
    refused("translate_return_types", "another shape or dtype", {{{name = "a", dtype = "int8", shape = {4, 8}}}, false})
    refused("generate_operand_output_aliases", "is an alias of what it returns", {{{0, 0}}})
    refused("generate_operand_output_aliases", "indices from 0", {{{9, 0}}})
    refused("matmul_mac_count", "must return a count", {-1})
    refused("encode_backend_config", "must return base64", {"%"})
    refused("assemble_result", "must return what the base class does", {1})
  end)

  it("names an argument that is no parameter", function()
    local k = subclass{_map_args = function(_, b)
      b.arguments.z = 1
      return b
    end}(doubled, options)
    raises("err_kernel_step", "has an argument that is no parameter", function()
      k:specialize(d)
    end)
  end)

  it("and an error that it raises passes unchanged", function()
    for _, name in ipairs{"bind_arguments", "_map_args", "_generate_hash_key", "specialize_and_call", "call_impl",
      "expand_kernel_with_ctx", "check_grid", "translate_return_types", "encode_backend_config", "assemble_result"} do
      local value = {}
      local k = subclass{[name] = function()
        error(value)
      end}(doubled, options)
      local ok, e = pcall(k.specialize, k, d)
      assert.is_false(ok)
      assert.is_true(rawequal(value, e), name)
    end
  end)
end)

describe("copies of a kernel", function()
  it("have other options and share the cache", function()
    local k = nki.UnifiedKernel(doubled, options)
    local copy = k:replace{opts = {level = 2}, grid = 2}
    assert.same({2}, copy.grid)
    assert.equal(2, copy:specialize(d).config.opts.level)
    assert.equal(1, k:cache_info().entries)
    assert.same({}, k.grid)
    assert.equal(0, k:replace{cache_size = 4}:cache_info().entries)
    for _, mode in ipairs{"benchmark", "baremetal"} do
      raises("err_kernel_option", "only nki.jit takes the modes benchmark and baremetal", function()
        k:replace{mode = mode}
      end)
    end
    raises("err_kernel_option", "the class of a kernel says its mode", function()
      nki.class("Mine", nki.FrameworkKernel)(function(a) return a end):replace{mode = "legacy"}
    end)
    raises("err_bind_unknown", "no parameter 'colour'", function()
      k:replace{colour = 1}
    end)
  end)

  it("keep class and fields", function()
    local k = subclass({})(doubled, options)
    k.note = "here"
    local copy = k:copy_kernel():copy_kernel()
    assert.equal("here", copy.note)
    copy:specialize(d)
    k = nil -- luacheck: ignore
    collectgarbage()
    assert.equal(1, copy:cache_info().entries)
  end)

  it("have fields of their own from then on", function()
    local k = subclass({})(doubled, options)
    k.note = "here"
    local copy = k:replace{opts = {level = 1}}
    copy.note = "there"
    assert.equal("here", k.note)
    assert.equal("there", copy.note)
  end)

  it("have the mode of the original or one of their own", function()
    local k = nki.jit(doubled, {mode = "torchxla"})
    assert.equal("AwsNeuronNkiKernel", k:replace{opts = {level = 1}}:specialize(d).custom_call_target)
    assert.equal("AwsNeuronCustomNativeKernel", k:replace{mode = "jax"}:specialize(d).custom_call_target)
    assert.equal("AwsNeuronNkiKernel", k:specialize(d).custom_call_target)
  end)

  it("do not trace an unchanged body again", function()
    local source = [[local nl = require "nki.language"
      return function(a)
        local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
        nl.store(out, nl.load(a))
        return out
      end]]
    local k = nki.UnifiedKernel(load(source, "=kernel")(), options)
    k:specialize(d)
    assert.is_true(k.recompiled)
    local same = k:replace{func = load(source, "=kernel")()}
    same:specialize(d)
    assert.is_false(same.recompiled)
    local changed = k:replace{func = load(source:gsub("nl.load%(a%)", "nl.load(a) * 2"), "=kernel")()}
    changed:specialize(d)
    assert.is_true(changed.recompiled)
    assert.not_equal(k.previous_code, changed.previous_code)
  end)
end)

describe("nki.class", function()
  it("takes a name and a class, nki.Kernel when none is given", function()
    local c = nki.class("Mine")
    raises("err_not_implemented", "call_impl", function()
      c(doubled, options)(nd.ones({4, 8}, "float32"))
    end)
    assert.is_true(c(doubled, options):is_a(nki.Kernel))
    for _, wrong in ipairs{5, "UnifiedKernel", {}, doubled} do
      raises("err_bind_kind", "nki.class: parameter '", function()
        nki.class("Mine", wrong)
      end)
    end
  end)
end)
