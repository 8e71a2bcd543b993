-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  nl.no_reorder() -- error: err_no_reorder_open declare it
  nl.store(x, nl.load(x))
  return x
end)
