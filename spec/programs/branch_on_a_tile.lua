-- A branch on values that are not known while the kernel is traced.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t = nl.load(x)
  if t < 0 then -- error: err_dynamic_control_flow_not_supported use nl.less
    nl.store(x, nl.negative(t))
  end
  return x
end)
