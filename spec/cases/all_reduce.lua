-- ncc.all_reduce
local nl, ncc = require "nki.language", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local sb, hbm = case.sbuf, case.hbm

local call = case.calls(ncc.all_reduce, function()
  return {srcs = {hbm {4, 8}}, dsts = {hbm {4, 8}}, replica_group = {{0, 1, 2, 3}}, op = nl.add}
end)

local function reduced(op, groups)
  return function(x)
    local out = case.shared(x.shape, x.dtype)
    ncc.all_reduce({x}, {out}, groups, op)
    return out
  end
end

local pairs_of = ncc.ReplicaGroup {{0, 2}, {3, 1}}
local x = {nd.array {{1, -2}}, nd.array {{10, 20}}, nd.array {{100, -200}}, nd.array {{1000, 0 / 0}}}
local narrow = {nd.array({{256}}, "bfloat16"), nd.array({{1}}, "bfloat16"), nd.array({{1}}, "bfloat16")}

return {
  accept = {
    {"tensors in hbm", call()},
    {"several at once, of several dtypes and shapes", call(function()
      return {srcs = {hbm {4, 8}, hbm({2}, nl.int32)}, dsts = {hbm {4, 8}, hbm({2}, nl.int32)}}
    end)},
    {"tensors in sbuf", call(function() return {srcs = {sb {4, 8}}, dsts = {sb {4, 8}}} end)},
    {"groups of different size, and a priority", target = "trn3",
     call(function() return {replica_group = {{0, 1, 2}, {3}}, priority = 3, op = nl.maximum} end)},
  },
  reject = collective.all(collective.groups(call), collective.paired(call, {4, 8}),
    collective.memory(call, {4, 8}, {4, 8}), collective.priority(call), collective.operators(call), {
    {"err_shape_required", "dsts must have shape [4,8]", rule = "same_shapes",
     call(function() return {dsts = {hbm {8, 4}}} end)},
  }),
  numeric = {
    {"sums within groups", ranks = 4, {x}, reduced(nl.add, pairs_of),
     {{{{101, -202}}, {{1010, 0 / 0}}, {{101, -202}}, {{1010, 0 / 0}}}}},
    {"the smallest, NaN where one is NaN", ranks = 4, {x}, reduced(nl.minimum, {{0, 1, 2, 3}}),
     {{{{1, 0 / 0}}, {{1, 0 / 0}}, {{1, 0 / 0}}, {{1, 0 / 0}}}}},
    {"the largest; rank 3 takes no part and keeps its value", ranks = 4, {x}, function(a)
      local out = case.shared(a.shape, a.dtype)
      nl.store(out, nl.zeros(a.shape, a.dtype))
      ncc.all_reduce({a}, {out}, {{2, 1, 0}}, nl.maximum)
      return out
    end, {{{{100, 20}}, {{100, 20}}, {{100, 20}}, {{0, 0}}}}},
    {"in f32, rounded once at the end", ranks = 3, {narrow}, reduced(nl.add, {{0, 1, 2}}),
     {{nd.array({{258}}, "bfloat16"), nd.array({{258}}, "bfloat16"), nd.array({{258}}, "bfloat16")}}},
    {"in place, in sbuf", ranks = 4, {x}, function(a)
      local t = nl.load(a)
      ncc.all_reduce({t}, {t}, {{0, 1}, {2, 3}}, nl.add)
      local out = case.shared(a.shape, a.dtype)
      nl.store(out, t)
      return out
    end, {{{{11, 18}}, {{11, 18}}, {{1100, 0 / 0}}, {{1100, 0 / 0}}}}},
    {"several tensors, of which one is transposed by its view", ranks = 2, {nd.array {{1, 2}, {3, 4}},
                                                                            {nd.array {{1}}, nd.array {{5}}}},
     function(a, b)
      local p, q = case.shared(a.shape, a.dtype), case.shared(b.shape, b.dtype)
      ncc.all_reduce({a:permute {1, 0}, b}, {p, q}, {{0, 1}}, nl.add)
      return p, q
    end, {{{{2, 6}, {4, 8}}, {{2, 6}, {4, 8}}}, {{{6}}, {{6}}}}},
  },
}
