-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t = nl.laod(x) -- error: err_no_such_name no nl.laod; did you mean nl.load?
  nl.store(x, t)
  return x
end)
