-- given: x=f32[128,8]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local t = nl.load(x)
  nisa.tensor_tensor(t, t, t) -- error: err_argument_missing op is required
  nl.store(x, t)
  return x
end)
