-- nisa.nc_matmul_mx
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local gen = require "spec.support.generators"
local mx = require "spec.support.mx"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.nc_matmul_mx, function()
  return {dst = ps {4, 8}, stationary = sb({64, 4}, nl.float8_e4m3fn_x4),
    moving = sb({64, 8}, nl.float8_e4m3fn_x4),
               stationary_scale = sb({64, 4}, nl.float8_e8m0fnu), moving_scale = sb({64, 8}, nl.uint8)}
end)

local halves = {0, 0.5, 1, 1.5, 2, 3, 4, 6}
local function st(k, m, q) return (k * 3 + m * 5 + q) % 9 - 4 end
local function mv(k, n, q)
  local v = halves[(k + 2 * n + 3 * q) % 8 + 1]
  return (k + n + q) % 3 == 0 and -v or v
end
local function st_byte(block, m) return 126 + (block + m) % 3 end
local function mv_byte(block, n) return 125 + (2 * block + n) % 4 end

local function product(K, M, N)
  return gen.rows(M, function(m) return gen.rows(N, function(n)
    local sum = 0.0
    for k = 0, K - 1 do
      local scale = 2.0 ^ (st_byte(k // 8, m) + mv_byte(k // 8, n) - 254)
      for q = 0, 3 do
        sum = sum + st(k, m, q) * mv(k, n, q) * scale
      end
    end
    return sum
  end) end)
end

-- The scale tile of `rows` partitions, whose first is `off` of a packed one; what is not used is NaN.
local function scales(rows, n, byte, off)
  return nd.array(gen.rows(rows, function(p)
    local at = p - (off or 0)
    return gen.rows(n, function(m) return at % 32 < 4 and at >= 0 and byte(at // 32 * 4 + at % 32, m) or 255 end)
  end), "uint8")
end

local function inputs(K, M, N, rows, off)
  return {nd.array(mx.containers(K, M, st, mx.e4m3, 8), "uint32"),
    nd.array(mx.containers(K, N, mv, mx.fp4, 4), "uint16"),
          scales(rows, M, st_byte, off), scales(rows, N, mv_byte, off)}
end

local function multiply(options)
  return function(a, b, s, t)
    local out = ps({a.shape[1], b.shape[1]}, options.dtype)
    local off = options.off
    if off then
      s, t = s[{{off, off + 4}}], t[{{off, off + 4}}]
    end
    for _ = 1, options.times or 1 do
      nisa.nc_matmul_mx {dst = out, stationary = a:view(nl.float8_e4m3fn_x4), moving = b:view(nl.float4_e2m1fn_x4),
        stationary_scale = s,
                         moving_scale = t, accumulate = options.accumulate}
    end
    return out
  end
end

local function twice(rows) return gen.map(rows, function(row) return gen.map(row, function(v) return 2 * v end) end) end

return {
  accept = {
    {"a part of the array, sums in bfloat16", target = "trn3", refused(function()
      return {tile_position = {64, 0}, tile_size = {64, 128}, dst = ps({4, 8}, nl.bfloat16)}
    end)},
    {"the whole of psum", target = "trn3", refused(function()
      return {dst = ps {4, 4096}, moving = sb({64, 4096}, nl.float8_e5m2_x4), moving_scale = sb({36, 4096}, nl.uint8)}
    end)},
  },
  reject = {
    {"err_op_generation", "needs gen4", target = "trn2", function()
      nisa.nc_matmul_mx(ps {4, 8}, sb({64, 4}, nl.uint32), sb({64, 8}, nl.uint32), sb({64, 4}, nl.uint8),
        sb({64, 8}, nl.uint8))
    end},
    {"err_num_partition_mismatch", "stationary and moving", target = "trn3",
     refused(function() return {moving = sb({32, 8}, nl.float8_e4m3fn_x4)} end)},
    {"err_shape_required", "stationary must have shape (P,n) with P a multiple of 32", target = "trn3",
     refused(function()
      return {stationary = sb({16, 4}, nl.float8_e4m3fn_x4), moving = sb({16, 8}, nl.float8_e4m3fn_x4)}
    end)},
    {"err_shape_required", "stationary must have shape (K,M) with M even", target = "trn3", refused(function()
      return {stationary = sb({64, 3}, nl.float8_e4m3fn_x4), stationary_scale = sb({64, 3}, nl.uint8), dst = ps {3, 8}}
    end)},
    {"err_size_of_dimension_exceed_arch_limit", "free size of stationary is 130", target = "trn3", refused(function()
      return {stationary = sb({64, 130}, nl.float8_e4m3fn_x4), stationary_scale = sb({64, 130}, nl.uint8),
        dst = ps {128, 8}}
    end)},
    {"err_size_of_dimension_exceed_arch_limit", "free size of moving is 4100", target = "trn3", refused(function()
      return {moving = sb({64, 4100}, nl.float8_e4m3fn_x4), moving_scale = sb({64, 4100}, nl.uint8)}
    end)},
    {"err_shape_required", "dst must have shape [4,8]", target = "trn3",
     refused(function() return {dst = ps {8, 4}} end)},
    {"err_shape_required", "stationary_scale must have shape [36..64,4]", target = "trn3",
     refused(function() return {stationary_scale = sb({8, 4}, nl.uint8)} end)},
    {"err_shape_required", "moving_scale must have shape [36..64,8]", target = "trn3",
     refused(function() return {moving_scale = sb({64, 2}, nl.uint8)} end)},
    {"err_instruction_invalid", "tile_position and tile_size are given together", target = "trn3",
     refused(function() return {tile_size = {64, 128}} end)},
    {"err_instruction_invalid", "the columns are 128 and start at 0", target = "trn3",
     refused(function() return {tile_size = {64, 64}, tile_position = {0, 64}} end)},
    {"err_instruction_invalid", "the first row is a multiple of the rows", target = "trn3",
     refused(function() return {tile_size = {64, 128}, tile_position = {32, 0}} end)},
    {"err_instruction_invalid", "stationary has more partitions than that", target = "trn3",
     refused(function() return {tile_size = {32, 128}, tile_position = {32, 0}} end)},
    {"err_instruction_invalid", "the rows are 32, 64 or 128", target = "trn3",
     refused(function() return {tile_size = {16, 128}, tile_position = {0, 0}} end)},
    {"err_unsupported_dtype", "stationary is", target = "trn3",
     refused(function() return {stationary = sb({64, 4}, nl.float8_e4m3fn)} end)},
    {"err_unsupported_memory", "dst must be in psum", target = "trn3",
     refused(function() return {dst = sb {4, 8}} end)},
  },
  numeric = {
    {"8-bit by 4-bit floats, compact scales", target = "trn3", inputs(32, 2, 3, 4), multiply {}, {product(32, 2, 3)}},
    {"four quadrants, scales in four of every 32 partitions", target = "trn3", inputs(128, 4, 5, 128), multiply {},
     {product(128, 4, 5)}},
    {"scales packed behind those of others", target = "trn3", inputs(32, 2, 3, 16, 12), multiply {off = 12},
     {product(32, 2, 3)}},
    {"a sum of two products, also in bfloat16", target = "trn3", inputs(32, 2, 2, 4), function(...)
      return multiply {times = 2} (...), nl.copy(multiply {times = 2, dtype = nl.bfloat16} (...), nl.float32)
    end, {twice(product(32, 2, 2)), nd.array(twice(product(32, 2, 2)), "bfloat16"):astype("float32")}},
    {"no sum with accumulate = false", target = "trn3", inputs(32, 2, 3, 4), multiply {times = 2, accumulate = false},
     {product(32, 2, 3)}},
  },
}
