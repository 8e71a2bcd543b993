-- Blamed is the line that makes the output.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t = nl.load(x)
  local memory = {buffer = nl.shared_hbm, name = "result"}
  local out = nl.ndarray(x.shape, x.dtype, memory) -- error: err_tensor_output_not_written_to 'result'
  nl.store(x, t)
  return out, x
end)
