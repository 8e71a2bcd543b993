-- null_spec.lua -- spec/api: null_cases.def has a row for every pointer of every function of nkilua.h.
local build = require "spec.support.build"

-- The parameters of a declaration that are pointers or arrays, by name.
local function pointers(list)
  local names = {}
  list = list:gsub("%(%*([%w_]+)%)%b()", "*%1") -- a callback
  for param in list:gmatch("[^,]+") do
    if param:find("[*%[]") then
      names[#names + 1] = param:gsub("%b[]", ""):match("([%w_]+)%s*$")
    end
  end
  return names
end

local function declared(header)
  local wanted, functions = {}, 0
  header = header:gsub("/%*.-%*/", "")
  for func, list in header:gmatch("NKL_API[^;(]-(nkl_[%w_]+)%s*(%b());") do
    functions = functions + 1
    for _, param in ipairs(pointers(list:sub(2, -2))) do
      wanted[#wanted + 1] = func .. ", " .. param
    end
  end
  return wanted, functions
end

describe("NULL in the C interface", function()
  it("is tried for every pointer of every function", function()
    local wanted, functions = declared(build.slurp("include/nkilua.h"))
    local _, exported = build.slurp("include/nkilua.h"):gsub("\nNKL_API", "")
    assert.equal(exported, functions)
    local rows = {}
    for row in build.slurp("spec/api/null_cases.def"):gmatch("\n%u+%((nkl_[%w_]+, [%w_]+), %(") do
      rows[#rows + 1] = row
    end
    assert.same(wanted, rows)
  end)

  it("is looked for in callbacks and arrays too", function()
    local wanted = declared("NKL_API int nkl_f(int a, void (*g)(void *ud, int), const int64_t s[8], char **d);")
    assert.same({"nkl_f, g", "nkl_f, s", "nkl_f, d"}, wanted)
  end)
end)
