-- nki.kernels.cross_entropy(logits, targets): the loss of each row and the logarithm of its sum of exponentials.
--   lse[r] = log(sum over c of exp(logits[r, c])) and loss[r] = lse[r] - logits[r, targets[r]]
-- logits [rows, classes], float32, bfloat16 or float16, classes at most 2^24; targets int32 [rows, 1]. A target that
-- is no class gives a loss of infinity. Returns loss and lse, float32 [rows, 1]. Rows go 128 at a time and classes
-- 4096 at a time, with a running maximum; the target's logit is the one whose class equals it. Arithmetic is float32.
--   nkilua run kernels/cross_entropy.lua 'logits=bf16[200,5000]:normal' 'targets=i32[200,1]:full(3)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local PIECE, LOWEST = 4096, -3.0e38

-- Folds the piece of logits that begins at class `first` into best, sum (of exp(logit - best)) and value (the
-- target's).
local function fold(state, tile, first, columns)
  local new, part, factor = nl.empty_like(state.best), nl.empty_like(state.best), nl.empty_like(state.best)
  nisa.tensor_reduce(new, nl.maximum, tile, 1)
  nisa.tensor_tensor(new, new, state.best, nl.maximum)
  local minus = nl.negative(new)
  local scratch, here = nl.ndarray(tile.shape, nl.float32), nl.ndarray(tile.shape, nl.uint8)
  nisa.activation_reduce{dst = scratch, op = nl.exp, data = tile, bias = minus, reduce_op = nl.add, reduce_res = part}
  nisa.activation{dst = factor, op = nl.exp, data = state.best, bias = minus}
  nisa.scalar_tensor_tensor(state.sum, state.sum, nl.multiply, factor, nl.add, part)
  nisa.tensor_copy(state.best, new)
  nisa.tensor_scalar(here, columns, nl.equal, nl.subtract(state.target, first))
  nisa.select_reduce{dst = scratch, predicate = here, on_true = tile, on_false = -math.huge, reduce_res = part,
                     reduce_cmd = nisa.reduce_cmd.reset_reduce, reduce_op = nl.maximum}
  nisa.tensor_tensor(state.value, state.value, part, nl.maximum)
end

return nki.jit(function(logits, targets)
  local size = library.tensors("cross_entropy", {{"logits", logits, "rows classes"},
                                                 {"targets", targets, "rows 1", {"int32"}}})
  library.at_most("cross_entropy", "logits", logits, "classes", size.classes, 2 ^ 24)
  local loss, lse = library.output({size.rows, 1}, nl.float32), library.output({size.rows, 1}, nl.float32)
  local columns = nl.ndarray({math.min(128, size.rows), math.min(PIECE, size.classes)}, nl.float32)
  nisa.iota(columns, {{1, columns.shape[1]}})
  for r in nl.affine_range(0, size.rows, 128) do
    local part, n = library.part(r, 128, size.rows)
    local state = {best = nl.full({n, 1}, LOWEST, nl.float32), sum = nl.zeros({n, 1}, nl.float32),
                   value = nl.full({n, 1}, -math.huge, nl.float32), target = nl.load(targets[part], nl.float32)}
    for c in nl.sequential_range(0, size.classes, PIECE) do
      local cols, width = library.part(c, PIECE, size.classes)
      fold(state, nl.load(logits[{part, cols}]), c, columns[{nl.ds(0, n), nl.ds(0, width)}])
    end
    local total = nl.add(nl.log(state.sum), state.best)
    nl.store(loss[part], nl.subtract(total, state.value))
    nl.store(lse[part], total)
  end
  return loss, lse
end, {func_name = "cross_entropy"})
