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

-- id -> its format, and all formats as one text.
local formats, all_formats = {}, ""
for id, format in tree.read "src/base/errors.def":gmatch '\nE%(([%w_]+), [%u_]+, "(.-)"%)%f[\n]' do
  formats[id] = format:gsub("\\(.)", "%1")
  all_formats = all_formats .. formats[id] .. "\n"
end

local function count(text, part)
  local n, at = 0, 1
  while at do
    at = select(2, text:find(part, at, true))
    n, at = n + (at and 1 or 0), at and at + 1
  end
  return n
end

-- The pieces of a format between its arguments that no other message has.
local function own_pieces(format)
  local pieces = {}
  for piece in (format:gsub("%%[%l]+", "\0") .. "\0"):gmatch "(%Z+)%z" do
    if #piece >= 10 and count(all_formats, piece) == 1 then
      pieces[#pieces + 1] = piece
    end
  end
  return pieces
end

-- What specs name: ids with their prefix, ids as strings or pasted behind ERR_. And all their text, with C's split
-- strings joined.
local function what_specs_say()
  local named, texts = {}, {}
  for _, path in ipairs(tree.files "^spec/") do
    local is_text = path:find "%.%w+$" and not path:find "/data/" and path ~= "spec/ops_spec.lua"
    local text = is_text and tree.read(path) or ""
    for id in text:gmatch "[eE][rR][rR]_([%w_]+)" do
      named[id] = true
    end
    for word in text:gmatch(path:find "%.lua$" and "[\"'](%w+_[%w_]+)[\"']" or "%w+_[%w_]+") do
      named[word] = true
    end
    texts[#texts + 1] = text:gsub('"%s*\n%s*"', "")
  end
  return named, table.concat(texts, "\n")
end

describe("errors.def", function()
  it("is read whole by this spec", function()
    local rows_of_text = count(tree.read "src/base/errors.def", "\nE(")
    assert.equal(rows_of_text, count(all_formats, "\n"))
    assert.is_true(rows_of_text > 150)
  end)

  it("has no message that no spec asserts", function()
    local named, said = what_specs_say()
    local missing = {}
    for id, format in pairs(formats) do
      local found = named[id]
      for _, piece in ipairs(found and {} or own_pieces(format)) do
        found = found or said:find(piece, 1, true)
      end
      if not found then
        missing[#missing + 1] = id
      end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  it("has no message that no code raises", function()
    local raised = {}
    for _, path in ipairs(tree.files "^src/.*%.[ch]$") do
      for word in tree.read(path):gmatch "[%w_]+" do
        raised[word:gsub("^ERR_", "")] = true
      end
    end
    for _, path in ipairs(tree.files "^lua/.*%.lua$") do
      for word in tree.read(path):gmatch "[%w_]+" do
        raised[word] = true
      end
    end
    local dead = {}
    for id in pairs(formats) do
      if not raised[id] then
        dead[#dead + 1] = id
      end
    end
    table.sort(dead)
    assert.equal("", table.concat(dead, " "))
  end)
end)
