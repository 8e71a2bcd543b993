-- given: x=f32[128,8]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local t = nl.load(x)
  nisa.activation{dst = t, op = nl.exp, data = t, scal = 2.0} -- error: err_bind_unknown did you mean 'scale'?
  nl.store(x, t)
  return x
end)
