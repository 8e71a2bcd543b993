-- nisa.nc_match_replace8
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.nc_match_replace8, function()
  return {dst = sb {4, 16}, data = sb {4, 16}, vals = sb {4, 8}, imm = 0.0}
end)

local function replaced(imm, dtype)
  return function(x, v)
    local out, at = sb(x.shape, dtype), sb({x.shape[0], 8}, nl.uint32)
    nisa.nc_match_replace8(out, x, v, imm, at)
    return out, at
  end
end

return {
  accept = {
    {"tiles of rank 5 in psum",
     refused(function() return {data = ps {4, 2, 2, 2, 2}, dst = ps {4, 16}, vals = ps {4, 8}} end)},
  },
  reject = {
    {"err_exceed_max_supported_dimension", "nisa.nc_match_replace8: data = sbuf_3[4,1,2,2,2,2]", rule = "rank5",
     refused(function() return {data = sb {4, 1, 2, 2, 2, 2}} end)},
    {"err_num_partition_mismatch", "dst and dst_idx", rule = "same_partitions",
     refused(function() return {dst_idx = sb({8, 8}, nl.uint16)} end)},
    {"err_num_elements_mismatch", "dst has 16 elements per partition and data has 8", rule = "same_count",
     refused(function() return {data = sb {4, 8}} end)},
    {"err_shape_required", "data must have shape (P,n) with 8 to 16384",
     refused(function() return {data = sb {4, 4}, dst = sb {4, 4}} end)},
    {"err_shape_required", "vals must have shape [4,8]", refused(function() return {vals = sb {4, 4}} end)},
    {"err_shape_required", "dst_idx must have shape [4,8]",
     refused(function() return {dst_idx = sb({4, 4}, nl.uint32)} end)},
  },
  numeric = {
    {"from the last value to the first: the highest column takes the smallest position",
     {nd.array {{1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8}}, nd.array {{3, 8, 8, 8, 8, 8, 8, 8}}}, replaced(0.0),
     {{{1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0}}, nd.array({{2, 10, 9, 8, 7, 6, 5, 4}}, "uint32")}},
    {"what is not there is left out", {nd.array {{1, 2, 1, 4, 5, 6, 7, 8}}, nd.array {{1, 1, 1, 9, 9, 9, 9, 4}}},
     replaced(-math.huge),
     {{{-math.huge, 2, -math.huge, -math.huge, 5, 6, 7, 8}},
      nd.array({{0xFFFFFFFF, 2, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 3}}, "uint32")}},
    {"an element is taken once, also when imm equals it",
     {nd.array {{5, 5, 1, 1, 1, 1, 1, 1}}, nd.array {{5, 5, 9, 9, 9, 9, 9, 9}}}, replaced(5.0),
     {{{5, 5, 1, 1, 1, 1, 1, 1}},
      nd.array({{1, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}, "uint32")}},
    {"another dtype", {nd.array {{1.4, 2, 3, 4, 5, 6, 7, 8}}, nd.array {{2, 9, 9, 9, 9, 9, 9, 9}}}, function(x, v)
      local out = sb(x.shape, nl.int8)
      nisa.nc_match_replace8(out, x, v, -3.0)
      return out
    end, {nd.array({{1, -3, 3, 4, 5, 6, 7, 8}}, "int8")}},
    {"in place, twice: the sixteen largest are gone",
     {nd.array {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}}}, function(x)
      local most = sb {1, 8}
      for _ = 1, 2 do
        nisa.max8(most, x)
        nisa.nc_match_replace8(x, x, most, 0.0)
      end
      return x
    end, {{{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}},
  },
}
