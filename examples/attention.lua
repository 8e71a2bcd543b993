-- One attention head, flash style: softmax(q k^T / sqrt(d)) v with a running maximum and sum, so that no score matrix
-- is stored. q and k come transposed, [d, seq]; v is [seq, d]; d <= 128.
--   nkilua run examples/attention.lua 'q=f32[64,200]:normal(11)' 'k=f32[64,320]:normal(12)' 'v=f32[320,64]:normal(13)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local BLOCK = 128

-- Folds one block of keys and values into the running state of a block of queries.
local function fold_block(state, q_tile, k_tile, v_tile, scale)
  local nq, nk = q_tile.shape[1], k_tile.shape[1]
  local scores = nl.ndarray({nq, nk}, nl.float32, {buffer = nl.psum})
  nisa.nc_matmul(scores, q_tile, k_tile)
  local block_max, new_max = nl.ndarray({nq, 1}, nl.float32), nl.ndarray({nq, 1}, nl.float32)
  nisa.tensor_reduce{dst = block_max, op = nl.maximum, data = scores, axis = 1}
  nisa.tensor_scalar{dst = block_max, data = block_max, op0 = nl.multiply, operand0 = scale}
  nisa.tensor_tensor(new_max, state.max, block_max, nl.maximum)
  local neg_max = nl.negative(new_max)

  local p, p_sum = nl.ndarray({nq, nk}, nl.float32), nl.ndarray({nq, 1}, nl.float32)
  nisa.activation_reduce{dst = p, op = nl.exp, data = scores, scale = scale, bias = neg_max,
                         reduce_op = nl.add, reduce_res = p_sum}
  local correction = nl.ndarray({nq, 1}, nl.float32)
  nisa.activation{dst = correction, op = nl.exp, data = state.max, bias = neg_max}

  local pT_psum = nl.ndarray({nk, nq}, nl.float32, {buffer = nl.psum})
  nisa.nc_transpose(pT_psum, p)
  local pv = nl.ndarray({nq, v_tile.shape[1]}, nl.float32, {buffer = nl.psum})
  nisa.nc_matmul(pv, nl.copy(pT_psum), v_tile)
  nisa.scalar_tensor_tensor{dst = state.acc, data = state.acc, op0 = nl.multiply, operand0 = correction,
                            op1 = nl.add, operand1 = pv}
  nisa.scalar_tensor_tensor{dst = state.sum, data = state.sum, op0 = nl.multiply, operand0 = correction,
                            op1 = nl.add, operand1 = p_sum}
  nisa.tensor_copy(state.max, new_max)
end

return nki.jit(function(q, k, v)
  local d, nq = q.shape:unpack()
  local nk = k.shape[1]
  local out = nl.ndarray({nq, d}, v.dtype, {buffer = nl.shared_hbm})
  local scale = 1.0 / math.sqrt(d)
  for i in nl.affine_range(0, nq, BLOCK) do
    local rows = math.min(BLOCK, nq - i)
    local q_tile = nl.load(q[{{}, nl.ds(i, rows)}])
    local state = {
      max = nl.full({rows, 1}, -1.0e30, nl.float32),
      sum = nl.zeros({rows, 1}, nl.float32),
      acc = nl.zeros({rows, d}, nl.float32),
    }
    for j in nl.sequential_range(0, nk, BLOCK) do
      local cols = nl.ds(j, math.min(BLOCK, nk - j))
      fold_block(state, q_tile, nl.load(k[{{}, cols}]), nl.load(v[cols]), scale)
    end
    local inverse, y = nl.reciprocal(state.sum), nl.ndarray({rows, d}, v.dtype)
    nisa.tensor_scalar(y, state.acc, nl.multiply, inverse)
    nl.store(out[nl.ds(i, rows)], y)
  end
  return out
end)
