local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
return nki.jit(function(a)
  local t = nl.load(a)
  nisa.tensor_tensor{dst=t, data1=t, dat2=t, op=nl.add}
  return a
end)
