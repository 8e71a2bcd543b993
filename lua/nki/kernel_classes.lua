-- The class stack of nki: Kernel, TraceKernel, FrameworkKernel and what is made of them. What a class does not override
-- runs in C; the methods here are the same steps one at a time, for subclasses to call and to replace. The chunk is
-- given fail(id, message), the contents of nki and the primitives.
local fail, _, lib, nki, steps = ...
local callables = lib.half "nki.callables"
local fixed, kind_error = callables.fixed, callables.kind_error

local function is_kernel(value)
  return steps.kind(value) == "kernel"
end

-- A method of kernels with at most so many arguments; nil: any number.
local function method(name, most, f)
  return callables.method("kernel:" .. name, most, f, is_kernel, "a kernel, which nki.jit makes")
end

local function is_class(value)
  return type(value) == "table" and type(value.new) == "function"
end

-- nki.class(name, base): a class. Calling it makes a kernel; what it lacks is found in its base, nki.Kernel when none
-- is given.
local class = fixed("nki.class", 2, function(name, base)
  if type(name) ~= "string" then
    kind_error("nki.class", "name", "a string", name)
  end
  if base ~= nil and not is_class(base) then
    kind_error("nki.class", "base", "a class of kernels, such as nki.UnifiedKernel", base)
  end
  local c = {__name = name, super = base}
  return setmetatable(c, {
    __index = base,
    __call = function(self, ...)
      return self:new(...)
    end,
    __tostring = function()
      return "class " .. name
    end,
  })
end)

local is_native_tensor = method("is_framework_tensor", 1, function(_, t)
  local kind = steps.kind(t)
  return kind == "array" or kind == "decl"
end)

-- ---- Kernel: binds a signature --------------------------------------------------------------------------------------

local Kernel = class("Kernel")
function Kernel.new(c, ...) -- C(function, options) is C:new(function, options)
  if not is_class(c) then
    kind_error("Kernel:new", "self", "a class of kernels, such as nki.UnifiedKernel", c)
  end
  return fixed(tostring(c.__name), 2, function(fn, options)
    return steps.new(c, fn, options)
  end)(...)
end
Kernel.bind_arguments = steps.bind_arguments
Kernel.check_grid = steps.check_grid

Kernel.call = method("call", nil, function(self, ...)
  local b, names = self:bind_arguments(...), self.params
  local values = {}
  steps.check_bound(self, b, "call")
  for i, name in ipairs(names) do
    values[i] = b.arguments[name]
  end
  return self:call_impl(table.unpack(values, 1, #names))
end)

function Kernel.call_impl()
  fail("not_implemented", "call_impl not implemented for base kernel")
end

-- k:is_a(class): is the kernel of this class, or of one made from it?
Kernel.is_a = method("is_a", 1, function(self, c)
  if not is_class(c) then
    kind_error("kernel:is_a", "class", "a class of kernels, such as nki.UnifiedKernel", c)
  end
  local at, seen = steps.class_of(self), {}
  while at and at ~= c do
    if type(at) ~= "table" or seen[at] then
      fail("kernel_option", ("kernel:is_a: super of %s must be its base class, which never leads back to it"):format(
        tostring(steps.class_of(self))))
    end
    seen[at] = true
    at = rawget(at, "super")
  end
  return at ~= nil
end)

Kernel.copy_kernel = method("copy_kernel", 0, function(self)
  return self:replace()
end)
Kernel.replace = steps.replace

-- ---- TraceKernel: runs the body again under a trace -----------------------------------------------------------------

local TraceKernel = class("TraceKernel", Kernel)
for _, name in ipairs{"call", "call_impl", "specialize_and_call", "expand_kernel_with_ctx",
  "allocate_pending_tensors", "check_return", "inline_function", "specialize", "simulate"} do
  TraceKernel[name] = steps[name]
end

-- What of a table of options by name is for the compiler, taken out of it. A class may know more names than `opts`.
TraceKernel.pop_compile_opts = method("pop_compile_opts", 1, function(_, options)
  if type(options) ~= "table" then
    kind_error("kernel:pop_compile_opts", "options", "a table of options by name", options)
  end
  local opts = options.opts
  options.opts = nil
  return opts
end)

-- A copy with other options; the compiler's are what pop_compile_opts finds.
TraceKernel.replace = method("replace", 1, function(self, options)
  if type(options) ~= "table" then
    return steps.replace(self, options)
  end
  local rest = {}
  for name, value in pairs(options) do
    rest[name] = value
  end
  local opts = self:pop_compile_opts(rest)
  rest.opts = opts
  return steps.replace(self, rest)
end)

-- A decorator factory: what it returns binds its arguments and traces at every call.
TraceKernel.trace = method("trace", 1, function(self, func)
  if func ~= nil and type(func) ~= "function" then
    kind_error("kernel:trace", "func", "a Lua function", func)
  end
  local k = func and self:replace{func = func} or self
  return function(...)
    return k:specialize_and_call(k:bind_arguments(...))
  end
end)

local function check_trace(step, kernel_return)
  if steps.kind(kernel_return) ~= "trace" then
    kind_error("kernel:" .. step, "kernel_return", "what specialize_and_call returned", kernel_return)
  end
end

TraceKernel.matmul_mac_count = method("matmul_mac_count", 1, function(_, kernel_return)
  check_trace("matmul_mac_count", kernel_return)
  return kernel_return.matmul_mac_count
end)

-- ---- FrameworkKernel: makes the backend_config of a trace -----------------------------------------------------------

local FrameworkKernel = class("FrameworkKernel", TraceKernel)
FrameworkKernel.mode = "framework"
for _, name in ipairs{"dump_config", "dump_config_with_boundargs", "generate_operand_output_aliases",
  "encode_backend_config", "assemble_result"} do
  FrameworkKernel[name] = steps[name]
end

for _, hook in ipairs{"is_framework_tensor", "map_framework_tensor", "translate_to_neuron_dtype"} do
  FrameworkKernel[hook] = method(hook, 1, function(self)
    fail("abstract_hook", ("%s: FrameworkKernel.%s is abstract: a subclass for a framework implements it"):format(
      self.func_name, hook))
  end)
end

FrameworkKernel._map_to_decltensor_or_passthrough = method("_map_to_decltensor_or_passthrough", 1, function(self, t)
  if not self:is_framework_tensor(t) then
    return t
  end
  local shape, dtype = self:map_framework_tensor(t)
  local neuron_dtype = self:translate_to_neuron_dtype(dtype) -- whatever else the hook returns
  return nki.decl(shape, neuron_dtype)
end)

-- The same BoundArguments with every argument replaced by what f makes of it.
local function each_argument(self, step, b, f)
  steps.check_bound(self, b, step)
  local out = setmetatable({names = self.params, arguments = {}}, getmetatable(b))
  for _, name in ipairs(out.names) do
    out.arguments[name] = f(b.arguments[name], name)
  end
  return out
end

FrameworkKernel._map_args = method("_map_args", 1, function(self, boundargs)
  return each_argument(self, "_map_args", boundargs, function(t)
    return self:_map_to_decltensor_or_passthrough(t)
  end)
end)

-- What a tensor or a constant is in the key: a declaration, or the value itself. name: of the parameter, if known.
FrameworkKernel._return_shape_dtype_or_hashable = method("_return_shape_dtype_or_hashable", 2, function(self, t, name)
  if name ~= nil and type(name) ~= "string" then
    kind_error("kernel:_return_shape_dtype_or_hashable", "name", "a string", name)
  end
  t = self:_map_to_decltensor_or_passthrough(t)
  if steps.kind(t) ~= "decl" then
    steps.check_hashable(self, t, name)
  end
  return t
end)

-- The canonical bytes of (per argument, grid, opts, target, whether it is a guess, captured state).
FrameworkKernel._generate_hash_key = method("_generate_hash_key", 1, function(self, boundargs)
  return steps.key(self, each_argument(self, "_generate_hash_key", boundargs, function(t, name)
    return self:_return_shape_dtype_or_hashable(t, name)
  end))
end)

-- Takes the arguments of a call, or BoundArguments.
FrameworkKernel._arg_hash_key = method("_arg_hash_key", nil, function(self, first, ...)
  local b = first
  if type(first) ~= "table" or getmetatable(first) == nil or getmetatable(first).__name ~= "nki.BoundArguments" then
    b = self:bind_arguments(first, ...)
  end
  return self:_generate_hash_key(b)
end)

FrameworkKernel.translate_return_types = method("translate_return_types", 1, function(_, kernel_return)
  check_trace("translate_return_types", kernel_return)
  return kernel_return.return_types, kernel_return.result_is_sequence
end)

-- ---- what FrameworkKernel becomes -----------------------------------------------------------------------------------

local function native_hooks(c)
  c.is_framework_tensor = is_native_tensor
  c.map_framework_tensor = nki.UnifiedKernel and nki.UnifiedKernel.map_framework_tensor
  c.translate_to_neuron_dtype = nki.UnifiedKernel and nki.UnifiedKernel.translate_to_neuron_dtype
  return c
end
local UnifiedKernel = class("UnifiedKernel", FrameworkKernel)
UnifiedKernel.mode = "auto"
UnifiedKernel.native = true
UnifiedKernel.is_framework_tensor = is_native_tensor
UnifiedKernel.map_framework_tensor = method("map_framework_tensor", 1, function(self, t)
  if not is_native_tensor(self, t) then
    kind_error("kernel:map_framework_tensor", "t", "an array or a declaration", t)
  end
  return t.shape, t.dtype
end)
UnifiedKernel.translate_to_neuron_dtype = method("translate_to_neuron_dtype", 1, function(_, dtype)
  return dtype
end)
nki.UnifiedKernel = UnifiedKernel

local function framework(name, mode)
  local c = native_hooks(class(name, FrameworkKernel))
  c.mode, c.native = mode, true
  nki[name] = c
end
framework("LegacyFrameworkKernel", "legacy")
framework("JAXKernel", "jax")
framework("PyTorchXLAKernel", "torchxla")

for _, name in ipairs{"_map_args", "_map_to_decltensor_or_passthrough", "_arg_hash_key", "_generate_hash_key",
  "_return_shape_dtype_or_hashable", "translate_return_types", "matmul_mac_count", "is_framework_tensor",
  "map_framework_tensor", "translate_to_neuron_dtype"} do
  steps.base(name, UnifiedKernel[name])
end

nki.class = fixed("nki.class", 2, function(name, base)
  return class(name, base == nil and nki.Kernel or base)
end)
nki.Kernel, nki.TraceKernel, nki.FrameworkKernel = Kernel, TraceKernel, FrameworkKernel
