-- given: x=i8[128,8]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local t = nl.load(x)
  nisa.memset(t, 0.5) -- error: err_argument_value value is 0.5; int8 takes integers -128..127
  nl.store(x, t)
  return x
end)
