-- Broken calls and broken programs drawn at random: see spec/support/random_bad.lua and random_broken.lua.
-- NKILUA_SEEDS=FROM,N: others.
local drawn = require "spec.support.drawn"

local seeds = os.getenv "NKILUA_SEEDS"

-- The report of a module; every kind of break must have been made, unless seeds were asked for.
local function check(module, usual)
  local from, n = (seeds or usual):match "^(%d+),(%d+)$"
  local text = drawn.report(module, from .. ", " .. n, "")
  assert.is_nil(text:match "FAULT[^\n]*", text:match "FAULT[^\n]*")
  if not seeds then assert.is_nil(text:match "%f[%w]%w+: %w+ 0\n", "never made") end
end

describe("one thing is broken: the error says what and where, and nothing is left behind:", function()
  it("calls of instructions", function() check("spec.support.random_bad", "1,500") end)
  it("lines of programs", function() check("spec.support.random_broken", "1,200") end)
end)
