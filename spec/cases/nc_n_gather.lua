-- nisa.nc_n_gather
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.nc_n_gather, function()
  return {dst = sb {4, 6}, data = sb {4, 8}, indices = sb({4, 6}, nl.uint32)}
end)

local function gathered(x, index)
  local out = sb(index.shape, x.dtype)
  nisa.nc_n_gather(out, x, index)
  return out
end

local index = nd.array({{3, 3, 0}, {1, 2, 0}}, "uint32")
return {
  accept = {{"8-bit data of rank 3",
    refused(function() return {data = sb({4, 2, 8}, nl.uint8), dst = sb({4, 2, 3}, nl.uint8)} end)}},
  reject = {
    {"err_num_partition_mismatch", "dst and data", rule = "same_partitions",
     refused(function() return {data = sb {8, 8}} end)},
    {"err_num_elements_mismatch", "dst has 6 elements per partition and indices has 4", rule = "same_count",
     refused(function() return {indices = sb({4, 4}, nl.uint32)} end)},
    {"err_dtype_mismatch", "dst and data", rule = "same_dtype",
     refused(function() return {data = sb({4, 8}, nl.int32)} end)},
    {"err_unsupported_dtype", "indices is", refused(function() return {indices = sb({4, 6}, nl.int32)} end)},
    {"err_unsupported_memory", "data must be in sbuf", refused(function() return {data = ps {4, 8}} end)},
  },
  numeric = {
    {"elements of each partition", {nd.array {{10, 11, 12, 13}, {20, 21, 22, 23}}, index}, gathered,
     {{{13, 13, 10}, {21, 22, 20}}}},
    {"over flattened free dimensions", {nd.array({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, "int16"), index}, gathered,
     {nd.array({{4, 4, 1}, {6, 7, 5}}, "int16")}},
    {"in place", {nd.array {{10, 11, 12}, {20, 21, 22}}, nd.array({{2, 0, 0}, {1, 1, 0}}, "uint32")}, function(x, i)
      nisa.nc_n_gather(x, x, i)
      return x
    end, {{{12, 10, 10}, {21, 21, 20}}}},
  },
}
