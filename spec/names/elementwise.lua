-- Cases of the element-wise functions of nki.language: closed forms in double precision, element by element.
local nl = require "nki.language"
local nd = require "nki.ndarray"

local x = {{-2.5, -1, -0.5, 0}, {0.25, 0.5, 1.5, 3}}
local y = {{2, -3, 0.5, 4}, {-1, 2, 1.5, 0.5}}
local positive = {{0.25, 0.5, 1, 2}, {3, 4, 10, 100}}
local angle = {{-1.5, -0.5, 0, 1.25}}

local function each(a, f, b)
  local out = {}
  for i, row in ipairs(a) do
    out[i] = {}
    for j, v in ipairs(row) do
      out[i][j] = f(v, b and b[i][j])
    end
  end
  return out
end

local function bit(b) return b and 1 or 0 end
local function sigmoid(v) return 1 / (1 + math.exp(-v)) end
local function tanh(v) return (math.exp(v) - math.exp(-v)) / (math.exp(v) + math.exp(-v)) end
local function softplus(v) return math.log(1 + math.exp(v)) end
local function erf(v) -- a series; |v| <= 3
  local sum, term = v, v
  for n = 1, 80 do
    term = -term * v * v / n
    sum = sum + term / (2 * n + 1)
  end
  return 2 / math.sqrt(math.pi) * sum
end

local two = {
  add = function(a, b) return a + b end,
  subtract = function(a, b) return a - b end,
  multiply = function(a, b) return a * b end,
  divide = function(a, b) return a / b end,
  maximum = math.max,
  minimum = math.min,
  mod = function(a, b) return a - math.floor(a / b) * b end,
  fmod = math.fmod,
  equal = function(a, b) return bit(a == b) end,
  not_equal = function(a, b) return bit(a ~= b) end,
  less = function(a, b) return bit(a < b) end,
  less_equal = function(a, b) return bit(a <= b) end,
  greater = function(a, b) return bit(a > b) end,
  greater_equal = function(a, b) return bit(a >= b) end,
  logical_and = function(a, b) return bit(a ~= 0 and b ~= 0) end,
  logical_or = function(a, b) return bit(a ~= 0 or b ~= 0) end,
  logical_xor = function(a, b) return bit((a ~= 0) ~= (b ~= 0)) end,
  abs_max = function(a, b) return math.abs(a) > math.abs(b) and a or b end,
  abs_min = function(a, b) return math.abs(a) < math.abs(b) and a or b end,
}
local since = {abs_max = "trn3", abs_min = "trn3"}

local bits = {
  bitwise_and = function(a, b) return a & b end,
  bitwise_or = function(a, b) return a | b end,
  bitwise_xor = function(a, b) return a ~ b end,
  left_shift = function(a, b) return a << b & 0xFF end,
  right_shift = function(a, b) return a >> b end,
}

-- {of a number, inputs}; inputs are x when none are given.
local one = {
  negative = {function(v) return -v end},
  abs = {math.abs},
  square = {function(v) return v * v end},
  sign = {function(v) return v > 0 and 1 or v < 0 and -1 or 0 end},
  exp = {math.exp},
  tanh = {tanh},
  sigmoid = {sigmoid},
  relu = {function(v) return math.max(v, 0) end},
  gelu = {function(v) return v / 2 * (1 + erf(v / math.sqrt(2))) end},
  gelu_dx = {function(v)
    return (1 + erf(v / math.sqrt(2))) / 2 + v * math.exp(-v * v / 2) / math.sqrt(2 * math.pi)
  end},
  gelu_apprx_tanh = {function(v) return v / 2 * (1 + tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ^ 3))) end},
  gelu_apprx_sigmoid = {function(v) return v * sigmoid(1.702 * v) end},
  gelu_apprx_sigmoid_dx = {function(v)
    local s = sigmoid(1.702 * v)
    return s + 1.702 * v * s * (1 - s)
  end},
  silu = {function(v) return v * sigmoid(v) end},
  silu_dx = {function(v) return sigmoid(v) + v * sigmoid(v) * (1 - sigmoid(v)) end},
  softplus = {softplus},
  mish = {function(v) return v * tanh(softplus(v)) end},
  erf = {erf},
  erf_dx = {function(v) return 2 / math.sqrt(math.pi) * math.exp(-v * v) end},
  sin = {math.sin, {{-2.5, 0.5, 9, -20}, {100, 1000, 0, 3}}},
  cos = {math.cos, {{-2.5, 0.5, 9, -20}, {100, 1000, 0, 3}}},
  tan = {math.tan},
  ceil = {math.ceil},
  floor = {math.floor},
  trunc = {function(v) return v < 0 and math.ceil(v) or math.floor(v) end},
  logical_not = {function(v) return bit(v == 0) end},
  log = {math.log, positive},
  sqrt = {math.sqrt, positive},
  rsqrt = {function(v) return 1 / math.sqrt(v) end, positive},
  reciprocal = {function(v) return 1 / v end, positive},
  arctan = {math.atan, angle},
}

local near = {rtol = 2e-6, atol = 2e-6}
local cases = {}

for name, f in pairs(two) do
  local function both(s, t) return nl[name](s, t) end
  local function right(s) return nl[name](s, 1.5) end
  local function left(s) return nl[name](1.5, s) end
  local target = since[name]
  cases["nl." .. name] = {
    {"two tiles", {nd.array(x), nd.array(y)}, both, {each(x, f, y)}, tolerance = near, target = target},
    {"a tile and a number", {nd.array(x)}, right, {each(x, function(v) return f(v, 1.5) end)}, tolerance = near,
     target = target},
    {"a number and a tile", {nd.array(y)}, left, {each(y, function(v) return f(1.5, v) end)}, tolerance = near,
     target = target},
  }
end

local base, exponent = {{1, 2, 3, 4}}, {{2, 0.5, -1, 3}}
cases["nl.power"] = {
  {"two tiles", {nd.array(base), nd.array(exponent)}, function(s, t) return nl.power(s, t) end,
   {each(base, function(v, e) return v ^ e end, exponent)}, tolerance = near},
  {"a tile and a number", {nd.array(x)}, function(s) return nl.power(s, 2) end,
   {each(x, function(v) return v * v end)}, tolerance = near},
  {"a number and a tile", {nd.array(x)}, function(s) return nl.power(2, s) end,
   {each(x, function(v) return 2 ^ v end)}, tolerance = near},
}

local octets, counts = {{12, 10, 255, 1}}, {{1, 3, 2, 0}}
for name, f in pairs(bits) do
  cases["nl." .. name] = {
    {"two tiles", {nd.array(octets, "uint8"), nd.array(counts, "uint8")}, function(s, t) return nl[name](s, t) end,
     {nd.array(each(octets, f, counts), "uint8")}},
    {"a tile and a number", {nd.array(octets, "uint8")}, function(s) return nl[name](s, 3) end,
     {nd.array(each(octets, function(v) return f(v, 3) end), "uint8")}},
  }
end
cases["nl.invert"] = {{"a tile", {nd.array(octets, "uint8")}, function(s) return nl.invert(s) end,
  {nd.array(each(octets, function(v) return 255 - v end), "uint8")}}}

for name, row in pairs(one) do
  local f, inputs = row[1], row[2] or x
  cases["nl." .. name] = {
    {"a tile", {nd.array(inputs)}, function(s) return nl[name](s) end, {each(inputs, f)}, tolerance = near},
    {"in another dtype", {nd.array(inputs)}, function(s) return nl[name](s, nl.bfloat16) end,
     {nd.array(each(inputs, f)):astype "bfloat16"}, tolerance = {rtol = 2 ^ -7, atol = 1e-6}},
  }
end

return cases
