-- The first matmul of a psum tile is told to add to what is there.
-- given: x=f32[128,64]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local out = nl.ndarray({64, 64}, nl.float32, {buffer = nl.shared_hbm})
  local t, acc = nl.load(x), nl.ndarray({64, 64}, nl.float32, {buffer = nl.psum, name = "acc"})
  nisa.nc_matmul{dst = acc, stationary = t, moving = t, accumulate = true} -- report: nisa.nc_matmul
  nl.store(out, nl.copy(acc))
  return out
end)
