-- budget.lua: finds the functions of a formatted source. It relies on the formatter: a C function opens at the left
-- margin and closes with `}` there; a Lua function closes with an `end` indented like the line that opened it.
local tree = require "spec.support.tree"

local budget = {}

-- The parameters of a C signature: counts the commas of its outermost parentheses.
local function parameters(signature)
  local list = signature:gsub("__attribute__%s*%b()", ""):match("[%w_]+%s*(%b())")
  list = list:sub(2, -2)
  if list:match("^%s*$") or list:match("^%s*void%s*$") then
    return 0
  end
  local flat = list:gsub("%b()", "")
  return select(2, flat:gsub(",", "")) + 1
end

local function name_of(signature)
  return signature:gsub("__attribute__%s*%b()", ""):match("([%w_]+)%s*%(")
end

-- budget.c_functions(text) -> list of {name, line, lines, parameters}
function budget.c_functions(text)
  local functions, head, start, open = {}, nil, nil, nil
  for number, line in tree.lines(text) do
    if open then
      if line:match("^}") then
        open.lines = number - open.line + 1
        functions[#functions + 1], open = open, nil
      end
    else
      if head then
        head = head .. " " .. line
      elseif line:match("^[%a_][^=;]*%(") then
        head, start = line, number
      end
      if head then
        local before = head:match("^([^{]*){")
        if before and before:find("%)%s*$") then
          open = {name = name_of(before), line = start, parameters = parameters(before)}
          if line:match("}%s*$") then -- a function on one line
            open.lines = number - start + 1
            functions[#functions + 1], open = open, nil
          end
          head = nil
        elseif before or head:find("[;]") or line:match("^%s*$") or line:match("^#") then
          head = nil -- a prototype, a table or a macro's row
        end
      end
    end
  end
  return functions
end

-- budget.lua_functions(text) -> list of {name, line, lines}
function budget.lua_functions(text)
  local functions, open = {}, {}
  for number, line in tree.lines(text) do
    local indent = line:match("^(%s*)")
    if line:match("^%s*end") and open[indent] then
      local f = open[indent]
      f.lines = number - f.line + 1
      functions[#functions + 1], open[indent] = f, nil
    elseif line:match("%f[%w_]function%f[^%w_]") and not line:match("%f[%w_]end[%s,)}]*$") then
      open[indent] = {name = line:match("function%s+([%w_.:]+)") or "?", line = number}
    end
  end
  return functions
end

return budget
