-- section_3_spec: FrameworkKernel and dump_config, the ordered pipeline.
local nki, nl = require "nki", require "nki.language"

local d = nki.decl({2, 2}, "float32")

local function update(in1, in2, out)
  nl.store(out, nl.load(in1) + nl.load(in2))
  return out
end

describe("section 3", function()
  it("the HLO instruction returns the output although the kernel writes by reference", function()
    local hlo = nki.jit(update, {func_name = "example_kernel"}):specialize(d, d, d):hlo()
    assert.truthy(hlo:find("= f32[2,2]{1,0} custom-call(", 1, true))
    assert.truthy(hlo:find('custom_call_target="AwsNeuronCustomNativeKernel"', 1, true))
    assert.truthy(hlo:find("output_to_operand_aliasing={{}: (2, {})}", 1, true))
  end)

  it("op_type and op_name are those that the profiler shows", function()
    local hlo = nki.jit(update):specialize(d, d, d):hlo()
    local name = "xla___op_NkiKernelCallImpl"
    assert.truthy(hlo:find(('metadata={op_type="%s" op_name="%s"'):format(name, name), 1, true), hlo)
  end)

  it("a legacy kernel's written parameter is an output and need not be returned", function()
    local k = nki.LegacyFrameworkKernel(function(in1, in2, out)
      nl.store(out, nl.load(in1) + nl.load(in2))
    end)
    local _, inputs, outputs = k:dump_config(d, d, d)
    assert.same({"in1", "in2"}, inputs)
    assert.same({"out"}, outputs)
  end)

  it("enable_cache is true unless it is told otherwise, and the cache is the instance's", function()
    local k, other = nki.jit(update), nki.jit(update)
    k:dump_config(d, d, d)
    assert.equal(1, #k.__neuron_kernel_interface_kernel_cache__)
    assert.equal(0, #other.__neuron_kernel_interface_kernel_cache__)
    local none = nki.jit(update, {enable_cache = false})
    none:dump_config(d, d, d)
    assert.equal(0, #none.__neuron_kernel_interface_kernel_cache__)
  end)
end)

describe("section 3.1: dump_config", function()
  it("gives backend_config, input names and output names", function()
    local config, inputs, outputs, more = nki.jit(update):dump_config(d, d, d)
    assert.equal("string", type(config))
    assert.same({"in1", "in2", "out"}, inputs)
    assert.same({"out"}, outputs)
    assert.is_nil(more)
  end)

  it("binds, then hands on to dump_config_with_boundargs", function()
    local k = nki.jit(update)
    local config = k:dump_config(d, {out = d, in2 = d})
    assert.equal(config, (k:dump_config_with_boundargs(k:bind_arguments(d, d, d))))
    assert.equal(1, k:cache_info().entries)
  end)

  it("always makes a new one without the cache", function()
    local runs = 0
    local k = nki.jit(function(a)
      runs = runs + 1
      return a
    end, {enable_cache = false})
    k:dump_config(d)
    k:dump_config(d)
    assert.equal(2, runs)
  end)
end)

describe("section 3.2: dump_config_with_boundargs", function()
  local order = {"_map_args", "_generate_hash_key", "specialize_and_call", "translate_return_types",
    "generate_operand_output_aliases", "encode_backend_config", "assemble_result"}

  local function logged(base)
    local log, c = {}, nki.class("Logged", base)
    local depth = 0
    for _, name in ipairs(order) do
      c[name] = function(self, ...)
        if depth == 0 then
          log[#log + 1] = name
        end
        depth = depth + 1
        local results = table.pack(base[name](self, ...))
        depth = depth - 1
        return table.unpack(results, 1, results.n)
      end
    end
    return c(update), log
  end

  it("runs its steps in the order of the page", function()
    local k, log = logged(nki.UnifiedKernel)
    k:dump_config(d, d, d)
    assert.same(order, log)
  end)

  it("hands assemble_result what the page lists, in its order", function()
    local seen
    local Mine = nki.class("Mine", nki.UnifiedKernel)
    function Mine:assemble_result(...)
      seen = table.pack(...)
      return nki.UnifiedKernel.assemble_result(self, ...)
    end
    local k = Mine(function(a, by)
      nl.store(a, nl.load(a) * by)
      return {a}
    end, {func_name = "k"})
    local record = k:specialize(d, 4)
    assert.equal(10, seen.n)
    assert.equal(record.backend_config, seen[1])
    assert.same({{"a"}, {"a"}, {{0, 0}}}, {seen[2], seen[3], seen[4]})
    assert.same({{name = "by", kind = "int", value = 4}}, seen[5])
    assert.same({1, "a", "float32"}, {#seen[6], seen[6][1].name, seen[6][1].dtype})
    assert.equal(d.shape, seen[6][1].shape)
    assert.is_false(seen[7])
    assert.equal(record.cache_key, seen[8])
    assert.equal("trace of k (1 operands, 1 outputs)", tostring(seen[9]))
    assert.is_true(seen[10])
  end)

  it("a hit makes the key and nothing else, and gives the whole result again", function()
    local k, log = logged(nki.UnifiedKernel)
    local first = select(4, k:dump_config_with_boundargs(k:bind_arguments(d, d, d)))
    for i = #log, 1, -1 do
      log[i] = nil
    end
    assert.equal(first, select(4, k:dump_config_with_boundargs(k:bind_arguments(d, d, d))))
    assert.same({"_map_args", "_generate_hash_key"}, log)
    assert.equal(first, k.__neuron_kernel_interface_kernel_cache__[1].result)
    assert.equal(k:_arg_hash_key(d, d, d), k.__neuron_kernel_interface_kernel_cache__[1].key)
  end)

  it("a class in Lua and plain nki.jit give the same bytes", function()
    local k = logged(nki.UnifiedKernel)
    assert.equal(nki.jit(update):dump_config(d, d, d), (k:dump_config(d, d, d)))
  end)
end)
