-- What help and docs/language.md tell: every function has all its cells, its example runs and is made of the
-- instructions it names, and help of a value is help of its name.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local golden = require "spec.support.golden"
local tree = require "spec.support.tree"
local nki, nl = require "nki", require "nki.language"

local HEAD = [[
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local ncc = require "nki.collectives"
local nd, a = require "nki.ndarray", ...
local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
local x, y = nl.ndarray({128, 64}, nl.float32), nl.ndarray({128, 64}, nl.float32)
local m = nl.ndarray({128, 128}, nl.float32)
local bits, ids = nl.ndarray({128, 64}, nl.int32), nl.ndarray({128, 64}, nl.uint32)
]]

-- Instructions that the example adds to a kernel without it, as a list of names.
local function trace(example, grid)
  local chunk = assert(load(HEAD .. (example or "") .. "\nnl.store(out, nl.load(a)) return out", "=example"))
  local a = nki.decl({128, 64}, "float32")
  return nki.jit(chunk and function(t) return chunk(t) end, {platform_target = "trn3", grid = grid}):specialize(a).ir
end

local function counted(ir)
  local n = {}
  for name in ir:gmatch '"n[ci][sc]a?%.([%w_]+)"%(' do n[name] = (n[name] or 0) + 1 end
  for name in ir:gmatch '"nki%.([sd][ie][mv][%w_]+)"%(' do n[name] = (n[name] or 0) + 1 end
  return n
end

local rows = {}
local by_name = {}
local json = build.run({"ops", "--table", "language", "--json"}).out:sub(2, -3)
for row in (json:gsub('},{"name":', '}\n{"name":') .. "\n"):gmatch "(.-)\n" do
  local function cell(key)
    local text = row:match('"' .. key .. '":"(.-[^\\])"') or ""
    return (text:gsub('\\"', '"'))
  end
  rows[#rows + 1] = {name = cell "name", takes = cell "takes", gives = cell "gives", uses = cell "instructions",
    errors = cell "errors", example = cell "example", doc = cell "doc", row = row:find '"gives"' ~= nil}
  by_name[rows[#rows].name] = rows[#rows]
end

describe("the language's documentation", function()
  it("is read whole", function() assert.is_true(#rows > 150) end)

  local plain = counted(trace())
  local ours = {}
  for name in tree.read "src/base/errors.def":gmatch "\nE%(([%w_]+)," do ours["err_" .. name] = true end

  for _, row in ipairs(rows) do
    if row.row then
      it(row.name .. " says what it gives, with an example", function()
        assert.is_true(row.gives ~= "" and row.example ~= "" and row.doc ~= "", row.name)
        assert.truthy(row.example:find(row.name, 1, true), row.example)
        for id in row.errors:gmatch "[%w_]+" do assert.is_true(ours[id], id) end
      end)
    end
    if row.name:find "^tensor%." then
      it(row.name .. " has an example, and errors that there are", function()
        assert.truthy(row.example:find("[.:]" .. row.name:match "[%w_]+$"), row.example)
        for id in row.errors:gmatch "[%w_]+" do assert.is_true(ours[id], id) end
      end)
    end
    if row.example ~= "" then
      it("has an example of " .. row.name .. " that runs", function()
        local has, first, named = counted(trace(row.example)), row.uses:match "^[%w_]+", {}
        for name in row.example:gmatch "n%l+%.[%w_]+" do
          for use in (by_name[name] and by_name[name].uses or ""):gmatch "[%w_]+" do named[use] = true end
          named[name:match "^nisa%.(.*)" or ""] = true
        end
        assert.is_true(not first or (has[first] or 0) > (plain[first] or 0), "it has no " .. tostring(first))
        for name, n in pairs(has) do
          assert.is_true(not row.row or named[name] or n == (plain[name] or 0), name .. " is not named")
        end
      end)
    end
  end
end)

describe("the instructions' documentation", function()
  local plain, tried = counted(trace()), 0
  local two = {core_barrier = nl.nc(2), sendrecv = nl.nc(2), all_gather_v = nl.nc(2)} -- they need two cores
  for name, module, example in build.run({"ops", "--json"}).out:gmatch
    '{"name":"([%w_]+)","module":"(%w+)".-"example":"(.-[^\\]?)","parameters"' do
    if module == "nisa" or module == "ncc" then
      tried = tried + 1
      it("has an example of " .. name .. " that runs", function()
        example = example:gsub('\\"', '"')
        assert.truthy(example:find(module .. "." .. name, 1, true), example)
        assert.is_true((counted(trace(example, two[name]))[name] or 0) > (plain[name] or 0))
      end)
    end
  end
  it("is read whole", function() assert.is_true(tried > 50) end)
end)

describe("the generated pages", function()
  local pages = {["docs/language.md"] = "language", ["lua/meta/nki.lua"] = "stub.nki",
    ["lua/meta/nki/language.lua"] = "stub.language", ["lua/meta/nki/isa.lua"] = "stub.isa",
    ["lua/meta/nki/collectives.lua"] = "stub.collectives"}
  for path, name in pairs(pages) do
    it(path .. " is what the program prints #docs", function()
      local text = cli.ok {"ops", "--table", name}
      if path:find "%.lua$" then assert(load(text, "=" .. path)) end
      golden.check(path, text)
    end)
  end
  it("have no JSON of stubs", function()
    cli.fails(1, {"ops", "--table", "stub.isa", "--json"}, "there is no JSON of them")
  end)
end)
