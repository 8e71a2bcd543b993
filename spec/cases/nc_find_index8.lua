-- nisa.nc_find_index8
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local gen = require "spec.support.generators"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.nc_find_index8, function()
  return {dst = sb({4, 8}, nl.uint32), data = sb {4, 16}, vals = sb {4, 8}}
end)

local function found(dtype)
  return function(x, v)
    local out = sb({x.shape[0], 8}, dtype)
    nisa.nc_find_index8(out, x, v)
    return out
  end
end

local x = nd.array {{5, 7, 5, 9, 7, 5, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8}}
local v = nd.array {{5, 9, 5, 7, 5, 5, 100, 3}, {8, 7, 6, 5, 4, 3, 2, 0.5}}
return {
  accept = {{"data in psum",
    refused(function() return {data = ps {4, 16}, vals = ps {4, 8}, dst = sb({4, 8}, nl.uint16)} end)}},
  reject = {
    {"err_num_partition_mismatch", "dst and vals", rule = "same_partitions",
     refused(function() return {vals = sb {8, 8}} end)},
    {"err_shape_required", "data must have shape (P,n) with 8 to 16384",
     refused(function() return {data = sb {4, 4}} end)},
    {"err_shape_required", "vals must have shape [4,8]", refused(function() return {vals = sb {4, 4}} end)},
    {"err_shape_required", "dst must have shape [4,8]", refused(function() return {dst = sb({4, 4}, nl.uint32)} end)},
    {"err_unsupported_dtype", "dst is", refused(function() return {dst = sb({4, 8}, nl.int32)} end)},
  },
  numeric = {
    {"first occurrences, the next ones for equal values, all ones where there is none", {x, v}, found(nl.uint32),
     {nd.array({{0, 3, 2, 1, 5, 0xFFFFFFFF, 0xFFFFFFFF, 8}, {8, 7, 6, 5, 4, 3, 2, 0xFFFFFFFF}}, "uint32")}},
    {"in a long row",
     {nd.array {gen.rows(300, function(i) return i % 130 end)}, nd.array {{0, 129, 0, 63, 64, 0, 39, 500}}},
     found(nl.uint32), {nd.array({{0, 129, 130, 63, 64, 260, 39, 0xFFFFFFFF}}, "uint32")}},
    {"16-bit indices", {x, v}, found(nl.uint16),
     {nd.array({{0, 3, 2, 1, 5, 0xFFFF, 0xFFFF, 8}, {8, 7, 6, 5, 4, 3, 2, 0xFFFF}}, "uint16")}},
    {"after max8, the places of the largest", {x}, function(a)
      local most, at = sb {2, 8}, sb({2, 8}, nl.uint32)
      nisa.max8(most, a)
      nisa.nc_find_index8(at, a, most)
      return at
    end, {nd.array({{3, 1, 4, 0, 2, 5, 8, 7}, {8, 7, 6, 5, 4, 3, 2, 1}}, "uint32")}},
  },
}
