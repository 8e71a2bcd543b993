-- small.lua: one-expression kernels for trn1, run both ways (trip), for specs that are about values.
local nki, nl = require "nki", require "nki.language"
local trip = require "spec.support.trip"

local small = {}

-- A kernel for trn1 and what its body computes, stored: body(tiles...) returns tiles.
function small.jit(body, target)
  return nki.jit(body, {platform_target = target or "trn1", func_name = "k"})
end

function small.output(like, dtype)
  return nl.ndarray(like.shape, dtype or like.dtype, {buffer = nl.shared_hbm})
end

function small.returned(tile)
  local out = small.output(tile)
  nl.store(out, tile)
  return out
end

-- One kernel of one or two loaded operands.
function small.apply(f, a, b)
  if b then
    return trip.run(small.jit(function(x, y) return small.returned(f(nl.load(x), nl.load(y))) end), a, b)
  end
  return trip.run(small.jit(function(x) return small.returned(f(nl.load(x))) end), a)
end

return small
