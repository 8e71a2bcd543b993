-- nisa.bn_aggr
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function merged(t)
  local out = sb {t.shape[0], 2}
  nisa.bn_aggr(out, t)
  return out
end

return {
  accept = {
    {"psum", function() nisa.bn_aggr(ps {4, 2}, ps {4, 9}) end},
    {"dtypes of all kinds", function() nisa.bn_aggr(sb({4, 2}, nl.bfloat16), sb {4, 3}) end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and data", rule = "same_partitions",
     function() nisa.bn_aggr(sb {8, 2}, sb {4, 6}) end},
    {"err_shape_required", "data must have shape of (count, mean, count*variance) triples",
     function() nisa.bn_aggr(sb {4, 2}, sb {4, 8}) end},
    {"err_shape_required", "dst must have shape [4,2]", function() nisa.bn_aggr(sb {4, 1}, sb {4, 6}) end},
  },
  numeric = {
    {"one triple", {nd.array {{4, 3, 36}}}, merged, {{{3, 9}}}},
    -- {1, 3, 5, 7} and {2, 2, 8, 0}: mean 3.5, squares around it 57
    {"two triples", {nd.array {{4, 4, 20, 4, 3, 36}}}, merged, {{{3.5, 7.25}}}},
    {"triples of unequal counts", {nd.array {{3, 1, 6, 1, 9, 0}}}, merged, {{{3, 13.5}}}}, -- (6 + 3*4 + 36) / 4
    {"what bn_stats makes of chunks", {nd.arange(12):reshape {1, 12}}, function(t)
      local stats, out = sb {1, 12}, sb {1, 2}
      nisa.bn_stats(stats[{{}, {0, 6}}], t[{{}, {0, 8}}])
      nisa.bn_stats(stats[{{}, {6, 12}}], t[{{}, {8, 12}}])
      nisa.bn_aggr(out, stats)
      return out
    end, {nd.array {{5.5, 143 / 12}}}, tolerance = {rtol = 2e-7}},
  },
}
