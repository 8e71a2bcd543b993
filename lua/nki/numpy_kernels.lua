-- The kernels that run on host arrays: NumpyKernel and what is made of it. There is no device here: what they measure
-- is the time that the simulator takes on the host, and what only the closed compiler can make is refused. The chunk
-- is given fail(id, message), the contents of nki and the primitives.
local fail, _, lib, nki, steps = ...
local callables = lib.half "nki.callables"
local fixed, kind_error = callables.fixed, callables.kind_error

local measured = "host time of the simulator"

-- Splits options into those of this class, with their defaults or in the set `optional`, and those of nki.jit.
local function split(who, options, own, optional)
  local mine, rest = {}, {}
  if options ~= nil and (type(options) ~= "table" or #options > 0) then
    fail("kernel_option", ("%s: it takes a kernel and a table of options by name"):format(who))
  end
  for name, value in pairs(own) do
    mine[name] = value
  end
  for name, value in pairs(options or {}) do
    if own[name] ~= nil or optional and optional[name] then
      mine[name] = value
    else
      rest[name] = value
    end
  end
  return mine, rest
end

-- What class c and its bases up to NumpyKernel have under a name: what makes a kernel a measured one.
local function measured_member(c, name)
  while c and c ~= nki.NumpyKernel do
    local value = rawget(c, name)
    if value ~= nil then
      return value
    end
    c = rawget(c, "super")
  end
  return c and rawget(c, name)
end

-- A class like c whose other steps are those of the kernel: its own first, else those of its class.
local function keeping_steps(c, kernel)
  local class, own = steps.class_of(kernel), steps.fields(kernel)
  return setmetatable({__name = rawget(c, "__name"), super = c}, {
    __index = function(_, name)
      local value = measured_member(c, name)
      if value == nil then
        value = own[name]
      end
      if value == nil then
        value = class[name]
      end
      return value
    end,
    __tostring = function()
      return tostring(c)
    end,
  })
end

-- The class of the measured kernel: one that was legacy stays so, as its body is traced by other rules.
local function class_for(c, kernel)
  local legacy = c.mode == "simulation" and steps.class_of(kernel).mode == "legacy"
  if not legacy and not steps.overrides(kernel) then
    return c
  end
  local class = keeping_steps(c, kernel)
  class.mode = legacy and "legacy" or nil
  return class
end

-- A kernel of a class from a function, or from a kernel that there is, whose steps it keeps; fields become its own.
-- who: what was called.
local function make(who, c, kernel, fields, options)
  local k
  if type(kernel) == "function" then
    k = steps.new(c, kernel, options, who)
  elseif steps.kind(kernel) == "kernel" then
    local given = steps.options(kernel)
    for name, value in pairs(options) do
      given[name] = value
    end
    k = steps.new(class_for(c, kernel), kernel.func, given, who)
  else
    kind_error(who, "kernel", "a kernel or a Lua function", kernel)
  end
  for name, value in pairs(fields) do
    k[name] = value
  end
  return k
end

local most = 1 << 24 -- runs: a time is kept for each

local function count(who, name, value, least)
  if math.type(value) ~= "integer" or value < least or value > most then
    fail("bind_value", ("%s: parameter '%s' is %s; it is an integer from %d to %d"):format(who, name, tostring(value),
      least, most))
  end
end

local function flag(who, name, value)
  if type(value) ~= "boolean" then
    fail("bind_value", ("%s: parameter '%s' is %s; it is true or false"):format(who, name, tostring(value)))
  end
end

-- A word of a path or a command: what a NUL or a line break makes of it, nobody meant.
local function text(who, name, value)
  if type(value) ~= "string" then
    kind_error(who, name, "a string", value)
  end
  if value:find "%c" then
    fail("bind_value", ("%s: parameter '%s' is %q; it has a control character"):format(who, name, value))
  end
end

local function refuse(who, options, names)
  for _, name in ipairs(names) do
    if options[name] ~= nil then
      fail("no_device", ("%s: %s asks for something that only neuronx-cc and a device make; leave it out"):format(who,
        name))
    end
  end
end

-- Inside a kernel's body such a kernel may run on arrays, but be no part of that kernel.
local function refuse_tiles(self, who, ...)
  local given = self:bind_arguments(...).arguments
  for _, name in ipairs(self.params) do
    if steps.kind(given[name]) == "tile" then
      fail("kernel_measured", ("kernel %s: '%s' is a tensor of the kernel that is being traced, and %s made this one, "
        .. "which only runs on arrays; inside a kernel call nki.jit's kernel of the same function"):format(
        self.func_name, name, who))
    end
  end
end

-- The artifact of a call and copies of its operands, which a measured run may change.
local function operands(self, who, ...)
  refuse_tiles(self, who, ...)
  local artifact = steps.specialize(self, ...)
  local given, list = self:bind_arguments(...).arguments, {}
  for i, name in ipairs(artifact.input_names) do
    local a = given[name]
    if steps.kind(a) ~= "array" then
      fail("kernel_decl_run", ("kernel %s: '%s' has no data: a measurement needs arrays"):format(self.func_name, name))
    end
    list[i] = a:copy()
  end
  return artifact, list
end

local NumpyKernel = nki.class("NumpyKernel", nki.TraceKernel)
NumpyKernel.mode = "simulation"
nki.NumpyKernel = NumpyKernel
local SimulateKernel = nki.class("SimulateKernel", NumpyKernel)

-- A method of the kernels of class c, with at most so many arguments; nil: any number.
local function method(c, name, arguments, f)
  local words = "a kernel of nki." .. rawget(c, "__name")
  c[name] = callables.method(("%s:%s"):format(rawget(c, "__name"), name), arguments, f, function(self)
    return steps.kind(self) == "kernel" and self:is_a(c)
  end, words)
end

-- The constructor of class c: C(kernel, options), which nki.benchmark and its like are.
local function constructor(c, who, f)
  local words = "nki." .. rawget(c, "__name") .. " or a class made of it"
  c.new = callables.method(who, 2, f, function(self)
    return type(self) == "table" and self.new ~= nil
  end, words)
end

-- ---- benchmark ------------------------------------------------------------------------------------------------------

local BenchmarkKernel = nki.class("BenchmarkKernel", NumpyKernel)
local files = {save_neff_name = true, save_trace_name = true, additional_compile_opt = true}

constructor(BenchmarkKernel, "nki.benchmark", function(self, kernel, options)
  local own, rest = split("nki.benchmark", options, {warmup = 10, iters = 100}, files)
  count("nki.benchmark", "warmup", own.warmup, 0)
  count("nki.benchmark", "iters", own.iters, 1)
  refuse("nki.benchmark", own, {"save_neff_name", "save_trace_name", "additional_compile_opt"})
  return make("nki.benchmark", self, kernel, own, rest)
end)

-- of_jit(class, fn, options): what nki.jit makes with this mode.
local function of_jit(c, fields)
  function c.of_jit(self, fn, options)
    return make("nki.jit", self, fn, fields(), options)
  end
end
of_jit(BenchmarkKernel, function()
  return {warmup = 10, iters = 100}
end)

-- Runs the kernel on copies of the arrays and leaves the times in benchmark_result. There is no other result.
method(BenchmarkKernel, "call", nil, function(self, ...)
  local artifact, list = operands(self, "nki.benchmark", ...)
  local samples = steps.measure(artifact, self.warmup, self.iters, table.unpack(list))
  local latency = {samples = samples}
  local function percentile_of(percentile)
    if type(percentile) ~= "number" then
      kind_error("get_latency_percentile", "percentile", "a number", percentile)
    end
    return steps.percentile(samples, percentile)
  end
  local checked = fixed("get_latency_percentile", 1, percentile_of)
  function latency.get_latency_percentile(first, ...) -- with a dot or a colon
    if first == latency then
      return checked(...)
    end
    return checked(first, ...)
  end
  self.benchmark_result = {nc_latency = latency, warmup = self.warmup, iters = self.iters, time = measured}
end)

-- ---- profile --------------------------------------------------------------------------------------------------------

local ProfileKernel = nki.class("ProfileKernel", NumpyKernel)
local profile_options = {working_directory = true, save_neff_name = true, save_trace_name = true,
  additional_compile_opt = true}

constructor(ProfileKernel, "nki.profile", function(self, kernel, options)
  local own, rest = split("nki.profile", options, {overwrite = false, profile_nth = 1}, profile_options)
  local folder = own.working_directory
  if type(folder) ~= "string" or folder:sub(1, 1) ~= "/" then
    fail("bind_value", ("nki.profile: parameter 'working_directory' is %s; an absolute path is required"):format(
      tostring(folder)))
  end
  text("nki.profile", "working_directory", folder)
  flag("nki.profile", "overwrite", own.overwrite)
  count("nki.profile", "profile_nth", own.profile_nth, 1)
  refuse("nki.profile", own, {"save_neff_name", "save_trace_name", "additional_compile_opt"})
  return make("nki.profile", self, kernel, own, rest)
end)

local function profile_path(self)
  return ("%s/%s.profile.json"):format(self.working_directory, (self.func_name:gsub("/", "_")))
end

-- Runs the kernel profile_nth times and writes where the time of the last run went.
method(ProfileKernel, "call", nil, function(self, ...)
  local artifact, list = operands(self, "nki.profile", ...)
  local path = profile_path(self)
  local there = io.open(path, "rb")
  if there then
    there:close()
    if not self.overwrite then
      fail("profile_file", ("nki.profile: '%s' exists; overwrite = true replaces it"):format(path))
    end
  end
  local json, table_text = steps.profile(artifact, self.profile_nth, nil, table.unpack(list))
  local file, why = io.open(path, "wb")
  if not file or not file:write(json) or not file:close() then
    fail("profile_file", ("nki.profile: cannot write %s"):format(why or path))
  end
  self.profile_result = {file = path, text = table_text, json = json, time = measured}
end)

-- ---- baremetal ------------------------------------------------------------------------------------------------------

local BaremetalKernel = nki.class("BaremetalKernel", NumpyKernel)
local device_texts = {"save_neff_name", "save_trace_name", "additional_compile_opt", "artifacts_dir"}
local device_options = {}
for _, name in ipairs(device_texts) do
  device_options[name] = true
end

constructor(BaremetalKernel, "nki.baremetal", function(self, kernel, options)
  local own, rest = split("nki.baremetal", options, {dry_run = false}, device_options)
  flag("nki.baremetal", "dry_run", own.dry_run)
  for _, name in ipairs(device_texts) do
    if own[name] ~= nil then
      text("nki.baremetal", name, own[name])
    end
  end
  if own.save_trace_name and own.save_neff_name ~= "file.neff" then
    fail("bind_value", "nki.baremetal: parameter 'save_trace_name' is given; it needs save_neff_name = \"file.neff\"")
  end
  local entries = own.artifacts_dir and steps.entries(own.artifacts_dir)
  if entries and entries > 0 then
    fail("bind_value", ("nki.baremetal: parameter 'artifacts_dir' is '%s', which is not empty"):format(
      own.artifacts_dir))
  end
  return make("nki.baremetal", self, kernel, {dry_run = own.dry_run, device_options = own}, rest)
end)

of_jit(BaremetalKernel, function()
  return {dry_run = false, device_options = {}}
end)

-- What a run on a device would execute and write: {text =, command =, files = {...}, missing = text or nil}.
method(BaremetalKernel, "plan", nil, function(self, ...)
  refuse_tiles(self, "nki.baremetal", ...)
  local artifact = steps.specialize(self, ...)
  local o = self.device_options
  local lines, missing = steps.plan(artifact, o.artifacts_dir, o.save_neff_name, o.save_trace_name,
    o.additional_compile_opt)
  local plan = {text = lines, command = lines:match "^run ([^\n]*)", files = {}, missing = missing}
  for file in lines:gmatch "\nwrite ([^\n]*)" do
    plan.files[#plan.files + 1] = file
  end
  return plan
end)

method(BaremetalKernel, "call", nil, function(self, ...)
  local plan = self:plan(...)
  if self.dry_run then
    return plan
  end
  local why = "kernel %s: a run on a device needs %s; nki.simulate runs it here, and dry_run = true shows what "
    .. "would be executed"
  fail("no_device", why:format(self.func_name, plan.missing or "nkilua to load a NEFF, which it does not do"))
end)

-- ---- the public functions -------------------------------------------------------------------------------------------

-- nki.benchmark(kernel, options), or nki.benchmark{options} to decorate.
local function entry(who, c)
  return fixed(who, 2, function(kernel, options)
    if options == nil and (kernel == nil or type(kernel) == "table") then
      return fixed(who, 1, function(f)
        return c(f, kernel)
      end)
    end
    return c(kernel, options)
  end)
end

nki.SimulateKernel, nki.BenchmarkKernel = SimulateKernel, BenchmarkKernel
nki.ProfileKernel, nki.BaremetalKernel = ProfileKernel, BaremetalKernel
nki.benchmark, nki.profile = entry("nki.benchmark", BenchmarkKernel), entry("nki.profile", ProfileKernel)
nki.baremetal = entry("nki.baremetal", BaremetalKernel)

-- ---- GenericKernel: the class is chosen at the call -----------------------------------------------------------------

local GenericKernel = nki.class("GenericKernel", nki.Kernel)
local class_of_mode = {jax = "JAXKernel", torchxla = "PyTorchXLAKernel", legacy = "LegacyFrameworkKernel",
  simulation = "SimulateKernel", benchmark = "BenchmarkKernel", baremetal = "BaremetalKernel"}
local frameworks = {}
GenericKernel.latest = false -- the kernel of the last call

-- nki.register_framework(class): a subclass of FrameworkKernel whose tensors a GenericKernel shall know.
nki.register_framework = fixed("nki.register_framework", 1, function(c)
  if type(c) ~= "table" or type(c.is_framework_tensor) ~= "function" then
    kind_error("nki.register_framework", "class", "a subclass of nki.FrameworkKernel", c)
  end
  frameworks[#frameworks + 1] = c
end)

constructor(GenericKernel, "nki.GenericKernel", function(self, kernel, options)
  local own, rest = split("nki.GenericKernel", options, {mode = "auto"})
  if own.mode ~= "auto" and not class_of_mode[own.mode] then
    fail("kernel_option", ("nki.GenericKernel: no mode '%s'; modes are auto, jax, torchxla, legacy, simulation, "
      .. "benchmark, baremetal"):format(tostring(own.mode)))
  end
  local source = steps.kind(kernel) == "kernel" and kernel or false
  if source then -- its own steps are those of the kernels that are made of it
    for name, value in pairs(steps.options(source)) do
      if rest[name] == nil then
        rest[name] = value
      end
    end
    kernel = source.func
  end
  return make("nki.GenericKernel", self, kernel, {requested = own.mode, made = {}, source = source}, rest)
end)

-- compute_mode: the class that a call with these arguments goes to.
method(GenericKernel, "resolve", nil, function(self, ...)
  if self.requested ~= "auto" then
    return nki[class_of_mode[self.requested]]
  end
  local b, arrays = self:bind_arguments(...), false
  for _, name in ipairs(b.names) do
    local value = b.arguments[name]
    for _, c in ipairs(frameworks) do
      if c.is_framework_tensor(self, value) then
        return c
      end
    end
    arrays = arrays or steps.kind(value) == "array"
  end
  return arrays and nki.SimulateKernel or self.source and steps.class_of(self.source) or nki.UnifiedKernel
end)

-- A kernel of class c with the function of a GenericKernel. What that was made of stays as it is, also when measured.
local function kernel_of(self, c, options)
  local source = self.source
  local class = source and steps.class_of(source)
  if not source or c ~= class and c.mode ~= "simulation" then
    return c(self.func, options)
  end
  local k = class(self.func, options)
  for name, value in pairs(steps.fields(source)) do
    k[name] = value
  end
  if c == SimulateKernel then
    return make("nki.GenericKernel", c, k, {}, {})
  end
  return c == class and k or c(k)
end

-- The kernel that a call with these arguments goes to. There is one of each class; grid and options are the view's.
local function chosen(self, ...)
  local c, options = self:resolve(...), steps.options(self)
  local grid, opts = options.grid, options.opts
  local k = self.made[c]
  if not k then
    options.grid, options.opts = nil, nil
    k = kernel_of(self, c, options)
    self.made[c] = k
  end
  self.latest = k
  k = next(opts) and k:with_opts(opts) or k
  return grid and k[grid] or k
end

for _, name in ipairs{"specialize", "dump_config", "simulate"} do
  method(GenericKernel, name, nil, function(self, ...)
    local k = chosen(self, ...)
    return k[name](k, ...)
  end)
end

method(GenericKernel, "call", nil, function(self, ...)
  local k = chosen(self, ...)
  if not k:is_a(BenchmarkKernel) then
    return k(...)
  end
  k(...)
  self.benchmark_result = k.benchmark_result
end)

-- A copy has copies of the kernels that there are, so that it shares their caches.
method(GenericKernel, "replace", 1, function(self, options)
  local copy, made, rest = steps.replace(self, options), {}, {}
  for name, value in pairs(options or {}) do
    rest[name] = value
  end
  rest.grid, rest.opts = nil, nil
  for c, k in pairs(self.made) do
    made[c] = k:replace(rest)
  end
  copy.made = made
  return copy
end)

method(GenericKernel, "copy_kernel", 0, function(self)
  return self:replace()
end)

-- The sums over the kernels that there are; what became of the last call.
method(GenericKernel, "cache_info", 0, function(self)
  local sum = {hits = 0, misses = 0, entries = 0, impure = 0, disk_hits = 0}
  for _, k in pairs(self.made) do
    local info = k:cache_info()
    for name, n in pairs(sum) do
      sum[name] = n + info[name]
    end
  end
  local latest = self.latest and self.latest:cache_info() or {}
  sum.last, sum.reason = latest.last, latest.reason
  return sum
end)

method(GenericKernel, "clear_cache", 0, function(self)
  for _, k in pairs(self.made) do
    k:clear_cache()
  end
end)

nki.GenericKernel = GenericKernel
