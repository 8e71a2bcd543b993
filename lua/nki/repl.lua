-- repl.lua: what an interactive session shows and offers. The standard functions are taken now: a script may change the
-- globals later.
local getmetatable, rawget, next, type, tostring, pcall = debug.getmetatable, rawget, next, type, tostring, pcall
local select, ipairs, mathtype, globals = select, ipairs, math.type, _G
local concat, sort, rep, format, find, sub, gsub, gmatch, match =
  table.concat, table.sort, string.rep, string.format, string.find, string.sub, string.gsub, string.gmatch, string.match

local repl = {}

-- ---- values as text

local WIDTH, DEPTH, ITEMS = 100, 6, 200
local ALONE, INSIDE = 10000, 1000 -- bytes of a text that stands alone, or in a table

local keywords = {}
for word in gmatch([[and break do else elseif end false for function goto if in local nil not or repeat return then true
    until while]], "%a+") do
  keywords[word] = true
end

-- A text of at most so many bytes, cut between characters; a longer one ends with its length.
local function cut(s, most, quote)
  if #s <= most then
    return quote and quote(s) or s
  end
  local last = most
  while last > most - 3 and find(sub(s, last + 1, last + 1), "^[\x80-\xbf]") do
    last = last - 1
  end
  local head = sub(s, 1, last)
  return format("%s... (%d of %d bytes)", quote and quote(head) or head, last, #s)
end

local escapes = {["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ["\0"] = "\\0", ['"'] = '\\"', ["\\"] = "\\\\"}
local function quoted(s)
  return '"' .. gsub(gsub(s, '[\n\t\r\0"\\]', escapes), "%c", function(c)
    return format("\\x%02x", c:byte())
  end) .. '"'
end

-- A value that knows its own text, or one without contents to show.
local function plain(v)
  local ok, s = pcall(tostring, v)
  return ok and cut(s, ALONE) or format("(%s whose __tostring fails)", type(v))
end

local order = {number = 1, string = 2, boolean = 3}
local function before(a, b)
  local x, y = order[type(a)] or 4, order[type(b)] or 4
  if x ~= y then
    return x < y
  elseif x <= 2 then
    return a < b
  end
  return plain(a) < plain(b)
end

local function sorted_keys(t, n)
  local keys = {}
  for k in next, t do
    if not (mathtype(k) == "integer" and k >= 1 and k <= n) then
      keys[#keys + 1] = k
    end
  end
  sort(keys, before)
  return keys
end

local render

local function key_text(k, open, depth)
  if type(k) == "string" and #k <= INSIDE and find(k, "^[%a_][%w_]*$") and not keywords[k] then
    return k .. " = "
  end
  return "[" .. render(k, open, depth + 1) .. "] = "
end

local function items_of(t, open, depth)
  local items, n = {}, 0
  while n < ITEMS and rawget(t, n + 1) ~= nil do
    n = n + 1
    items[n] = render(rawget(t, n), open, depth + 1)
  end
  for i, k in ipairs(sorted_keys(t, n)) do
    if i + n > ITEMS then
      items[#items + 1] = "..."
      break
    end
    items[#items + 1] = key_text(k, open, depth) .. render(rawget(t, k), open, depth + 1)
  end
  return items
end

local function render_table(t, open, depth)
  if open[t] then
    return "{(itself)}"
  elseif depth >= DEPTH then
    return next(t) == nil and "{}" or "{...}"
  end
  open[t] = true
  local items, indent = items_of(t, open, depth), rep("  ", depth + 1)
  open[t] = nil
  local line = "{" .. concat(items, ", ") .. "}"
  if #line + 2 * depth <= WIDTH and not find(line, "\n", 1, true) then
    return line
  end
  return "{\n" .. indent .. concat(items, ",\n" .. indent) .. "\n" .. rep("  ", depth) .. "}"
end

function render(v, open, depth)
  if type(v) == "string" then
    return cut(v, INSIDE, quoted)
  elseif type(v) ~= "table" then
    return plain(v)
  end
  local mt = getmetatable(v)
  if type(mt) == "table" and (rawget(mt, "__tostring") ~= nil or rawget(mt, "__name") ~= nil) then
    return plain(v)
  end
  return render_table(v, open, depth)
end

-- The values of a chunk, as one text that ends in a newline. A string alone is shown as print shows it.
function repl.show(...)
  local texts, sep = {}, "\t"
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    texts[i] = type(v) == "string" and cut(v, ALONE) or render(v, {}, 0)
    if find(texts[i], "\n", 1, true) then
      sep = "\n"
    end
  end
  return concat(texts, sep) .. "\n"
end

-- ---- help: the public name of a value, nil when it has none

local public = {{"nki", "nki"}, {"nki.language", "nl"}, {"nki.isa", "nisa"}, {"nki.collectives", "ncc"},
  {"nki.ndarray", "nd"}, {"nki.testing", "testing"}}
local require, rawequal, pairs = require, rawequal, pairs

function repl.name_of(v)
  if type(v) == "string" then return v end
  local names = {}
  for _, m in ipairs(public) do
    local module = require(m[1])
    for name, value in pairs(module) do
      if rawequal(value, v) then names[#names + 1] = m[2] .. "." .. name end
    end
    if rawequal(module, v) then names[#names + 1] = m[2] end
  end
  sort(names)
  local text = plain(v)
  if find(text, "^%l+: ") then text = "a " .. type(v) end -- an address tells nothing
  return names[1] or match(text, "^class (.*)") or text
end

-- ---- completion: raw accesses only, so that nothing of the user's runs

-- Calls see(key, value) for what v offers: its own keys, then those of a table __index.
local function each_key(v, see)
  for _ = 1, 10 do
    if type(v) == "table" then
      for k, value in next, v do
        see(k, value)
      end
    end
    local mt = getmetatable(v)
    v = type(mt) == "table" and rawget(mt, "__index") or nil
    if type(v) ~= "table" then
      return
    end
  end
end

local function field(v, key)
  local found
  each_key(v, function(k, value)
    if found == nil and k == key then
      found = value
    end
  end)
  return found
end

-- The completions of the name at the end of line, '\n'-separated and sorted.
function repl.complete(line)
  local name = match(line, "[%a_][%w_.:]*$") or ""
  local path, sep, prefix = match(name, "^(.-)([.:]?)([%w_]*)$")
  if name == "" or (sep ~= "" and path == "") then
    return ""
  end
  local owner = globals
  for step in gmatch(path, "[^.:]+") do
    owner = field(owner, step)
    if owner == nil then
      return ""
    end
  end
  local seen, list, head = {}, {}, path .. sep
  local function offer(k, value)
    if type(k) ~= "string" or seen[k] or sub(k, 1, #prefix) ~= prefix or not find(k, "^[%a_][%w_]*$") then
      return
    end
    if sep == ":" and type(value) ~= "function" then
      return
    end
    seen[k] = true
    list[#list + 1] = head .. k
  end
  each_key(owner, offer)
  if sep == "" then
    for word in next, keywords do
      offer(word)
    end
  end
  sort(list)
  return concat(list, "\n")
end

return repl
