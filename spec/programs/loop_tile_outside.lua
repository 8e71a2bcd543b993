-- A tile made in a device loop, used behind it.
-- given: x=f32[8,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t
  for i in nl.dynamic_range(8) do
    t = nl.load(x[nl.ds(i, 1)])
  end
  nl.store(x[{{0, 1}}], t) -- error: err_local_variable_used_out_of_scope used outside the device loop that defines it
  return x
end)
