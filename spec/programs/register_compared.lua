-- given: x=f32[8,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  for i in nl.dynamic_range(8) do
    if i < 4 then -- error: err_dynamic_control_flow_not_supported its value is not known before the kernel runs
      nl.store(x[nl.ds(i, 1)], nl.zeros({1, 8}, nl.float32))
    end
  end
  return x
end)
