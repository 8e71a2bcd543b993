-- Adds rows into rows of a table that an index names: table[index[i]] += rows[i]. No index may occur twice among 128
-- consecutive ones; the table is updated in place.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(table, index, rows)
  for i in nl.sequential_range(0, rows.shape[0], 128) do
    local part = nl.ds(i, math.min(128, rows.shape[0] - i))
    local picked = table:vector_select(0, nl.load(index[part]))
    nisa.dma_compute{dst = picked, srcs = {picked, nl.load(rows[part])}, reduce_op = nl.add}
  end
  return table
end)
