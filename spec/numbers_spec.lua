-- Every instruction for every legal combination of dtypes, on every generation, against spec/oracles/instructions.py:
-- the same combinations are legal, and the bytes are the same.
local numbers = require "spec.support.numbers"

local rows = {}
for _, file in ipairs {"elementwise", "others", "ranks"} do
  for name, row in pairs(require("spec.numbers." .. file)) do
    assert(not rows[name], name)
    rows[name] = row
  end
end

local function sorted(t)
  local list = {}
  for k in pairs(t) do
    list[#list + 1] = k
  end
  table.sort(list)
  return list
end

-- "computed ..., wanted ..." of the combinations that differ.
local function differences(found, marks, wanted)
  local list, all = {}, {}
  for k in pairs(found) do all[k] = true end
  for k in pairs(wanted) do all[k] = true end
  for _, k in ipairs(sorted(all)) do
    if found[k] ~= false and found[k] ~= wanted[k] then
      list[#list + 1] = ("%s: computed %s (%s), wanted %s"):format(k, found[k] or "nothing", marks[k] or "",
                                                                  wanted[k] or "nothing")
    end
  end
  return list
end

local wanted = numbers.wanted()
local instructions = numbers.instructions()

-- The targets to run on: all whose numbers differ, and of those that have the same ones each in its turn.
local function targets(name, variant, turn)
  local groups, order, list = {}, {}, {}
  for _, target in ipairs(numbers.targets) do
    local sums = wanted[("%s %s %s"):format(name, variant, target)] or "none"
    if not groups[sums] then
      groups[sums] = {}
      order[#order + 1] = groups[sums]
    end
    table.insert(groups[sums], target)
  end
  for _, group in ipairs(order) do
    for i, target in ipairs(group) do
      if numbers.all or i == turn % #group + 1 then
        list[#list + 1] = target
      end
    end
  end
  return list
end

describe("every combination of dtypes of", function()
  for _, name in ipairs(sorted(rows)) do
    local row = rows[name]
    for turn, variant in ipairs(row.variants) do
      it(("nisa.%s, %s"):format(name, variant), function()
        for _, target in ipairs(targets(name, variant, turn)) do
          local sums = wanted[("%s %s %s"):format(name, variant, target)] or {}
          local job = {op = instructions[name], row = row, variant = variant, target = target, turn = turn}
          local found, marks = numbers.compute(job, sums)
          local list = differences(found, marks, sums)
          assert(#list == 0, ("%s on %s: %d combinations differ\n%s"):format(name, target, #list,
            table.concat(list, "\n", 1, math.min(#list, 5))))
        end
      end)
    end
  end
end)

describe("the oracle of numbers", function()
  -- Instructions without results in memory.
  -- near: spec/numbers_near_spec.lua; none: it has no result in memory.
  local near = {exponential = true}
  local none = {device_print = true}

  it("has every instruction", function()
    local missing = {}
    for name in pairs(instructions) do
      if not rows[name] and not near[name] and not none[name] then
        missing[#missing + 1] = name
      end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  it("gives every tile parameter its dtypes", function()
    for name, row in pairs(rows) do
      local seen = {}
      for _, v in ipairs(row.variants) do
        for _, p in ipairs(type(row.sources) == "function" and row.sources(v) or row.sources) do seen[p[1]] = true end
        for _, p in ipairs(row.outs) do seen[p[1]] = true end
      end
      for parameter in pairs(instructions[name].tiles) do
        assert(seen[parameter] or (row.also or ""):find(parameter, 1, true), name .. ": " .. parameter)
      end
    end
  end)

  it("has no variant that is not run", function()
    local run = {}
    for name, row in pairs(rows) do
      for _, variant in ipairs(row.variants) do
        for _, target in ipairs(numbers.targets) do
          run[("%s %s %s"):format(name, variant, target)] = true
        end
      end
    end
    for key in pairs(wanted) do
      assert(run[key], key)
    end
  end)
end)
