-- mx.lua: small floats and their shared scales in plain Lua, for the bytes that specs expect.
local gen = require "spec.support.generators"

local M = {}

-- encode(v, bias, bits): the byte of a small float with that exponent bias and so many mantissa bits; v is 0 or
-- rounds to a normal number.
function M.encode(v, bias, bits)
  if v == 0 then
    return 0
  end
  local m, e = math.abs(v), 0
  while m >= 2 do m, e = m / 2, e + 1 end
  while m < 1 do m, e = m * 2, e - 1 end
  local scaled = (m - 1) * 2 ^ bits
  local whole = math.floor(scaled)
  local rest = scaled - whole
  if rest > 0.5 or (rest == 0.5 and whole % 2 == 1) then
    whole = whole + 1 -- 2^bits carries into the exponent
  end
  return (v < 0 and 0x80 or 0) + math.tointeger((e + bias) * 2 ^ bits + whole)
end

function M.e4m3(v) return M.encode(v, 7, 3) end
function M.e5m2(v) return M.encode(v, 15, 2) end

local fp4 = {[0] = 0, [0.5] = 1, [1] = 2, [1.5] = 3, [2] = 4, [3] = 5, [4] = 6, [6] = 7}
function M.fp4(v) return (v < 0 and 8 or 0) + fp4[math.abs(v)] end

-- The container of four numbers, the first lowest; width: bits of each.
function M.pack(four, encode, width)
  local c = 0
  for q = 4, 1, -1 do
    c = c << width | encode(four[q])
  end
  return c
end

-- containers(parts, n, f, encode, width): rows of containers of f(partition, column, q).
function M.containers(parts, n, f, encode, width)
  return gen.rows(parts, function(p)
    return gen.rows(n, function(m)
      return M.pack(gen.rows(4, function(q) return f(p, m, q) end), encode, width)
    end)
  end)
end

return M
