-- Instructions between ranks for every combination of dtypes: four ranks, a tensor in hbm each.
local nl, ncc = require "nki.language", require "nki.collectives"

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

return R
