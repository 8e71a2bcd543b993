-- What must not be forgotten: every instruction has cases, every rule of every row a case that breaks it, every message
-- a spec that asserts it.
local lfs = require "lfs"
local tree = require "spec.support.tree"

-- The rows of ops.def: name, mask of engines, list of rules.
local rows = {}
do
  local text = tree.read "src/ir/ops.def":gsub("/%*.-%*/", "")
  for name, rest in text:gmatch "\nOP%(([%w_]+), (.-)\n   P%(" do
    local row = {name = name, engines = rest:match "^([%u|]+),", rules = {}}
    for rule in rest:gmatch "R%(([%w_]+)" do
      row.rules[#row.rules + 1] = rule
    end
    rows[#rows + 1] = row
  end
end

local function rules_of_the_house()
  local names = {}
  for name in tree.read "src/ir/rules.def":gmatch "\nRULE%(([%w_]+)" do
    names[name] = true
  end
  return names
end

describe("ops.def", function()
  it("is read whole by this spec", function()
    assert.is_true(#rows >= 27)
    local known, used = rules_of_the_house(), {}
    for _, row in ipairs(rows) do
      for _, rule in ipairs(row.rules) do
        assert.is_true(known[rule], rule)
        used[rule] = true
      end
    end
    for rule in pairs(known) do
      assert.is_true(used[rule], "no row uses " .. rule)
    end
  end)

  for _, row in ipairs(rows) do
    it(row.name .. " has cases", function()
      local cases = require("spec.cases." .. row.name)
      assert.is_true(#cases.accept > 0, "nothing that it accepts")
      assert.is_true(#cases.reject > 0, "nothing that it refuses")
      assert.is_true(#cases.numeric > 0 or #cases.prints > 0, "nothing that it computes")
    end)

    -- The operands of the simulator's own rows are made by nl, which refuses first; spec/ir has their rules.
    if row.engines ~= "SIM" then
      it(row.name .. " has a case for each of its rules", function()
        local broken = {}
        for _, c in ipairs(require("spec.cases." .. row.name).reject) do
          broken[c.rule or ""] = true
        end
        for _, rule in ipairs(row.rules) do
          assert.is_true(broken[rule], "no case breaks " .. rule)
        end
      end)
    end
  end

  it("has a row for every file of cases", function()
    local known = {}
    for _, row in ipairs(rows) do
      known[row.name .. ".lua"] = true
    end
    for name in lfs.dir "spec/cases" do
      assert.is_true(known[name] or name:find "^%." ~= nil, name)
    end
  end)
end)

describe("errors.def", function()
  local ids = {}
  for id in tree.read "src/base/errors.def":gmatch "\nE%(([%w_]+)," do
    ids[#ids + 1] = id
  end

  it("is read whole by this spec", function()
    assert.is_true(#ids > 150)
  end)

  it("has no message that no spec asserts", function()
    local asserted = {}
    for _, path in ipairs(tree.files "^spec/") do
      local text = path:find "%.[%w]+$" and not path:find "/data/" and tree.read(path) or ""
      for id in text:gmatch "[eE][rR][rR]_([%w_]+)" do
        asserted[id] = true
      end
      if path:find "%.[ch]$" or path:find "%.def$" then -- the C tests have macros that paste ERR_ in front
        for word in text:gmatch "[%w]+_[%w_]+" do
          asserted[word] = true
        end
      end
    end
    local missing = {}
    for _, id in ipairs(ids) do
      if not asserted[id] then
        missing[#missing + 1] = id
      end
    end
    assert.equal("", table.concat(missing, " "))
  end)

  it("has no message that no code raises", function()
    local raised = {}
    for _, path in ipairs(tree.files "^src/") do
      if path:find "%.[ch]$" then
        for word in tree.read(path):gmatch "[%w_]+" do
          raised[word:gsub("^ERR_", "")] = true
        end
      end
    end
    for _, path in ipairs(tree.files "^lua/.*%.lua$") do
      for word in tree.read(path):gmatch "[%w_]+" do
        raised[word] = true
      end
    end
    local dead = {}
    for _, id in ipairs(ids) do
      if not raised[id] then
        dead[#dead + 1] = id
      end
    end
    assert.equal("", table.concat(dead, " "))
  end)
end)
