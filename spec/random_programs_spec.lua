-- Whole programs drawn at random: see spec/support/random_programs.lua. NKILUA_SEEDS=FROM,N: others.
-- `./dev numbers` also compares their numbers with NumPy's (spec/oracles/programs.py).
local drawn = require "spec.support.drawn"

local seeds = os.getenv "NKILUA_SEEDS"
local from, n = (seeds or "1,50"):match "^(%d+),(%d+)$"

local function report(environment, all)
  return drawn.report("spec.support.program_laws", ("%s, %s, nil, %s"):format(from, n, all or "false"), environment)
end

describe("programs drawn at random", function()
  local first
  for _, isa in ipairs {"generic", "avx2", "avx512"} do
    it("compute the same in every way of writing them: " .. isa, function()
      local text = report("NKILUA_GEMM=plain NKILUA_ISA=" .. isa)
      assert.is_nil(text:match "FAULT[^\n]*", text:match "FAULT[^\n]*")
      first = first or text
      assert.equal(first, text)
    end)
  end

  it("are told what they read that was not written, and nothing else", function()
    local text, err = report("", "'written'")
    assert.is_nil(text:match "FAULT[^\n]*", text:match "FAULT[^\n]*")
    local reads, said
    for line in (err .. "silent\n"):gmatch "[^\n]+" do
      if line == "reads" or line == "silent" then
        assert(said == reads, said and "an unexpected report" or "a report is missing")
        reads, said = line == "reads", false
      elseif line:find("never written", 1, true) then
        said = true
      end
    end
  end)

  it("do so when narrow floats are kept as float32", function()
    assert.is_nil(report("NKI_PRECISE_FP=0"):match "FAULT[^\n]*")
  end)

  it("do so with oneDNN", function() assert.is_nil(report(""):match "FAULT[^\n]*") end)

  it("have every step and are written in every way", function()
    if not seeds then assert.is_nil(first:match "%f[%w_]([%w_:]* ?[%w_]+ 0)\n", "never drawn") end
  end)
end)
