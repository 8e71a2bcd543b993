-- testing.lua: assertions on host arrays. They fail by error(), with the line that called them.
local nd = require "nki.ndarray"

local testing = {}

local function text_of_type(a)
  return ("%s[%s]"):format(a.dtype, table.concat({a.shape:unpack()}, ","))
end

local function is_array(x)
  return type(x) == "userdata" and getmetatable(x) ~= nil and getmetatable(x).__name == "nki.array"
end

-- desired may be a number or a nested list: it becomes an array of the dtype of actual.
local function arrays(name, actual, desired, level)
  if not is_array(actual) then
    error(("%s: actual must be an array, got %s"):format(name, type(actual)), level + 1)
  end
  if not is_array(desired) then
    if type(desired) ~= "table" and type(desired) ~= "number" and type(desired) ~= "boolean" then
      error(("%s: desired must be an array, a number or a nested list, got %s"):format(name, type(desired)), level + 1)
    end
    desired = nd.array(desired, actual.dtype)
  end
  if actual.shape ~= desired.shape or actual.dtype ~= desired.dtype then
    error(("%s: actual is %s and desired is %s"):format(name, text_of_type(actual), text_of_type(desired)), level + 1)
  end
  return actual, desired
end

local function number(a, index)
  local v = a:get(table.unpack(index))
  return math.type(v) == "float" and ("%.9g"):format(v) or tostring(v)
end

local function at(a, b, index)
  local place = "[" .. table.concat(index, "][") .. "]"
  if a.dtype:find "_x4$" then
    return place .. " differs"
  end
  return ("%s: actual %s, desired %s"):format(place, number(a, index), number(b, index))
end

local function report(name, a, b, found, rule)
  local lines = {
    ("%s: %d of %d elements differ (%s)"):format(name, found.count, a.size, rule),
    "  first at " .. at(a, b, found.first),
    "  worst at " .. at(a, b, found.worst),
    ("  largest difference: absolute %.6g, relative %.6g"):format(found.max_abs, found.max_rel),
  }
  return table.concat(lines, "\n")
end

local OPTIONS = {rtol = "number", atol = "number", equal_nan = "boolean"}

local function check_options(options, level)
  if type(options) ~= "table" then
    error("assert_allclose: options must be a table {rtol=, atol=, equal_nan=}, got " .. type(options), level + 1)
  end
  for key, value in pairs(options) do
    local want = OPTIONS[key]
    if not want then
      error(("assert_allclose: no option '%s'; there are rtol, atol and equal_nan"):format(tostring(key)), level + 1)
    elseif type(value) ~= want then
      error(("assert_allclose: option '%s' must be a %s, got %s"):format(key, want, type(value)), level + 1)
    elseif want == "number" and (value ~= value or value < 0) then
      error(("assert_allclose: option '%s' is %s; a tolerance is at least 0"):format(key, value), level + 1)
    end
  end
end

-- assert_allclose(actual, desired, {rtol = 1e-7, atol = 0, equal_nan = false}): every |a - d| <= atol + rtol * |d|. NaN
-- is close to nothing,
-- except to NaN with equal_nan. Shapes and dtypes must be the same.
function testing.assert_allclose(actual, desired, options)
  options = options or {}
  check_options(options, 2)
  local a, d = arrays("assert_allclose", actual, desired, 2)
  local rtol, atol = options.rtol or 1e-7, options.atol or 0
  local found = nd.compare(a, d, rtol, atol, options.equal_nan or false)
  if found then
    error(report("assert_allclose", a, d, found, ("rtol %g, atol %g"):format(rtol, atol)), 2)
  end
end

-- assert_equal(actual, desired): the same shape, dtype and bytes.
function testing.assert_equal(actual, desired)
  local a, d = arrays("assert_equal", actual, desired, 2)
  local found = nd.compare(a, d, 0, 0, true, true)
  if found then
    error(report("assert_equal", a, d, found, "bytes"), 2)
  end
end

return testing
