-- The index of a gather lies beyond the table when the kernel runs: row 7 of 4.
-- given: table=f32[4,8] idx=i32[2,1]:full(7)
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(table, idx)
  local out = nl.ndarray({2, 8}, nl.float32, {buffer = nl.shared_hbm})
  local rows = nl.ndarray({2, 8}, nl.float32)
  nisa.dma_copy(rows, table:vector_select(0, nl.load(idx))) -- error: err_tensor_access_out_of_bound 7
  nl.store(out, rows)
  return out
end)
