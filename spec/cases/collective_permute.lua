-- ncc.collective_permute
local nl, ncc = require "nki.language", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local hbm = case.hbm

local call = case.calls(ncc.collective_permute, function()
  return {srcs = {hbm {4, 8}}, dsts = {hbm {4, 8}}, source_target_pairs = {{0, 1}, {1, 0}}}
end)

return {
  accept = {
    {"a swap", call()},
    {"a rank to itself", call(function() return {source_target_pairs = {{5, 5}}} end)},
    {"a priority", target = "trn3", call(function() return {priority = 1} end)},
  },
  reject = collective.all(collective.paired(call, {4, 8}), collective.one_tensor(call, {4, 8}, {4, 8}),
    collective.hbm_only(call, {4, 8}), collective.priority(call), {
    {"err_instruction_invalid", "rank 0 is the source of two pairs", rule = "routes_once",
     call(function() return {source_target_pairs = {{0, 1}, {0, 2}}} end)},
    {"err_instruction_invalid", "rank 2 is the target of two pairs", rule = "routes_once",
     call(function() return {source_target_pairs = {{0, 2}, {1, 2}}} end)},
    {"err_argument_range", "source_target_pairs is -1", call(function() return {source_target_pairs = {{-1, 2}}} end)},
    {"err_bind_kind", "a list of {source, target} pairs", call(function() return {source_target_pairs = {}} end)},
    {"err_shape_required", "dsts must have shape [4,8]", rule = "same_shapes",
     call(function() return {dsts = {hbm {8, 4}}} end)},
  }),
  numeric = {
    {"each target gets its source's; rank 0 is no target and rank 3 in no pair", ranks = 4,
     {{nd.array {{1}}, nd.array {{2}}, nd.array {{3}}, nd.array {{4}}}}, function(a)
      local out = case.shared({1, 1}, a.dtype)
      nl.store(out, nl.zeros({1, 1}, a.dtype))
      ncc.collective_permute({a}, {out}, {{0, 2}, {2, 1}})
      return out
    end, {{{{0}}, {{3}}, {{1}}, {{0}}}}},
    {"in place", ranks = 2, {{nd.array {{1}}, nd.array {{2}}}}, function(a)
      local out = case.shared({1, 1}, a.dtype)
      nl.store(out, nl.load(a))
      ncc.collective_permute {srcs = {out}, dsts = {out}, source_target_pairs = {{0, 1}, {1, 0}}}
      return out
    end, {{{{2}}, {{1}}}}},
  },
}
