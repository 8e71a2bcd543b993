-- ncc.collective_permute_implicit_reduce
local nl, ncc = require "nki.language", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local sb, hbm = case.sbuf, case.hbm

local call = case.calls(ncc.collective_permute_implicit_reduce, function()
  return {srcs0_by_channel = {{hbm {4, 8}}}, srcs1_by_channel = {{hbm {4, 8}}}, dsts_by_channel = {{hbm {4, 8}}},
          replica_group = {{0, 1, 2, 3}}, op = nl.add}
end)
local lists = {"srcs0_by_channel", "srcs1_by_channel", "dsts_by_channel"}

return {
  accept = {
    {"one channel", call()},
    {"two channels", call(function()
      local function tensors() return {{hbm {4}}, {hbm {2, 2}}} end
      return {srcs0_by_channel = tensors(), srcs1_by_channel = tensors(), dsts_by_channel = tensors(),
              channel_ids = {0, 1}, replica_group = {{0, 1}, {2, 3}}, op = nl.maximum}
    end)},
  },
  reject = collective.all(collective.groups(call), collective.channels(call, lists, {4, 8}),
    collective.priority(call), collective.operators(call), {
    {"err_dtype_mismatch", "srcs1_by_channel and dsts_by_channel must have the same dtype", rule = "paired",
     call(function() return {srcs1_by_channel = {{hbm({4, 8}, nl.int32)}}} end)},
    {"err_shape_required", "dsts_by_channel must have shape [8,4]", rule = "same_shapes",
     call(function() return {srcs1_by_channel = {{hbm {8, 4}}}} end)},
    {"err_unsupported_memory", "srcs0_by_channel must be in hbm",
     call(function() return {srcs0_by_channel = {{sb {4, 8}}}} end)},
  }),
  numeric = {
    {"the sum of both goes to the next rank, rounded once", ranks = 3,
     {{nd.array({{256, 1}}, "bfloat16"), nd.array({{2, 3}}, "bfloat16"), nd.array({{4, 5}}, "bfloat16")},
      {nd.array({{1, 10}}, "bfloat16"), nd.array({{20, 30}}, "bfloat16"), nd.array({{40, 50}}, "bfloat16")}},
     function(a, b)
      local out = case.shared(a.shape, a.dtype)
      ncc.collective_permute_implicit_reduce({{a}}, {{b}}, {{out}}, {{0, 1, 2}}, nl.add)
      return out
    end, {{nd.array({{44, 55}}, "bfloat16"), nd.array({{256, 11}}, "bfloat16"), nd.array({{22, 33}}, "bfloat16")}}},
    {"the smaller, in place", ranks = 2, {{nd.array {{1, 9}}, nd.array {{5, 2}}}}, function(a)
      local out = case.shared(a.shape, a.dtype)
      nl.store(out, nl.load(a))
      ncc.collective_permute_implicit_reduce({{out}}, {{a}}, {{out}}, {{0, 1}}, nl.minimum, {2})
      return out
    end, {{{{5, 2}}, {{1, 9}}}}},
  },
}
