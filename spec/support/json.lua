-- json.lua: JSON as Lua values for specs, and back, with the order of keys; objects and lists are tables that know
-- which of the two they are, null is json.null, 1 and 1.0 are an integer and a float.
local json = {null = setmetatable({}, {__tostring = function()
  return "null"
end})}

local list, object = {}, {}

function json.list(t)
  return setmetatable(t, list)
end

-- keys: the names in their order.
function json.object(t, keys)
  return setmetatable(t, {object, keys = keys})
end

-- "object", "array", "string", "integer", "number", "boolean" or "null".
function json.type(v)
  local mt = type(v) == "table" and getmetatable(v)
  if v == json.null then
    return "null"
  elseif mt then
    return mt == list and "array" or "object"
  end
  return type(v) == "number" and (math.type(v) == "integer" and "integer" or "number") or type(v)
end

function json.keys(v)
  return getmetatable(v).keys
end

local escapes = {b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ["/"] = "/", ["\\"] = "\\", ['"'] = '"'}
local words = {["true"] = true, ["false"] = false, null = json.null}
local value

local function skip(text, at)
  return text:match("^[ \n\r\t]*()", at)
end

local function string_at(text, at)
  local raw, after = text:match('^"([^"\\]*)"()', at)
  if raw then
    return raw, after
  end
  local parts, from = {}, at + 1
  while true do
    local plain, mark, here = text:match('^([^"\\]*)(["\\])()', from)
    assert(plain, "a string has no end")
    parts[#parts + 1] = plain
    if mark == '"' then
      return table.concat(parts), here
    end
    local code = text:match("^u(%x%x%x%x)", here)
    parts[#parts + 1] = code and utf8.char(tonumber(code, 16)) or assert(escapes[text:sub(here, here)])
    from = here + (code and 5 or 1)
  end
end

local function items(text, at, close, one)
  at = skip(text, at + 1)
  if text:sub(at, at) == close then
    return at + 1
  end
  while true do
    at = skip(text, one(at))
    local mark = text:sub(at, at)
    assert(mark == "," or mark == close, "',' or '" .. close .. "' is missing at " .. at)
    if mark == close then
      return at + 1
    end
    at = skip(text, at + 1)
  end
end

local function object_at(text, at)
  local t, keys = {}, {}
  return json.object(t, keys), items(text, at, "}", function(here)
    local key, after = string_at(text, here)
    assert(t[key] == nil, key .. " is there twice")
    after = assert(text:match("^[ \n\r\t]*:[ \n\r\t]*()", after), "':' is missing")
    t[key], after = value(text, after)
    keys[#keys + 1] = key
    return after
  end)
end

local function list_at(text, at)
  local t = {}
  return json.list(t), items(text, at, "]", function(here)
    local v, after = value(text, here)
    t[#t + 1] = v
    return after
  end)
end

function value(text, at)
  local first = text:sub(at, at)
  if first == "{" then
    return object_at(text, at)
  elseif first == "[" then
    return list_at(text, at)
  elseif first == '"' then
    return string_at(text, at)
  end
  local word, after = text:match("^(%l+)()", at)
  if word then
    assert(words[word] ~= nil, "no JSON: " .. word)
    return words[word], after
  end
  word, after = text:match("^(-?%d[%d.eE+-]*)()", at)
  return assert(tonumber(word), "no JSON at " .. at), after
end

function json.parse(text)
  local v, after = value(text, skip(text, 1))
  assert(skip(text, after) == #text + 1, "bytes follow the JSON")
  return v
end

local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function(c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

function json.encode(v)
  local kind, parts = json.type(v), {}
  if kind == "string" then
    return quote(v)
  elseif kind == "number" then
    return (("%.17g"):format(v):gsub("^-?%d+$", "%0.0"))
  elseif kind == "array" then
    for i, item in ipairs(v) do
      parts[i] = json.encode(item)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  elseif kind == "object" then
    for i, key in ipairs(json.keys(v)) do
      parts[i] = quote(key) .. ":" .. json.encode(v[key])
    end
    return "{" .. table.concat(parts, ",") .. "}"
  end
  return tostring(v)
end

return json
