-- Instructions between ranks and between cores for every combination of dtypes: four ranks, a tensor in hbm each; two
-- cores, a tile each.
local nl, nisa, ncc = require "nki.language", require "nki.isa", require "nki.collectives"

local R = {}
local ALL = {{0, 1, 2, 3}}
local OPS = {"add", "minimum", "maximum"}

-- A row of one instruction whose tensors have the shape of its only source, or the one given.
local function row(source, dst, f, rest)
  local r = {ranks = 4, sources = {{source, "a"}}, outs = {{dst}}, variants = {"plain"}, f = f}
  for k, v in pairs(rest or {}) do
    r[k] = v
  end
  return r
end

R.all_reduce = row("srcs", "dsts", function(v, s, d) ncc.all_reduce({s[1]}, {d[1]}, ALL, nl[v]) end, {variants = OPS})
R.reduce_scatter = row("srcs", "dsts", function(v, s, d) ncc.reduce_scatter({s[1]}, {d[1]}, ALL, 0, nl[v]) end,
  {variants = OPS, outs = {{"dsts", {2, 64}}}})
R.all_gather = row("srcs", "dsts", function(_, s, d) ncc.all_gather({s[1]}, {d[1]}, ALL, 0) end,
  {outs = {{"dsts", {32, 64}}}})
R.all_to_all = row("srcs", "dsts", function(_, s, d) ncc.all_to_all({s[1]}, {d[1]}, {{2, 0, 3, 1}}, 0) end)
R.collective_permute = row("srcs", "dsts", function(_, s, d)
  ncc.collective_permute({s[1]}, {d[1]}, {{0, 2}, {1, 0}, {2, 3}, {3, 1}})
end)
R.collective_permute_implicit = row("srcs_by_channel", "dsts_by_channel", function(_, s, d)
  ncc.collective_permute_implicit({{s[1]}}, {{d[1]}}, {{3, 1, 0, 2}})
end)
R.collective_permute_implicit_reduce = row("srcs0_by_channel", "dsts_by_channel", function(v, s, d)
  ncc.collective_permute_implicit_reduce({{s[1]}}, {{s[1]}}, {{d[1]}}, {{3, 1, 0, 2}}, nl[v])
end, {variants = OPS, also = "srcs1_by_channel"})

-- ---- counts of a rank: rows of the metadata are its elements to send, where they begin, those to receive, and where
-- they go; the oracle knows them
local function counted(call, on_one)
  return function(v, s, d)
    local rows = v == "displaced" and 4 or 3
    local own = nl.ndarray({rows, 4}, nl.uint32, {buffer = nl.shared_hbm})
    local after = nl.ndarray({rows, 4}, nl.uint32, {buffer = nl.shared_hbm})
    local first = not on_one or nl.program_id(0) == 0
    if first then
      nisa.dma_copy(own, s[2][nl.ds(0, rows)])
      nisa.dma_copy(d[1], s[1])
    end
    call({srcs = {s[1]}, dsts = {d[1]}, replica_group = ALL, metadata_tensor = own, has_rdispls = v == "displaced",
          recv_counts_known = v == "known"})
    if first then
      nisa.dma_copy(after, own)
    end
    return {d[1], after}
  end
end
local COUNTED = {{"srcs", "a"}, {"metadata_tensor", "ct"}}
R.all_gather_v = row("srcs", "dsts", counted(ncc.all_gather_v, true), {sources = COUNTED, grid = nl.nc(2)})
R.all_to_all_v = row("srcs", "dsts", counted(ncc.all_to_all_v), {sources = COUNTED,
  variants = {"plain", "known", "displaced"}})

-- ---- registers
local function ring(groups)
  return function(r) return ncc.collective_permute_implicit_current_processing_rank_id(r, groups) end
end
local NUMBERS = {whole = ring {{3, 1, 0, 2}}, pairs = ring {{2, 0}, {1, 3}}, some = ring {{2, 0, 3}}}
local function registers(of)
  return function(v, _, d)
    local t = nl.ndarray({1, 6}, d[1].dtype)
    for i = 0, 5 do
      nisa.register_store(t[{{}, {i, i + 1}}], of(v, i))
    end
    nl.store(d[1], t)
  end
end
local WORDS = {{"dst", {1, 6}, dtypes = {"uint32", "int32"}}}
R.rank_id = {ranks = 4, sources = {}, outs = WORDS, variants = {"plain"},
             f = registers(function() return ncc.rank_id() end)}
R.collective_permute_implicit_current_processing_rank_id = {
  ranks = 4, sources = {}, outs = WORDS, variants = {"whole", "pairs", "some"},
  f = registers(function(v, i) return NUMBERS[v](i) end)}

-- ---- two cores: what each ends up with, core 0's above core 1's
local function by_core(tile)
  local out = nl.ndarray({16, 64}, tile.dtype, {buffer = nl.shared_hbm})
  nisa.dma_copy(out[nl.ds(8 * nl.program_id(0), 8)], tile)
  return {out}
end
R.sendrecv = {grid = nl.nc(2), sources = {{"src", "a"}}, outs = {{"dst"}}, variants = {"dma", "gpsimd_dma"},
  f = function(v, s, d)
    local peer = 1 - nl.program_id(0)
    nisa.sendrecv(s[1], d[1], peer, peer, 3, nisa.dma_engine[v])
    return by_core(d[1])
  end}
R.core_barrier = {grid = nl.nc(2), sources = {{"data", "a"}}, outs = {{"data"}}, variants = {"gpsimd", "sync"},
  f = function(v, s, d)
    local both, me = nl.ndarray({16, 64}, d[1].dtype, {buffer = nl.shared_hbm}), nl.program_id(0)
    if s[1].dtype ~= d[1].dtype then
      error {id = "err_dtype_mismatch"}
    end
    nisa.dma_copy(both[nl.ds(8 * me, 8)], s[1])
    nisa.core_barrier(both, {0, 1}, nisa.engine[v])
    nisa.dma_copy(d[1], both[nl.ds(8 - 8 * me, 8)])
    return by_core(d[1])
  end}

return R
