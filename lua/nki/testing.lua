-- testing.lua: assertions on host arrays. They fail by error(), with the line that called them; arguments that are no
-- arrays or options raise as everywhere. The chunk is given its name, fail(id, message) and the functions in C.
local _, fail, lib = ...
local callables = lib.half "nki.callables"
local nd = require "nki.ndarray"

local testing = {}

local function text_of_type(a)
  return ("%s[%s]"):format(a.dtype, table.concat({a.shape:unpack()}, ","))
end

-- desired may be a number or a nested list: it becomes an array of the dtype of actual.
local function arrays(name, actual, desired, level)
  local who = "nki.testing." .. name
  if lib.kind(actual) ~= "array" then
    callables.kind_error(who, "actual", "an array", actual)
  end
  if lib.kind(desired) ~= "array" then
    if type(desired) ~= "table" and type(desired) ~= "number" and type(desired) ~= "boolean" then
      callables.kind_error(who, "desired", "an array, a number or a nested list", desired)
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

local function check_options(options)
  local who = "nki.testing.assert_allclose"
  if type(options) ~= "table" or getmetatable(options) then
    callables.kind_error(who, "options", "a table such as {rtol = 1e-5}", options)
  end
  for key, value in pairs(options) do
    local want = OPTIONS[key]
    if not want then
      fail("bind_unknown", ("%s: no parameter '%s' (parameters: rtol, atol, equal_nan)"):format(who, tostring(key)))
    elseif type(value) ~= want then
      callables.kind_error(who, key, "a " .. want, value)
    elseif want == "number" and (value ~= value or value < 0) then
      fail("bind_value", ("%s: parameter '%s' is %s; a tolerance is at least 0"):format(who, key, tostring(value)))
    end
  end
end

-- assert_allclose(actual, desired, {rtol = 1e-7, atol = 0, equal_nan = false}): every |a - d| <= atol + rtol * |d|. NaN
-- is close to nothing,
-- except to NaN with equal_nan. Shapes and dtypes must be the same.
testing.assert_allclose = callables.fixed("nki.testing.assert_allclose", 3, function(actual, desired, options)
  if options == nil then options = {} end
  check_options(options)
  local a, d = arrays("assert_allclose", actual, desired, 2)
  local rtol, atol = options.rtol or 1e-7, options.atol or 0
  local found = nd.compare(a, d, rtol, atol, options.equal_nan or false)
  if found then
    error(report("assert_allclose", a, d, found, ("rtol %g, atol %g"):format(rtol, atol)), 2)
  end
end)

-- assert_equal(actual, desired): the same shape, dtype and bytes.
testing.assert_equal = callables.fixed("nki.testing.assert_equal", 2, function(actual, desired)
  local a, d = arrays("assert_equal", actual, desired, 2)
  local found = nd.compare(a, d, 0, 0, true, true)
  if found then
    error(report("assert_equal", a, d, found, "bytes"), 2)
  end
end)

return testing
