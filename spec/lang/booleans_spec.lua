-- booleans_spec: true and false are numbers where a bool_ tile takes one, and nowhere else.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local raises = require "spec.support.raises"

-- What f makes of a bool_ tile [[1, 0], [0, 1]] and a float32 tile of the same numbers, as a list of lists.
local function made(f)
  local k = nki.jit(function(x)
    local t = nl.load(x)
    local b = nl.copy(t, nl.bool_)
    local got = f(b, t)
    local out = nl.ndarray(x.shape, nl.float32, {buffer = nl.shared_hbm})
    nl.store(out, nl.copy(got, nl.float32))
    return out
  end, {platform_target = "trn2", func_name = "k"})
  return k(nd.array({{1, 0}, {0, 1}})):totable()
end

local ones, zeros = {{1.0, 1.0}, {1.0, 1.0}}, {{0.0, 0.0}, {0.0, 0.0}}
local same, other = {{1.0, 0.0}, {0.0, 1.0}}, {{0.0, 1.0}, {1.0, 0.0}}

describe("true and false are 1 and 0", function()
  local cases = {
    {"for nisa.memset", ones, function(b) nisa.memset(b, true) return b end},
    {"for nisa.memset by name", zeros, function(b) nisa.memset{dst = b, value = false} return b end},
    {"for nl.full", ones, function() return nl.full({2, 2}, true, nl.bool_) end},
    {"for an assignment", {{1.0, 1.0}, {0.0, 1.0}}, function(b) b[0] = true return b end},
    {"beside a bool_ tile", zeros, function(b) return nl.logical_and(b, false) end},
    {"before a bool_ tile", ones, function(b) return nl.logical_or(true, b) end},
    {"for nl.equal", other, function(b) return nl.equal(b, false) end},
    {"for nl.where", same, function(b) return nl.where(b, b, false) end},
    {"for an instruction that writes a bool_ tile", other, function(b)
      nisa.tensor_scalar{dst = b, data = b, op0 = nl.logical_xor, operand0 = true}
      return b
    end},
  }
  for _, case in ipairs(cases) do
    it(case[1], function() assert.same(case[2], made(case[3])) end)
  end

  it("nowhere else", function()
    local refused = {
      function(_, t) nisa.memset(t, true) end, function() nl.full({2, 2}, true, nl.float32) end,
      function(_, t) t[0] = true end, function(_, t) nl.add(t, true) end, function(b, t) nl.where(b, t, true) end,
      function(b, t) nisa.tensor_scalar{dst = t, data = b, op0 = nl.add, operand0 = true} end,
      function() nl.add(true, true) end,
    }
    for _, f in ipairs(refused) do raises("err_bind_kind", ", got true", function() made(f) end) end
  end)
end)
