-- nki.kernels.mamba(delta, u, A, B, C): the selective scan of a state space model.
--   h[t, s] = exp(delta[b, c, t] A[c, s]) h[t - 1, s] + delta[b, c, t] u[b, c, t] B[b, s, t], h[-1, s] = 0
--   out[b, c, t] = sum over s of C[b, s, t] h[t, s]
-- delta and u [batch, channels, steps], A [channels, states], B and C [batch, states, steps], float32, bfloat16 or
-- float16, of any sizes. Returns [batch, channels, steps] of delta's dtype. Channels go 128 at a time and steps 1024
-- at a time, with the states carried over. Arithmetic and states are float32.
--   nkilua run kernels/mamba.lua 'delta=f32[2,160,300]:uniform' 'u=f32[2,160,300]' 'A=f32[160,8]:full(-1)' \
--     'B=f32[2,8,300]' 'C=f32[2,8,300]'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local PIECE = 1024

-- One row of HBM, the same in n partitions, as float32.
local function row_for(n, row) return nl.load(row:broadcast(0, n), nl.float32) end

-- The output of one piece of steps; A [n, states]; carry [n, states] holds the states and is moved on.
local function piece(delta, u, A, B, C, carry)
  local n, width = delta.shape:unpack()
  local input, sum = nl.multiply(delta, u), nl.zeros({n, width}, nl.float32)
  for s in nl.sequential_range(A.shape[1]) do
    local state, decay, h = nl.ds(s, 1), nl.ndarray({n, width}, nl.float32), nl.ndarray({n, width}, nl.float32)
    nisa.activation{dst = decay, op = nl.exp, data = delta, scale = A[{{}, state}]}
    nisa.tensor_tensor_scan{dst = h, data0 = decay, data1 = nl.multiply(input, row_for(n, B[{state, {}}])),
                            initial = carry[{{}, state}], op0 = nl.multiply, op1 = nl.add}
    nisa.tensor_copy(carry[{{}, state}], h[{{}, nl.ds(width - 1, 1)}])
    nisa.tensor_tensor(h, h, row_for(n, C[{state, {}}]), nl.multiply)
    nisa.tensor_tensor(sum, sum, h, nl.add)
  end
  return sum
end

return nki.jit(function(delta, u, A, B, C)
  local size = library.tensors("mamba", {
    {"delta", delta, "batch channels steps"}, {"u", u, "batch channels steps"}, {"A", A, "channels states"},
    {"B", B, "batch states steps"}, {"C", C, "batch states steps"},
  })
  local out = library.output(delta.shape, delta.dtype)
  for b in nl.affine_range(size.batch) do
    for c in nl.affine_range(0, size.channels, 128) do
      local part, n = library.part(c, 128, size.channels)
      local a, carry = nl.load(A[part], nl.float32), nl.zeros({n, size.states}, nl.float32)
      for t in nl.sequential_range(0, size.steps, PIECE) do
        local steps = library.part(t, PIECE, size.steps)
        local d, x = nl.load(delta[{b, part, steps}], nl.float32), nl.load(u[{b, part, steps}], nl.float32)
        local y = piece(d, x, a, B[{b, {}, steps}], C[{b, {}, steps}], carry)
        nl.store(out[{b, part, steps}], nl.copy(y, out.dtype))
      end
    end
  end
  return out
end, {func_name = "mamba"})
