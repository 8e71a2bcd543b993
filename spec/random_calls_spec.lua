-- Random calls of every instruction on random views: see spec/support/random_calls.lua. NKILUA_SEEDS=FROM,N: others.
local drawn = require "spec.support.drawn"

local from, n = (os.getenv "NKILUA_SEEDS" or "1,1000"):match "^(%d+),(%d+)$"

local function report(environment)
  return (drawn.report("spec.support.random_calls", from .. ", " .. n, environment))
end

describe("calls drawn at random", function()
  local first
  for _, isa in ipairs {"generic", "avx2", "avx512"} do
    it("give the same on views and on dense tiles, traced and decoded: " .. isa, function()
      local text = report("NKILUA_GEMM=plain NKILUA_ISA=" .. isa)
      assert.is_nil(text:match "FAULT[^\n]*", text:match "FAULT[^\n]*")
      first = first or text
      assert.equal(first, text)
    end)
  end

  it("do so with oneDNN", function() assert.is_nil(report(""):match "FAULT[^\n]*") end)

  it("are calls of every instruction", function()
    assert.is_nil(first:match "%f[%w_]([%w_]+ 0)\n", "an instruction was never taken")
  end)
end)
