-- nisa.quantize_mx
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local gen = require "spec.support.generators"
local mx = require "spec.support.mx"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.quantize_mx, function()
  return {dst = sb({64, 2}, nl.float8_e4m3fn_x4), src = sb({64, 8}, nl.bfloat16),
    dst_scale = sb({64, 2}, nl.float8_e8m0fnu)}
end)

-- Small integers times a power of two of each group; one group is all zeros.
local function value(p, i)
  local block, column = p // 8, i // 4
  return block == 3 and column == 1 and 0 or ((p * 7 + i * 5) % 31 - 15) * 2.0 ^ (5 * block - 9 + 3 * column)
end

local function exponent(block, column, emax)
  local most = 0
  for k = 0, 31 do
    most = math.max(most, math.abs(value(8 * block + k // 4, 4 * column + k % 4)))
  end
  return most == 0 and -127 or math.floor(math.log(most, 2) + 1e-9) - (emax - 1)
end

local src = nd.array(gen.rows(32, function(p) return gen.rows(8, function(i) return value(p, i) end) end), "bfloat16")
local function scales(emax)
  return nd.array(gen.rows(4,
    function(block) return gen.rows(2, function(m) return exponent(block, m, emax) + 127 end) end), "uint8")
end
local function quantized(emax, encode)
  return nd.array(mx.containers(32, 2,
    function(p, m, q) return value(p, 4 * m + q) / 2.0 ^ exponent(p // 8, m, emax) end, encode, 8), "uint32")
end

local function quantize(dtype)
  return function(x)
    local out, scale = sb({32, 2}, dtype), sb({4, 2}, nl.uint8)
    nisa.quantize_mx(out, x, scale)
    return out:view(nl.uint32), scale
  end
end

return {
  accept = {
    {"scales of 36 partitions, which is as many as are used", target = "trn3",
     refused(function() return {dst_scale = sb({36, 2}, nl.uint8)} end)},
    {"scales from partition 12 on", target = "trn3",
     refused(function() return {dst_scale = sb({64, 2}, nl.uint8)[{{12, 48}}]} end)},
  },
  reject = {
    {"err_op_generation", "needs gen4", target = "trn2", function()
      nisa.quantize_mx(sb({64, 2}, nl.uint32), sb({64, 8}, nl.bfloat16), sb({64, 2}, nl.uint8))
    end},
    {"err_num_partition_mismatch", "dst and src", rule = "same_partitions", target = "trn3",
     refused(function() return {dst = sb({32, 2}, nl.float8_e4m3fn_x4)} end)},
    {"err_shape_required", "src must have shape (P,n) with P a multiple of 32", target = "trn3",
     refused(function() return {src = sb({40, 8}, nl.bfloat16), dst = sb({40, 2}, nl.float8_e4m3fn_x4)} end)},
    {"err_shape_required", "src must have shape (P,n) with n a multiple of 4", target = "trn3",
     refused(function() return {src = sb({64, 6}, nl.bfloat16)} end)},
    {"err_shape_required", "dst must have shape [64,2]", target = "trn3",
     refused(function() return {dst = sb({64, 8}, nl.float8_e4m3fn_x4)} end)},
    {"err_shape_required", "dst_scale must have shape [36..64,2]", target = "trn3",
     refused(function() return {dst_scale = sb({8, 2}, nl.uint8)} end)},
    {"err_start_partition", "may start at 0, 4, 8 or 12 of any 32", target = "trn3",
     refused(function() return {dst_scale = sb({64, 2}, nl.uint8)[{{16, 52}}]} end)},
    {"err_unsupported_dtype", "src is", target = "trn3", refused(function() return {src = sb {64, 8}} end)},
    {"err_unsupported_dtype", "dst is", target = "trn3",
     refused(function() return {dst = sb({64, 2}, nl.float4_e2m1fn_x4)} end)},
    {"err_unsupported_memory", "src must be in sbuf", target = "trn3",
     refused(function() return {src = ps({64, 8}, nl.bfloat16)} end)},
  },
  numeric = {
    {"float8_e4m3fn", target = "trn3", {src}, quantize(nl.float8_e4m3fn_x4), {quantized(8, mx.e4m3), scales(8)}},
    {"float8_e5m2, rounded to nearest even", target = "trn3", {src}, quantize(nl.float8_e5m2_x4),
     {quantized(15, mx.e5m2), scales(15)}},
    {"scales of 64 partitions: 0 to 3 and 32 to 35, the others stay", target = "trn3", {nd.ones({64, 4}, "float16")},
     function(x)
      local out, scale = sb({64, 1}, nl.float8_e4m3fn_x4), sb({64, 1}, nl.uint8)
      nisa.memset(scale, 9)
      nisa.quantize_mx(out, x, scale)
      return out:view(nl.uint32), scale
    end, {nd.array(gen.rows(64, function() return {0x70707070} end), "uint32"),
          nd.array(gen.rows(64, function(p) return {p % 32 < 4 and 120 or 9} end), "uint8")}},
    {"a group with NaN or infinity has the scale NaN", target = "trn3", {nd.array(gen.rows(32, function(p)
      return {1, p == 0 and math.huge or 1, 1, p == 9 and 0 / 0 or 1}
    end), "float16")}, function(x)
      local out, scale = sb({32, 1}, nl.float8_e4m3fn_x4), sb({4, 1}, nl.uint8)
      nisa.quantize_mx(out, x, scale)
      return scale
    end, {nd.array({{255}, {255}, {120}, {120}}, "uint8")}},
  },
}
