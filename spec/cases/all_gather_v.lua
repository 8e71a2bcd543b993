-- ncc.all_gather_v
local nl, nisa, ncc = require "nki.language", require "nki.isa", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"
local sb, hbm = case.sbuf, case.hbm

local call = case.calls(ncc.all_gather_v, function()
  return {srcs = {hbm {8}}, dsts = {hbm {32}}, replica_group = {{0, 1, 2, 3}},
          metadata_tensor = hbm({3, 4}, nl.uint32)}
end)
local function on(target, list)
  for _, c in ipairs(list) do
    c.target = c.target or target
    c.grid = c.grid or c.target == "trn2" and nl.nc(2) or nil
  end
  return list
end

local x = {nd.array {1, 2, 3}, nd.array {4, 5, 6}, nd.array {7, 8, 9}, nd.array {10, 11, 12}}
local function counts(n, at, received)
  return nd.array({{n, 0, 0, 0}, {at, 0, 0, 0}, received or {9, 9, 9, 9}}, "uint32")
end
local meta = {counts(3, 0), counts(0, 0), counts(1, 2), counts(2, 1)}
local got = {3, 0, 1, 2}
local want = {1, 2, 3, -1, -1, -1, 9, -1, -1, 11, 12, -1}

-- Returns dst, and the counts afterwards.
local function gathered(options)
  return function(a, m)
    local out, after, own = case.shared({12}, a.dtype), case.shared({3, 4}, nl.uint32), hbm({3, 4}, nl.uint32)
    local first = nl.program_id(0) == 0
    if first then
      nl.store(out:reshape {1, 12}, nl.full({1, 12}, -1, a.dtype))
    end
    nisa.dma_copy(own, m)
    ncc.all_gather_v({a}, {out}, {{0, 1, 2, 3}}, own, options)
    if first then
      nisa.dma_copy(after, own)
    end
    return out, after
  end
end

return {
  accept = on("trn2", {
    {"counts in hbm", call()},
    {"counts in sbuf, four rows", call(function() return {metadata_tensor = sb({1, 4, 4}, nl.uint32)} end)},
    {"counts of a constant shape and a run of a view", call(function()
      return {srcs = {hbm {4, 8}[2]}, dsts = {hbm {2, 4, 4}}, recv_counts_known = true}
    end)},
  }),
  reject = on("trn2", collective.all(collective.groups(call), collective.paired(call, {8}),
    collective.one_tensor(call, {8}, {32}), collective.counts(call, 4), collective.hbm_only(call, {8, 1}),
    collective.priority(call), {
    {"err_op_generation", "ncc.all_gather_v needs gen3", target = "trn1", call()},
    {"err_instruction_invalid", "it joins two physical cores: launch the kernel on a grid of them, kernel[nl.nc(2)]",
     grid = 2, call()},
    {"err_replica_group", "every list must have 4 ranks", call(function()
      return {replica_group = {{0, 1}}, metadata_tensor = hbm({3, 2}, nl.uint32)}
    end)},
    {"err_argument_value", "has_rdispls is true; it is not supported here",
     call(function() return {has_rdispls = true, metadata_tensor = hbm({4, 4}, nl.uint32)} end)},
    {"err_group_share", "the number of elements of dsts is 30", call(function() return {dsts = {hbm {30}}} end)},
  })),
  numeric = on("trn2", {
    {"unequal lengths, and writes the counts that arrive", ranks = 4, {x, meta}, gathered {},
     {{want, want, want, want}, {counts(3, 0, got), counts(0, 0, got), counts(1, 2, got), counts(2, 1, got)}}},
    {"the same with counts that are known", ranks = 4,
     {x, {counts(3, 0, got), counts(0, 0, got), counts(1, 2, got), counts(2, 1, got)}},
     gathered {recv_counts_known = true},
     {{want, want, want, want}, {counts(3, 0, got), counts(0, 0, got), counts(1, 2, got), counts(2, 1, got)}}},
  }),
}
