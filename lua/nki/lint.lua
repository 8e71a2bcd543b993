-- lint.lua: `nkilua lint`: warnings about what Lua cannot trap in kernels. The chunk is given fail, define and lib.
--   lint.check(text, name) -> findings {{line =, col =, id =, text =}, ...} in the order of the text; or nil and what
--   Lua says of a text that does not compile, "file:line: message"
--   lint.text(findings, name), lint.json(findings, name): as text; lint.rules: {{id, what it warns of}, ...}
local _, _, lib = ...
local lex, parse = require "nki.lint_lex", require "nki.lint_parse"
local flow_of = require "nki.lint_flow"
local rules = require "nki.lint_rules"

local lint = {rules = rules.list}
local known = {lint_unknown_rule = true}
for _, rule in ipairs(lint.rules) do known[rule[1]] = true end

-- ---- places

-- A function: offset -> line, column (both from 1; columns count bytes).
local function places_of(text)
  local starts = {1}
  for at in text:gmatch "()\n" do starts[#starts + 1] = at + 1 end
  return function(pos)
    local low, high = 1, #starts
    while low < high do
      local middle = (low + high + 1) // 2
      if starts[middle] <= pos then low = middle else high = middle - 1 end
    end
    return low, pos - starts[low] + 1
  end
end

-- ---- `-- lint: ignore ID ...` on a line, or on a line of its own before it; `-- lint: ignore-file ID ...`

local function ignored(text, comments, place, add)
  local file, lines = {}, {}
  for _, comment in ipairs(comments) do
    local how, ids = comment.text:match "^%s*lint:%s*(ignore[%-file]*)%s+([%w_ ,]+)"
    if how == "ignore" or how == "ignore-file" then
      local line, col = place(comment.pos)
      local alone = text:sub(comment.pos - col + 1, comment.pos - 1):match "^%s*$"
      local set = file
      if how == "ignore" then
        line = alone and line + 1 or line
        lines[line] = lines[line] or {}
        set = lines[line]
      end
      for id in ids:gmatch "lint_[%w_]+" do
        set[id] = true
        if not known[id] then add(comment.pos, "lint_unknown_rule", "there is no rule " .. id) end
      end
    end
  end
  return function(line, id) return file[id] or lines[line] and lines[line][id] end
end

-- ---- texts that do not compile: what a Python author may have meant

local hints = {
  {"%[[^%]\"']*:[^%]\"']*%]", [[a slice is a string, t["0:64, ::2"], or nl.ds(start, size)]]},
  {"!=", "Lua writes ~= for !="}, {"[%+%-%*/|&]=", "Lua has no assignment operators: x = x + y"},
  {"%*%*", "Lua writes ^ for **"}, {"^%s*def%s", "Lua writes function f(x) ... end"},
  {"^%s*elif%s", "Lua writes elseif ... then"}, {"%f[%w]lambda%f[%W]", "Lua writes function(x) return ... end"},
  {"%f[%w]import%f[%W]", 'Lua writes local nl = require "nki.language"'}, {":%s*$", "Lua writes then, do and end"},
}

local function with_hint(message, text)
  local line, n = tonumber(message:match ":(%d+): "), 0
  for source in (text .. "\n"):gmatch "(.-)\n" do
    n = n + 1
    if n == line then
      for _, hint in ipairs(hints) do
        if source:find(hint[1]) then return message .. "; " .. hint[2] end
      end
    end
  end
  return message
end

-- ---- checking

local function before(a, b)
  if a.line ~= b.line then return a.line < b.line end
  if a.col ~= b.col then return a.col < b.col end
  if a.id ~= b.id then return a.id < b.id end
  return a.text < b.text
end

local function check(text, name)
  text = text:gsub("^\xef\xbb\xbf", "") -- as files are loaded
  if text:sub(1, 1) == "#" then text = "--" .. text:sub(3) end
  local ok, message = load(text, "@" .. name, "t")
  if not ok then return nil, with_hint(message, text) end
  local tokens, comments = lex(text)
  local tree, place = parse(tokens), places_of(text)
  local findings = {}
  local skip
  local function add(pos, id, what)
    local line, col = place(pos)
    if not (skip and skip(line, id)) then
      findings[#findings + 1] = {line = line, col = col, id = id, text = what}
    end
  end
  skip = ignored(text, comments, place, add)
  local facts = lib.facts()
  rules.check(tree, flow_of(tree, facts), facts, function(node, id, what) add(node.pos, id, what) end)
  table.sort(findings, before)
  return findings
end

-- While a text is looked at nearly all that is made stays in use: there is nothing for the collector to find.
function lint.check(text, name)
  local collects = collectgarbage "isrunning"
  collectgarbage "stop"
  local result = table.pack(pcall(check, text, name))
  if collects then collectgarbage "restart" end
  if not result[1] then error(result[2], 0) end
  return table.unpack(result, 2, result.n)
end

function lint.text(findings, name)
  local lines = {}
  for i, f in ipairs(findings) do lines[i] = ("%s:%d:%d: %s: %s\n"):format(name, f.line, f.col, f.id, f.text) end
  return table.concat(lines)
end

local function quoted(s)
  return '"' .. s:gsub('[%c"\\]', function(ch) return ("\\u%04x"):format(ch:byte()) end) .. '"'
end

-- One object: {"file": ..., "findings": [...]}
function lint.json(findings, name)
  local items = {}
  for i, f in ipairs(findings) do
    items[i] = ('{"line":%d,"column":%d,"id":%s,"text":%s}'):format(f.line, f.col, quoted(f.id), quoted(f.text))
  end
  return ('{"file":%s,"findings":[%s]}'):format(quoted(name), table.concat(items, ","))
end

-- What the program prints of a file, and how many findings there are; or nil and the message.
function lint.report(text, name, json)
  local ok, findings, message = pcall(lint.check, text, name)
  if not ok then
    if not tostring(findings):find "stack overflow" then error(findings, 0) end
    return nil, name .. ":1: the program is nested too deeply, or has too long expressions, to be looked at"
  end
  if not findings then return nil, message end
  return (json and lint.json or lint.text)(findings, name), #findings
end

return lint
