-- surface_spec: every public function, method and metamethod, called with values of every wrong kind, raises an error
-- object that names it, or works: never a plain Lua error, an internal one or a crash. Surplus arguments are refused.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local raises = require "spec.support.raises"

local options = {func_name = "k", platform_target = "trn2"}
local shape = {2, 2}

local function same(a) return a end
local function kernel() return nki.jit(same, options) end
local function decl() return nki.decl(shape, "float32") end
local function array() return nd.ones(shape) end
local function artifact() return kernel():specialize(decl()) end
local function traced()
  local k = kernel()
  return (k:specialize_and_call(k:bind_arguments(decl())))
end
local function measured()
  local k = nki.benchmark(same, {warmup = 0, iters = 1, platform_target = "trn2"})
  k(array())
  return k
end

-- What a name stands for in messages where it is not the name itself.
local said = {
  ["nl.NkiTensor"] = "nki.decl", ["nisa.VirtualRegister"] = "nisa.register_alloc", ["nki.decode"] = "base64",
  ["nl.shared_constant"] = "nki.ndarray.array", ["nki.simulate_kernel"] = "kernel k",
  ["nki.insert_nki_kernel"] = "kernel k", ["nd.load"] = ".npy",
  ["nki.BenchmarkKernel"] = "nki.benchmark", ["nki.ProfileKernel"] = "nki.profile",
  ["nki.BaremetalKernel"] = "nki.baremetal", ["nisa.tensor_copy_dynamic_src"] = "nisa.tensor_copy",
}

local function names_it(e, name)
  local last = name:match "[%w_]+$"
  return e.message:find(last, 1, true) or said[name] and e.message:find(said[name], 1, true)
    or name:find "_engine$" and e.id == "err_token_call" or e.message:find "^kernel '?k'?:? "
end

-- f(...) works, or raises an error object that is about it.
local function accepted_or_told(name, named, f, ...)
  local ok, e = pcall(f, ...)
  if ok then return end
  local ours = type(e) == "table" and e.id and e.id ~= "err_lua" and e.id ~= "err_internal"
  if not ours or named and not names_it(e, name) then
    local words = {}
    for i = 1, select("#", ...) do words[i] = tostring((select(i, ...))) end
    error(("%s(%s): %s"):format(name, table.concat(words, ", "), tostring(e)), 0)
  end
end

local wrong = {3, -1, 0 / 0, "x", true, {}, {x = 1}, print, same, coroutine.create(print), io.stdout, nl.sbuf, nl.add,
  kernel(), array(), decl(), artifact(), nki.tuple{1, 2}, shape}

-- make: a function that makes what the method is of; values: instead of `wrong`.
local function sweep(name, named, f, make, values)
  accepted_or_told(name, named, f)
  for _, v in ipairs(values or wrong) do
    accepted_or_told(name, named, f, v)
    accepted_or_told(name, named, f, v, v)
    accepted_or_told(name, named, f, nil, v, v)
    if make then
      accepted_or_told(name, named, f, make(), v)
      accepted_or_told(name, named, f, make(), v, v)
    end
  end
end

local function callable(v)
  local mt = type(v) ~= "string" and debug.getmetatable(v)
  return type(v) == "function" or mt and rawget(mt, "__call") ~= nil
end

local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end

local function sweep_module(prefix, module, values)
  assert(nki.benchmark) -- what Lua defines is there
  for _, name in ipairs(sorted(module)) do
    local f = module[name]
    if callable(f) and name ~= "no_reorder" then
      sweep(prefix .. "." .. name, true, f, nil, values)
      for _, member in ipairs{"isinstance", "__init__", "new"} do
        local ok, g = pcall(function() return f[member] end)
        if ok and callable(g) then sweep(("%s.%s.%s"):format(prefix, name, member), false, g, nil, values) end
      end
    end
  end
end

local function sweep_metamethods(make)
  local mt = debug.getmetatable(make())
  for _, name in ipairs(sorted(mt)) do
    if type(mt[name]) == "function" then
      local self = name ~= "__gc" and make or nil
      sweep(("%s of %s"):format(name, tostring(make())), false, mt[name], self, not self and {3, "x", io.stdout})
    end
  end
end

describe("wrong kinds of arguments", function()
  local modules = {nki = nki, nl = nl, nisa = nisa, nd = nd, ncc = require "nki.collectives",
    testing = require "nki.testing"}
  for name, module in pairs(modules) do
    local outside = (name == "nl" or name == "nisa" or name == "ncc") and {3, nl.add} or nil -- which refuse all alike
    it("of the functions of " .. name, function() sweep_module(name, module, outside) end)
    it("of the functions of " .. name .. ", inside a kernel", function()
      nki.jit(function(a)
        local values = {a, table.unpack(wrong)}
        sweep_module(name, module, values)
        return a
      end, options):specialize(decl())
    end)
  end

  local methods = {
    [kernel] = {"specialize", "dump_config", "simulate", "cache_info", "clear_cache", "with_opts", "replace",
      "copy_kernel", "is_a", "bind_arguments", "check_grid", "call", "call_impl", "specialize_and_call",
      "expand_kernel_with_ctx", "allocate_pending_tensors", "check_return", "inline_function", "pop_compile_opts",
      "trace", "matmul_mac_count", "dump_config_with_boundargs", "generate_operand_output_aliases",
      "encode_backend_config", "assemble_result", "is_framework_tensor", "map_framework_tensor",
      "translate_to_neuron_dtype", "_map_to_decltensor_or_passthrough", "_map_args",
      "_return_shape_dtype_or_hashable", "_generate_hash_key", "_arg_hash_key", "translate_return_types"},
    [artifact] = {"hlo", "hlo_proto", "stablehlo", "simulate"},
    [array] = {"get", "set", "totable", "astype", "reshape", "copy", "matmul", "exp", "sum", "max", "free", "bytes",
      "map", "transpose"},
    [measured] = {"call", "specialize", "replace"},
    [function() return nki.baremetal(same, options) end] = {"call", "plan"},
    [function() return nki.GenericKernel(same, options) end] = {"resolve", "specialize", "dump_config", "simulate",
      "call", "replace", "copy_kernel", "cache_info", "clear_cache"},
    [function() return measured().benchmark_result.nc_latency end] = {"get_latency_percentile"},
  }
  for make, names in pairs(methods) do
    it("of the methods of " .. tostring(make()):gsub("0x%x+", ""), function()
      for _, name in ipairs(names) do sweep("kernel:" .. name, false, make()[name], make) end
    end)
  end

  it("of metamethods", function()
    local function bound() return kernel():bind_arguments(decl()) end
    local function fault() return select(2, pcall(nl.load, 3)) end
    for _, make in ipairs{kernel, decl, array, artifact, traced, measured, bound, fault} do sweep_metamethods(make) end
    for _, v in ipairs{nl.add, nl.sbuf, nisa.engine.vector, decl().shape, nki.tuple{1, 2}, nl.ds(0, 1), nl.nc(2)} do
      sweep_metamethods(function() return v end)
    end
    nki.jit(function(a)
      local register = nisa.register_alloc()
      sweep_metamethods(function() return nl.load(a) end)
      sweep_metamethods(function() return register end)
      return a
    end, options):specialize(decl())
  end)
end)

describe("surplus arguments", function()
  local k = kernel()
  local b = k:bind_arguments(decl())
  local t = traced()
  local calls = {
    ["nl._TileSize"] = {nl._TileSize}, ["nl.DType"] = {nl.DType, "float32"}, ["nl.NKIObject"] = {nl.NKIObject, {}},
    ["nl.DType.isinstance"] = {nl.DType.isinstance, 3}, ["nl._TileSize.isinstance"] = {nl._TileSize.isinstance, 3},
    ["nisa.NkiValidationError"] = {nisa.NkiValidationError, "x"},
    ["nki.class"] = {nki.class, "C", nki.UnifiedKernel}, ["JAXKernel"] = {nki.JAXKernel, same, {}},
    ["nki.benchmark"] = {nki.benchmark, same, {}}, ["nki.profile"] = {nki.profile, same, {working_directory = "/tmp"}},
    ["nki.baremetal"] = {nki.baremetal, same, {}}, ["nki.GenericKernel"] = {nki.GenericKernel, same, {}},
    ["nki.register_framework"] = {nki.register_framework, {is_framework_tensor = function() return false end}},
    ["nki.jit"] = {nki.jit, same, nil, nil, nil, nil, nil, nil, nil}, ["nki.simulate"] = {nki.simulate, k, {}},
    ["nki.decl"] = {nki.decl, shape, "float32"}, ["nki.decode"] = {nki.decode, artifact().backend_config},
    ["nki.tuple"] = {nki.tuple, {1}},
    ["nki.testing.assert_equal"] = {require "nki.testing".assert_equal, array(), array()},
    ["nki.testing.assert_allclose"] = {require "nki.testing".assert_allclose, array(), array(), {}},
    ["get_latency_percentile"] = {measured().benchmark_result.nc_latency.get_latency_percentile, 50},
    ["artifact:hlo"] = {k.specialize(k, decl()).hlo, artifact()},
    ["artifact:hlo_proto"] = {artifact().hlo_proto, artifact()},
    ["artifact:stablehlo"] = {artifact().stablehlo, artifact()},
    ["array:free"] = {array().free, array()}, ["array:copy"] = {array().copy, array()},
    ["array:totable"] = {array().totable, array()}, ["array:bytes"] = {array().bytes, array()},
    ["array:astype"] = {array().astype, array(), "bfloat16"}, ["array:reshape"] = {array().reshape, array(), {4}},
    ["array:map"] = {array().map, array(), math.abs}, ["array:exp"] = {array().exp, array()},
    ["array:abs"] = {array().abs, array()},
    ["array:sum"] = {array().sum, array(), 0, false}, ["array:matmul"] = {array().matmul, array(), array()},
    ["BenchmarkKernel:call"] = false,
    ["GenericKernel:cache_info"] = {nki.GenericKernel.cache_info, nki.GenericKernel(same)},
    ["GenericKernel:clear_cache"] = {nki.GenericKernel.clear_cache, nki.GenericKernel(same)},
    ["GenericKernel:copy_kernel"] = {nki.GenericKernel.copy_kernel, nki.GenericKernel(same)},
  }
  local of_kernels = {with_opts = {{}}, cache_info = {}, clear_cache = {}, replace = {{}}, copy_kernel = {},
    is_a = {nki.JAXKernel}, check_grid = {4}, pop_compile_opts = {{}}, trace = {same}, specialize_and_call = {b},
    dump_config_with_boundargs = {b}, _map_args = {b}, _generate_hash_key = {b}, matmul_mac_count = {t},
    translate_return_types = {t}, is_framework_tensor = {3}, map_framework_tensor = {decl()},
    translate_to_neuron_dtype = {"float32"}, encode_backend_config = {false, t},
    generate_operand_output_aliases = {b, {}, t}, _map_to_decltensor_or_passthrough = {3},
    _return_shape_dtype_or_hashable = {3, "a"}}
  for name, args in pairs(of_kernels) do calls["kernel:" .. name] = {k[name], k, table.unpack(args)} end

  for name, call in pairs(calls) do
    if call then
      it("of " .. name, function()
        local n = name == "nki.jit" and 9 or #call
        call[1](table.unpack(call, 2, n))
        call[1](table.unpack(call, 2, n + 2)) -- nil is not given
        call[n + 1] = 99
        raises("err_bind_surplus", name, function() call[1](table.unpack(call, 2, n + 1)) end)
      end)
    end
  end
end)

describe("an assignment to an array", function()
  it("says how elements are written", function()
    local text = "cannot be assigned: elements are written by a:set(i, j, value), and the rest is read-only"
    raises("err_array_assign", "array[-1] " .. text, function() array()[-1] = 3 end)
    raises("err_array_assign", "array[the string 'dtype'] " .. text, function() array().dtype = "int8" end)
    raises("err_array_assign", "array[a table] " .. text, function() array()[{0, 0}] = 3 end)
  end)
end)
