-- ncc.reduce_scatter
local nl, ncc = require "nki.language", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local sb, hbm = case.sbuf, case.hbm

local call = case.calls(ncc.reduce_scatter, function()
  return {srcs = {hbm {8, 8}}, dsts = {hbm {4, 8}}, replica_group = {{0, 1}, {2, 3}}, collective_dim = 0, op = nl.add}
end)

local x = {nd.array {{1, 2}, {3, 4}}, nd.array {{10, 20}, {30, 40}}, nd.array {{5, 5}, {5, 5}},
           nd.array {{-1, 9}, {9, -1}}}

return {
  accept = {
    {"tensors in hbm", call()},
    {"several at once", call(function() return {srcs = {hbm {8, 8}, hbm {6}}, dsts = {hbm {4, 8}, hbm {3}}} end)},
    {"tensors in sbuf", call(function() return {srcs = {sb {8, 8}}, dsts = {sb {4, 8}}, op = nl.minimum} end)},
  },
  reject = collective.all(collective.groups(call), collective.equal_groups(call), collective.paired(call, {8, 8}),
    collective.memory(call, {8, 8}, {4, 8}), collective.priority(call), collective.operators(call), {
    {"err_group_share", "dimension 0 of srcs is 9, which the 2 ranks of a group cannot share equally",
     call(function() return {srcs = {hbm {9, 8}}} end)},
    {"err_shape_required", "dsts must have shape [4,8]", call(function() return {dsts = {hbm {8, 4}}} end)},
    {"err_argument_value", "collective_dim is 1; srcs are shared out along dimension 0",
     call(function() return {collective_dim = 1} end)},
  }),
  numeric = {
    {"a slice of the sum for each rank of a group", ranks = 4, {x}, function(a)
      local out = case.shared({1, 2}, a.dtype)
      ncc.reduce_scatter({a}, {out}, {{0, 1}, {3, 2}}, 0, nl.add)
      return out
    end, {{{{11, 22}}, {{33, 44}}, {{14, 4}}, {{4, 14}}}}},
    {"in sbuf, the largest", ranks = 4, {x}, function(a)
      local out, t = case.shared({1, 2}, a.dtype), nl.ndarray({1, 2}, a.dtype)
      ncc.reduce_scatter({nl.load(a)}, {t}, {{0, 1}, {2, 3}}, 0, nl.maximum)
      nl.store(out, t)
      return out
    end, {{{{10, 20}}, {{30, 40}}, {{5, 9}}, {{9, 5}}}}},
  },
}
