-- lint_flow.lua: what is known of the names and expressions of a syntax tree. Returns a function: (block, facts) ->
-- {path, kind, globals, children, ...}. facts[name]: what a public function gives ("tile", "index", ...);
-- facts.methods: those of tiles.
-- Of the script's own functions only what they return is followed, not what they are given.
local modules = {nki = "nki", ["nki.language"] = "nl", ["nki.isa"] = "nisa", ["nki.collectives"] = "ncc"}
local jits = {["nki.jit"] = true, ["nki.trace"] = true, ["nki.baremetal"] = true, ["nki.benchmark"] = true,
  ["nki.profile"] = true, ["nki.simulate"] = true}
local attributes = {shape = true, dtype = true, ndim = true, itemsize = true, strides = true}
local masks = {lt = true, le = true, gt = true, ge = true, eq = true, ne = true}
local compares = {["nl.less"] = true, ["nl.less_equal"] = true, ["nl.greater"] = true, ["nl.greater_equal"] = true,
  ["nl.equal"] = true, ["nl.not_equal"] = true}
local ordered = {["=="] = true, ["~="] = true, ["<"] = true, [">"] = true, ["<="] = true, [">="] = true, [".."] = true}

-- ---- the tree, in the order of the text

local below = {} -- tag -> what calls see(child) and block(list, see) for the children and blocks of such a node

local function each(list, see)
  for i = 1, #list do see(list[i]) end
end

function below.Index(node, see)
  see(node.object)
  see(node.key)
end
function below.Paren(node, see) see(node.inner) end
function below.Call(node, see)
  see(node.func)
  each(node.args, see)
end
function below.Method(node, see)
  see(node.object)
  each(node.args, see)
end
function below.Function(node, see, block)
  each(node.params, see)
  block(node.body, see)
end
function below.Table(node, see)
  local items = node.items
  for i = 1, #items do
    if items[i].key then see(items[i].key) end
    see(items[i].value)
  end
end
function below.Binary(node, see)
  see(node.left)
  see(node.right)
end
function below.Unary(node, see) see(node.operand) end
function below.Local(node, see)
  each(node.names, see)
  each(node.values, see)
end
function below.Assign(node, see)
  each(node.targets, see)
  each(node.values, see)
end
function below.Run(node, see) see(node.call) end
function below.Return(node, see) each(node.values, see) end
function below.Do(node, see, block) block(node.body, see) end
function below.While(node, see, block)
  see(node.cond)
  block(node.body, see)
end
function below.Repeat(node, see, block)
  block(node.body, see)
  see(node.cond)
end
function below.If(node, see, block)
  for _, clause in ipairs(node.clauses) do
    see(clause.cond)
    block(clause.body, see)
  end
  if node.orelse then block(node.orelse, see) end
end
function below.For(node, see, block)
  see(node.start)
  see(node.stop)
  if node.step then see(node.step) end
  block(node.body, see)
end
function below.ForIn(node, see, block)
  each(node.names, see)
  each(node.values, see)
  block(node.body, see)
end

-- Calls see(child) for the nodes that a node is made of, the statements of its blocks among them.
local function children(node, see)
  local f = below[node.tag]
  if f then return f(node, see, each) end
end

-- ---- scopes: every Name of a local gets its symbol {name, writes = {{how, value, index, node, loop}}, func, loop},
-- and each use the function and the loop it stands in. loop: {up = the one around it}, nil outside of loops

local scope, inside, loop
local globals -- those that the text assigns: {[name] = true}

local function declare(name, how, value, index, node)
  local symbol = {name = name.name, func = inside, loop = loop,
    writes = {{how = how, value = value, index = index, node = node}}}
  scope.names[name.name] = symbol
  name.symbol = symbol
  return symbol
end

local function resolve(name)
  local s = scope
  while s and not s.names[name] do s = s.up end
  return s and s.names[name]
end

local resolve_node

local function resolve_block(list, prepare)
  scope = {names = {}, up = scope}
  if prepare then prepare() end
  for _, node in ipairs(list) do resolve_node(node) end
  scope = scope.up
end
local function resolve_body(list) resolve_block(list) end

local function write(target, value, index, node)
  if target.tag ~= "Name" then return end
  local symbol = resolve(target.name)
  if not symbol then
    globals[target.name] = true
    return
  end
  symbol.writes[#symbol.writes + 1] = {how = "assign", value = value, index = index, node = node, loop = loop}
end

-- The value that the i-th of several names is given, and which of its results that is.
local function value_of(values, i)
  if values[i] then return values[i], 1 end
  return values[#values], i - #values + 1
end

local opens = {}

local function looped(f, ...)
  loop = {up = loop}
  f(...)
  loop = loop.up
end

function opens.Function(node)
  local outer = {inside, loop}
  inside, loop = node, nil
  resolve_block(node.body, function()
    for i, p in ipairs(node.params) do declare(p, "param", node, i, node) end
  end)
  inside, loop = outer[1], outer[2]
end

function opens.Local(node)
  if node.func then declare(node.names[1], "local", node.values[1], 1, node) end
  for _, value in ipairs(node.values) do resolve_node(value) end
  for i, name in ipairs(node.func and {} or node.names) do
    local value, index = value_of(node.values, i)
    declare(name, "local", value, index, node)
  end
end

function opens.Assign(node)
  for _, value in ipairs(node.values) do resolve_node(value) end
  for i, target in ipairs(node.targets) do
    resolve_node(target)
    local value, index = value_of(node.values, i)
    write(target, value, index, node)
  end
end

function opens.For(node)
  for _, field in ipairs {"start", "stop", "step"} do
    if node[field] then resolve_node(node[field]) end
  end
  looped(resolve_block, node.body, function() declare(node.name, "for", nil, 1, node) end)
end

function opens.ForIn(node)
  for _, value in ipairs(node.values) do resolve_node(value) end
  looped(resolve_block, node.body, function()
    for i, name in ipairs(node.names) do declare(name, "forin", node.values[1], i, node) end
  end)
end

function opens.While(node)
  looped(function()
    resolve_node(node.cond)
    resolve_block(node.body)
  end)
end

function opens.Repeat(node)
  looped(function()
    resolve_block(node.body)
    resolve_node(node.cond) -- sees the names outside the body only; enough for what is asked
  end)
end

function opens.Name(node) node.symbol, node.func_of, node.loop = resolve(node.name), inside, loop end

function resolve_node(node)
  local f = opens[node.tag]
  if f then return f(node) end
  f = below[node.tag]
  if f then return f(node, resolve_node, resolve_body) end
end

-- ---- what names and expressions are

local Flow = {}
Flow.__index = Flow

local function only_write(symbol) return symbol and #symbol.writes == 1 and symbol.writes[1] or nil end

local path_of

local function find_path(node)
  if node.tag == "Paren" then return path_of(node.inner) end
  if node.tag == "Name" then
    local w = only_write(node.symbol)
    if not w then return not node.symbol and node.name or nil end
    return w.how == "local" and w.value and w.index == 1 and path_of(w.value) or nil
  elseif node.tag == "Index" and node.key.tag == "String" then
    local object = path_of(node.object)
    return object and object .. "." .. node.key.value
  elseif node.tag == "Call" and node.args[1] and node.args[1].tag == "String" and node.func.name == "require" then
    return modules[node.args[1].value]
  end
end

-- "nl.exp" of an expression that names something public, else nil. Rules ask again and again.
function path_of(node)
  local path = node.path
  if path == nil then
    path = find_path(node) or false
    node.path = path
  end
  return path or nil
end
function Flow.path(_, node) return path_of(node) end

-- The keywords of a call as {name = node}; nil when it has none.
function Flow.keywords(_, call)
  local last = call.args[#call.args]
  if not last or last.tag ~= "Table" or #last.items == 0 then return nil end
  local found = {}
  for _, item in ipairs(last.items) do
    if not item.key or item.key.tag ~= "String" then return nil end
    found[item.key.value] = item.value
  end
  return found
end

local kind_of = {}

function kind_of.Name(self, node)
  local known = self.known[node]
  if not known then
    known = {self:symbol_kind(node.symbol, node)}
    if known[1] ~= "same" then self.known[node] = known end -- else it depends on who asks
  end
  return known[1], known[2]
end
function kind_of.Paren(self, node) return self:kind(node.inner) end
function kind_of.Nil() return "nil" end
function kind_of.Number() return "number" end

function kind_of.Call(self, node)
  local path = self:path(node.func)
  local first = node.args[1] and (self:kind(node.args[1]))
  if not path then return self:result_kind(self:function_of(node.func)) end
  if compares[path] and first == "index" then return "mask" end
  if self.facts[path] then return self.facts[path] end
  local keywords = path:find "^nisa%." and self:keywords(node)
  if path == "nisa.register_alloc" then return "register" end
  return keywords and #node.args == 1 and not keywords.dst and keywords.data and "tile" or nil
end

function kind_of.Method(self, node)
  local object = self:kind(node.object)
  if object == "index" then return masks[node.name] and "mask" or nil end
  if object == "tile" or object == "tensor" then return self.facts.methods[node.name] end
end

function kind_of.Index(self, node)
  local object = self:kind(node.object)
  if object == "grid" then return "index" end
  if self:path(node.object) == "nl.mgrid" then return "grid" end
  if object == "index" then return not node.dot and "index" or nil end
  if (object == "tile" or object == "tensor") and not node.dot then return "tile" end
end

function kind_of.Unary(self, node)
  local operand = self:kind(node.operand)
  return (node.op == "-" or node.op == "~") and operand or nil
end

function kind_of.Binary(self, node)
  if ordered[node.op] then return nil end
  local a, b = self:kind(node.left), self:kind(node.right)
  if node.op == "and" or node.op == "or" then return a == b and a or nil end
  if a == "mask" or b == "mask" then return "mask" end
  for _, kind in ipairs {"tile", "tensor", "index", "register"} do
    if a == kind or b == kind then return kind == "tensor" and "tile" or kind end
  end
  return (a == "same" or b == "same") and "same" or a == b and a or nil
end

local STEPS = 1000000 -- names given by each other may ask again and again: after so many questions nothing is known

-- Kind of an expression, or nil; whether it may also be nil.
function Flow.kind(self, node)
  local f = kind_of[node.tag]
  self.left = self.left - 1
  if not f or self.left < 0 then return nil end
  return f(self, node)
end

function Flow.write_kind(self, w, symbol)
  if w.how == "param" then
    if self.device_body[w.value] then return "register" end
    return self.kernels[w.value] and (symbol.tensor and "tensor" or "param") or nil
  elseif w.how == "for" then
    return "number"
  elseif w.how == "forin" then
    local path = w.value and w.value.tag == "Call" and self:path(w.value.func)
    if path == "nl.dynamic_range" then return "register" end
    return path and path:find "^nl%.%l+_range$" and w.index == 1 and "number" or nil
  elseif not w.value then
    return "nil"
  end
  if w.index > 1 then return nil end
  return self:kind(w.value)
end

-- Calls see(values) for the return statements of a function, not of those made in it.
local function returns(fn, see)
  local function visit(node)
    if node.tag == "Function" and node ~= fn then return end
    if node.tag == "Return" then see(node.values) end
    children(node, visit)
  end
  visit(fn)
end

-- What every return of a function of the script gives, when that is one value of one kind.
function Flow.result_kind(self, f)
  if not f or self.open[f] then return nil end
  self.open[f] = true
  local found
  for _, n in ipairs(f.body) do
    returns(n, function(values)
      local kind = #values == 1 and self:kind(values[1]) or nil
      if found == nil then found = kind or false end
      if found ~= kind then found = false end
    end)
  end
  self.open[f] = nil
  return found or nil
end

-- May what w wrote still be there at this use? Earlier ones may, later ones by way of a loop around both, or when
-- another function looks.
local function reaches(w, symbol, use)
  if w.node.pos < use.pos or use.func_of ~= symbol.func then return true end
  local common = use.loop
  while common and common ~= symbol.loop do
    local around = w.loop
    while around and around ~= common do around = around.up end
    if around then return true end
    common = common.up
  end
  return false
end

-- A name has a kind where everything that it may have been given has it. Recursion (t = t + 1) takes the rest for
-- granted.
function Flow.symbol_kind(self, symbol, use)
  if not symbol or self.open[symbol] then return symbol and "same" or nil end
  self.open[symbol] = true
  local found, maybe
  for _, w in ipairs(symbol.writes) do
    local kind, absent = "same", false
    if reaches(w, symbol, use) then kind, absent = self:write_kind(w, symbol) end
    maybe = maybe or absent
    if kind == "nil" then
      maybe = true
    elseif kind ~= "same" then
      if kind == nil or (found and found ~= kind) then found = false end
      if found == nil then found = kind end
    end
  end
  self.open[symbol] = nil
  return found or nil, maybe
end

-- ---- evidence: which functions are kernels, which parameters are tensors

function Flow.function_of(_, node)
  if node and node.tag == "Function" then return node end
  local w = node and node.tag == "Name" and only_write(node.symbol)
  return w and w.value and w.value.tag == "Function" and w.how ~= "param" and w.value or nil
end

-- A call that makes a kernel: nki.jit(f), nki.jit{...}(f).
function Flow.makes_kernel(self, call)
  local func = call.func.tag == "Call" and call.func.func or call.func
  return jits[self:path(func) or ""]
end

local function base(node)
  while node.tag == "Index" and not node.dot do node = node.object end
  return node
end
Flow.base = function(_, node) return base(node) end

function Flow.note(self, node)
  if node.tag == "Index" and node.dot and attributes[node.key.value] and node.object.symbol then
    node.object.symbol.tensor = true
  elseif node.tag == "Call" then
    local path = self:path(node.func)
    local body = self:makes_kernel(node) and self:function_of(node.args[1])
    if body then
      local options = self:keywords(node)
      local mode = options and options.mode
      self.kernels[body] = mode and mode.value == "legacy" and "legacy" or "kernel"
    end
    if path == "nl.fori_loop" or path == "nl.while_loop" then
      local f = self:function_of(node.args[path == "nl.fori_loop" and 3 or 2])
      if f then self.device_body[f] = true end
    end
    local first = path and path:find "^nl%.load" and node.args[1]
    if first and base(first).symbol then base(first).symbol.tensor = true end
  end
end

return function(tree, facts)
  scope, inside, loop, globals = nil, nil, nil, {}
  resolve_block(tree)
  local self = setmetatable({facts = facts, kernels = {}, device_body = {}, open = {}, known = {}, left = STEPS,
    globals = globals, children = children}, Flow)
  local function look(node)
    self:note(node)
    children(node, look)
  end
  each(tree, look)
  return self
end
