-- The Lua programs of README.md and docs/: every block ```lua is run. One that returns a kernel runs as its last line
-- says ("-- nkilua run NAME.lua WORDS"), or is traced with f32[256,64] for each parameter; a first line "-- NAME.lua"
-- names its file for the blocks behind it. A block ```lua fragment is only part of a program.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local lfs = require "lfs"
local tree = require "spec.support.tree"

local pages = {"README.md"}
for name in lfs.dir "docs" do
  if name:find "%.md$" then pages[#pages + 1] = "docs/" .. name end
end
table.sort(pages)

-- {page =, line =, text =, fragment =} of every block of Lua.
local function blocks_of(page)
  local blocks, open = {}, nil
  for number, line in tree.lines(tree.read(page)) do
    if open and line:find "^```%s*$" then
      open.text = table.concat(open.lines, "\n") .. "\n"
      blocks[#blocks + 1], open = open, nil
    elseif open then
      open.lines[#open.lines + 1] = line
    else
      local word = line:match "^```lua%s*(%a*)%s*$"
      open = word and {page = page, line = number, fragment = word == "fragment", lines = {}} or nil
    end
  end
  assert(not open, page .. " has an open block")
  return blocks
end

-- The command that runs a block, its file being `name` in the current folder.
local function command_of(block, name)
  local words = block.text:match "\n%-%- nkilua run [%w_]+%.lua ([^\n]*)\n$"
  if words then return ("run %s %s"):format(name, words) end
  local params = block.text:match "return nki%.jit%(function(%b())"
  if not params then return name end
  words = {"trace", name}
  for param in params:gmatch "[%w_]+" do words[#words + 1] = ("'%s=f32[256,64]'"):format(param) end
  return table.concat(words, " ")
end

describe("the Lua programs of the documentation", function()
  local folder, total = nil, 0
  setup(function() folder = cli.folder() end)
  teardown(function() cli.drop(folder) end)

  for _, page in ipairs(pages) do
    for _, block in ipairs(blocks_of(page)) do
      total = total + (block.fragment and 0 or 1)
      if not block.fragment then
        it(("run: %s:%d"):format(page, block.line), function()
          local name = block.text:match "^%-%- ([%w_]+%.lua)\n" or ("block_%d.lua"):format(block.line)
          build.spit(folder .. "/" .. name, block.text)
          local r = build.shell(("cd %s && NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s %s"):format(build.quote(folder),
            build.quote(cli.program), command_of(block, name)))
          assert.equal(0, r.code, r.err)
          assert.is_nil(r.err:find("carries a value", 1, true), r.err)
          local lint = cli.run {"lint", folder .. "/" .. name}
          assert.equal("", lint.out .. lint.err)
        end)
      end
    end
  end

  it("are found", function() assert.is_true(total >= 5) end)

  it("and the pieces in the tables of docs/porting.md are Lua", function()
    local wrong, pieces = {}, 0
    for _, line in tree.lines(tree.read "docs/porting.md") do
      local last = line:find "^|" and line:match "|([^|]*[^|`]*`?[^|]*)|$"
      for code in (last or ""):gmatch "`([^`]+)`" do
        pieces = pieces + 1
        local lua = code:gsub("\\|", "|"):gsub("%.%.%.", "")
        local ok = load(lua) or load("return " .. lua) or load(lua .. " end") or load("f(" .. lua .. ")")
          or load("f {" .. lua .. "}") or load("return t" .. lua)
        if not ok then wrong[#wrong + 1] = code end
      end
    end
    assert.same({}, wrong)
    assert.is_true(pieces > 60)
  end)

  it("are read as the pages write them", function()
    local block = {text = "local x = 1\n-- nkilua run a.lua x=3\n"}
    assert.equal("run b.lua x=3", command_of(block, "b.lua"))
    block = {text = "return nki.jit(function(a, b)\nend)\n"}
    assert.equal("trace b.lua 'a=f32[256,64]' 'b=f32[256,64]'", command_of(block, "b.lua"))
    assert.equal("b.lua", command_of({text = "print(1)\n"}, "b.lua"))
  end)
end)
