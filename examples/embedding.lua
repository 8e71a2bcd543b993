-- Embedding look-up: out[i] = table[idx[i]], rows gathered by indirect DMA, 128 indices at a time.
--   nkilua run examples/embedding.lua 'table=bf16[1000,64]:normal(10)' 'idx=i32[200,1]:iota'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(table, idx)
  local n, dim = idx.shape[0], table.shape[1]
  local out = nl.ndarray({n, dim}, table.dtype, {buffer = nl.shared_hbm})
  for i in nl.affine_range(0, n, 128) do
    local count = math.min(128, n - i)
    local part = nl.ds(i, count)
    local rows = nl.ndarray({count, dim}, table.dtype)
    nisa.dma_copy(rows, table:vector_select(0, nl.load(idx[part])))
    nl.store(out[part], rows)
  end
  return out
end)
