-- Every public name of NKI is here, is documented by `nkilua doc` and help(), and does what it must on every
-- generation: a case of spec/cases or spec/names calls it (counted) or is handed it, and compares what comes out with
-- numbers from elsewhere.
local build = require "spec.support.build"
local case = require "spec.support.case"
local record = require "spec.support.record"
local tree = require "spec.support.tree"
local values = require "spec.names.values"

local short = {nki = "nki", ["nki.language"] = "nl", ["nki.isa"] = "nisa", ["nki.collectives"] = "ncc"}

local rows = {}
local LINE = "\n([%w.]+)\t([%w_.]+)\t([%w-]+)\tgen(%d)"
for module, name, kind, generation in tree.read "spec/support/inventory.tsv":gmatch(LINE) do
  rows[#rows + 1] = {module = module, name = name, kind = kind, generation = math.tointeger(generation),
    full = module .. " " .. name, short = short[module] .. "." .. name, last = name:match "[%w_]+$"}
end

-- The value of a name, nil when there is none. A tensor's attributes are functions of its class.
local function value_of(row)
  local v = require(row.module)
  for step in row.name:gmatch "[^.]+" do
    local ok, found = pcall(function() return v[step] end)
    if not ok or found == nil then return nil end
    v = found
  end
  return v
end

local lacks

-- What `help` says of each topic, in one session: topic -> text.
local function help_of(topics)
  local lines = {"nki, nl = require 'nki', require 'nki.language'",
    "nisa, ncc = require 'nki.isa', require 'nki.collectives'"}
  for i, topic in ipairs(topics) do
    lines[#lines + 1] = ("io.write('\\x01%d\\x01') help(%s)"):format(i, topic)
  end
  local out = build.run({"repl", stdin = table.concat(lines, "\n") .. "\n"}).out .. "\1"
  local texts = {}
  for i, text in out:gmatch "\1(%d+)\1([^\1]*)%f[\1]" do texts[topics[math.tointeger(tonumber(i))]] = text end
  return texts
end

-- "nl.exp lacks errors, example": what the help of a row does not tell; nil when it tells all.
function lacks(row, text)
  local missing = {}
  local function need(what, pattern)
    if not text:find(pattern) then missing[#missing + 1] = what end
  end
  local signature, rest = text:match "^([^\n]*)\n(.*)$"
  local called = row.kind == "function" or row.kind == "class" or row.kind == "method"
  text = "\n" .. (rest or "")
  if not (rest or ""):find "^  %S" or rest:find "^  %l+: " then missing[#missing + 1] = "a sentence" end
  need("an example", "\n  example: [^\n]*" .. (row.last:find "__" and "%S" or row.last))
  if not (signature or ""):find(row.last, 1, true) then missing[#missing + 1] = "its name" end
  if called then
    local args = signature and signature:match "[({](.*)[)}]"
    if not args then missing[#missing + 1] = "a signature" end
    if text:find "\n  engine: " then -- an instruction: a line for each parameter
      for name in (", " .. (args or "")):gmatch ", ([%w_]+)" do
        need("what " .. name .. " is", "\n  " .. name .. " +%S[^\n]*, [^\n]")
      end
    elseif args and args ~= "" then
      need("what it takes", "\n  takes: %S")
    end
    need("what it gives", "\n  gives: %S")
    need("errors", "\n  errors: err_")
  end
  return #missing > 0 and ("%s lacks %s"):format(row.full, table.concat(missing, ", ")) or nil
end

-- ---- cases

local names = {}
for _, file in ipairs {"elementwise", "reductions", "movement", "control", "tensors"} do
  for name, list in pairs(require("spec.names." .. file)) do
    assert(not names[name], name .. " has cases twice")
    names[name] = list
  end
end

-- The cases of a row whose value is v, and whether they are handed v instead of calling it; nil when there are none.
local function cases_of(row, v)
  if values[row.short] then return values[row.short](v), true end
  if names[row.short] then return names[row.short] end
  local there, file = pcall(require, "spec.cases." .. row.last)
  local instruction = row.module == "nki.isa" or row.module == "nki.collectives"
  if there and instruction and row.kind == "function" then return file.numeric end
end

local targets = {"trn1", "trn2", "trn3"}
-- What can be compared with on every target, or is only a way to call what is younger itself.
local everywhere = {["nisa.nc_version.gen3"] = true, ["nisa.nc_version.gen4"] = true, ["nisa.dma_engine"] = true}
local too_old = {err_op_generation = true, err_argument_generation = true, err_tensor_dtype_gen = true}

-- Targets on which a case has run that uses the name.
local function ran_on(row, v)
  local ran, cases, handed = {}, cases_of(row, v)
  assert(cases and #cases > 0, "no case in spec/cases or spec/names")
  for _, c in ipairs(cases) do
    for _, target in ipairs(case.targets(c)) do
      -- the rest of the cases of an instruction are those of spec/cases_spec.lua
      if not ran[target] or names[row.short] or handed then
        local calls = handed and 1 or 0
        if handed then
          case.run(case.on(c, target))
        else
          calls = record.calls(v, case.run, case.on(c, target))
        end
        ran[target] = ran[target] or calls > 0
      end
    end
  end
  return ran, cases
end

-- The first case that computes raises an error that names the generation which is needed, and the target.
local function is_refused(row, cases, target)
  local copy = {}
  for _, c in ipairs(cases) do
    if type(c[2]) ~= "function" then
      for key, option in pairs(c) do copy[key] = option end
      break
    end
  end
  copy.target, copy.grid, copy.last = target, nil, nil
  local ok, e = pcall(case.compute, copy)
  assert(not ok, "it runs on " .. target)
  assert(type(e) == "table" and too_old[e.id], tostring(e))
  local needed = ("gen%d"):format(row.generation)
  assert(e:find(needed, 1, true) or e:find("generation " .. row.generation, 1, true), tostring(e))
  assert(e:find(target, 1, true), tostring(e))
end

describe("the inventory of NKI's names", function()
  it("is read whole", function()
    assert.equal(tree.count(tree.read "spec/support/inventory.tsv") - 1, #rows)
    assert.equal(292, #rows)
  end)

  it("is all there", function()
    local lost = {}
    for _, row in ipairs(rows) do
      if value_of(row) == nil then lost[#lost + 1] = row.full end
    end
    assert.same({}, lost)
  end)

  it("is documented, by name and by value", function()
    local topics, silent = {}, {}
    for _, row in ipairs(rows) do
      topics[#topics + 1] = '"' .. row.module .. "." .. row.name .. '"'
      if row.kind == "function" then topics[#topics + 1] = row.short end
    end
    local texts = help_of(topics)
    for _, row in ipairs(rows) do
      local text = texts['"' .. row.module .. "." .. row.name .. '"'] or ""
      silent[#silent + 1] = lacks(row, text)
      if row.kind == "function" and texts[row.short] ~= text then silent[#silent + 1] = row.short end
    end
    assert.same({}, silent)
  end)

  it("is missed where the help of a name has a gap", function()
    local row = {kind = "function", last = "exp", full = "nl.exp"}
    local text = "nl.exp(x, [dtype])\n  e ^ x\n  takes: x\n  gives: a tensor\n  errors: err_bind_kind\n"
      .. "  example: nl.exp(x)\n"
    assert.is_nil(lacks(row, text))
    for _, line in ipairs {"e ^ x\n", "takes: x\n", "gives: a tensor\n", "errors: err_bind_kind\n",
      "example: nl.exp(x)\n"} do
      local first, last = text:find(line, 1, true)
      assert.truthy(lacks(row, text:sub(1, first - 3) .. text:sub(last + 1)), line)
    end
    assert.truthy(lacks(row, (text:gsub("%(x, %[dtype%]%)", "", 1))))
  end)

  it("is the same to `nkilua doc`", function()
    local topics = {"nl.softmax", "nisa.engine.vector", "nl.NkiTensor.__getitem__", "nl._TileSize.pmax", "nl.arange"}
    local quoted = {}
    for i, topic in ipairs(topics) do quoted[i] = '"' .. topic .. '"' end
    local texts = help_of(quoted)
    for i, topic in ipairs(topics) do assert.equal(texts[quoted[i]], build.run({"doc", topic}).out) end
  end)

  it("holds nothing for a public value without a name in help", function()
    local topics, silent = {}, {}
    local nd = require "nki.ndarray"
    local tables = {nd = nd, ["nd.random"] = nd.random, testing = require "nki.testing"}
    for module, name in pairs(short) do tables[name] = require(module) end
    for name, members in pairs(tables) do
      for key in pairs(members) do topics[#topics + 1] = '"' .. name .. "." .. key .. '"' end
    end
    table.sort(topics)
    local texts = help_of(topics)
    for _, topic in ipairs(topics) do
      if not (texts[topic] or ""):find "\n  %S" then silent[#silent + 1] = topic end
    end
    assert.same({}, silent)
    assert.is_true(#topics > 200)
  end)
end)

describe("a name of NKI does what it must:", function()
  for _, row in ipairs(rows) do
    it(row.full, function()
      if row.short == "nl.device_print" then return end -- below: it prints
      local ran, cases = ran_on(row, value_of(row))
      for i, target in ipairs(targets) do
        if i + 1 >= row.generation or everywhere[row.short] then
          assert(ran[target], "no case uses it on " .. target)
        else
          is_refused(row, cases, target)
        end
      end
    end)
  end

  it("nl.device_print prints", function()
    for _, target in ipairs(targets) do
      local script = ([[
        local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"
        local k = nki.jit(function(a)
          nl.device_print("seen", nl.load(a))
          return a
        end, {platform_target = %q})
        local run = function() k(nd.array {{0.5, -2}}) end
        print(require "spec.support.record".calls(nl.device_print, run))]]):format(target)
      local r = build.run {"-e", script}
      assert.same({0, "seen sbuf_0[1,2] float32 in sbuf\n[[0.5, -2.0]]\n1\n", ""}, {r.code, r.out, r.err})
    end
  end)

  it("and no case is left over", function()
    local known = {}
    for _, row in ipairs(rows) do known[row.short] = true end
    for _, list in ipairs {names, values} do
      for name in pairs(list) do assert(known[name], name) end
    end
  end)
end)

describe("a case of the inventory is found out", function()
  local nl = require "nki.language"
  local exp = {short = "nl.exp", name = "exp", module = "nki.language", last = "exp", generation = 2}

  local function with(list, f)
    local kept = names["nl.exp"]
    names["nl.exp"] = list
    local ok, e = pcall(f)
    names["nl.exp"] = kept
    return ok, tostring(e)
  end

  it("when there is none", function()
    local ok, e = with(nil, function() ran_on(exp, nl.exp) end)
    assert(not ok and e:find("no case in", 1, true), e)
  end)
  it("when it does not call the name", function()
    local ran
    local function f(t) return nl.log(t) end
    with({{"log", {require "nki.ndarray".ones {1, 1}}, f, {{{0}}}}}, function() ran = ran_on(exp, nl.exp) end)
    assert.same({trn1 = false, trn2 = false, trn3 = false}, ran)
  end)
  it("when it wants nothing", function()
    local ok, e = with({{"nothing", {}, function() return nl.exp(nl.ones({1, 1}, nl.float32)) end, {}}},
      function() ran_on(exp, nl.exp) end)
    assert(not ok and e:find("wants nothing", 1, true), e)
  end)
  it("when the number is another one", function()
    local ok, e = with({{"one", {}, function() return nl.exp(nl.ones({1, 1}, nl.float32)) end, {{{2}}}}},
      function() ran_on(exp, nl.exp) end)
    assert(not ok and e:find("differ", 1, true), e)
  end)
  it("when an older target would run it", function()
    local ok, e = pcall(is_refused, exp, names["nl.exp"], "trn1")
    assert(not ok and tostring(e):find("it runs on trn1", 1, true), tostring(e))
  end)
end)
