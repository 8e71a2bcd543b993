-- nisa.rng
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local gen = require "spec.support.generators"
local sb, ps = case.sbuf, case.psum

local numeric = {}

-- The three cases of the Vector engine's generator before gen4 and from gen4 on.
local function of_generator(gen4)
  local function words(p, n) return gen.vector(0, gen4)(p, n) end
  local function add(name, f, want)
    numeric[#numeric + 1] = {name .. (gen4 and " (gen4)" or ""), {}, f, want, target = gen4 and "trn3" or nil,
      last = not gen4 and "trn2" or nil}
  end
  local low = gen.rows(2, function(p) return gen.map(words(p, 4), function(word) return word & 0xFFFF end) end)
  add("the numbers after seed 0, and then the next ones", function()
    local a, b = sb({2, 4}, nl.uint32), sb({2, 4}, nl.uint32)
    nisa.rng(a)
    nisa.rng(b)
    return a, b
  end, {nd.array(gen.rows(2, function(p) return words(p, 4) end), "uint32"),
    nd.array(gen.rows(2, function(p) return {table.unpack(words(p, 8), 5)} end), "uint32")})
  add("the low bits", function()
    local a = sb({2, 4}, nl.uint16)
    nisa.rng(a)
    return a
  end, {nd.array(low, "uint16")})
  add("lanes are partitions of the chip", function()
    local a = sb({64, 4}, nl.uint32)
    nisa.memset(a, 0)
    nisa.rng(a[{{32, 34}}])
    return a[{{32, 34}}]
  end, {nd.array(gen.rows(2, function(p) return words(32 + p, 4) end), "uint32")})
end
of_generator(false)
of_generator(true)

return {
  accept = {
    {"psum", function() nisa.rng(ps({4, 8}, nl.uint32)) end},
    {"engine gpsimd on gen3", target = "trn2", function() nisa.rng(sb({4, 8}, nl.int16), nisa.engine.gpsimd) end},
  },
  reject = {
    {"err_gpsimd_memory", "engine gpsimd reaches sbuf only", rule = "gpsimd_reach", target = "trn2",
     function() nisa.rng(ps({4, 8}, nl.uint32), nisa.engine.gpsimd) end},
    {"err_argument_generation", "engine gpsimd needs gen3",
     function() nisa.rng(sb({4, 8}, nl.uint32), nisa.engine.gpsimd) end},
    {"err_unsupported_dtype", "dst is", function() nisa.rng(sb {4, 8}) end},
    {"err_engine_set", "engine scalar is not one of",
     function() nisa.rng(sb({4, 8}, nl.uint32), nisa.engine.scalar) end},
  },
  numeric = numeric,
}
