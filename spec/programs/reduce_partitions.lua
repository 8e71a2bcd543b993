-- The partition axis is reduced by other means.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t = nl.load(x)
  nl.store(x, t - nl.sum(t, 0)) -- error: err_bind_value axis 0 is the partition axis
  return x
end)
