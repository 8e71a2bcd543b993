-- ncc.collective_permute_implicit
local nl, ncc = require "nki.language", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local sb, hbm = case.sbuf, case.hbm

local call = case.calls(ncc.collective_permute_implicit, function()
  return {srcs_by_channel = {{hbm {4, 8}}}, dsts_by_channel = {{hbm {4, 8}}}, replica_group = {{0, 1, 2, 3}}}
end)
local lists = {"srcs_by_channel", "dsts_by_channel"}
local x = {nd.array {{1}}, nd.array {{2}}, nd.array {{3}}, nd.array {{4}}}

return {
  accept = {
    {"one channel", call()},
    {"four channels of one group, of several shapes", call(function()
      local function tensors() return {{hbm {4}}, {hbm {2, 2}}, {hbm {1}}, {hbm({3}, nl.int8)}} end
      return {srcs_by_channel = tensors(), dsts_by_channel = tensors(), channel_ids = {3, 1, 0, 2}}
    end)},
    {"a priority", target = "trn3", call(function() return {priority = 1} end)},
  },
  reject = collective.all(collective.groups(call), collective.channels(call, lists, {4, 8}),
    collective.priority(call), {
    {"err_dtype_mismatch", "srcs_by_channel and dsts_by_channel must have the same dtype", rule = "paired",
     call(function() return {srcs_by_channel = {{hbm({4, 8}, nl.int32)}}} end)},
    {"err_shape_required", "dsts_by_channel must have shape [4,8]", rule = "same_shapes",
     call(function() return {dsts_by_channel = {{hbm {8, 4}}}} end)},
    {"err_unsupported_memory", "srcs_by_channel must be in hbm",
     call(function() return {srcs_by_channel = {{sb {4, 8}}}} end)},
  }),
  numeric = {
    {"to the next rank of the group's ring", ranks = 4, {x}, function(a)
      local out = case.shared({1, 1}, a.dtype)
      ncc.collective_permute_implicit({{a}}, {{out}}, {{0, 2, 1, 3}})
      return out
    end, {{{{4}}, {{3}}, {{1}}, {{2}}}}},
    {"on two channels, in two groups", ranks = 4, {x}, function(a)
      local p, q, twice = case.shared({1, 1}, a.dtype), case.shared({1, 1}, a.dtype), hbm({1, 1}, a.dtype)
      nl.store(twice, nl.multiply(nl.load(a), 2))
      ncc.collective_permute_implicit({{a}, {twice}}, {{p}, {q}}, {{0, 1}, {2, 3}}, {1, 0})
      return p, q
    end, {{{{2}}, {{1}}, {{4}}, {{3}}}, {{{4}}, {{2}}, {{8}}, {{6}}}}},
  },
}
