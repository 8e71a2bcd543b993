-- nki.kernels.attention(q, k, v, causal, scale): softmax attention of many heads, flash style: no score matrix is
-- stored.
--   out[h, i] = sum over j of p[j] v[h', j], p = softmax over j of scale (q[h, :, i] . k[h', :, j])
-- q [heads, d, queries], k [kv_heads, d, keys], v [kv_heads, keys, d_v]; heads is a multiple of kv_heads, and h' = h
-- // (heads / kv_heads) (grouped queries). One dtype, float32, bfloat16 or float16; d <= 128, d_v <= 512. causal
-- (default false): query i sees keys 0 .. i + keys - queries; keys must then be at least queries. scale: default 1 /
-- sqrt(d). Returns [heads, queries, d_v] of q's dtype. Scores, maxima, sums and outputs are float32; with 16-bit
-- inputs p is rounded to their dtype before it meets v. A part of 128 queries sees keys 512 at a time; parts that no
-- query sees are not computed.
--   nkilua run kernels/attention.lua 'q=bf16[4,64,200]' 'k=bf16[2,64,300]' 'v=bf16[2,300,64]' causal=true
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local QUERIES, KEYS, ROWS = 128, 512, 128
local LOWEST = -3.0e38

-- The scores of a part of queries and keys; `ahead`: how many keys after its own a query sees at the part's corner.
local function scores_of(q, k, scale, ahead)
  local n, keys = q.shape[1], k.shape[1]
  local product = nl.ndarray({n, keys}, nl.float32, {buffer = nl.psum})
  nisa.nc_matmul(product, q, k)
  local scores = nl.ndarray({n, keys}, nl.float32)
  nisa.tensor_scalar(scores, product, nl.multiply, scale)
  if ahead and ahead < keys - 1 then -- key j of the part is seen by query i of it when i - j + ahead >= 0
    nisa.affine_select{dst = scores, pattern = {{-1, keys}}, channel_multiplier = 1, offset = ahead,
                       on_true_tile = scores, on_false_value = LOWEST, cmp_op = nl.greater_equal}
  end
  return scores
end

-- p v in PSUM; p goes through the Tensor engine in squares to have its keys on partitions.
local function weighted(p, v)
  local n, keys = p.shape:unpack()
  local out = nl.ndarray({n, v[1].shape[1]}, nl.float32, {buffer = nl.psum})
  for j in nl.affine_range(0, keys, ROWS) do
    local cols, rows = library.part(j, ROWS, keys)
    local turned = nl.ndarray({rows, n}, p.dtype, {buffer = nl.psum})
    nisa.nc_transpose(turned, p[{{}, cols}])
    nisa.nc_matmul(out, nl.copy(turned), v[j // ROWS + 1])
  end
  return out
end

local function fold(state, scores, v)
  local best, sum, factor = nl.empty_like(state.best), nl.empty_like(state.sum), nl.empty_like(state.best)
  nisa.tensor_reduce(best, nl.maximum, scores, 1)
  nisa.tensor_tensor(best, best, state.best, nl.maximum)
  local minus = nl.negative(best)
  local p = nl.ndarray(scores.shape, v[1].dtype)
  nisa.activation_reduce{dst = p, op = nl.exp, data = scores, bias = minus, reduce_op = nl.add, reduce_res = sum}
  nisa.activation{dst = factor, op = nl.exp, data = state.best, bias = minus}
  nisa.scalar_tensor_tensor(state.sum, state.sum, nl.multiply, factor, nl.add, sum)
  nisa.scalar_tensor_tensor(state.out, state.out, nl.multiply, factor, nl.add, weighted(p, v))
  nisa.tensor_copy(state.best, best)
end

local function load_values(v)
  local tiles = {}
  for j in nl.affine_range(0, v.shape[0], ROWS) do
    tiles[#tiles + 1] = nl.load(v[(library.part(j, ROWS, v.shape[0]))])
  end
  return tiles
end

-- One head; `shift`: how many keys more than its number a query sees, nil: all.
local function head(q, k, v, out, scale, shift)
  local queries, keys = q.shape[1], k.shape[1]
  for i in nl.affine_range(0, queries, QUERIES) do
    local part, n = library.part(i, QUERIES, queries)
    local tile = nl.load(q[{{}, part}])
    local state = {best = nl.full({n, 1}, LOWEST, nl.float32), sum = nl.zeros({n, 1}, nl.float32),
                   out = nl.zeros({n, v.shape[1]}, nl.float32)}
    local last = shift and math.min(keys, i + n + shift) or keys
    for j in nl.sequential_range(0, last, KEYS) do
      local cols = library.part(j, KEYS, last)
      local scores = scores_of(tile, nl.load(k[{{}, cols}]), scale, shift and i + shift - j)
      fold(state, scores, load_values(v[cols]))
    end
    local y = nl.ndarray({n, v.shape[1]}, out.dtype)
    nisa.tensor_scalar(y, state.out, nl.multiply, nl.reciprocal(state.sum))
    nl.store(out[part], y)
  end
end

return nki.jit(function(q, k, v, causal, scale)
  local size = library.tensors("attention", {{"q", q, "heads d queries"}, {"k", k, "kv_heads d keys", "q"},
                                             {"v", v, "kv_heads keys d_v", "q"}})
  library.at_most("attention", "q", q, "d", size.d, 128)
  library.at_most("attention", "v", v, "d_v", size.d_v, 512)
  if size.heads % size.kv_heads ~= 0 then
    local rule = ("its heads must be a multiple of k's %d"):format(size.kv_heads)
    library.refuse("attention", "q", library.text_of(q), rule)
  end
  causal = library.flag("attention", "causal", causal)
  scale = library.number("attention", "scale", scale, 1.0 / math.sqrt(size.d))
  if causal and size.keys < size.queries then
    library.refuse("attention", "causal", "true", ("with %d queries there must be at least as many keys, not %d")
                   :format(size.queries, size.keys))
  end
  local out = library.output({size.heads, size.queries, size.d_v}, q.dtype)
  local shift = causal and size.keys - size.queries or nil
  for h in nl.affine_range(size.heads) do
    local kv = h // (size.heads // size.kv_heads)
    head(q[h], k[kv], v[kv], out[h], scale, shift)
  end
  return out
end, {func_name = "attention"})
