-- lint_parse.lua: tokens of lint_lex as a syntax tree. Returns a function: tokens -> block (a list of statements).
-- Every node has `tag` and `pos`, the offset of its first byte (of a binary operator's node: of the operator).
--   expressions   Nil True False Dots; Number, String {value}; Name {name}; Index {object, key, dot}; Paren {inner}
--                 Call {func, args}; Method {object, name, args}; Function {params, body}
--                 Table {items = {{key, value}}}
--                 Binary {op, left, right}; Unary {op, operand}
--   statements    Local {names, values}; Assign {targets, values, func}; Run {call}; Return {values}; Do {body}
--                 While, Repeat {cond, body}; If {clauses = {{cond, body}}, orelse}; ForIn {names, values, body}
--                 For {name, start, stop, step, body}; Jump (break, goto, labels)
-- A function statement is an Assign or, when local, a Local of a Function, with func = true.
local binary = { -- left and right priority
  ["or"] = {1, 1}, ["and"] = {2, 2}, ["<"] = {3, 3}, [">"] = {3, 3}, ["<="] = {3, 3}, [">="] = {3, 3}, ["~="] = {3, 3},
  ["=="] = {3, 3}, ["|"] = {4, 4}, ["~"] = {5, 5}, ["&"] = {6, 6}, ["<<"] = {7, 7}, [">>"] = {7, 7}, [".."] = {9, 8},
  ["+"] = {10, 10}, ["-"] = {10, 10}, ["*"] = {11, 11}, ["/"] = {11, 11}, ["//"] = {11, 11}, ["%"] = {11, 11},
  ["^"] = {14, 13},
}
local UNARY = 12
local unary = {["not"] = true, ["-"] = true, ["#"] = true, ["~"] = true}
local literal = {["nil"] = "Nil", ["true"] = "True", ["false"] = "False", ["..."] = "Dots"}

local kinds, texts, places, at -- of the tokens being parsed; which one is next
local expression, block, body_of

-- The number of a token.
local function take(kind)
  assert(not kind or kinds[at] == kind, "the parser has lost its way")
  at = at + 1
  return at - 1
end

local function accept(kind)
  if kinds[at] ~= kind then return nil end
  at = at + 1
  return at - 1
end

local function new_string(t) return {tag = "String", pos = places[t], value = texts[t]} end
local function new_name(t) return {tag = "Name", pos = places[t], name = texts[t]} end

local function expressions()
  local list = {expression(0)}
  while accept "," do list[#list + 1] = expression(0) end
  return list
end

local function item()
  if accept "[" then
    local key = expression(0)
    take "]"
    take "="
    return {key = key, value = expression(0)}
  end
  if kinds[at] == "name" and kinds[at + 1] == "=" then
    local key = new_string(take())
    take "="
    return {key = key, value = expression(0)}
  end
  return {value = expression(0)}
end

local function table_constructor()
  local items = {}
  local node = {tag = "Table", pos = places[take "{"], items = items}
  while kinds[at] ~= "}" do
    items[#items + 1] = item()
    if not (accept "," or accept ";") then break end
  end
  take "}"
  return node
end

local function arguments()
  if kinds[at] == "{" then return {table_constructor()} end
  local t = accept "string"
  if t then return {new_string(t)} end
  take "("
  local list = kinds[at] == ")" and {} or expressions()
  take ")"
  return list
end

local function primary()
  local t = take()
  if kinds[t] == "name" then return new_name(t) end
  local inner = expression(0)
  take ")"
  return {tag = "Paren", pos = places[t], inner = inner}
end

local function suffixed()
  local node = primary()
  while true do
    local kind = kinds[at]
    if kind == "." then
      take()
      node = {tag = "Index", pos = node.pos, object = node, key = new_string(take "name"), dot = true}
    elseif kind == "[" then
      local pos = places[take()]
      node = {tag = "Index", pos = node.pos, object = node, key = expression(0), bracket = pos}
      take "]"
    elseif kind == ":" then
      take()
      node = {tag = "Method", pos = node.pos, object = node, name = texts[take "name"], args = arguments()}
    elseif kind == "(" or kind == "string" or kind == "{" then
      node = {tag = "Call", pos = node.pos, func = node, args = arguments()}
    else
      return node
    end
  end
end

local function simple()
  local kind = kinds[at]
  if kind == "name" or kind == "(" then
    return suffixed()
  elseif kind == "string" then
    return new_string(take())
  elseif kind == "number" then
    local t = take()
    return {tag = "Number", pos = places[t], value = tonumber(texts[t])}
  elseif kind == "{" then
    return table_constructor()
  elseif kind == "function" then
    return body_of(places[take()])
  end
  return {tag = literal[kind], pos = places[take()]}
end

function expression(limit)
  local kind, left = kinds[at]
  if unary[kind] then
    left = {tag = "Unary", pos = places[take()], op = kind, operand = expression(UNARY)}
  else
    left = simple()
  end
  while true do
    local op = kinds[at]
    local priority = binary[op]
    if not priority or priority[1] <= limit then return left end
    left = {tag = "Binary", pos = places[take()], op = op, left = left, right = expression(priority[2])}
  end
end

function body_of(pos)
  local node = {tag = "Function", pos = pos, params = {}}
  take "("
  while kinds[at] ~= ")" do
    if not accept "..." then node.params[#node.params + 1] = new_name(take "name") end
    if not accept "," then break end
  end
  take ")"
  node.body = block()
  take "end"
  return node
end

local function names(attributes)
  local list = {}
  repeat
    list[#list + 1] = new_name(take "name")
    if attributes and accept "<" then
      list[#list].attribute = texts[take "name"]
      take ">"
    end
  until not accept ","
  return list
end

local statement = {}

statement["local"] = function(pos)
  if accept "function" then
    local name = new_name(take "name")
    return {tag = "Local", pos = pos, names = {name}, values = {body_of(pos)}, func = true}
  end
  local list = names(true)
  return {tag = "Local", pos = pos, names = list, values = accept "=" and expressions() or {}}
end

statement["function"] = function(pos)
  local target, method = new_name(take "name"), nil
  while kinds[at] == "." or kinds[at] == ":" do
    method = kinds[take()] == ":"
    target = {tag = "Index", pos = target.pos, object = target, key = new_string(take "name"), dot = true}
  end
  local func = body_of(pos)
  if method then table.insert(func.params, 1, {tag = "Name", pos = pos, name = "self"}) end
  return {tag = "Assign", pos = pos, targets = {target}, values = {func}, func = true}
end

statement["if"] = function(pos)
  local node = {tag = "If", pos = pos, clauses = {}}
  repeat
    local cond = expression(0)
    take "then"
    node.clauses[#node.clauses + 1] = {cond = cond, body = block()}
  until not accept "elseif"
  if accept "else" then node.orelse = block() end
  take "end"
  return node
end

statement["while"] = function(pos)
  local cond = expression(0)
  take "do"
  local body = block()
  take "end"
  return {tag = "While", pos = pos, cond = cond, body = body}
end

statement["repeat"] = function(pos)
  local body = block()
  take "until"
  return {tag = "Repeat", pos = pos, body = body, cond = expression(0)}
end

statement["for"] = function(pos)
  local list = names()
  local node
  if accept "=" then
    local bounds = expressions()
    node = {tag = "For", pos = pos, name = list[1], start = bounds[1], stop = bounds[2], step = bounds[3]}
  else
    take "in"
    node = {tag = "ForIn", pos = pos, names = list, values = expressions()}
  end
  take "do"
  node.body = block()
  take "end"
  return node
end

statement["do"] = function(pos)
  local body = block()
  take "end"
  return {tag = "Do", pos = pos, body = body}
end

statement["return"] = function(pos)
  local kind = kinds[at]
  local none = kind == ";" or kind == "end" or kind == "else" or kind == "elseif" or kind == "until" or kind == "eof"
  return {tag = "Return", pos = pos, values = none and {} or expressions()}
end

statement["break"] = function(pos) return {tag = "Jump", pos = pos} end

statement["goto"] = function(pos)
  take "name"
  return {tag = "Jump", pos = pos}
end

statement["::"] = function(pos)
  take "name"
  take "::"
  return {tag = "Jump", pos = pos}
end

local function call_or_assignment()
  local first = suffixed()
  if kinds[at] ~= "=" and kinds[at] ~= "," then return {tag = "Run", pos = first.pos, call = first} end
  local targets = {first}
  while accept "," do targets[#targets + 1] = suffixed() end
  take "="
  return {tag = "Assign", pos = first.pos, targets = targets, values = expressions()}
end

local ends = {["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true, eof = true}

function block()
  local list = {}
  while not ends[kinds[at]] do
    if not accept ";" then
      local f = statement[kinds[at]]
      list[#list + 1] = f and f(places[take()]) or call_or_assignment()
    end
  end
  return list
end

return function(tokens)
  kinds, texts, places, at = tokens.kind, tokens.text, tokens.pos, 1
  local tree = block()
  take "eof"
  kinds, texts, places = nil, nil, nil
  return tree
end
