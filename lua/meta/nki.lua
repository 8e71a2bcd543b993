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

return nki
