-- nisa.tensor_copy_predicated
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function mask() return sb({4, 8}, nl.uint8) end
local x, y = nd.array {{1, 2, 3, 4}}, nd.array {{10, 20, 30, 40}}
local some = nd.array({{1, 0, 255, 0}}, "uint8")

return {
  accept = {
    {"a number for src", function() nisa.tensor_copy_predicated(sb {4, 8}, 1.0, mask()) end},
    {"src or predicate in psum", function()
      nisa.tensor_copy_predicated(sb {4, 8}, ps {4, 8}, mask())
      nisa.tensor_copy_predicated(ps {4, 8}, sb {4, 8}, ps({4, 8}, nl.uint32))
    end},
    {"shapes of the same count", function() nisa.tensor_copy_predicated(sb {4, 2, 4}, sb {4, 8}, mask()) end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and src", rule = "same_partitions",
     function() nisa.tensor_copy_predicated(sb {4, 8}, sb {8, 8}, mask()) end},
    {"err_num_elements_mismatch", "dst has 9 elements per partition and predicate has 8", rule = "same_count",
     function() nisa.tensor_copy_predicated(sb {4, 9}, sb {4, 9}, mask()) end},
    {"err_dtype_mismatch", "dst and src must have the same dtype", rule = "same_dtype",
     function() nisa.tensor_copy_predicated(sb {4, 8}, sb({4, 8}, nl.bfloat16), mask()) end},
    {"err_both_in_psum", "src and predicate", rule = "one_in_psum",
     function() nisa.tensor_copy_predicated(sb {4, 8}, ps {4, 8}, ps({4, 8}, nl.uint8)) end},
    {"err_unsupported_dtype", "predicate is",
     function() nisa.tensor_copy_predicated(sb {4, 8}, sb {4, 8}, sb {4, 8}) end},
  },
  numeric = {
    {"src where the predicate is nonzero, else what was there", {x, y, some}, function(dst, src, p)
      nisa.tensor_copy_predicated(dst, src, p)
      return dst
    end, {{{10, 2, 30, 4}}}},
    {"the other ones when reversed", {x, y, some}, function(dst, src, p)
      nisa.tensor_copy_predicated {dst = dst, src = src, predicate = p, reverse_pred = true}
      return dst
    end, {{{1, 20, 3, 40}}}},
    {"a number", {x, some}, function(dst, p)
      nisa.tensor_copy_predicated(dst, -1, p)
      return dst
    end, {{{-1, 2, -1, 4}}}},
    {"a predicate of 4 bytes", {x, y, nd.array({{0, 1 << 31, 256, 0}}, "uint32")}, function(dst, src, p)
      nisa.tensor_copy_predicated(dst, src, p)
      return dst
    end, {{{1, 20, 30, 4}}}},
  },
}
