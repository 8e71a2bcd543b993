-- nisa.register_load
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function through(dtype)
  return function(t)
    local r, out = nisa.register_alloc(), sb({1, 1}, dtype)
    nisa.register_load(r, t)
    nisa.register_store(out, r)
    return out
  end
end

local numeric = {
  {"the count of a device loop", {nd.array({{5}}, "uint8"), nd.arange(8):reshape {1, 8}}, function(n, x)
    local r, total = nisa.register_alloc(), nl.zeros({1, 1}, nl.float32)
    nisa.register_load(r, n)
    for i in nl.dynamic_range(r) do
      nisa.tensor_tensor(total, total, x[{{}, nl.ds(i, 1)}], nl.add)
    end
    return total
  end, {{{0 + 1 + 2 + 3 + 4}}}},
}
numeric[#numeric + 1] = {"the bits of a float32", {nd.array {{-0.0}}}, function(t)
  local r, out = nisa.register_alloc(), sb({1, 1}, nl.int32)
  nisa.register_load(r, t)
  nisa.register_store(out, r)
  return out
end, {nd.array({{-2147483648}}, "int32")}}
for dtype, value in pairs {float32 = 1.5, int8 = -3, uint8 = 255, int16 = -32768, uint16 = 65535, int32 = -2147483648,
  uint32 = 4294967295} do
  numeric[#numeric + 1] = {"a " .. dtype, {nd.array({{value}}, dtype)}, through(dtype), {nd.array({{value}}, dtype)}}
end

return {
  accept = {
    {"sbuf, psum and hbm", function()
      for _, t in ipairs {sb({1, 1}, nl.int32), ps({1, 1}, nl.int32), hbm({1}, nl.int32)} do
        nisa.register_load(nisa.register_alloc(), t)
      end
    end},
  },
  reject = {
    {"err_shape_required", "src must have shape of one element", rule = "one_element",
     function() nisa.register_load(nisa.register_alloc(), sb({1, 2}, nl.int32)) end},
    {"err_unsupported_dtype", "src is",
     function() nisa.register_load(nisa.register_alloc(), sb({1, 1}, nl.bfloat16)) end},
    {"err_bind_kind", "dst", function() nisa.register_load(sb {1, 1}, sb({1, 1}, nl.int32)) end},
  },
  numeric = numeric,
}
