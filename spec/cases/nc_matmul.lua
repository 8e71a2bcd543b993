-- nisa.nc_matmul
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function product(shape, options)
  return function(stationary, moving)
    local out = ps(shape)
    local all = {dst = out, stationary = stationary, moving = moving}
    nisa.nc_matmul(case.with(all, options))
    return out
  end
end

local function matmul(dst, stationary, moving, options)
  local all = {dst = dst, stationary = stationary, moving = moving}
  nisa.nc_matmul(case.with(all, options))
end

-- Small integers, so that every sum is exact: K = 3, M = 2, N = 4.
local st, mv = nd.array {{1, 2}, {3, 4}, {5, 6}}, nd.array {{1, 0, 2, -1}, {0, 1, 1, 1}, {2, 0, 0, 3}}
local want = st:transpose():matmul(mv)

local numeric = {
  {"unequal K, M and N", {st, mv}, product {2, 4}, {want}},
  {"free axes flattened", {st:reshape {3, 1, 2}, mv:reshape {3, 2, 2}}, product {2, 4}, {want}},
  {"the largest sizes", {nd.arange(128 * 128):map(function(v) return v % 7 - 3 end):reshape {128, 128},
                         nd.arange(128 * 512):map(function(v) return v % 5 - 2 end):reshape {128, 512}},
                           product {128, 512},
   {nd.arange(128 * 128):map(function(v) return v % 7 - 3 end):reshape({128, 128}):transpose():matmul(
     nd.arange(128 * 512):map(function(v) return v % 5 - 2 end):reshape {128, 512})}},
  {"the first write overwrites, later ones add", {st, mv}, function(a, b)
    local out = ps {2, 4}
    for _ = 1, 3 do
      nisa.nc_matmul(out, a, b)
    end
    return out
  end, {want * 3}},
  {"an overwrite in the middle", {st, mv}, function(a, b)
    local out = ps {2, 4}
    matmul(out, a, b)
    matmul(out, a, b, {accumulate = false})
    matmul(out, a, b, {accumulate = true})
    return out
  end, {want * 2}},
  {"accumulation by location", {st, mv}, function(a, b)
    local out = ps {2, 4}
    nisa.nc_matmul(out[{{}, {0, 2}}], a, b[{{}, {0, 2}}])
    nisa.nc_matmul(out, a, b) -- adds to the left half, starts the right one
    return out
  end, {want * nd.array {2, 2, 1, 1}}},
  {"a new start of the columns that another instruction wrote", {st, mv}, function(a, b)
    local out = ps {2, 4}
    nisa.nc_matmul(out, a, b)
    nisa.memset(out[":, 1::2"], 7.0)
    nisa.nc_matmul(out, a, b)
    return out
  end, {want * nd.array {2, 1, 2, 1}}},
  {"a new start after another instruction wrote", {st, mv}, function(a, b)
    local out = ps {2, 4}
    nisa.nc_matmul(out, a, b)
    nisa.memset(out, 100)
    nisa.nc_matmul(out, a, b)
    return out
  end, {want}},
  {"a transpose by is_transpose", {mv, nd.array {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, function(data, identity)
    local out = ps {4, 3}
    matmul(out, data, identity, {is_transpose = true})
    return out
  end, {mv:transpose()}},
  {"part of the array", {st, mv}, product({2, 4}, {tile_position = {64, 0}, tile_size = {64, 128}}), {want}},
  {"two rows at a time on gen3", {st:reshape({3, 2, 1}):astype "float8_e4m3",
   mv:reshape({3, 2, 2}):astype "float8_e5m2"}, target = "trn2",
   function(a, b)
     local out = ps {1, 2}
     matmul(out, a, b, {perf_mode = nisa.matmul_perf_mode.double_row})
     return out
   end, {{{1 * 1 + 2 * 2 + 3 * 0 + 4 * 1 + 5 * 2 + 6 * 0, 1 * 0 + 2 * -1 + 3 * 1 + 4 * 1 + 5 * 0 + 6 * 3}}}},
}
for _, dtype in ipairs {"bfloat16", "float16", "float8_e4m3", "float8_e5m2", "tfloat32"} do
  numeric[#numeric + 1] = {dtype .. " operands by value, not by bits", {st:astype(dtype), mv:astype(dtype)},
    product {2, 4}, {want}}
end

return {
  accept = {
    {"8-bit by 16-bit floats", function() nisa.nc_matmul(ps {4, 8}, sb({16, 4}, nl.float8_e5m2),
     sb({16, 8}, nl.bfloat16)) end},
    {"hints", function()
      matmul(ps {4, 8}, sb {16, 4}, sb {16, 8}, {is_stationary_onezero = true, is_moving_onezero = true})
    end},
    {"a whole psum partition on gen4", target = "trn3", function()
      nisa.nc_matmul(ps {4, 4096}, sb {16, 4}, sb {16, 4096})
    end},
    {"float8_e4m3fn on gen4", target = "trn3", function()
      nisa.nc_matmul(ps {4, 8}, sb({16, 4}, nl.float8_e4m3fn), sb({16, 8}, nl.float8_e4m3fn))
    end},
  },
  reject = {
    {"err_num_partition_mismatch", "stationary and moving",
     function() nisa.nc_matmul(ps {4, 8}, sb {16, 4}, sb {32, 8}) end},
    {"err_size_of_dimension_exceed_arch_limit", "free size of stationary is 129; the limit is 128",
     function() nisa.nc_matmul(ps {128, 8}, sb {16, 129}, sb {16, 8}) end},
    {"err_size_of_dimension_exceed_arch_limit", "free size of moving is 513; the limit is 512",
     function() nisa.nc_matmul(ps {4, 513}, sb {16, 4}, sb {16, 513}) end},
    {"err_shape_required", "dst must have shape [4,8]",
     function() nisa.nc_matmul(ps {8, 4}, sb {16, 4}, sb {16, 8}) end},
    {"err_unsupported_memory", "dst must be in psum", function() nisa.nc_matmul(sb {4, 8}, sb {16, 4}, sb {16, 8}) end},
    {"err_unsupported_memory", "stationary must be in sbuf",
     function() nisa.nc_matmul(ps {4, 8}, ps {16, 4}, sb {16, 8}) end},
    {"err_unsupported_dtype", "moving is", function() nisa.nc_matmul(ps {4, 8}, sb {16, 4}, sb({16, 8}, nl.int8)) end},
    {"err_unsupported_dtype", "stationary is", function()
      nisa.nc_matmul(ps {4, 8}, sb({16, 4}, nl.float8_e4m3fn), sb({16, 8}, nl.bfloat16))
    end},
    {"err_unsupported_dtype", "dst is bfloat16",
     function() nisa.nc_matmul(ps({4, 8}, nl.bfloat16), sb {16, 4}, sb {16, 8}) end},
    {"err_unsupported_dtype", "dst (is_transpose) is float32", target = "trn2", function()
      matmul(ps {4, 16}, sb({16, 4}, nl.bfloat16), sb({16, 16}, nl.bfloat16), {is_transpose = true})
    end},
    {"err_instruction_invalid", "float32 and tfloat32 pair with each other only",
     function() nisa.nc_matmul(ps {4, 8}, sb {16, 4}, sb({16, 8}, nl.bfloat16)) end},
    {"err_instruction_invalid", "float8_e4m3 and float8_e4m3fn never go together", target = "trn3",
     function() nisa.nc_matmul(ps {4, 8}, sb({16, 4}, nl.float8_e4m3), sb({16, 8}, nl.float8_e4m3fn)) end},
    {"err_instruction_invalid", "perf_mode double_row takes 8-bit floats", target = "trn2", function()
      matmul(ps {4, 8}, sb({16, 2, 4}, nl.bfloat16), sb({16, 2, 8}, nl.bfloat16),
        {perf_mode = nisa.matmul_perf_mode.double_row})
    end},
    {"err_shape_required", "stationary (double_row) must have shape [k,2,n]", target = "trn2", function()
      matmul(ps {4, 8}, sb({16, 8}, nl.float8_e5m2), sb({16, 2, 8}, nl.float8_e5m2),
        {perf_mode = nisa.matmul_perf_mode.double_row})
    end},
    {"err_shape_required", "moving (double_row) must have shape [k,2,n]", target = "trn2", function()
      matmul(ps {4, 8}, sb({16, 2, 4}, nl.float8_e5m2), sb({16, 4, 4}, nl.float8_e5m2),
        {perf_mode = nisa.matmul_perf_mode.double_row})
    end},
    {"err_argument_generation", "perf_mode double_row needs gen3", function()
      matmul(ps {4, 8}, sb({16, 2, 4}, nl.float8_e5m2), sb({16, 2, 8}, nl.float8_e5m2),
        {perf_mode = nisa.matmul_perf_mode.double_row})
    end},
    {"err_instruction_invalid", "double_row does not transpose", target = "trn2", function()
      matmul(ps {4, 8}, sb({16, 2, 4}, nl.float8_e5m2), sb({16, 2, 8}, nl.float8_e5m2),
             {perf_mode = nisa.matmul_perf_mode.double_row, is_transpose = true})
    end},
    {"err_instruction_invalid", "tile_position and tile_size are given together",
     function() matmul(ps {4, 8}, sb {16, 4}, sb {16, 8}, {tile_position = {0, 0}}) end},
    {"err_instruction_invalid", "tile_size has 32 rows; legal are 64 or 128",
     function() matmul(ps {4, 8}, sb {16, 4}, sb {16, 8}, {tile_position = {0, 0}, tile_size = {32, 128}}) end},
    {"err_instruction_invalid", "tile_position rows 32 must be a multiple of tile_size 64",
     function() matmul(ps {4, 8}, sb {16, 4}, sb {16, 8}, {tile_position = {32, 0}, tile_size = {64, 128}}) end},
    {"err_instruction_invalid", "65 rows of stationary do not fit tile_size 64",
     function() matmul(ps {4, 8}, sb {65, 4}, sb {65, 8}, {tile_position = {0, 0}, tile_size = {64, 128}}) end},
    {"err_instruction_invalid", "double_row uses all 128 columns", target = "trn2", function()
      matmul(ps {4, 8}, sb({16, 2, 4}, nl.float8_e5m2), sb({16, 2, 8}, nl.float8_e5m2),
             {perf_mode = nisa.matmul_perf_mode.double_row, tile_position = {0, 0}, tile_size = {128, 64}})
    end},
    {"err_psum_bank", "more than one bank of 2048 bytes", function()
      nisa.nc_matmul(ps {4, 1024}[{{}, {256, 768}}], sb {16, 4}, sb {16, 512})
    end},
  },
  numeric = numeric,
}
