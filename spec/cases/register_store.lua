-- nisa.register_store
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function store(dtype, value)
  return function()
    local out = sb({1, 1}, dtype)
    nisa.register_store(out, value)
    return out
  end
end

return {
  accept = {
    {"sbuf, psum and hbm", function()
      for _, t in ipairs {sb({1, 1}, nl.int32), ps({1, 1}, nl.int32), hbm({1}, nl.int32)} do
        nisa.register_store(t, nisa.register_alloc(1))
      end
    end},
  },
  reject = {
    {"err_shape_required", "dst must have shape of one element", rule = "one_element",
     function() nisa.register_store(sb({1, 2}, nl.int32), 1) end},
    {"err_unsupported_dtype", "dst is", function() nisa.register_store(sb({1, 1}, nl.bfloat16), 1) end},
    {"err_bind_kind", "src", function() nisa.register_store(sb({1, 1}, nl.int32), 0.5) end},
  },
  numeric = {
    {"the bits of a float32", {}, store(nl.float32, 0x3fc00000), {{{1.5}}}},
    {"an integer", {}, store(nl.int32, -7), {nd.array({{-7}}, "int32")}},
    {"the largest unsigned one", {}, store(nl.uint32, 4294967295), {nd.array({{4294967295}}, "uint32")}},
    {"an affine index", {}, function()
      local out = sb({1, 4}, nl.int32)
      for i in nl.dynamic_range(4) do
        nisa.register_store(out[{{}, nl.ds(i, 1)}], i * 3 + 1)
      end
      return out
    end, {nd.array({{1, 4, 7, 10}}, "int32")}},
    {"one element of a tile; the others stay", {nd.array({{1, 2, 3}}, "int32")}, function(t)
      nisa.register_store(t[{{}, {1, 2}}], 9)
      return t
    end, {nd.array({{1, 9, 3}}, "int32")}},
  },
}
