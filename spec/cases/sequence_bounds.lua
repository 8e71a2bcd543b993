-- nisa.sequence_bounds
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb = case.sbuf

local refused = case.calls(nisa.sequence_bounds, function() return {dst = sb {1, 2, 9}, segment_ids = sb {1, 9}} end)

local function bounds(dtype)
  return function(ids)
    local out = sb({1, 2, ids.shape[1]}, dtype)
    nisa.sequence_bounds(out, ids)
    return out
  end
end

local start, stop = {9, 1, 1, 3, 3, 3, 9, 7, 7}, {-1, 3, 3, 6, 6, 6, -1, 9, 9}
local ids = {{0, 1, 1, 2, 2, 2, 0, 3, 3}}
return {
  accept = {{"ids in two dimensions", refused(function()
    return {dst = sb {1, 2, 3, 3}, segment_ids = sb {1, 3, 3}}
  end)},
            {"one id", refused(function() return {dst = sb {1, 2}, segment_ids = sb {1, 1}} end)}},
  reject = {
    {"err_num_partition_mismatch", "dst and segment_ids", rule = "same_partitions",
     refused(function() return {dst = sb {2, 2, 9}} end)},
    {"err_shape_required", "segment_ids must have shape (1,n)",
     refused(function() return {dst = sb {2, 2, 9}, segment_ids = sb {2, 9}} end)},
    {"err_shape_required", "dst (starts, then ends) must have shape [1,2,9]",
     refused(function() return {dst = sb {1, 2, 8}} end)},
    {"err_shape_required", "dst (starts, then ends) must have shape [1,2,9]",
     refused(function() return {dst = sb {1, 18}} end)},
    {"err_shape_required", "dst (starts, then ends) must have shape [1,2,9]",
     refused(function() return {dst = sb {1, 9, 2}} end)},
    {"err_unsupported_dtype", "segment_ids is", refused(function() return {segment_ids = sb({1, 9}, nl.int16)} end)},
  },
  numeric = {
    {"runs of ids; none for 0", {nd.array(ids, "int32")}, bounds(nl.int32), {nd.array({{start, stop}}, "int32")}},
    {"as floats", {nd.array(ids)}, bounds(nl.float32), {nd.array {{start, stop}}}},
    {"an id that comes back starts a new run", {nd.array({{1, 1, 2, 1}}, "int32")}, bounds(nl.int32),
     {nd.array({{{0, 0, 2, 3}, {2, 2, 3, 4}}}, "int32")}},
    {"ids that float32 cannot tell apart", {nd.array({{16777216, 16777217}}, "int32")}, bounds(nl.int32),
     {nd.array({{{0, 1}, {1, 2}}}, "int32")}},
  },
}
