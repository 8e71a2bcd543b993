-- nisa.bn_stats
local nisa = require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function stats(t)
  local out = sb {t.shape[0], 6}
  nisa.bn_stats(out, t)
  return out
end

return {
  accept = {
    {"512 elements in psum", function() nisa.bn_stats(ps {128, 6}, ps {128, 512}) end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and data", rule = "same_partitions",
     function() nisa.bn_stats(sb {8, 6}, sb {4, 8}) end},
    {"err_size_of_dimension_exceed_arch_limit", "free size of data is 513; the limit is 512",
     function() nisa.bn_stats(sb {4, 6}, sb {4, 513}) end},
    {"err_shape_required", "dst must have shape [4,6]", function() nisa.bn_stats(sb {4, 3}, sb {4, 8}) end},
  },
  numeric = {
    -- even elements 1, 3, 5, 7; odd ones 2, 2, 8, 0: (count, mean, count * variance) of each
    {"count, mean and count times variance of even and odd elements", {nd.array {{1, 2, 3, 2, 5, 8, 7, 0}}}, stats,
     {{{4, 4, 20, 4, 3, 36}}}},
    {"an odd number of elements", {nd.array {{1, 10, 3}, {-4, 6, 8}}}, stats,
     {{{2, 2, 2, 1, 10, 0}, {2, 2, 72, 1, 6, 0}}}},
    {"one element", {nd.array {{5}}}, function(t)
      local out = sb {1, 6}
      nisa.bn_stats(out, t)
      return out[{{}, {0, 4}}]
    end, {{{1, 5, 0, 0}}}},
    {"values far from zero without cancellation", {nd.array {{4097, 0, 4099, 0}}}, stats, {{{2, 4098, 2, 2, 0, 0}}}},
  },
}
