-- A parameter that is written is an output.
-- given: x=f32[128,8] y=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x, y)
  nl.store(y, nl.load(x)) -- error: err_mutable_parameter_not_returned parameter 'y' is written but not returned
  return x
end)
