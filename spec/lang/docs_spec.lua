-- What help and docs/language.md tell: every function has all its cells, its example runs and is made of the
-- instructions it names, and help of a value is help of its name.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local golden = require "spec.support.golden"
local json = require "spec.support.json"
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
local table_text = build.run({"ops", "--table", "language", "--json"}).out:sub(2, -3)
for row in (table_text:gsub('},{"name":', '}\n{"name":') .. "\n"):gmatch "(.-)\n" do
  local function cell(key)
    local text = row:match('"' .. key .. '":"(.-[^\\])"') or ""
    return (text:gsub('\\"', '"'))
  end
  rows[#rows + 1] = {name = cell "name", takes = cell "takes", gives = cell "gives", uses = cell "instructions",
    errors = cell "errors", example = cell "example", doc = cell "doc", row = row:find '"kind":"function"' ~= nil}
  by_name[rows[#rows].name] = rows[#rows]
end

local ours = {}
for name in tree.read "src/base/errors.def":gmatch "\nE%(([%w_]+)," do ours["err_" .. name] = true end

describe("the language's documentation", function()
  it("is read whole", function() assert.is_true(#rows > 150) end)

  local plain = counted(trace())

  for _, row in ipairs(rows) do
    it(row.name .. " names errors that there are", function()
      for id in row.errors:gmatch "[%w_]+" do assert.is_true(ours[id], id) end
    end)
    if row.row then
      it(row.name .. " says what it gives, with an example", function()
        assert.is_true(row.gives ~= "" and row.example ~= "" and row.doc ~= "", row.name)
        assert.truthy(row.example:find(row.name, 1, true), row.example)
      end)
    end
    if row.name:find "^tensor%." then
      it(row.name .. " has an example", function()
        assert.truthy(row.example:find("[.:]" .. row.name:match "[%w_]+$"), row.example)
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

-- What may be refused by any instruction: the binder's errors, but for the wrong kind of a value, go without saying.
local function is_said(id) return not id:find "^err_bind_" end

describe("the instructions' documentation", function()
  local plain, tried = counted(trace()), 0
  local two = {core_barrier = nl.nc(2), sendrecv = nl.nc(2), all_gather_v = nl.nc(2)} -- they need two cores
  for _, op in ipairs(json.parse(build.run({"ops", "--json"}).out)) do
    local full = op.module .. "." .. op.name
    if op.module ~= "nki" then
      tried = tried + 1
      it("has an example of " .. full .. " that runs", function()
        assert.truthy(op.example:find(full, 1, true), op.example)
        assert.is_true((counted(trace(op.example, two[op.name]))[op.name] or 0) > (plain[op.name] or 0))
      end)
      it("lists the errors of " .. full, function()
        local listed = {}
        for id in op.errors:gmatch "[%w_]+" do
          assert.is_true(ours[id], id)
          assert.is_nil(listed[id], id .. " is listed twice")
          listed[id] = true
        end
        for _, c in ipairs(require("spec.cases." .. op.name).reject) do
          assert.is_true(listed[c[1]] or not is_said(c[1]), c[1] .. " is not listed")
        end
      end)
    end
  end
  it("is read whole", function() assert.is_true(tried > 50) end)
end)

describe("the documentation of values", function()
  -- nl and nisa names of the inventory that are values; each has an example that names it and runs.
  local topics = {}
  for module, name, kind in tree.read "spec/support/inventory.tsv":gmatch "\nnki%.(%l+)\t([%w_.]+)\t([%w-]+)" do
    local short = ({language = "nl", isa = "nisa"})[module]
    if short and (kind == "dtype" or kind == "enum-member" or kind == "constant" or kind == "enum") then
      topics[#topics + 1] = short .. "." .. name
    end
  end
  for _, topic in ipairs(topics) do
    it(topic .. " has an example that runs", function()
      local example = build.run({"doc", topic}).out:match "\n  example: ([^\n]+)"
      assert.truthy(example and example:find(topic, 1, true), example)
      assert.is_true(#trace(example, topic:find "dma_engine" and nl.nc(2) or nil) > 0)
    end)
  end
  it("is read whole", function() assert.is_true(#topics > 60) end)

  it("tells which instructions take one, and who raises an error", function()
    assert.matches("\n  taken by: [^\n]*nisa.activation %(reduce_op%)", cli.ok {"doc", "nl.add"})
    assert.matches("\n  taken by: [^\n]*nisa.memset %(engine%)", cli.ok {"doc", "nisa.engine.gpsimd"})
    assert.falsy(cli.ok({"doc", "nisa.engine.scalar"}):find("nisa.memset", 1, true))
    assert.matches("nisa.matmul_perf_mode: \"double_row\"", cli.ok {"doc", "nisa.matmul_perf_mode.double_row"})
    assert.matches("^err_gpsimd_memory\n  %*%.%*: engine gpsimd .-\n  raised by: .*nisa.memset",
      cli.ok {"doc", "err_gpsimd_memory"})
    assert.matches("\n  taken by: nisa.activate2 %(op%)\n", cli.ok {"doc", "nl.prelu"})
    assert.falsy(cli.ok({"doc", "nisa.engine.vector"}):find("nisa.dma_copy", 1, true))
    assert.matches("raised by: .*nisa.tensor_copy.* and %d+ more", cli.ok {"doc", "err_start_partition"})
    assert.matches("nl.add.* and %d+ more\n", cli.ok {"doc", "err_bind_kind"})
  end)
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
