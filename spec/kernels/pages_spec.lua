-- The kernel library's documentation: each kernel's head comment is its help, a part of docs/kernels.md, and its
-- examples run.
local lfs = require "lfs"
local build = require "spec.support.build"
local golden = require "spec.support.golden"
local tree = require "spec.support.tree"

local names = {}
for name in lfs.dir "kernels" do
  names[#names + 1] = name:match "^(.*)%.lua$"
end
table.sort(names)

-- The comment at the head, without its dashes.
local function head(name)
  local lines = {}
  for line in tree.read("kernels/" .. name .. ".lua"):gmatch "[^\n]*" do
    if not line:match "^%-%-" then break end
    lines[#lines + 1] = line:gsub("^%-%- ?", "")
  end
  return table.concat(lines, "\n") .. "\n"
end

local INTRODUCTION = [[
# The kernel library

Written by `./dev docs` from the head comments of `kernels/*.lua`. `require "nki.kernels.matmul"` gives the kernel, to
be called with arrays, with declarations, or inside another kernel; `nkilua run kernels/matmul.lua` runs it, and
`nkilua doc nki.kernels.matmul` prints its part of this page. Arguments that do not fit are refused by an error that
names kernel and parameter (`err_bind_value`, `err_bind_kind`, `err_bind_missing`).
]]

describe("the kernel library's help", function()
  for _, name in ipairs(names) do
    it("has " .. name .. ": its call, its result and an example", function()
      local text = head(name)
      local result = build.run{"doc", "nki.kernels." .. name}
      assert.equal(0, result.code, result.err)
      assert.equal(text, result.out)
      assert.is_truthy(text:find("nki.kernels." .. name .. "(", 1, true) == 1)
      for _, part in ipairs{"Returns", "nkilua run kernels/" .. name .. ".lua"} do
        assert.is_truthy(text:find(part, 1, true), part)
      end
    end)

    it("runs the example of " .. name, function()
      local words = head(name):gsub("\\\n%s*", ""):match "nkilua run ([^\n]*)"
      local result = build.shell(("%s run %s"):format(build.quote(build.program), words))
      assert.equal(0, result.code, result.err)
      assert.matches("^output_0 ", result.out)
      assert.is_nil(result.err:find("carries a value", 1, true), result.err)
    end)
  end

  it("lists all of them without a topic", function()
    local out = build.run{"doc"}.out
    assert.is_truthy(out:find("\nnki.kernels: " .. table.concat(names, " ") .. "\n", 1, true))
  end)

  it("finds the nearest name", function()
    assert.matches("did you mean 'nki.kernels.attention'", build.run{"doc", "nki.kernels.atention"}.err)
  end)

  it("is docs/kernels.md #docs", function()
    local parts = {INTRODUCTION}
    for _, name in ipairs(names) do
      parts[#parts + 1] = ("## %s\n\n```text\n%s```\n"):format(name, build.run{"doc", "nki.kernels." .. name}.out)
    end
    golden.check("docs/kernels.md", table.concat(parts, "\n"))
  end)
end)
