-- given: x=f32[64,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  for i in nl.dynamic_range(8) do
    local at = nl.ds(i * i, 1) -- error: err_index_arithmetic operator *
    nl.store(x[at], nl.zeros({1, 8}, nl.float32))
  end
  return x
end)
