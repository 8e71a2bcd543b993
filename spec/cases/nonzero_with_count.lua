-- nisa.nonzero_with_count
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb = case.sbuf

local refused = case.calls(nisa.nonzero_with_count, function()
  return {dst = sb({32, 9}, nl.int32), src = sb {32, 8}}
end)

-- 32 partitions of which 0 and 16 count; the others hold 7.
local function spread(first, second, dtype)
  local rows = {}
  for p = 0, 31 do
    rows[p + 1] = {}
    for i = 1, #first do
      rows[p + 1][i] = p == 0 and first[i] or p == 16 and second[i] or 7
    end
  end
  return nd.array(rows, dtype)
end

local function compacted(options)
  return function(x)
    local all = {dst = sb({32, x.shape[1] + 1}, nl.int32), src = x}
    case.with(all, options)
    nisa.memset(all.dst, 7)
    nisa.nonzero_with_count(all)
    return all.dst
  end
end

return {
  accept = {{"one partition", target = "trn2",
    refused(function() return {dst = sb({1, 9}, nl.int32), src = sb({1, 8}, nl.int32)} end)}},
  reject = {
    {"err_op_generation", "needs gen3", refused(function() return {} end)},
    {"err_num_partition_mismatch", "dst and src", rule = "same_partitions", target = "trn2",
     refused(function() return {src = sb {16, 8}} end)},
    {"err_shape_required", "dst (indices and their number) must have shape [32,9]", target = "trn2",
     refused(function() return {dst = sb({32, 8}, nl.int32)} end)},
    {"err_unsupported_dtype", "dst is", target = "trn2", refused(function() return {dst = sb {32, 9}} end)},
  },
  numeric = {
    {"indices of nonzeros and their number, in every 16th partition", target = "trn2",
     {spread({0, 5, 0, -1}, {1, 1, 1, 1})}, compacted {},
     {spread({1, 3, -1, -1, 2}, {0, 1, 2, 3, 4}, "int32")}},
    {"an offset and another padding", target = "trn2", {spread({0, 0, 0, 0}, {0, 0, 0, 9}, "int32")},
     compacted {index_offset = 100, padding_val = -7},
     {spread({-7, -7, -7, -7, 0}, {103, -7, -7, -7, 1}, "int32")}},
    {"-0 is zero, NaN and the least number are not", target = "trn2",
     {spread({-0.0, 0 / 0, 2.0 ^ -149}, {0.0, -0.0, 0.0})}, compacted {},
     {spread({1, 2, -1, 2}, {-1, -1, -1, 0}, "int32")}},
  },
}
