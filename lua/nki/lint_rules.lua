-- lint_rules.lua: the rules of `nkilua lint`. Returns {list, check}: check(tree, flow, facts, report); list is {{id,
-- what it warns of}, ...}. docs/lua-hazards.md explains them.
local rules, list = {}, {}

-- on(tags, f): f(node, c) sees every node with one of the tags. c: flow, facts, report(node, id, text), loops (open,
-- outermost first), calls (open), func (the function it stands in).
local function on(tags, f)
  for tag in tags:gmatch "%a+" do
    rules[tag] = rules[tag] or {}
    table.insert(rules[tag], f)
  end
end

local function rule(id, what) list[#list + 1] = {id, what} end

local called = {tile = "a tile", tensor = "a tensor", index = "an index expression", mask = "a mask",
  register = "a register"}

-- "the tile 't'", or "a tile" of what has no name.
local function name_of(node, kind)
  return node.tag == "Name" and ("the %s '%s'"):format(called[kind]:match " (.*)", node.name) or called[kind]
end

local function walk(node, c, see)
  local children = c.flow.children
  local function visit(n)
    see(n)
    children(n, visit)
  end
  visit(node)
end

-- Does any node below satisfy test? Functions made below are not entered.
local function any(node, c, test)
  local children, found = c.flow.children, false
  local function visit(n)
    if found or n.tag == "Function" then return end
    if test(n) then
      found = true
    else
      children(n, visit)
    end
  end
  visit(node)
  return found
end

-- Is there a name in node whose symbol passes the test?
local function names(node, c, test)
  return any(node, c, function(n) return n.tag == "Name" and n.symbol and test(n.symbol) end)
end

local function mentions(node, symbol, c)
  return names(node, c, function(s) return s == symbol end)
end

-- ---- what Lua asks nobody about

rule("lint_tensor_equal", "`==` or `~=` of a tile, a register or an index expression: never asked, false or true")
local constant = {Nil = true, String = true, True = true, False = true}

on("Binary", function(node, c)
  if node.op ~= "==" and node.op ~= "~=" or constant[node.left.tag] or constant[node.right.tag] then return end
  for _, side in ipairs {node.left, node.right} do
    local kind, maybe = c.flow:kind(side)
    if called[kind] and not maybe then
      local with = c.flow:kind(side == node.left and node.right or node.left)
      c.report(node, "lint_tensor_equal", ("%s asks whether %s is the same Lua value: %s%s; write %s")
        :format(node.op, name_of(side, kind), node.op == "==" and "false" or "true",
          with == "number" and " beside a number" or " unless it is that very object",
          kind == "register" and "a test that is known while tracing, or nl.while_loop" or
            (node.op == "==" and "nl.equal" or "nl.not_equal")))
      return
    end
  end
end)

rule("lint_tensor_truth", "`and`, `or`, `not`, `if`, `while` on a tile or a mask: it counts as true")
rule("lint_while_register", "`while` or `repeat` on a register: a Lua loop that never ends")
local does = {
  ["and"] = "%s left of and: it counts as true, so the right side is taken, nothing is computed; write nl.logical_and",
  ["or"] = "%s left of or: it counts as true, so it is taken, nothing is computed; write nl.logical_or",
  ["not"] = "not of %s is false, nothing is computed; write nl.logical_not",
}

-- A value that is certainly there: parameters and names that may be nil are tested for that.
local function certain(node, c)
  local kind, maybe = c.flow:kind(node)
  return called[kind] and kind ~= "tensor" and not maybe and kind or nil
end

local function truth(node, c, word)
  while node.tag == "Paren" do node = node.inner end
  local kind = certain(node, c)
  if not kind then return end
  local loop = word == "while" or word == "until"
  if kind == "register" and loop then
    c.report(node, "lint_while_register",
      ("%s tests %s, which counts as true whatever it holds; write nl.while_loop"):format(word, name_of(node, kind)))
  else
    local text = does[word] or word .. " tests %s, which counts as true whatever it holds; write nl.where, or decide "
      .. "by shapes and arguments"
    c.report(node, "lint_tensor_truth", text:format(name_of(node, kind)))
  end
end

on("Binary", function(node, c)
  if node.op == "and" or node.op == "or" then truth(node.left, c, node.op) end
end)
on("Unary", function(node, c)
  if node.op == "not" then truth(node.operand, c, "not") end
end)
on("If", function(node, c)
  for _, clause in ipairs(node.clauses) do truth(clause.cond, c, "if") end
end)
on("While", function(node, c) truth(node.cond, c, "while") end)
on("Repeat", function(node, c) truth(node.cond, c, "until") end)

rule("lint_length", "`#` of a tile, or of a list with nil inside: any border")

local function has_holes(node)
  for i, item in ipairs(node.items) do
    if item.value.tag == "Nil" and not item.key and node.items[i + 1] then return true end
  end
  return false
end

on("Unary", function(node, c)
  if node.op ~= "#" then return end
  local operand = node.operand
  local kind = c.flow:kind(operand)
  local writes = operand.symbol and operand.symbol.writes
  if writes and #writes == 1 and writes[1].value then operand = writes[1].value end
  if called[kind] then
    c.report(node, "lint_length", ("# of %s: write .shape[0], or #t.shape for the rank"):format(called[kind]))
  elseif operand.tag == "Table" and has_holes(operand) then
    c.report(node, "lint_length", "# of a list with nil inside may stop at any of them; leave no holes")
  end
end)

rule("lint_pairs_order", "instructions issued in the order of `pairs`, which may change from run to run")
local silent = {slice = true, integer = true, value = true, range = true, boolean = true, grid = true, index = true}

on("ForIn", function(node, c)
  local call = node.values[1]
  local path = call.tag == "Call" and c.flow:path(call.func) or c.flow:path(call)
  if path ~= "pairs" and path ~= "next" then return end
  for _, statement in ipairs(node.body) do
    if any(statement, c, function(n)
      local f = n.tag == "Call" and c.flow:path(n.func)
      return f and f:find "^n%l+%." and (c.facts[f] or f:find "^nisa%.") and not silent[c.facts[f] or ""]
    end) then
      c.report(node, "lint_pairs_order", ("the order of %s may change from run to run, and with it the program: use "
        .. "ipairs, or sort the keys"):format(path))
      return
    end
  end
end)

-- ---- habits of Python

rule("lint_python_name", "a name of Python that Lua does not have")
local python = {range = "nl.affine_range, or for i = 0, n - 1", len = "#list", enumerate = "ipairs",
  zip = "a loop over an index", None = "nil", True = "true", False = "false", isinstance = "type", np = "nki.ndarray",
  min = "math.min, or nl.min", max = "math.max, or nl.max", abs = "math.abs, or nl.abs", sum = "a loop, or nl.sum",
  int = "a // b, or math.tointeger", str = "tostring", lambda = "function(x) return ... end"}

on("Name", function(node, c)
  if node.symbol or not python[node.name] or c.globals[node.name] then return end
  c.report(node, "lint_python_name", ("'%s' is Python's; write %s"):format(node.name, python[node.name]))
end)

-- Is the name used as a block number: times something, in a slice or a subscript of this loop?
local function is_block_number(node, symbol, c)
  local found = false
  local function product(n)
    if n.tag == "Binary" and n.op == "*" and (n.left.symbol == symbol or n.right.symbol == symbol) then found = true end
  end
  local function slice(n)
    if n.tag == "Call" and c.flow:path(n.func) == "nl.ds" and n.args[1] then walk(n.args[1], c, product) end
    if n.tag == "Index" and not n.dot and called[c.flow:kind(n.object)] then walk(n.key, c, product) end
  end
  for _, statement in ipairs(node.body) do walk(statement, c, slice) end
  return found
end

local function is_number(node, value) return node and node.tag == "Number" and node.value == value end

-- x - 1 (or any other decrease)
local function is_less(node)
  return node.tag == "Binary" and node.op == "-" or node.tag == "Paren" and is_less(node.inner)
end

-- Does the loop's bound count axes: t.ndim, #t.shape?
local function counts_axes(node)
  if node.tag == "Unary" and node.op == "#" then
    return node.operand.tag == "Index" and node.operand.key.value == "shape"
  end
  return node.tag == "Index" and node.dot and node.key.value == "ndim"
end

rule("lint_one_based", "a loop from 1 over what counts from 0: axes, blocks")
rule("lint_loop_end", "a loop from 0 to n whose last turn is beyond: Lua's for includes its end")

on("For", function(node, c)
  local symbol = node.name.symbol
  if node.step and not is_number(node.step, 1) then return end
  if counts_axes(node.stop) then
    local shape = false
    for _, statement in ipairs(node.body) do
      shape = shape or any(statement, c, function(n)
        return n.tag == "Index" and not n.dot and n.key.symbol == symbol and n.object.tag == "Index"
          and n.object.key.value == "shape"
      end)
    end
    if shape then
      local from = is_number(node.start, 1)
      c.report(node, from and "lint_one_based" or "lint_loop_end",
        "axes are numbered from 0: for d = 0, t.ndim - 1")
    end
  elseif is_number(node.start, 1) and not is_less(node.stop) and is_block_number(node, symbol, c) then
    c.report(node, "lint_one_based", ("'%s' begins at 1, so the first block is left out and the last one is beyond the "
      .. "end: write for %s in nl.affine_range(n)"):format(node.name.name, node.name.name))
  elseif is_number(node.start, 0) and is_block_number(node, symbol, c)
    and (node.stop.tag == "Binary" and node.stop.op == "//" or node.stop.tag == "Index") then
    c.report(node, "lint_loop_end", ("Lua's for includes its end, so '%s' is once too large: write n - 1, or "
      .. "nl.affine_range(n)"):format(node.name.name))
  end
end)

rule("lint_arange_slice", "index expressions for a rectangle that a slice names")

-- The dimension that nl.arange(n)[":, None"] or ["None, :"] runs along, plus what does not depend on it.
local function arange_axis(node, c)
  if node.tag == "Paren" then return arange_axis(node.inner, c) end
  if node.tag == "Binary" and node.op == "+" then
    local a, b = arange_axis(node.left, c), arange_axis(node.right, c)
    local other = a and node.right or node.left
    return c.flow:kind(other) ~= "index" and (a or b) or nil
  end
  local writes = node.symbol and node.symbol.writes
  if writes then
    return #writes == 1 and writes[1].value and writes[1].index == 1 and arange_axis(writes[1].value, c)
  end
  if node.tag ~= "Index" or node.dot or node.key.tag ~= "String" or node.object.tag ~= "Call" then return nil end
  if c.flow:path(node.object.func) ~= "nl.arange" then return nil end
  return ({[":,None"] = 0, ["None,:"] = 1})[node.key.value:gsub("%s", "")]
end

on("Index", function(node, c)
  if node.dot or node.key.tag ~= "Table" or #node.key.items ~= 2 then return end
  for axis, item in ipairs(node.key.items) do
    if item.key or arange_axis(item.value, c) ~= axis - 1 then return end
  end
  for _, call in ipairs(c.calls) do
    local keywords = c.flow:keywords(call)
    if keywords and keywords.mask then return end
  end
  c.report(node, "lint_arange_slice", 'these indices name a rectangle: t["a:b, c:d"] or t[{nl.ds(s, n), ...}]')
end)

-- ---- names

rule("lint_global", "a global is assigned")

on("Assign", function(node, c)
  for _, target in ipairs(node.targets) do
    if target.tag == "Name" and not target.symbol and target.name ~= "_ENV" then
      c.report(target, "lint_global", ("'%s' becomes a global: write local, or _G.%s when that is meant")
        :format(target.name, target.name))
    end
  end
end)

-- ---- what runs here and not on the chip, or not in NKI

rule("lint_simulator_only", "a function or operator that no instruction does")

on("Call", function(node, c)
  local path = c.flow:path(node.func)
  if path and c.facts.simulated[path] and c.flow:kind(node) ~= "mask" then
    c.report(node, "lint_simulator_only", path .. " is a step of the simulator: no instruction does it")
  end
end)
on("Binary", function(node, c)
  if node.op ~= "/" and node.op ~= "%" then return end
  for _, side in ipairs {node.left, node.right} do
    local kind = c.flow:kind(side)
    if kind == "tile" or kind == "tensor" then
      c.report(node, "lint_simulator_only", ("%s on a tile is a step of the simulator: no instruction does it%s")
        :format(node.op, node.op == "/" and "; multiply by nl.reciprocal" or ""))
      return
    end
  end
end)

rule("lint_parameter_stored", "a kernel parameter is written and not returned")

-- May a return of the function give the symbol? A call may give anything.
local function returned(fn, symbol, c)
  local found = false
  local function gives(node)
    found = found or node.symbol == symbol or node.tag == "Call"
    for _, item in ipairs(node.items or {}) do gives(item.value) end
  end
  local function look(node)
    if node.tag == "Function" and node ~= fn then return end
    if node.tag == "Return" then
      for _, value in ipairs(node.values) do gives(value) end
    end
    c.flow.children(node, look)
  end
  look(fn)
  return found
end

local function parameter(node, c)
  local symbol = c.flow:base(node).symbol
  local w = symbol and symbol.writes[1]
  local open = w and w.how == "param" and c.flow.kernels[w.value] == "kernel" and not returned(w.value, symbol, c)
  return open and symbol.name or nil
end

local function stored(node, target, c)
  local name = target and parameter(target, c)
  if name then
    c.report(node, "lint_parameter_stored",
      ("parameter '%s' is written and not returned; a kernel returns what it writes"):format(name))
  end
end

local function dst_of(node, c)
  local keywords = c.flow:keywords(node)
  return keywords and keywords.dst or node.args[1]
end

on("Call", function(node, c)
  local path = c.flow:path(node.func)
  if path == "nl.store" or path and path:find "^nisa%.%l" and c.facts[path] == "instruction" then
    stored(node, dst_of(node, c), c)
  end
end)
on("Assign", function(node, c)
  for _, target in ipairs(node.targets) do
    if target.tag == "Index" and not target.dot then stored(node, target, c) end
  end
end)

rule("lint_affine_carry", "nl.affine_range carries a value from one iteration to the next")

local function affine(c)
  local loop = c.loops[#c.loops]
  local call = loop and loop.tag == "ForIn" and loop.values[1]
  return call and call.tag == "Call" and c.flow:path(call.func) == "nl.affine_range" and loop or nil
end

local function outside(symbol, loop)
  local w = symbol and symbol.writes[1]
  return w and w.node and w.node.pos < loop.pos
end

local function multiplies(node, c)
  return any(node, c, function(n)
    local path = n.tag == "Call" and c.flow:path(n.func)
    return path and path:find "matmul"
  end)
end

local function carries(node, name, value, c)
  local loop = affine(c)
  if not loop or not outside(name.symbol, loop) then return end
  if not mentions(value, name.symbol, c) or multiplies(value, c) then return end
  local kind = c.flow:kind(name)
  if kind == "tile" then
    c.report(node, "lint_affine_carry",
      ("'%s' carries a value between iterations of nl.affine_range: use nl.sequential_range"):format(name.name))
  end
end

-- A part that differs from iteration to iteration: the trace knows whether two of them meet.
local function moves(target, c)
  local loop = affine(c)
  return loop and target.tag == "Index" and names(target.key, c, function(symbol) return not outside(symbol, loop) end)
end

on("Assign", function(node, c)
  for i, target in ipairs(node.targets) do
    local name = c.flow:base(target)
    if node.values[i] and name.tag == "Name" and not moves(target, c) then carries(node, name, node.values[i], c) end
  end
end)
on("Call", function(node, c)
  local path = c.flow:path(node.func)
  if not path or c.facts[path] ~= "instruction" or path:find "matmul" then return end
  local dst = dst_of(node, c)
  local name = dst and c.flow:base(dst)
  if not name or name.tag ~= "Name" or dst ~= name then return end
  local keywords = c.flow:keywords(node)
  for i, arg in ipairs(keywords and #node.args == 1 and {} or node.args) do
    if i > 1 and arg.symbol == name.symbol and name.symbol then return carries(node, name, arg, c) end
  end
  for _, key in ipairs {"data", "data1", "data2", "operand0", "operand1", "src"} do
    local arg = keywords and keywords[key]
    if arg and arg.symbol == name.symbol and name.symbol then return carries(node, name, arg, c) end
  end
end)

rule("lint_allocated_bias", "an activation without bias in a kernel that places tiles by address=")
rule("lint_allocated_transpose", "a transpose by the Tensor engine in a kernel that places tiles by address=")

local function places(func, c)
  for _, statement in ipairs(func.body) do
    if any(statement, c, function(n)
      local path = n.tag == "Call" and c.flow:path(n.func)
      local keywords = path and path:find "^nl%." and c.flow:keywords(n)
      return keywords and keywords.address
    end) then return true end
  end
  return false
end

local function engine_is_vector(node, c)
  local keywords = c.flow:keywords(node)
  local word = keywords and keywords.engine or node.args[3]
  local engine = word and c.flow:path(word)
  return engine == "nisa.engine.vector" or engine == "nisa.vector_engine"
end

on("Call", function(node, c)
  local path = c.flow:path(node.func)
  if not (path and c.func and (path:find "^nl%." or path:find "^nisa%.")) then return end
  local keywords = c.flow:keywords(node)
  local bare = (path == "nisa.activation" or path == "nisa.activation_reduce")
    and not (keywords and keywords.bias) and #node.args - (keywords and 1 or 0) < (path == "nisa.activation" and 4 or 6)
  if (bare or c.facts.activations[path]) and places(c.func, c) then
    c.report(node, "lint_allocated_bias", path .. " without bias in a kernel that places tiles by address=: NKI "
      .. "elsewhere asks for a bias tensor (nisa.activation with bias=)")
  end
  local turns = path == "nl.transpose" or path == "nisa.nc_transpose" and not engine_is_vector(node, c)
  if turns and places(c.func, c) then
    c.report(node, "lint_allocated_transpose", path .. " by the Tensor engine in a kernel that places tiles by address="
      .. ": NKI elsewhere refuses it; transpose on the Vector engine, or by DMA")
  end
end)

-- ---- the walk

local loop_tags = {For = true, ForIn = true, While = true, Repeat = true}
local opens = {For = true, ForIn = true, While = true, Repeat = true, Function = true, Call = true}

local function check(tree, flow, facts, report)
  local c = {flow = flow, facts = facts, report = report, loops = {}, calls = {}, globals = flow.globals}
  local children = flow.children
  local function see(node)
    local tag = node.tag
    local asked = rules[tag]
    for i = 1, asked and #asked or 0 do asked[i](node, c) end
    if not opens[tag] then return children(node, see) end
    local func, loops = c.func, c.loops
    if tag == "Function" then c.func, c.loops = node, {} end
    local stack = loop_tags[tag] and c.loops or tag == "Call" and c.calls
    if stack then stack[#stack + 1] = node end
    children(node, see)
    if stack then stack[#stack] = nil end
    c.func, c.loops = func, loops
  end
  for _, node in ipairs(tree) do see(node) end
end

return {list = list, check = check}
