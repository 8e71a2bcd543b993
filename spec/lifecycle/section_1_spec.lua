-- section_1_spec: the class stack of the framework-kernel lifecycle, and where the lifecycle lives in it.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local raises = require "spec.support.raises"

local function copy(a)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a))
  return out
end

describe("section 1: the class stack", function()
  it("is Kernel, TraceKernel, FrameworkKernel and what is made of them", function()
    local base = {
      TraceKernel = "Kernel", FrameworkKernel = "TraceKernel", UnifiedKernel = "FrameworkKernel",
      LegacyFrameworkKernel = "FrameworkKernel", JAXKernel = "FrameworkKernel", PyTorchXLAKernel = "FrameworkKernel",
      NumpyKernel = "TraceKernel", BaremetalKernel = "NumpyKernel", BenchmarkKernel = "NumpyKernel",
      ProfileKernel = "NumpyKernel", SimulateKernel = "NumpyKernel",
    }
    for name, super in pairs(base) do
      assert.equal(nki[super], nki[name].super, name)
      assert.equal("class " .. name, tostring(nki[name]))
    end
    assert.is_nil(nki.Kernel.super)
  end)

  it("Kernel binds arguments and no more: its call_impl raises", function()
    local k = nki.Kernel(copy)
    assert.same({a = 3}, k:bind_arguments(3).arguments)
    raises("err_not_implemented", "call_impl not implemented for base kernel", function()
      k(3)
    end)
  end)

  it("TraceKernel runs the body again to build the IR", function()
    local runs = 0
    local k = nki.TraceKernel(function(a)
      runs = runs + 1
      return copy(a)
    end)
    local b = k:bind_arguments(nki.decl({2, 2}, "float32"))
    assert.equal((k:specialize_and_call(b)).ir, (k:specialize_and_call(b)).ir)
    assert.equal(2, runs)
  end)

  it("FrameworkKernel turns the IR into a backend_config and runs nothing", function()
    local Mine, tensor = nki.class("Mine", nki.FrameworkKernel), {}
    function Mine.is_framework_tensor(_, t)
      return getmetatable(t) == tensor
    end
    function Mine.map_framework_tensor(_, t)
      return t.size, t.kind
    end
    function Mine.translate_to_neuron_dtype(_, kind)
      return kind == "half" and "float16" or kind
    end
    local k = Mine(copy, {func_name = "k"})
    local record = k(setmetatable({size = {2, 2}, kind = "half"}, tensor))
    assert.equal("float16", record.return_types[1].dtype)
    local ok = pcall(k.simulate, k, nd.array({{1}}))
    assert.is_false(ok)
  end)

  it("NumpyKernel is the side that runs on arrays", function()
    assert.equal(3.0, nki.SimulateKernel(copy)(nd.array({{3}})):get(0, 0))
    raises("err_kernel_decl_run", "has no data", function()
      nki.SimulateKernel(copy)(nki.decl({1, 1}, "float32"))
    end)
  end)

  it("JAXKernel and PyTorchXLAKernel differ in the custom-call target", function()
    local d = nki.decl({2, 2}, "float32")
    assert.equal("AwsNeuronCustomNativeKernel", nki.JAXKernel(copy)(d).custom_call_target)
    assert.equal("AwsNeuronNkiKernel", nki.PyTorchXLAKernel(copy)(d).custom_call_target)
  end)

  it("nki.jit gives a UnifiedKernel unless the mode says otherwise", function()
    local modes = {auto = "UnifiedKernel", jax = "JAXKernel", torchxla = "PyTorchXLAKernel",
      simulation = "SimulateKernel", legacy = "LegacyFrameworkKernel", benchmark = "BenchmarkKernel",
      baremetal = "BaremetalKernel"}
    for mode, name in pairs(modes) do
      assert.is_true(nki.jit(copy, {mode = mode}):is_a(nki[name]), mode)
    end
    assert.is_true(nki.jit(copy):is_a(nki.UnifiedKernel))
  end)

  it("the trace is re-execution: nothing of the body is stored but the function", function()
    local lines = {}
    local k = nki.jit(function(a)
      lines[#lines + 1] = #lines
      return copy(a)
    end, {enable_cache = false})
    k:specialize(nki.decl({2, 2}, "float32"))
    k:specialize(nki.decl({2, 2}, "float32"))
    assert.equal(2, #lines)
  end)
end)

describe("section 1: the hooks that integrators implement", function()
  it("are three, and of FrameworkKernel itself they are abstract", function()
    local Mine = nki.class("Mine", nki.FrameworkKernel)
    local hooks = {
      {"is_framework_tensor", true},
      {"map_framework_tensor", {2, 2}},
      {"translate_to_neuron_dtype", "float32"},
    }
    for _, hook in ipairs(hooks) do
      raises("err_abstract_hook", "k: FrameworkKernel." .. hook[1] ..
        " is abstract: a subclass for a framework implements it", function()
          Mine(copy, {func_name = "k"}):dump_config("tensor")
        end)
      Mine[hook[1]] = function()
        return hook[2], "f32"
      end
    end
    assert.equal("string", type((Mine(copy):dump_config("tensor"))))
  end)
end)
