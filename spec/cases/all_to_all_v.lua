-- ncc.all_to_all_v
local nl, nisa, ncc = require "nki.language", require "nki.isa", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local sb, hbm = case.sbuf, case.hbm

local call = case.calls(ncc.all_to_all_v, function()
  return {srcs = {hbm {8}}, dsts = {hbm {10}}, replica_group = {{0, 1}, {2, 3}},
          metadata_tensor = hbm({3, 2}, nl.uint32)}
end)

local x = {nd.array {1, 2, 3}, nd.array {4, 5, 6}}
local function counts(...) return nd.array({...}, "uint32") end

-- Returns dst of 6 elements, and the counts afterwards.
local function exchanged(rows, options)
  return function(a, m)
    local out, after, own = case.shared({6}, a.dtype), case.shared({rows, 2}, nl.uint32), hbm({rows, 2}, nl.uint32)
    nl.store(out:reshape {1, 6}, nl.full({1, 6}, -1, a.dtype))
    nisa.dma_copy(own, m)
    ncc.all_to_all_v({a}, {out}, {{0, 1}}, own, options)
    nisa.dma_copy(after, own)
    return out, after
  end
end

return {
  accept = {
    {"counts in hbm", call()},
    {"counts in sbuf, four rows, known", call(function()
      return {metadata_tensor = sb({1, 4, 2}, nl.uint32), recv_counts_known = true}
    end)},
    {"displacements on trn3", target = "trn3", call(function()
      return {has_rdispls = true, metadata_tensor = hbm({4, 2}, nl.uint32), dsts = {hbm {9}}}
    end)},
  },
  reject = collective.all(collective.groups(call), collective.equal_groups(call), collective.paired(call, {8}),
    collective.one_tensor(call, {8}, {10}), collective.counts(call, 2), collective.hbm_only(call, {8, 1}),
    collective.priority(call), {
    {"err_argument_generation", "has_rdispls needs gen4", call(function() return {has_rdispls = true} end)},
    {"err_shape_required", "metadata_tensor must have shape (4, 2) in hbm", rule = "metadata", target = "trn3",
     call(function() return {has_rdispls = true} end)},
    {"err_group_share", "the number of elements of dsts is 9", call(function() return {dsts = {hbm {9}}} end)},
  }),
  numeric = {
    {"unequal lengths, and writes the counts that arrive", ranks = 2,
     {x, {counts({1, 2}, {2, 0}, {9, 9}), counts({3, 0}, {0, 0}, {9, 9})}}, exchanged(3, {}),
     {{{3, -1, -1, 4, 5, 6}, {1, 2, -1, -1, -1, -1}},
      {counts({1, 2}, {2, 0}, {1, 3}), counts({3, 0}, {0, 0}, {2, 0})}}},
    {"to displacements", ranks = 2, target = "trn3",
     {x, {counts({1, 2}, {2, 0}, {1, 3}, {5, 1}), counts({3, 0}, {0, 0}, {2, 0}, {4, 0})}},
     exchanged(4, {has_rdispls = true, recv_counts_known = true}),
     {{{-1, 4, 5, 6, -1, 3}, {-1, -1, -1, -1, 1, 2}},
      {counts({1, 2}, {2, 0}, {1, 3}, {5, 1}), counts({3, 0}, {0, 0}, {2, 0}, {4, 0})}}},
  },
}
