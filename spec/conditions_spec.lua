-- Every condition that the checks of instructions name is broken by a reject case: the words of its message are in
-- what those cases raise, as the error or as a note. A check cannot be added without a case that it refuses.
local lfs = require "lfs"
local nki, nl = require "nki", require "nki.language"
local tree = require "spec.support.tree"

local function raised_by(c, target)
  local kernel = nki.jit(function()
    c[3]()
    local out = nl.ndarray({1, 1}, nl.float32, {buffer = nl.shared_hbm})
    nl.store(out, nl.zeros({1, 1}, nl.float32))
    return out
  end, {platform_target = target, func_name = "case", grid = c.grid})
  local _, e = pcall(kernel.specialize, kernel)
  return tostring(e)
end

-- What all reject cases raise. That each raises its own id and words is asserted where it stands.
local function what_cases_raise()
  local all = {}
  for name in lfs.dir "spec/cases" do
    local op = name:match "^([%w_]+)%.lua$"
    for _, c in ipairs(op and require("spec.cases." .. op).reject or {}) do
      all[#all + 1] = raised_by(c, c.target or "trn1")
    end
  end
  for _, c in ipairs(require "spec.support.indirect_refusals") do all[#all + 1] = raised_by(c, c[4] or "trn3") end
  return table.concat(all, "\n")
end

-- Conditions that Lua cannot break, with the C test that does.
local elsewhere = {
  ["the index tensor is not a tensor of this function"] = "spec/ir/checks_test.c",
  ["source_target_pairs has no pair"] = "spec/ir/checks_test.c",
  ["data1 and data2 are both numbers; one must be a tensor"] = "spec/ir/checks_test.c",
}

-- The string literals of some words in the checks' sources, split at their formats.
local function conditions()
  local list = {}
  for _, path in ipairs(tree.files "^src/ir/[cr][hu][el][ce]k?s[%w_]*%.c$") do
    local text = tree.read(path):gsub("/%*.-%*/", ""):gsub("#include[^\n]*", ""):gsub('"%s*\n%s*"', "")
    for literal in text:gmatch '"([^"\n]*)"' do
      if literal:find "%S %S" then list[#list + 1] = {path = path, text = literal} end
    end
  end
  return list
end

describe("the checks of instructions", function()
  local said = what_cases_raise()
  local list = conditions()

  it("are read whole by this spec", function()
    local files = {}
    for _, c in ipairs(list) do files[c.path] = true end
    for _, name in ipairs {"accum", "collective", "cores", "dma", "gather", "indirect", "mx", "pattern", "tensor",
      "vector"} do
      assert.is_true(files["src/ir/checks_" .. name .. ".c"], name)
    end
    assert.is_true(files["src/ir/rules.c"] and files["src/ir/rules_collective.c"])
    assert.is_true(#list > 150)
  end)

  for _, c in ipairs(list) do
    it(("have a case for `%s` (%s)"):format(c.text, c.path), function()
      local test = elsewhere[c.text]
      local where = test and tree.read(test) or said
      for piece in ((test and c.text or c.text:gsub("%%l*%l", "\0")) .. "\0"):gmatch "(%Z+)%z" do
        assert.truthy(#piece < 4 or where:find(piece, 1, true), "no case says: " .. piece)
      end
    end)
  end
end)
