-- random_views.lua: a stream of random choices, and views drawn at random: how a tensor of some shape and dtype comes
-- from a larger one.
local nl = require "nki.language"

local M = {}

M.sizes = {bool_ = 1, uint8 = 1, int8 = 1, uint16 = 2, int16 = 2, uint32 = 4, int32 = 4, float32 = 4, bfloat16 = 2,
  float16 = 2, tfloat32 = 4, float8_e4m3 = 1, float8_e5m2 = 1, float8_e4m3fn = 1, float8_e8m0fnu = 1,
  float8_e5m2_x4 = 4, float8_e4m3fn_x4 = 4, float4_e2m1fn_x4 = 2}
M.dtypes = {}
for name in pairs(M.sizes) do M.dtypes[#M.dtypes + 1] = name end
table.sort(M.dtypes)
M.gen4_only = {float8_e8m0fnu = true, float8_e5m2_x4 = true, float8_e4m3fn_x4 = true, float4_e2m1fn_x4 = true}

local Random = {}
Random.__index = Random
local function mix(z)
  z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
  z = (z ~ (z >> 27)) * 0x94d049bb133111eb
  return z ~ (z >> 31)
end
-- The seed is mixed: streams whose states differ by a step would be one stream.
function M.random(seed) return setmetatable({state = mix(seed)}, Random) end
function Random:word()
  self.state = self.state + 0x9e3779b97f4a7c15
  return mix(self.state) >> 1
end
function Random:int(low, high) return low + self:word() % (high - low + 1) end
function Random:chance(percent) return self:int(1, 100) <= percent end
function Random:pick(list) return list[self:int(1, #list)] end

function M.copy(list) return table.move(list, 1, #list, 1, {}) end

-- ---- views: way(r, shape, dtype, inner) draws how a view of this shape comes from a larger tensor; it returns what
-- the larger one is, {shape, dtype}, and a function of it. Lists count from 1, axes from 0.

local ways = {}

function ways.step(r, shape, dtype)
  local k = r:int(2, #shape)
  local step, start, more, base = r:int(1, 3), r:int(0, 2), r:int(0, 2), M.copy(shape)
  local stop = start + (shape[k] - 1) * step + 1
  base[k] = stop + more
  return base, dtype, function(t) return t:slice(k - 1, start, stop, step) end
end

function ways.key(r, shape, dtype)
  local keys, base = {}, M.copy(shape)
  for k = 1, #shape do
    local start, step = r:int(0, 1), r:int(1, 2)
    if k == 1 then start, step = 0, 1 end
    local stop = start + (shape[k] - 1) * step + 1
    base[k] = stop + (k > 1 and r:int(0, 1) or 0)
    keys[k] = r:chance(30) and k > 1 and step == 1 and nl.ds(start, shape[k]) or {start, stop, step}
  end
  return base, dtype, function(t) return t[keys] end
end

function ways.permute(r, shape, dtype)
  local order, base = {}, {}
  for k = 1, #shape do order[k] = k end
  for k = #shape, 3, -1 do
    local j = r:int(2, k)
    order[k], order[j] = order[j], order[k]
  end
  local dims = {}
  for k = 1, #shape do
    base[order[k]] = shape[k]
    dims[k] = order[k] - 1
  end
  return base, dtype, function(t) return t:permute(dims) end
end

function ways.split(r, shape, dtype)
  if #shape < 3 then return end
  local k = r:int(2, #shape - 1)
  local base, parts = M.copy(shape), {shape[k], shape[k + 1]}
  base[k] = parts[1] * parts[2]
  table.remove(base, k + 1)
  return base, dtype, function(t) return t:reshape_dim(k - 1, parts) end
end

function ways.merge(r, shape, dtype)
  local k = r:int(2, #shape)
  local a = r:pick {1, 2, 3, 4}
  if shape[k] % a ~= 0 or #shape > 4 then return end
  local base = M.copy(shape)
  base[k] = shape[k] // a
  table.insert(base, k, a)
  return base, dtype, function(t) return t:flatten_dims(k - 1, k) end
end

function ways.select(r, shape, dtype, env)
  if #shape > 4 then return end
  local k, n = r:int(2, #shape + 1), r:int(1, 4)
  local base = M.copy(shape)
  if env.trips and not env.moved then
    env.moved = true
    table.insert(base, k, env.trips)
    return base, dtype, function(t, i) return t:select(k - 1, i) end
  end
  table.insert(base, k, n)
  local at = r:int(0, n - 1)
  return base, dtype, function(t) return t:select(k - 1, at) end
end

function ways.advance(_, shape, dtype, env) -- nl.ds at a register
  if not env.trips or env.moved then return end
  env.moved = true
  local k, base = #shape, M.copy(shape)
  base[k] = shape[k] * env.trips
  local keys = {}
  for j = 1, k - 1 do keys[j] = {} end
  return base, dtype, function(t, i)
    local all = M.copy(keys)
    all[k] = nl.ds(i * shape[k], shape[k])
    return t[all]
  end
end

function ways.squeeze(r, shape, dtype)
  if #shape > 4 then return end
  local k, base = r:int(2, #shape + 1), M.copy(shape)
  table.insert(base, k, 1)
  return base, dtype, function(t) return t:squeeze_dim(k - 1) end
end

function ways.expand(r, shape, dtype)
  local ones = {}
  for k = 2, #shape do
    if shape[k] == 1 and #shape > 2 then ones[#ones + 1] = k end
  end
  if #ones == 0 then return end
  local k, base = r:pick(ones), M.copy(shape)
  table.remove(base, k)
  return base, dtype, function(t) return t:expand_dim(k - 1) end
end

function ways.reshape(r, shape, dtype)
  local base, n = {shape[1]}, 1
  for k = 2, #shape do n = n * shape[k] end
  local a = r:pick {1, 2, 3, 5}
  base[2] = n
  if n % a == 0 then base[2], base[3] = n // a, a end
  return base, dtype, function(t) return t:reshape(shape) end
end

function ways.rearrange(_, shape, dtype)
  if #shape < 3 then return end
  local base, n = M.copy(shape), #shape
  base[n - 1] = shape[n - 1] * shape[n]
  base[n] = nil
  local more = ({"", "a ", "a b "})[n - 2] or "a b c "
  local pattern = ("p %s(x y) -> p %sy x"):format(more, more)
  return base, dtype, function(t) return t:rearrange(pattern, {y = shape[n - 1]}) end
end

function ways.broadcast(r, shape, dtype, env)
  if not env.read then return end
  local k, base = r:int(2, #shape), M.copy(shape)
  local n = base[k]
  base[k] = 1
  return base, dtype, function(t) return t:broadcast(k - 1, n) end
end

function ways.retype(r, shape, dtype, env)
  local other, base = r:pick(M.dtypes), M.copy(shape)
  local bytes = base[#base] * M.sizes[dtype]
  if bytes % M.sizes[other] ~= 0 or env.gen < 4 and M.gen4_only[other] then return end
  base[#base] = bytes // M.sizes[other]
  return base, other, function(t) return t:view(dtype) end
end

function ways.pattern(r, shape, dtype, env)
  if #shape > 3 or env.trips then return end
  local offset, pairs_, reach, step = r:int(0, 3), {}, 0, 1
  for k = #shape, 2, -1 do
    local stride = env.read and r:int(0, 4) or step * r:int(1, 2)
    pairs_[k] = {stride, shape[k]}
    reach = reach + stride * (shape[k] - 1)
    step = math.max(step, 1) * stride * shape[k]
    if not env.read and step == 0 then return end
  end
  local width = offset + reach + 1 + r:int(0, 2)
  pairs_[1] = {width, shape[1]}
  return {shape[1], width}, dtype, function(t) return t:ap(pairs_, offset) end
end

local way_names = {}
for name in pairs(ways) do way_names[#way_names + 1] = name end
table.sort(way_names)

-- A view of shape: {base = {shape, dtype}, of = function(base, i), names}.
function M.draw(r, shape, dtype, env)
  local steps, names = {}, {}
  local now, type_ = M.copy(shape), dtype
  for _ = 1, r:int(0, 3) do
    local name = r:pick(way_names)
    local base, inner, f = ways[name](r, now, type_, env)
    local count = 1
    for _, n in ipairs(base or {}) do count = count * n end
    if base and count // base[1] <= 3000 and #base >= 2 then
      table.insert(steps, 1, f)
      table.insert(names, 1, name)
      now, type_ = base, inner
      if name == "pattern" then break end -- it is of whole storage
    elseif name == "select" or name == "advance" then
      env.moved = false
    end
  end
  return {shape = now, dtype = type_, names = table.concat(names, ","), of = function(t, i)
    for _, f in ipairs(steps) do t = f(t, i) end
    return t
  end}
end

return M
