-- schema.lua: a validator for the part of JSON Schema that docs/backend_config.schema.json uses; any other keyword is
-- an error, so that none is taken for checked.
local json = require "spec.support.json"

local schema = {}
local check

local function is_type(v, wanted)
  local kind = json.type(v)
  return kind == wanted or (wanted == "number" and kind == "integer")
end

local function same(a, b)
  return json.encode(a) == json.encode(b)
end

-- Every keyword: function(value, what the keyword says, the schema it stands in, root) -> nil, or what is wrong.
local keywords = {}
for _, name in ipairs {"$schema", "$defs", "title", "description"} do
  keywords[name] = function() end
end

function keywords.type(v, wanted)
  for _, one in ipairs(json.type(wanted) == "array" and wanted or {wanted}) do
    if is_type(v, one) then
      return nil
    end
  end
  return "is of type " .. json.type(v)
end

function keywords.const(v, wanted)
  return not same(v, wanted) and "is not " .. json.encode(wanted) or nil
end

function keywords.enum(v, list)
  for _, one in ipairs(list) do
    if same(v, one) then
      return nil
    end
  end
  return "is none of " .. json.encode(list)
end

keywords["$ref"] = function(v, ref, _, root)
  return check(v, assert(root["$defs"][ref:match("^#/%$defs/(.*)$")], ref), root)
end

function keywords.oneOf(v, list, _, root)
  local fits, why = 0, {}
  for i, one in ipairs(list) do
    local wrong = check(v, one, root)
    fits = fits + (wrong and 0 or 1)
    why[i] = wrong
  end
  return fits ~= 1 and ("fits %d of %d forms: %s"):format(fits, #list, table.concat(why, "; ")) or nil
end

function keywords.required(v, names)
  for _, name in ipairs(names) do
    if json.type(v) == "object" and v[name] == nil then
      return "has no " .. name
    end
  end
end

function keywords.properties(v, properties, _, root)
  for _, name in ipairs(json.type(v) == "object" and json.keys(properties) or {}) do
    local wrong = v[name] ~= nil and check(v[name], properties[name], root)
    if wrong then
      return name .. " " .. wrong
    end
  end
end

function keywords.additionalProperties(v, rule, here, root)
  for _, name in ipairs(json.type(v) == "object" and json.keys(v) or {}) do
    if not (here.properties and here.properties[name] ~= nil) then
      local wrong = rule == false and "is not known" or check(v[name], rule, root)
      if wrong then
        return name .. " " .. wrong
      end
    end
  end
end

function keywords.items(v, rule, _, root)
  for i, item in ipairs(json.type(v) == "array" and v or {}) do
    local wrong = check(item, rule, root)
    if wrong then
      return ("[%d] %s"):format(i - 1, wrong)
    end
  end
end

-- Patterns that mean the same in Lua.
function keywords.pattern(v, pattern)
  return type(v) == "string" and not v:find(pattern) and "does not match " .. pattern or nil
end

local function bound(kinds, size, fits)
  return function(v, limit)
    return kinds[json.type(v)] and not fits(size(v), limit) and ("is not within %s"):format(limit) or nil
  end
end

local function length(v)
  return #v
end
local function number(v)
  return v
end
local function most(a, b)
  return a <= b
end
local function least(a, b)
  return a >= b
end

keywords.minimum = bound({integer = true, number = true}, number, least)
keywords.maximum = bound({integer = true, number = true}, number, most)
keywords.minItems, keywords.maxItems = bound({array = true}, length, least), bound({array = true}, length, most)
keywords.minLength, keywords.maxLength = bound({string = true}, length, least), bound({string = true}, length, most)

function check(v, rules, root)
  for _, keyword in ipairs(json.keys(rules)) do
    local rule = assert(keywords[keyword], "the validator knows no keyword " .. keyword)
    local wrong = rule(v, rules[keyword], rules, root)
    if wrong then
      return wrong
    end
  end
end

-- schema.check(value, schema) -> nil, or what is wrong, the path in front.
function schema.check(v, root)
  return check(v, root, root)
end

return schema
