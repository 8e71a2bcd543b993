-- nisa.select_reduce
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.select_reduce, function()
  return {dst = sb {4, 8}, predicate = sb({4, 8}, nl.uint8), on_true = sb {4, 8}, on_false = 0.0}
end)

local function select(options)
  return function(pred, x, extra)
    local out, most = sb(x.shape), sb {x.shape[0], 1}
    local all = {dst = out, predicate = pred, on_true = x, on_false = extra or -1.0, reduce_res = most,
                 reduce_cmd = nisa.reduce_cmd.reset_reduce}
    nisa.select_reduce(case.with(all, options))
    return out, most
  end
end

local pred = nd.array({{1, 0, 2, 0}, {0, 0, 0, 255}}, "uint8")
local x = nd.array {{1, 2, 3, 4}, {-5, -6, -7, -8}}
return {
  accept = {
    {"a predicate in psum", refused(function() return {predicate = ps({4, 8}, nl.uint8)} end)},
    {"a column as on_false", refused(function() return {on_false = ps {4, 1}} end)},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and predicate", rule = "same_partitions",
     refused(function() return {predicate = sb({8, 8}, nl.uint8)} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and on_true has 4", rule = "same_count",
     refused(function() return {on_true = sb {4, 4}} end)},
    {"err_both_in_psum", "predicate and on_true may not both be in psum", rule = "one_in_psum",
     refused(function() return {predicate = ps({4, 8}, nl.int8), on_true = ps {4, 8}} end)},
    {"err_unsupported_dtype", "on_true is", refused(function() return {on_true = sb({4, 8}, nl.int32)} end)},
    {"err_unsupported_dtype", "predicate is", refused(function() return {predicate = sb({4, 8}, nl.uint32)} end)},
    {"err_argument_value", "reduce_cmd is load_reduce; select_reduce has no initial value",
     refused(function() return {reduce_cmd = nisa.reduce_cmd.load_reduce} end)},
    {"err_operator_set", "reduce_op cannot be add", refused(function() return {reduce_op = nl.add} end)},
  },
  numeric = {
    {"values where the predicate holds, and their maximum", {pred, x}, select {},
     {{{1, -1, 3, -1}, {-1, -1, -1, -8}}, {{3}, {-1}}}},
    {"the reverse", {pred, x}, select {reverse_pred = true}, {{{-1, 2, -1, 4}, {-5, -6, -7, -1}}, {{4}, {-1}}}},
    {"a column per partition", {pred, x, nd.array {{100}, {-100}}}, select {},
     {{{1, 100, 3, 100}, {-100, -100, -100, -8}}, {{100}, {-8}}}},
    {"a maximum over two instructions", {pred, x}, function(p, a)
      local out, most = sb(a.shape), sb {2, 1}
      nisa.select_reduce {dst = out, predicate = p, on_true = a, on_false = -9.0,
        reduce_cmd = nisa.reduce_cmd.reset_reduce}
      nisa.select_reduce {dst = out, predicate = p, on_true = a, on_false = -9.5, reverse_pred = true,
        reduce_res = most,
                          reduce_cmd = nisa.reduce_cmd.reduce}
      return most
    end, {{{4}, {-5}}}},
    {"a register it leaves alone when idle", {pred, x}, function(p, a)
      local out, most = sb(a.shape), sb {2, 1}
      nisa.select_reduce {dst = out, predicate = p, on_true = a, on_false = -9.0,
        reduce_cmd = nisa.reduce_cmd.reset_reduce}
      nisa.select_reduce {dst = out, predicate = p, on_true = a, on_false = 50.0}
      nisa.select_reduce {dst = out, predicate = p, on_true = a, on_false = -9.0, reduce_res = most}
      return most
    end, {{{3}, {-8}}}},
  },
}
