-- section_6_spec: one call of a kernel in mode jax from end to end, and the walk of docs/lifecycle.md.
local nki, nl = require "nki", require "nki.language"
local build = require "spec.support.build"
local golden = require "spec.support.golden"

local d = nki.decl({2, 2}, "float32")

local function my_kernel(in1, in2, out)
  nl.store(out, nl.load(in1) + nl.load(in2))
  return out
end

describe("section 6: one call", function()
  it("argument types resolve a GenericKernel to the class of a framework, or of arrays", function()
    local k = nki.GenericKernel(my_kernel)
    assert.equal(nki.UnifiedKernel, k:resolve(d, d, d))
    local nd = require "nki.ndarray"
    local x = nd.ones({2, 2}, "float32")
    assert.equal(nki.SimulateKernel, k:resolve(x, x, x))
    assert.equal(nki.JAXKernel, nki.GenericKernel(my_kernel, {mode = "jax"}):resolve(d, d, d))
    assert.equal(2.0, k(x, x, nd.zeros({2, 2}, "float32")):get(0, 0))
    assert.equal("AwsNeuronNkiKernel", nki.GenericKernel(my_kernel, {mode = "torchxla"})(d, d, d).custom_call_target)
    local Mine = nki.class("Mine", nki.FrameworkKernel)
    function Mine.is_framework_tensor(_, t)
      return t == "mine"
    end
    function Mine.map_framework_tensor()
      return {2, 2}, "float32"
    end
    function Mine.translate_to_neuron_dtype(_, dtype)
      return dtype
    end
    nki.register_framework(Mine)
    assert.equal(Mine, k:resolve("mine", "mine", "mine"))
    assert.same({{2, 0}}, k("mine", "mine", "mine").operand_output_aliases)
  end)

  it("a GenericKernel of a kernel keeps its class and its steps", function()
    local nd = require "nki.ndarray"
    local function by_reference(a, out)
      nl.store(out, nl.load(a) + 1)
    end
    local legacy = nki.jit(by_reference, {mode = "legacy", func_name = "by_reference"})
    local k = nki.GenericKernel(legacy)
    assert.equal(nki.LegacyFrameworkKernel, k:resolve(d, d))
    assert.equal(legacy:specialize(d, d).backend_config, k:specialize(d, d).backend_config)
    local x = nd.ones({2, 2}, "float32")
    assert.equal(2.0, k(x, nd.zeros({2, 2}, "float32")):get(1, 1))
    assert.equal(2.0, nki.GenericKernel(legacy, {mode = "simulation"})(x, nd.zeros({2, 2}, "float32")):get(1, 1))
    local timed = nki.GenericKernel(legacy, {mode = "benchmark"})
    timed(x, nd.zeros({2, 2}, "float32"))
    assert.truthy(timed.benchmark_result)
    assert.equal(nki.UnifiedKernel, nki.GenericKernel(nki.jit(my_kernel)):resolve(d, d, d))
    assert.equal("AwsNeuronNkiKernel", nki.GenericKernel(nki.jit(my_kernel, {mode = "torchxla"}))(d, d, d)
      .custom_call_target)
    assert.equal(nki.JAXKernel, nki.GenericKernel(legacy, {mode = "jax"}):resolve(d, d))
    local again = k:replace{func = function(a, out)
      nl.store(out, nl.load(a) + 2)
    end}
    assert.equal(3.0, again(x, nd.zeros({2, 2}, "float32")):get(0, 0))
    assert.equal("out", again:specialize(d, d).output_names[1])
    local own = nki.class("Own", nki.UnifiedKernel)(my_kernel)
    function own.encode_backend_config()
      return "mine"
    end
    assert.equal("mine", nki.GenericKernel(own):dump_config(d, d, d))
  end)

  it("a GenericKernel is launched, copied and asked like the kernels it chooses among", function()
    local k = nki.GenericKernel(my_kernel, {opts = {level = 1}, cache_size = 2})
    local function launched(way)
      local c = way(d, d, d).config
      return {c.grid[1] or 0, c.opts.level}
    end
    assert.same({0, 1}, launched(k))
    assert.same({3, 1}, launched(k[3]))
    assert.same({0, 2}, launched(k:with_opts{level = 2}))
    assert.same({4, 3}, launched(k:replace{grid = 4, opts = {level = 3}}))
    assert.same({0, 1}, launched(k))
    local config, inputs, outputs = k:dump_config(d, d, d)
    assert.equal(k:specialize(d, d, d).backend_config, config)
    assert.same({{"in1", "in2", "out"}, {"out"}}, {inputs, outputs})
    local info = k:cache_info()
    assert.same({2, "hit in memory"}, {info.entries, info.last})
    k:clear_cache()
    assert.equal(0, k:cache_info().entries)
    local other = k:replace{func = function(in1, in2)
      nl.store(in1, nl.load(in2))
      return in1
    end}
    assert.same({{0, 0}}, other(d, d).operand_output_aliases)
    assert.same({{2, 0}}, k(d, d, d).operand_output_aliases)
    local timed, x = nki.GenericKernel(my_kernel, {mode = "benchmark"}), require "nki.ndarray".ones({2, 2}, "float32")
    timed(x, x:copy(), x:copy())
    assert.truthy(timed.benchmark_result.nc_latency.get_latency_percentile(50) > 0)
  end)

  it("donates the third operand and names target, config and alias in the custom call", function()
    local k = nki.jit(my_kernel, {mode = "jax", func_name = "my_kernel"})
    local record = k(d, d, d)
    assert.same({{2, 0}}, record.operand_output_aliases)
    local text = record:stablehlo()
    assert.truthy(text:find("@AwsNeuronCustomNativeKernel", 1, true))
    assert.truthy(text:find(record.backend_config, 1, true))
    assert.truthy(text:find("operand_index = 2", 1, true))
  end)

  it("a later call with the same signature reuses the whole result", function()
    local k = nki.jit(my_kernel, {mode = "jax"})
    local first = k(d, d, d)
    assert.is_true(k.recompiled)
    assert.equal(first, k(d, {in2 = d, out = d}))
    assert.is_false(k.recompiled)
    assert.equal(1, k:cache_info().hits)
    assert.not_equal(first, k[2](d, d, d))
  end)

  it("the torch-xla path differs in the target alone", function()
    local jax = nki.jit(my_kernel, {mode = "jax", func_name = "k"})(d, d, d)
    local torch = nki.jit(my_kernel, {mode = "torchxla", func_name = "k"})(d, d, d)
    assert.equal(jax.backend_config, torch.backend_config)
    assert.equal("AwsNeuronCustomNativeKernel", jax.custom_call_target)
    assert.equal("AwsNeuronNkiKernel", torch.custom_call_target)
  end)
end)

describe("docs/lifecycle.md", function()
  it("shows what the program prints #docs", function()
    local page = build.slurp "docs/lifecycle.md"
    local script = page:match "```lua\n(%-%- lifecycle%.lua.-)```"
    assert.truthy(script)
    local r = build.run{"-", stdin = script, env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2"}
    assert.equal("", r.err)
    local before, after = page:match "^(.-\n```text\n).-(\n```\n.*)$"
    golden.check("docs/lifecycle.md", before .. r.out:gsub("\n$", "") .. after)
  end)
end)
