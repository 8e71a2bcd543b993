-- library.lua: what the kernels of kernels/ share: checks of arguments that all fail in one form of words, with the
-- line that called the kernel, and parts of an axis. The chunk is given its name and fail(id, message).
local _, fail = ...
local nl = require "nki.language"

local library = {}

library.floats = {"float32", "bfloat16", "float16"}

-- "q" of nki.kernels.attention is `what`, and `rule` says what is allowed.
function library.refuse(kernel, name, what, rule)
  fail("bind_value", ("nki.kernels.%s: parameter '%s' is %s; %s"):format(kernel, name, what, rule))
end

local function missing(kernel, name)
  fail("bind_missing", ("nki.kernels.%s: parameter '%s' is required"):format(kernel, name))
end

local function wrong_kind(kernel, name, want, value)
  local got = value == nil and "nil" or type(value) == "userdata" and tostring(value) or type(value)
  if type(value) == "number" or type(value) == "boolean" then got = tostring(value) end
  if type(value) == "string" then got = ("'%s'"):format(value) end
  fail("bind_kind", ("nki.kernels.%s: parameter '%s' must be %s, got %s"):format(kernel, name, want, got))
end

local function is_tensor(value)
  local mt = type(value) == "userdata" and debug.getmetatable(value)
  return mt and mt.__name == "NkiTensor"
end

-- bfloat16[4,128]
function library.text_of(t)
  return ("%s[%s]"):format(t.dtype, table.concat({t.shape:unpack()}, ","))
end

local function has(list, value)
  for _, item in ipairs(list) do
    if item == value then return true end
  end
  return false
end

local function check_dtype(kernel, name, value, dtypes)
  if not has(dtypes, value.dtype) then
    library.refuse(kernel, name, library.text_of(value), "its dtype must be " .. table.concat(dtypes, ", "))
  end
end

-- Gives the axes that `sizes` does not know yet their size; the others must have it.
local function check_shape(kernel, name, value, axes, sizes)
  local wanted, same = {}, value.ndim == #axes
  for i, axis in ipairs(axes) do
    local size = math.tointeger(tonumber(axis)) or sizes[axis]
    wanted[i] = size and tonumber(axis) == nil and ("%s = %d"):format(axis, size) or axis
    if same and size and value.shape[i - 1] ~= size then same = false end
  end
  if not same then
    local rule = "its shape must be [" .. table.concat(wanted, ", ") .. "]"
    library.refuse(kernel, name, library.text_of(value), rule)
  end
  for i, axis in ipairs(axes) do
    if not tonumber(axis) then sizes[axis] = value.shape[i - 1] end
  end
end

-- The axes of the alternative ("a b | a b c") of pattern that has so many axes, else of its first.
local function axes_of(pattern, rank)
  local first
  for part in pattern:gmatch "[^|]+" do
    local axes = {}
    for axis in part:gmatch "%S+" do axes[#axes + 1] = axis end
    if #axes == rank then return axes end
    first = first or axes
  end
  return first
end

-- tensors(kernel, {{"q", q, "heads d queries"}, {"k", k, "heads d keys", "q"}, {"n", n, "rows 1", {"int32"}}}):
-- checks rank, shape and dtype of each; equal names are equal sizes, a number is that size. The dtype is one of a
-- list, that of an earlier tensor, or a float. Returns the sizes by name.
function library.tensors(kernel, list)
  local sizes, seen = {}, {}
  for _, item in ipairs(list) do
    local name, value, pattern, dtypes = item[1], item[2], item[3], item[4]
    if value == nil then missing(kernel, name) end
    if not is_tensor(value) then wrong_kind(kernel, name, "a tensor", value) end
    check_shape(kernel, name, value, axes_of(pattern, value.ndim), sizes)
    if type(dtypes) == "string" then dtypes = {seen[dtypes].dtype} end
    check_dtype(kernel, name, value, dtypes or library.floats)
    seen[name] = value
  end
  return sizes
end

-- An axis of a tensor has at most `most` elements.
function library.at_most(kernel, name, value, axis, size, most)
  if size > most then
    library.refuse(kernel, name, library.text_of(value), ("%s is at most %d"):format(axis, most))
  end
end

-- An integer from low to high (math.huge: no limit); nil is the default.
function library.integer(kernel, name, value, range)
  if value == nil then value = range.default end
  if value == nil then missing(kernel, name) end
  local whole = math.type(value) and math.tointeger(value)
  if not whole then wrong_kind(kernel, name, "an integer", value) end
  local low, high = range[1], range[2] or math.huge
  if whole < low or whole > high then
    local rule = high == math.huge and ("it is at least %d"):format(low) or ("it is %d to %d"):format(low, high)
    library.refuse(kernel, name, tostring(whole), rule)
  end
  return whole
end

-- A finite number; nil is the default.
function library.number(kernel, name, value, default)
  if value == nil then value = default end
  if value == nil then missing(kernel, name) end
  if not math.type(value) then wrong_kind(kernel, name, "a number", value) end
  if value ~= value or value == math.huge or value == -math.huge then
    library.refuse(kernel, name, tostring(value), "it must be finite")
  end
  return value + 0.0
end

function library.flag(kernel, name, value)
  if value == nil then return false end
  if type(value) ~= "boolean" then wrong_kind(kernel, name, "true or false", value) end
  return value
end

-- One of the strings of list; nil is the first.
function library.choice(kernel, name, value, list)
  if value == nil then return list[1] end
  if type(value) ~= "string" then wrong_kind(kernel, name, "a string", value) end
  if not has(list, value) then
    library.refuse(kernel, name, ("'%s'"):format(value), "it is one of " .. table.concat(list, ", "))
  end
  return value
end

-- The part of an axis of `total` elements that begins at `start` and has `size` of them, or what is left, and its size.
function library.part(start, size, total)
  local n = math.min(size, total - start)
  return nl.ds(start, n), n
end

-- x1 cos - x2 sin and x2 cos + x1 sin of a tile's first and second half of columns, in float32, as a tile of x's dtype.
function library.rotated(x, cos, sin)
  local nisa = require "nki.isa"
  local n, d = x.shape:unpack()
  local first, second = nl.ds(0, d // 2), nl.ds(d // 2, d // 2)
  local x1, x2, y = x[{{}, first}], x[{{}, second}], nl.ndarray({n, d}, x.dtype)
  nisa.tensor_tensor(y[{{}, first}], nl.multiply(x1, cos, nl.float32), nl.multiply(x2, sin, nl.float32), nl.subtract)
  nisa.tensor_tensor(y[{{}, second}], nl.multiply(x2, cos, nl.float32), nl.multiply(x1, sin, nl.float32), nl.add)
  return y
end

-- A tensor for a result.
function library.output(shape, dtype) return nl.ndarray(shape, dtype, {buffer = nl.shared_hbm}) end

return library
