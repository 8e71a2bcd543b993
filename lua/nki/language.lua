-- The functions of nki.language that are compositions of others. The chunk is given fail(id, message) and
-- define(name, body): a function whose arguments are bound by its row of nl_half.def.
local fail, define, lib = ...
local nl
local f32 = "float32"

-- Do these axes, which `who` was given, cover all free axes of x? Then each partition has one value, and instructions
-- take it as a column.
local function covers(x, axis, who) return lib.first_axis(x, axis, who) == 1 end

local function column(x) return nl.ndarray({x.shape[0], 1}, f32) end

local function in_dtype(x, dtype)
  if dtype and dtype ~= x.dtype then return nl.copy(x, dtype) end
  return x
end

-- x where an engine that does not reach PSUM can read it.
local function in_sbuf(x) return nl.is_psum(x.buffer) and nl.copy(x) or x end

-- The type of a result whose values are no integers.
local function float_dtype(x)
  local integers = {int8 = 1, int16 = 1, int32 = 1, uint8 = 1, uint16 = 1, uint32 = 1, bool_ = 1}
  return integers[tostring(x.dtype)] and f32 or x.dtype
end

local function softmax(x, axis, dtype, compute_dtype)
  local compute = compute_dtype or f32
  axis = axis or -1
  dtype = dtype or compute_dtype or float_dtype(x)
  if not covers(x, axis, "nl.softmax") then
    local e = nl.exp(nl.subtract(x, nl.max(x, axis, f32, true), f32), compute)
    return nl.multiply(e, nl.reciprocal(nl.sum(e, axis, f32, true)), dtype)
  end
  local nisa = require "nki.isa"
  local least, total = column(x), column(x)
  local e, out = nl.ndarray(x.shape, compute), nl.ndarray(x.shape, dtype)
  nisa.tensor_reduce(least, nl.maximum, x, axis, true)
  nisa.activation_reduce(e, nl.exp, x, nl.add, total, least) -- exp(x - max), and its sum
  nisa.tensor_scalar(out, e, nl.multiply, nl.reciprocal(total))
  return out
end

-- How many elements are averaged: any positive number.
local function check_count(n)
  if type(n) ~= "number" then lib.fault("bind_kind", "nl.rms_norm", "n", "a number", lib.rename(n)) end
  if n > 0 and n < math.huge then return end
  lib.fault("bind_value", "nl.rms_norm", "n", n ~= n and "nan" or tostring(n), "it must be positive and finite")
end

local function rms_norm(x, w, axis, n, epsilon, dtype, compute_dtype)
  local nisa = require "nki.isa"
  check_count(n)
  local compute = compute_dtype or f32
  local sums
  if covers(x, axis, "nl.rms_norm") then
    local total = column(x)
    nisa.activation_reduce(nl.ndarray(x.shape, compute), nl.square, x, nl.add, total)
    local ones = {x.shape[0]} -- the rank of x, for what follows
    for k = 2, x.ndim do ones[k] = 1 end
    sums = total:reshape(ones)
  else
    sums = nl.sum(nl.square(x, compute), axis, f32, true)
  end
  local mean = nl.ndarray(sums.shape, f32)
  nisa.tensor_scalar(mean, sums, nl.multiply, 1.0 / n, false, nl.add, epsilon or 1e-6)
  local y = nl.multiply(x, nl.rsqrt(mean), compute)
  if w.shape[0] == 1 and x.shape[0] > 1 then
    local shape = {w.shape:unpack()}
    shape[1] = x.shape[0]
    w = nl.broadcast_to(w, shape)
  end
  return nl.multiply(y, w, dtype or float_dtype(x))
end

local function rand(shape, dtype, buffer, name)
  local nisa = require "nki.isa"
  local out = nl.ndarray(shape, dtype, {buffer = buffer, name = name})
  if nisa.get_nc_version() == nisa.nc_version.gen4 then
    nisa.rand2(out, 0.0, 1.0)
    return out
  end
  local bits = nl.ndarray(shape, "uint32")
  nisa.rng(bits)
  nisa.tensor_scalar(bits, bits, nl.right_shift, 8) -- 24 bits: exact in f32
  nisa.tensor_scalar(out, bits, nl.multiply, 2.0 ^ -24)
  return out
end

local function random_seed(seed) require "nki.isa".set_rng_seed(seed) end

local function dropout(x, rate, dtype)
  local out = nl.ndarray(x.shape, x.dtype)
  require "nki.isa".dropout(out, x, rate)
  return in_dtype(out, dtype)
end

local function gather_flattened(data, indices, axis, dtype)
  if (axis or 0) ~= 0 then
    local text = "nl.gather_flattened: parameter 'axis' is %s; partitions, axis 0, are the only choice"
    fail("bind_value", text:format(axis))
  end
  local out = nl.ndarray(indices.shape, data.dtype)
  require "nki.isa".nc_n_gather(out, in_sbuf(data), in_sbuf(indices))
  return in_dtype(out, dtype)
end

local identities, session = {}, nil -- of the running program: "n dtype" -> tile

local function shared_identity_matrix(n, dtype, dst)
  n, dtype = lib.integer(n, "nl.shared_identity_matrix", "n"), lib.dtype(dtype or "uint8", "nl.shared_identity_matrix")
  local serial, inside = lib.session()
  if serial ~= session then identities, session = {}, serial end
  local key = ("%d %s"):format(n, dtype)
  if not dst and identities[key] then return identities[key] end
  local out = dst or nl.ndarray({n, n}, dtype)
  require "nki.isa".affine_select(out, {{-1, n}}, 1, nl.ones({n, n}, dtype), 0.0, nl.equal)
  if not dst and not inside then identities[key] = out end -- what a loop makes belongs to one iteration
  return out
end

local function shared_constant(constant, dtype)
  local nd = require "nki.ndarray"
  if type(constant) == "string" then
    if not constant:find "%.npy$" then
      fail("bind_value", "nl.shared_constant: parameter 'constant' is " .. lib.rename(constant)
        .. "; a file's name ends in .npy")
    end
    lib.reads_outside()
    constant = nd.load(constant)
  elseif type(constant) == "table" then
    constant = nd.array(constant, dtype or f32)
  end
  if lib.kind(constant) ~= "array" then
    fail("bind_kind", "nl.shared_constant: parameter 'constant' must be an array, a list of numbers or the name of an "
      .. ".npy file, got " .. lib.rename(constant))
  end
  if dtype and dtype ~= constant.dtype then constant = constant:astype(dtype) end
  return lib.constant(constant)
end

return function(module)
  nl = module
  for name, body in pairs {softmax = softmax, rms_norm = rms_norm, rand = rand, random_seed = random_seed,
    dropout = dropout, gather_flattened = gather_flattened, shared_identity_matrix = shared_identity_matrix,
    shared_constant = shared_constant} do
    nl[name] = define(name, body)
  end
end
