-- Every public name of NKI is here, is documented by `nkilua doc` and help(), and occurs in a spec.
local build = require "spec.support.build"
local tree = require "spec.support.tree"

local short = {nki = "nki", ["nki.language"] = "nl", ["nki.isa"] = "nisa", ["nki.collectives"] = "ncc"}

local rows = {}
local LINE = "\n([%w.]+)\t([%w_.]+)\t([%w-]+)\t%w+"
for module, name, kind in tree.read "spec/support/inventory.tsv":gmatch(LINE) do
  rows[#rows + 1] = {module = module, name = name, kind = kind, full = module .. " " .. name,
    short = short[module] .. "." .. name, last = name:match "[%w_]+$"}
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

-- What `help` says of each topic, in one session: topic -> text.
local function help_of(topics)
  local lines = {"nki, nl = require 'nki', require 'nki.language'",
    "nisa, ncc = require 'nki.isa', require 'nki.collectives'"}
  for i, topic in ipairs(topics) do
    lines[#lines + 1] = ("io.write('@%d@') help(%s)"):format(i, topic)
  end
  local out = build.run({"repl", stdin = table.concat(lines, "\n") .. "\n"}).out .. "@"
  local texts = {}
  for i, text in out:gmatch "@(%d+)@([^@]*)%f[@]" do texts[topics[math.tointeger(tonumber(i))]] = text end
  return texts
end

-- All the words of specs and C tests: "nl.exp", "exp", ":reshape(" ...
local function said_by_specs()
  local texts = {}
  for _, path in ipairs(tree.files "^spec/.*%.[lc][u]?[a]?$") do
    local itself = path == "spec/inventory_spec.lua" or path == "spec/lang/docs_spec.lua"
    texts[#texts + 1] = itself and "" or tree.read(path)
  end
  return table.concat(texts, "\n")
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
      local text = texts['"' .. row.module .. "." .. row.name .. '"']
      local says = text and text:find(row.last, 1, true) and text:find "\n  %S"
      silent[#silent + 1] = not says and row.full or nil
      if row.kind == "function" and texts[row.short] ~= text then silent[#silent + 1] = row.short end
    end
    assert.same({}, silent)
  end)

  it("is the same to `nkilua doc`", function()
    local topics = {"nl.softmax", "nisa.engine.vector", "nl.NkiTensor.__getitem__", "nl._TileSize.pmax", "nl.arange"}
    local quoted = {}
    for i, topic in ipairs(topics) do quoted[i] = '"' .. topic .. '"' end
    local texts = help_of(quoted)
    for i, topic in ipairs(topics) do assert.equal(texts[quoted[i]], build.run({"doc", topic}).out) end
  end)

  it("is tested: every name occurs in a spec", function()
    local said, untested, words = said_by_specs(), {}, {}
    for word in said:gmatch "[%w_.:]+" do
      while word do
        words[word] = true
        word = word:match "^(.*)%.[^.]*$" -- nisa.nc_version.gen4 names nisa.nc_version, too
      end
    end
    for word in said:gmatch "[%.:]([%w_]+)" do words["." .. word] = true end
    for word in said:gmatch "[\"']([%w_]+)[\"']" do words["'" .. word] = true end
    for word in said:gmatch "([%w_]+) =" do words["'" .. word] = true end
    for _, row in ipairs(rows) do
      local member = row.name:find(".", 1, true)
      local tested = words[row.short] or words["'" .. row.last] or words[row.name]
      if member then tested = tested or words["." .. row.last] end
      if not tested then untested[#untested + 1] = row.full end
    end
    assert.same({}, untested)
  end)

  it("holds nothing for a public value without a name in help", function()
    local topics, silent = {}, {}
    local nd = require "nki.ndarray"
    local tables = {nd = nd, ["nd.random"] = nd.random, testing = require "nki.testing"}
    for module, name in pairs(short) do tables[name] = require(module) end
    for name, values in pairs(tables) do
      for key in pairs(values) do topics[#topics + 1] = '"' .. name .. "." .. key .. '"' end
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
