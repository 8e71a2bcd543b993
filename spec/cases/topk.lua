-- nisa.topk
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb = case.sbuf

local refused = case.calls(nisa.topk, function()
  return {val_dst = sb({16, 4}, nl.bfloat16), idx_dst = sb({16, 4}, nl.uint32), src = sb({16, 2}, nl.bfloat16),
    n = 20}
end)

-- Element e of core c at partition 16 c + e mod 16, column e div 16, is f(e, c).
local function snake(cores, columns, f)
  local rows = {}
  for p = 0, 16 * cores - 1 do
    rows[p + 1] = {}
    for j = 0, columns - 1 do
      rows[p + 1][j + 1] = f(16 * j + p % 16, p // 16)
    end
  end
  return nd.array(rows, "bfloat16")
end

local function each_partition(cores, dtype, row)
  local rows = {}
  for p = 0, 16 * cores - 1 do
    rows[p + 1] = row(p // 16)
  end
  return nd.array(rows, dtype)
end

local function top(n, k)
  return function(x)
    local val, idx = sb({x.shape[0], k}, nl.bfloat16), sb({x.shape[0], k}, nl.uint32)
    nisa.topk(val, idx, x, n)
    return val, idx
  end
end

return {
  accept = {{"all elements", refused(function()
    return {val_dst = sb({16, 32}, nl.bfloat16), idx_dst = sb({16, 32}, nl.uint32), n = 32}
  end)}},
  reject = {
    {"err_num_partition_mismatch", "val_dst and src", rule = "same_partitions",
     refused(function() return {src = sb({32, 2}, nl.bfloat16)} end)},
    {"err_num_elements_mismatch", "val_dst has 4 elements per partition and idx_dst has 5", rule = "same_count",
     refused(function() return {idx_dst = sb({16, 5}, nl.uint32)} end)},
    {"err_shape_required", "src must have shape (P,m) with P a multiple of 16", refused(function()
      return {val_dst = sb({8, 4}, nl.bfloat16), idx_dst = sb({8, 4}, nl.uint32), src = sb({8, 2}, nl.bfloat16)}
    end)},
    {"err_shape_required", "with 16*m elements, at least n = 33", refused(function() return {n = 33} end)},
    {"err_shape_required", "(P,K) with K at most n = 8", refused(function()
      return {n = 8, val_dst = sb({16, 9}, nl.bfloat16), idx_dst = sb({16, 9}, nl.uint32)}
    end)},
    {"err_argument_range", "n is 7", refused(function() return {n = 7} end)},
    {"err_unsupported_dtype", "src is", refused(function() return {src = sb {16, 2}} end)},
  },
  numeric = {
    {"the largest of two cores, ascending, with their numbers",
     {snake(2, 2, function(e, c) return c == 0 and (e * 7) % 31 or -e end)}, top(31, 3),
     {each_partition(2, "bfloat16", function(c) return c == 0 and {28, 29, 30} or {-2, -1, 0} end),
      each_partition(2, "uint32", function(c) return c == 0 and {4, 13, 22} or {2, 1, 0} end)}},
    {"of equal elements the first counts as larger; NaN is the largest",
     {snake(1, 1, function(e) return e == 9 and 0 / 0 or e % 4 end)}, top(12, 5),
     {each_partition(1, "bfloat16", function() return {2, 3, 3, 3, 0 / 0} end),
      each_partition(1, "uint32", function() return {2, 11, 7, 3, 9} end)}},
    {"all of them, sorted", {snake(1, 1, function(e) return 7 - e end)}, top(8, 8),
     {each_partition(1, "bfloat16", function() return {0, 1, 2, 3, 4, 5, 6, 7} end),
      each_partition(1, "uint32", function() return {7, 6, 5, 4, 3, 2, 1, 0} end)}},
  },
}
