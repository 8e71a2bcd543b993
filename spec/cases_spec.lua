-- The files of spec/cases: what each instruction accepts, what it refuses and why, and what it computes.
local lfs = require "lfs"
local build = require "spec.support.build"
local case = require "spec.support.case"

local names = {}
for name in lfs.dir "spec/cases" do
  names[#names + 1] = name:match "^([%w_]+)%.lua$"
end
table.sort(names)

for _, name in ipairs(names) do
  local cases = require("spec.cases." .. name)
  describe("cases of " .. name, function()
    for _, c in ipairs(cases.accept) do
      it("accepts " .. c[1], function() case.accept(c) end)
    end
    for i, c in ipairs(cases.reject) do
      it(("refuses %d: %s%s: %s"):format(i, c.rule and c.rule .. ", " or "", c[1], c[2]), function() case.reject(c) end)
    end
    for _, c in ipairs(cases.numeric) do
      it("computes " .. c[1], function()
        for _, target in ipairs(case.targets(c)) do
          case.compute(case.on(c, target))
        end
      end)
    end
    for _, c in ipairs(cases.prints or {}) do
      it("prints " .. c[1], function()
        local script = ([[
          local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"
          nki.jit(function(x)
            %s
            return x
          end, {platform_target = "trn1"})(nd.array(%s))]]):format(c[3], c[2])
        local r = build.run {"-e", script}
        assert.same({0, c[4], ""}, {r.code, r.out, r.err})
      end)
    end
  end)
end
