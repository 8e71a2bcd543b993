-- nki.kernels.embedding_rope(table, ids, cos, sin, positions): looks up token embeddings and rotates them by position.
--   out[i] = table[ids[i]] rotated by cos[p] and sin[p] as rotary_embedding does, p = positions[i] (default: i)
-- table [vocabulary, d] with d even, cos and sin [angles, d/2], float32, bfloat16 or float16; ids and positions int32
-- [n, 1]. Without positions there must be at least n angles. An id or position that names no row stops the run. Returns
-- [n, d] of table's dtype.
-- Rows are gathered 128 at a time; d is at most some 10000. Arithmetic is float32.
--   nkilua run kernels/embedding_rope.lua 'table=bf16[500,64]' 'ids=i32[20,1]:iota' 'cos=f32[20,32]' 'sin=f32[20,32]'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

-- The rows of an HBM tensor that an int32 column in SBUF names.
local function rows_of(t, ids)
  local tile = nl.ndarray({ids.shape[0], t.shape[1]}, t.dtype)
  nisa.dma_copy(tile, t:vector_select(0, ids))
  return tile
end

return nki.jit(function(table, ids, cos, sin, positions)
  local list = {{"table", table, "vocabulary d"}, {"ids", ids, "n 1", {"int32"}}, {"cos", cos, "angles half"},
                {"sin", sin, "angles half"}}
  if positions ~= nil then list[5] = {"positions", positions, "n 1", {"int32"}} end
  local size = library.tensors("embedding_rope", list)
  if size.d ~= 2 * size.half then
    local rule = ("its columns must be half of table's %d"):format(size.d)
    library.refuse("embedding_rope", "cos", library.text_of(cos), rule)
  elseif positions == nil and size.angles < size.n then
    library.refuse("embedding_rope", "cos", library.text_of(cos),
                   ("without positions it needs a row for each of the %d ids"):format(size.n))
  end
  local out = library.output({size.n, size.d}, table.dtype)
  for i in nl.affine_range(0, size.n, 128) do
    local part = library.part(i, 128, size.n)
    local x, at = rows_of(table, nl.load(ids[part])), positions ~= nil and nl.load(positions[part])
    local c, s = at and rows_of(cos, at) or nl.load(cos[part]), at and rows_of(sin, at) or nl.load(sin[part])
    nl.store(out[part], library.rotated(x, c, s))
  end
  return out
end, {func_name = "embedding_rope"})
