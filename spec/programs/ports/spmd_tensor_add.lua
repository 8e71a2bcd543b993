-- Addition over a two-dimensional grid: program (i, j) adds the block of 128 rows and 512 columns at (i, j).
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(a, b)
  local rows, cols = a.shape:unpack()
  assert(nl.num_programs(0) == (rows + 127) // 128 and nl.num_programs(1) == (cols + 511) // 512, "another grid")
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  local r, c = nl.program_id(0) * 128, nl.program_id(1) * 512
  local block = {nl.ds(r, math.min(128, rows - r)), nl.ds(c, math.min(512, cols - c))}
  nl.store(out[block], nl.load(a[block]) + nl.load(b[block]))
  return out
end)
