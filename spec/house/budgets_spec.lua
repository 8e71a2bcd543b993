-- The house stays small: files up to 500 lines, functions up to 60, C functions with up to 5 parameters.
-- Exempt: .def tables, the public header, the generated stubs of lua/meta, and the parameters of public nkl_ functions.
local budget = require "spec.support.budget"
local tree = require "spec.support.tree"

local FILE, FUNCTION, PARAMETERS = 500, 60, 5

local function none(list)
  assert.same({}, list)
end

describe("size budgets", function()
  it("hold for files", function()
    local over = {}
    for _, path in ipairs(tree.files("%.[chl][u]?[a]?$")) do
      local count = tree.count(tree.read(path))
      if count > FILE and path ~= "include/nkilua.h" and not path:match("^lua/meta/") then
        over[#over + 1] = ("%s: %d lines"):format(path, count)
      end
    end
    none(over)
  end)

  it("hold for C functions and their parameters", function()
    local over, seen = {}, 0
    for _, path in ipairs(tree.files("%.[ch]$")) do
      for _, f in ipairs(budget.c_functions(tree.read(path))) do
        seen = seen + 1
        if f.lines > FUNCTION then
          over[#over + 1] = ("%s:%d: %s has %d lines"):format(path, f.line, f.name, f.lines)
        end
        if f.parameters > PARAMETERS and not f.name:match("^nkl_") then
          over[#over + 1] = ("%s:%d: %s has %d parameters"):format(path, f.line, f.name, f.parameters)
        end
      end
    end
    none(over)
    assert.is_true(seen > 50, "the scan found only " .. seen .. " C functions")
  end)

  it("hold for Lua functions outside specs", function()
    local over = {}
    for _, path in ipairs(tree.files("%.lua$")) do
      if not path:match("^spec/") then
        for _, f in ipairs(budget.lua_functions(tree.read(path))) do
          if f.lines > FUNCTION then
            over[#over + 1] = ("%s:%d: %s has %d lines"):format(path, f.line, f.name, f.lines)
          end
        end
      end
    end
    none(over)
  end)
end)

describe("the scan behind the budgets", function()
  it("sees C functions in every shape the formatter gives them", function()
    local found = budget.c_functions(table.concat({
      "int plain(int a) {", "  return a;", "}",
      "static int short_one(void) { return 1; }",
      "int prototype(int a, int b);",
      "static const Row rows[] = {", "  {f(1)},", "};",
      "static bool wide(Diag *d, const char *a, int (*call)(int, int),", "                 int b, int c, int e) {",
      "  if (a) {", "    b++;", "  }", "", "}",
      "__attribute__((format(printf, 1, 2))) void attributed(const char *f, ...) {", "}",
      "#define MACRO(a) f(a)",
    }, "\n"))
    assert.same({
      {name = "plain", line = 1, lines = 3, parameters = 1},
      {name = "short_one", line = 4, lines = 1, parameters = 0},
      {name = "wide", line = 9, lines = 7, parameters = 6},
      {name = "attributed", line = 16, lines = 2, parameters = 2},
    }, found)
  end)

  it("sees Lua functions, nested ones and methods too", function()
    local found = budget.lua_functions(table.concat({
      "local function outer(a)", "  local f = function()", "    return a", "  end", "  return f", "end",
      "function m.one() return 1 end",
      "function m:two()", "end",
    }, "\n"))
    assert.same({
      {name = "?", line = 2, lines = 3},
      {name = "outer", line = 1, lines = 6},
      {name = "m:two", line = 8, lines = 2},
    }, found)
  end)
end)
