-- The partition axis is reduced by other means.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t = nl.load(x)
  nl.store(x, t - nl.sum(t, 0)) -- error: err_reduce_axes axis 0 is the partition axis, which
  return x
end)
