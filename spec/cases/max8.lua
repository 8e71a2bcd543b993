-- nisa.max8
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local gen = require "spec.support.generators"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.max8, function() return {dst = sb {4, 8}, src = sb {4, 16}} end)

local function top(x)
  local out = sb {x.shape[0], 8}
  nisa.max8(out, x)
  return out
end

local nan = 0 / 0

-- A row of n elements: `rest`, but for those that `some` gives by index.
local function long(n, rest, some)
  local row = {}
  for i = 0, n - 1 do row[i + 1] = some[i] or rest end
  return nd.array {row}
end

return {
  accept = {
    {"integers in psum, a rank of 3",
     refused(function() return {src = ps({4, 2, 8}, nl.int32), dst = ps({4, 8}, nl.int32)} end)},
    {"a rank of 5", refused(function() return {src = sb {4, 2, 2, 2, 2}} end)},
    {"the least and the largest size", function()
      nisa.max8(sb {4, 8}, sb {4, 8})
      nisa.max8(sb {4, 8}, sb {4, 16384})
    end},
  },
  reject = {
    {"err_exceed_max_supported_dimension", "has 6 dimensions; at most 5 are supported", rule = "rank5",
     refused(function() return {src = sb {4, 2, 2, 2, 2, 2}} end)},
    {"err_num_partition_mismatch", "dst and src", rule = "same_partitions",
     refused(function() return {dst = sb {8, 8}} end)},
    {"err_shape_required", "src must have shape (P,n) with 8 to 16384",
     refused(function() return {src = sb {4, 7}} end)},
    {"err_shape_required", "src must have shape (P,n) with 8 to 16384",
     refused(function() return {src = sb {4, 16385}} end)},
    {"err_shape_required", "dst must have shape [4,8]", refused(function() return {dst = sb {4, 16}} end)},
  },
  numeric = {
    {"the largest in order, equal ones counted",
     {nd.array {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, {0, 0, 0, 0, -1, -2, -3, -4, -5, -6}}}, top,
     {{{9, 6, 5, 5, 4, 3, 3, 2}, {0, 0, 0, 0, -1, -2, -3, -4}}}},
    {"infinities, and NaN above all", {nd.array {{1, 2, nan, -math.huge, math.huge, 3, 4, 5, 6}}}, top,
     {{{nan, math.huge, 6, 5, 4, 3, 2, 1}}}},
    {"a long row: few stand out, anywhere, NaN and the larger zero too",
     {long(400, -0.0, {[63] = 2, [64] = 3, [127] = 1, [128] = 0.0, [200] = nan, [321] = -5, [383] = 3, [399] = 7})},
     top,
     {{{nan, 7, 3, 3, 2, 1, 0.0, -0.0}}}},
    {"a long row below its first eight, and one that rises to its end",
     {nd.array {gen.rows(200, function(i) return -i end), gen.rows(200, function(i) return i end)}}, top,
     {{{-0.0, -1, -2, -3, -4, -5, -6, -7}, {199, 198, 197, 196, 195, 194, 193, 192}}}},
    {"all of eight, in place", {nd.array {{1, 2, 3, 4, 5, 6, 7, 8}}}, function(x)
      nisa.max8(x, x)
      return x
    end, {{{8, 7, 6, 5, 4, 3, 2, 1}}}},
  },
}
