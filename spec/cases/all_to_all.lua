-- ncc.all_to_all
local nl, ncc = require "nki.language", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local hbm = case.hbm

local call = case.calls(ncc.all_to_all, function()
  return {srcs = {hbm {8, 8}}, dsts = {hbm {8, 8}}, replica_group = {{0, 1}, {2, 3}}, collective_dim = 0}
end)

return {
  accept = {
    {"tensors in hbm", call()},
    {"several at once", call(function() return {srcs = {hbm {8, 8}, hbm {6}}, dsts = {hbm {8, 8}, hbm {6}}} end)},
    {"packed elements", target = "trn3", call(function()
      local x4 = nl.float8_e4m3fn_x4
      return {srcs = {hbm({2, 8}, x4)}, dsts = {hbm({2, 8}, x4)}, priority = 2}
    end)},
  },
  reject = collective.all(collective.groups(call), collective.equal_groups(call), collective.paired(call, {8, 8}),
    collective.hbm_only(call, {8, 8}), collective.priority(call), {
    {"err_shape_required", "dsts must have shape [8,8]", rule = "same_shapes",
     call(function() return {dsts = {hbm {4, 16}}} end)},
    {"err_group_share", "dimension 0 of srcs is 9, which the 2 ranks of a group cannot share equally",
     call(function() return {srcs = {hbm {9, 8}}, dsts = {hbm {9, 8}}} end)},
    {"err_argument_value", "collective_dim is 1; slices are taken along dimension 0",
     call(function() return {collective_dim = 1} end)},
  }),
  numeric = {
    {"slices change places within groups", ranks = 4,
     {{nd.array {{1}, {2}}, nd.array {{3}, {4}}, nd.array {{5}, {6}}, nd.array {{7}, {8}}}}, function(a)
      local out = case.shared({2, 1}, a.dtype)
      ncc.all_to_all({a}, {out}, {{0, 1}, {3, 2}}, 0)
      return out
    end, {{{{1}, {3}}, {{2}, {4}}, {{8}, {6}}, {{7}, {5}}}}},
  },
}
