-- given: x=f32[128,8]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local t = nl.load(x)
  nisa.tensor_scalar(t[{{48, 112}}], t[{{0, 64}}], nl.add, 1.0) -- error: err_start_partition dst starts at partition 48
  nl.store(x, t)
  return x
end)
