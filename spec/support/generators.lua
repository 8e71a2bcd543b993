-- generators.lua: the random generators that docs/semantics.md describes, in plain Lua, for what specs expect.
local M = {}

local MASK = 0xFFFFFFFF

local function mix(z)
  z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
  z = (z ~ (z >> 27)) * 0x94d049bb133111eb
  return z ~ (z >> 31)
end

-- Word i of the states that a seed gives: lane i // 24, word i % 24.
local function seeded(seed, i)
  local word = mix(mix(seed) + (i + 1) * 0x9e3779b97f4a7c15) >> 32
  return word == 0 and 1 or word
end

-- xorwow(state): a function that returns the next word; state: six words, changed.
function M.xorwow(st)
  return function()
    local t, v = st[1] ~ (st[1] >> 2), st[5]
    st[1], st[2], st[3], st[4] = st[2], st[3], st[4], st[5]
    st[5] = (v ~ (v << 4) ~ t ~ (t << 1)) & MASK
    st[6] = (st[6] + 362437) & MASK
    return (st[6] + st[5]) & MASK
  end
end

function M.xorshift(x)
  return function()
    x = (x ~ (x << 13)) & MASK
    x = x ~ (x >> 17)
    x = (x ~ (x << 5)) & MASK
    return x
  end
end

-- The Vector engine after a seed: words(lane, n) of its first instruction; a shift register, or four xorwow states.
function M.vector(seed, gen4)
  return function(lane, n)
    local next, words = {}, {}
    for k = 0, 3 do
      local st = {}
      for w = 0, 5 do
        st[w + 1] = seeded(seed, 24 * lane + 6 * k + w)
      end
      next[k] = M.xorwow(st)
    end
    local shift = M.xorshift(seeded(seed, 24 * lane))
    for i = 0, n - 1 do
      words[i + 1] = gen4 and next[i % 4]() or shift()
    end
    return words
  end
end

-- GpSimd's lanes when a program begins (gen3 and later): n words of a lane.
function M.gpsimd(lane, n)
  local st = {}
  for w = 0, 5 do
    st[w + 1] = seeded(1 << 32, 6 * lane + w)
  end
  return M.draws({st}, n)
end

-- rows(n, f): {f(0), f(1), ... f(n - 1)}
function M.rows(n, f)
  local list = {}
  for i = 0, n - 1 do
    list[i + 1] = f(i)
  end
  return list
end

function M.map(list, f)
  local out = {}
  for i, v in ipairs(list) do
    out[i] = f(v, i)
  end
  return out
end

-- A word as a number in [0, 1).
function M.unit(word) return (word >> 8) * 2.0 ^ -24 end

-- Rows of n states of xorwow, k words each.
function M.states(n, k)
  return M.rows(n, function(p) return M.rows(k, function(i) return 1000003 * (p + 1) + 77777 * i end) end)
end

-- What n draws from {state, state ...} in turn give; the states are moved on.
function M.draws(states, n)
  local next, words = {}, {}
  for k = 1, #states do
    next[k] = M.xorwow(states[k])
  end
  for i = 1, n do
    words[i] = next[(i - 1) % #states + 1]()
  end
  return words
end

-- The four states in a row of 24 words.
function M.four(row)
  return M.rows(4, function(k) return {table.unpack(row, 6 * k + 1, 6 * k + 6)} end)
end

return M
