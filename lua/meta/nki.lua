---@meta nki
-- Written by `./dev docs`: what editors show. Nothing is run.
local nki = {}

---A kernel of the Lua function fn: call it with host arrays to run it, with declarations to specialize it, inside another kernel to inline it; kernel[4], kernel[{4, 2}] are grids. nki.jit{...} without fn is a decorator.
---nki.jit(fn, [mode], [grid], [func_name], [enable_cache], [platform_target], [opts], [cache_size])
---@return any
function nki.jit(...) end

---A function that always runs the kernel on the simulator, whatever its mode.
---nki.simulate(kernel)
---@return any
function nki.simulate(...) end

---Runs a kernel on the simulator with these arguments.
---nki.simulate_kernel(kernel, ...)
---@return any
function nki.simulate_kernel(...) end

---A helper that is called inside kernels only and may take tiles from any memory.
---nki.trace(fn)
---@return any
function nki.trace(...) end

---The declaration of a tensor without data, to specialize kernels with.
---nki.decl(shape, dtype)
---@return any
function nki.decl(...) end

---The artifact in a backend_config (base64 text), to be printed or simulated without its source.
---nki.decode(backend_config)
---@return any
function nki.decode(...) end

---A frozen list, compared by value: the form in which lists are kernel arguments.
---@type any
nki.tuple = nil

---A kernel for a device: dry_run = true shows what would be executed and written; a call without it is an error that says what is missing here.
---nki.baremetal(kernel, [{save_neff_name, save_trace_name, additional_compile_opt, artifacts_dir, dry_run}])
---@return any
function nki.baremetal(...) end

---A kernel that is run many times on the simulator; benchmark_result.nc_latency.get_latency_percentile(p) gives microseconds of this machine.
---nki.benchmark(kernel, [{warmup, iters, ...}])
---@return any
function nki.benchmark(...) end

---A kernel whose run on the simulator is measured instruction by instruction, in time of this machine.
---nki.profile(kernel, {working_directory, ...})
---@return any
function nki.profile(...) end

---A subclass of one of the classes of kernels; its methods override steps of the pipeline.
---nki.class(name, [base])
---@return any
function nki.class(...) end

---What error(...) raises anywhere below the body of a kernel to end it: the tensors are its results.
---nki.NKIFinalizeException(tensor, ...)
---@return any
function nki.NKIFinalizeException(...) end

---The class of all kernels: binds arguments. nki.class makes subclasses; docs/lifecycle.md tells what each step does.
---nki.Kernel(fn, [options])
---@return any
function nki.Kernel(...) end

---Kernels that are traced: specialize, expand_kernel_with_ctx, check_grid, inline_function ...
---nki.TraceKernel(fn, [options])
---@return any
function nki.TraceKernel(...) end

---Kernels that a framework calls; a subclass has is_framework_tensor, map_framework_tensor and translate_to_neuron_dtype.
---nki.FrameworkKernel(fn, [options])
---@return any
function nki.FrameworkKernel(...) end

---What nki.jit makes: inputs are read only unless they are returned.
---nki.UnifiedKernel(fn, [options])
---@return any
function nki.UnifiedKernel(...) end

---Mode "legacy": parameters that are written are the outputs.
---nki.LegacyFrameworkKernel(fn, [options])
---@return any
function nki.LegacyFrameworkKernel(...) end

---Mode "jax".
---nki.JAXKernel(fn, [options])
---@return any
function nki.JAXKernel(...) end

---Mode "torchxla".
---nki.PyTorchXLAKernel(fn, [options])
---@return any
function nki.PyTorchXLAKernel(...) end

---Kernels that are called with host arrays.
---nki.NumpyKernel(fn, [options])
---@return any
function nki.NumpyKernel(...) end

---Mode "simulation".
---nki.SimulateKernel(fn, [options])
---@return any
function nki.SimulateKernel(...) end

---What nki.baremetal makes.
---nki.BaremetalKernel(fn, [options])
---@return any
function nki.BaremetalKernel(...) end

---What nki.benchmark makes.
---nki.BenchmarkKernel(fn, [options])
---@return any
function nki.BenchmarkKernel(...) end

---What nki.profile makes.
---nki.ProfileKernel(fn, [options])
---@return any
function nki.ProfileKernel(...) end

---A kernel that chooses its class by its arguments and mode.
---nki.GenericKernel(fn, [options])
---@return any
function nki.GenericKernel(...) end

---The class of the node that a nested kernel leaves in a graph.
---@type any
nki.ExternalNativeNkiKernel = nil

---The class of the node that a kernel of the library leaves in a graph.
---@type any
nki.InternalMaterializedNkiKernel = nil

return nki
