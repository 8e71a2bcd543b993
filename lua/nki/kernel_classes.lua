-- The class stack of nki: Kernel, TraceKernel, FrameworkKernel and what is made of them. What a class does not override
-- runs in C; the methods here are the same steps one at a time, for subclasses to call and to replace. The chunk is
-- given fail(id, message), the contents of nki and the primitives.
local fail, _, _, nki, steps = ...

-- nki.class(name, base): a class. Calling it makes a kernel; what it lacks is found in its base, nki.Kernel when none
-- is given.
local function class(name, base)
  if type(name) ~= "string" or base ~= nil and (type(base) ~= "table" or type(base.new) ~= "function") then
    fail("kernel_option", "nki.jit: nki.class takes a name and a base class, such as nki.UnifiedKernel")
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
end

local function is_native_tensor(_, t)
  local kind = steps.kind(t)
  return kind == "array" or kind == "decl"
end

-- ---- Kernel: binds a signature --------------------------------------------------------------------------------------

local Kernel = class("Kernel")
Kernel.new = steps.new
Kernel.bind_arguments = steps.bind_arguments
Kernel.check_grid = steps.check_grid

function Kernel:call(...)
  local b, names = self:bind_arguments(...), self.params
  local values = {}
  steps.check_bound(self, b, "call")
  for i, name in ipairs(names) do
    values[i] = b.arguments[name]
  end
  return self:call_impl(table.unpack(values, 1, #names))
end

function Kernel.call_impl()
  fail("not_implemented", "call_impl not implemented for base kernel")
end

-- k:is_a(class): is the kernel of this class, or of one made from it?
function Kernel:is_a(c)
  local at, seen = steps.class_of(self), {}
  while at and at ~= c do
    if type(at) ~= "table" or seen[at] then
      fail("kernel_option", ("nki.jit: super of %s must be its base class, which never leads back to it"):format(
        tostring(steps.class_of(self))))
    end
    seen[at] = true
    at = rawget(at, "super")
  end
  return at ~= nil
end

function Kernel:copy_kernel()
  return steps.replace(self)
end
Kernel.replace = steps.replace

-- ---- TraceKernel: runs the body again under a trace -----------------------------------------------------------------

local TraceKernel = class("TraceKernel", Kernel)
for _, name in ipairs{"call", "call_impl", "specialize_and_call", "expand_kernel_with_ctx",
  "allocate_pending_tensors", "check_return", "inline_function", "specialize", "simulate"} do
  TraceKernel[name] = steps[name]
end

-- What of a table of options by name is for the compiler, taken out of it. A class may know more names than `opts`.
function TraceKernel.pop_compile_opts(_, options)
  local opts = options.opts
  options.opts = nil
  return opts
end

-- A copy with other options; the compiler's are what pop_compile_opts finds.
function TraceKernel:replace(options)
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
end

-- A decorator factory: what it returns binds its arguments and traces at every call.
function TraceKernel:trace(func)
  local k = func and self:replace{func = func} or self
  return function(...)
    return k:specialize_and_call(k:bind_arguments(...))
  end
end

local function check_trace(step, kernel_return)
  if steps.kind(kernel_return) ~= "trace" then
    fail("bind_kind", ("%s: parameter 'kernel_return' must be what specialize_and_call returned, got %s"):format(step,
      type(kernel_return)))
  end
end

function TraceKernel.matmul_mac_count(_, kernel_return)
  check_trace("matmul_mac_count", kernel_return)
  return kernel_return.matmul_mac_count
end

-- ---- FrameworkKernel: makes the backend_config of a trace -----------------------------------------------------------

local FrameworkKernel = class("FrameworkKernel", TraceKernel)
FrameworkKernel.mode = "framework"
for _, name in ipairs{"dump_config", "dump_config_with_boundargs", "generate_operand_output_aliases",
  "encode_backend_config", "assemble_result"} do
  FrameworkKernel[name] = steps[name]
end

for _, hook in ipairs{"is_framework_tensor", "map_framework_tensor", "translate_to_neuron_dtype"} do
  FrameworkKernel[hook] = function(self)
    fail("abstract_hook", ("%s: FrameworkKernel.%s is abstract: a subclass for a framework implements it"):format(
      self.func_name, hook))
  end
end

function FrameworkKernel:_map_to_decltensor_or_passthrough(t)
  if not self:is_framework_tensor(t) then
    return t
  end
  local shape, dtype = self:map_framework_tensor(t)
  local neuron_dtype = self:translate_to_neuron_dtype(dtype) -- whatever else the hook returns
  return nki.decl(shape, neuron_dtype)
end

-- The same BoundArguments with every argument replaced by what f makes of it.
local function each_argument(self, step, b, f)
  steps.check_bound(self, b, step)
  local out = setmetatable({names = self.params, arguments = {}}, getmetatable(b))
  for _, name in ipairs(out.names) do
    out.arguments[name] = f(b.arguments[name], name)
  end
  return out
end

function FrameworkKernel:_map_args(boundargs)
  return each_argument(self, "_map_args", boundargs, function(t)
    return self:_map_to_decltensor_or_passthrough(t)
  end)
end

-- What a tensor or a constant is in the key: a declaration, or the value itself. name: of the parameter, if known.
function FrameworkKernel:_return_shape_dtype_or_hashable(t, name)
  t = self:_map_to_decltensor_or_passthrough(t)
  if steps.kind(t) ~= "decl" then
    steps.check_hashable(self, t, name)
  end
  return t
end

-- The canonical bytes of (per argument, grid, opts, target, whether it is a guess, captured state).
function FrameworkKernel:_generate_hash_key(boundargs)
  return steps.key(self, each_argument(self, "_generate_hash_key", boundargs, function(t, name)
    return self:_return_shape_dtype_or_hashable(t, name)
  end))
end

-- Takes the arguments of a call, or BoundArguments.
function FrameworkKernel:_arg_hash_key(first, ...)
  local b = first
  if type(first) ~= "table" or getmetatable(first) == nil or getmetatable(first).__name ~= "nki.BoundArguments" then
    b = self:bind_arguments(first, ...)
  end
  return self:_generate_hash_key(b)
end

function FrameworkKernel.translate_return_types(_, kernel_return)
  check_trace("translate_return_types", kernel_return)
  return kernel_return.return_types, kernel_return.result_is_sequence
end

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
function UnifiedKernel.map_framework_tensor(_, t)
  return t.shape, t.dtype
end
function UnifiedKernel.translate_to_neuron_dtype(_, dtype)
  return dtype
end
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

function nki.class(name, base)
  return class(name, base or nki.Kernel)
end
nki.Kernel, nki.TraceKernel, nki.FrameworkKernel = Kernel, TraceKernel, FrameworkKernel
