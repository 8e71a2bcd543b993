-- all_reduce.lua: the sum of x over all ranks, by way of each rank's share: reduce_scatter, then all_gather.
--
--   nkilua run examples/all_reduce.lua 'x=f32[8,64]:normal(16)' ranks=1
--   nkilua run --ranks 4 examples/all_reduce.lua 'x=f32[8,64]' 'x[0]=f32[8,64]:ones' ranks=4
--
-- Each rank sums its slice of the rows and shares it with the others, so that no rank adds more than 1/ranks of the
-- elements. Rows are divided among the ranks, which must come out even.
local nki, nl = require "nki", require "nki.language"
local ncc = require "nki.collectives"

return nki.jit(function(x, ranks)
  assert(x.shape[0] % ranks == 0, "the rows of x must divide among the ranks")
  local all = {}
  for rank = 0, ranks - 1 do
    all[rank + 1] = rank
  end
  local group = ncc.ReplicaGroup {all}

  local share = {x.shape[0] // ranks, x.shape[1]}
  local own = nl.ndarray(share, x.dtype, {buffer = nl.private_hbm})
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  ncc.reduce_scatter({x}, {own}, group, 0, nl.add)
  ncc.all_gather({own}, {out}, group, 0)
  return out
end)
