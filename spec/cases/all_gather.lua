-- ncc.all_gather
local nl, ncc = require "nki.language", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local sb, hbm = case.sbuf, case.hbm

local call = case.calls(ncc.all_gather, function()
  return {srcs = {hbm {4, 8}}, dsts = {hbm {8, 8}}, replica_group = {{0, 1}, {3, 2}}, collective_dim = 0}
end)

local x = {nd.array {{1, 2}}, nd.array {{3, 4}}, nd.array {{5, 6}}, nd.array {{7, 8}}}
local function in_sbuf(dim, shape)
  return function(a)
    local out, t = case.shared(shape, a.dtype), nl.ndarray(shape, a.dtype)
    ncc.all_gather({nl.load(a)}, {t}, {{0, 1}, {3, 2}}, dim)
    nl.store(out, t)
    return out
  end
end

return {
  accept = {
    {"tensors in hbm", call()},
    {"several at once", call(function() return {srcs = {hbm {4, 8}, hbm {3}}, dsts = {hbm {8, 8}, hbm {6}}} end)},
    {"tensors in sbuf along their free axis",
     call(function() return {srcs = {sb {4, 8}}, dsts = {sb {4, 16}}, collective_dim = 1} end)},
    {"a priority", target = "trn3", call(function() return {priority = 0} end)},
  },
  reject = collective.all(collective.groups(call), collective.equal_groups(call), collective.paired(call, {4, 8}),
    collective.memory(call, {4, 8}, {8, 8}), collective.priority(call), {
    {"err_shape_required", "dsts must have shape [8,8]", call(function() return {dsts = {hbm {4, 16}}} end)},
    {"err_shape_required", "dsts must have shape [4,16]",
     call(function() return {srcs = {sb {4, 8}}, dsts = {sb {8, 8}}, collective_dim = 1} end)},
    {"err_shape_required", "dsts must have shape [4,8]", call(function() return {dsts = {hbm {8, 8, 1}}} end)},
    {"err_shape_required", "srcs must have shape (P, F) in sbuf",
     call(function() return {srcs = {sb {4, 8, 1}}, dsts = {sb {8, 8, 1}}} end)},
    {"err_argument_value", "collective_dim is 1; tensors in hbm are gathered along dimension 0",
     call(function() return {collective_dim = 1} end)},
    {"err_argument_range", "collective_dim is 2", call(function() return {collective_dim = 2} end)},
  }),
  numeric = {
    {"within groups, in their order", ranks = 4, {x}, function(a)
      local out = case.shared({2, 2}, a.dtype)
      ncc.all_gather({a}, {out}, {{0, 1}, {3, 2}}, 0)
      return out
    end, {{{{1, 2}, {3, 4}}, {{1, 2}, {3, 4}}, {{7, 8}, {5, 6}}, {{7, 8}, {5, 6}}}}},
    {"along partitions", ranks = 4, {x}, in_sbuf(0, {2, 2}),
     {{{{1, 2}, {3, 4}}, {{1, 2}, {3, 4}}, {{7, 8}, {5, 6}}, {{7, 8}, {5, 6}}}}},
    {"along the free axis", ranks = 4, {{nd.array {{1, 2}, {3, 4}}, nd.array {{5, 6}, {7, 8}},
                                         nd.zeros({2, 2}, "float32"), nd.ones({2, 2}, "float32")}}, in_sbuf(1, {2, 4}),
     {{{{1, 2, 5, 6}, {3, 4, 7, 8}}, {{1, 2, 5, 6}, {3, 4, 7, 8}}, {{1, 1, 0, 0}, {1, 1, 0, 0}},
       {{1, 1, 0, 0}, {1, 1, 0, 0}}}}},
  },
}
