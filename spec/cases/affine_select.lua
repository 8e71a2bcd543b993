-- nisa.affine_select
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb = case.sbuf

local function select(options)
  return function(t)
    local all = {dst = sb(t.shape), pattern = {{-1, 4}}, channel_multiplier = 1, on_true_tile = t,
      on_false_value = -9.0}
    nisa.affine_select(case.with(all, options))
    return all.dst
  end
end

local refused = case.calls(nisa.affine_select, function()
  return {dst = sb {4, 8}, pattern = {{-1, 8}}, channel_multiplier = 1, on_true_tile = sb {4, 8},
    on_false_value = 0.0}
end)

local x = nd.array {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}
return {
  accept = {
    {"its own tile", function()
      local t = sb {4, 8}
      nisa.affine_select(t, {{1, 8}}, 0, t, 0.0)
    end},
    {"each comparison", function()
      for _, op in ipairs {nl.equal, nl.not_equal, nl.less, nl.less_equal, nl.greater, nl.greater_equal} do
        refused(function() return {cmp_op = op} end)()
      end
    end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and on_true_tile", rule = "same_partitions",
     refused(function() return {on_true_tile = sb {8, 8}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and on_true_tile has 7", rule = "same_count",
     refused(function() return {on_true_tile = sb {4, 7}} end)},
    {"err_shape_required", "with the pattern's 4 elements per partition",
     refused(function() return {pattern = {{1, 4}}} end)},
    {"err_operator_set", "cmp_op cannot be add", refused(function() return {cmp_op = nl.add} end)},
    {"err_instruction_invalid", "the pattern's values leave int32",
     refused(function() return {offset = 2147483647} end)},
  },
  numeric = {
    {"a causal mask: row >= column", {x}, select {cmp_op = nl.greater_equal},
     {{{1, -9, -9, -9}, {5, 6, -9, -9}, {9, 10, 11, -9}}}},
    {"the diagonal", {x}, select {}, {{{1, -9, -9, -9}, {-9, 6, -9, -9}, {-9, -9, 11, -9}}}},
    {"off the diagonal", {x}, select {cmp_op = nl.not_equal, offset = 1},
     {{{1, -9, 3, 4}, {5, 6, -9, 8}, {9, 10, 11, -9}}}},
    {"below and above", {x}, function(t)
      return select {cmp_op = nl.less}(t), select {cmp_op = nl.greater}(t)
    end, {{{-9, 2, 3, 4}, {-9, -9, 7, 8}, {-9, -9, -9, 12}}, {{-9, -9, -9, -9}, {5, -9, -9, -9}, {9, 10, -9, -9}}}},
    {"at most", {x}, select {cmp_op = nl.less_equal}, {{{1, 2, 3, 4}, {-9, 6, 7, 8}, {-9, -9, 11, 12}}}},
  },
}
