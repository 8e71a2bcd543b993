-- given: x=f32[8,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t = nl.load(x)
  for i in nl.dynamic_range(8) do -- error: err_break_in_device_loop its body is traced once; use nl.while_loop
    nl.store(x[nl.ds(i, 1)], t[{{0, 1}}])
    if t.shape[0] == 8 then
      break
    end
  end
  return x
end)
