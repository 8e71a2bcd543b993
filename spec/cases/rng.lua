-- nisa.rng
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local gen = require "spec.support.generators"
local sb, ps = case.sbuf, case.psum

local first = gen.rows(2, function(p) return gen.vector(0)(p, 4) end)
local function low(bits)
  return gen.map(first, function(row) return gen.map(row, function(word) return word & ((1 << bits) - 1) end) end)
end

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
  numeric = {
    {"the numbers after seed 0, and then the next ones", {}, function()
      local a, b = sb({2, 4}, nl.uint32), sb({2, 4}, nl.uint32)
      nisa.rng(a)
      nisa.rng(b)
      return a, b
    end, {nd.array(first, "uint32"),
      nd.array(gen.rows(2, function(p) return {table.unpack(gen.vector(0)(p, 8), 5)} end), "uint32")}},
    {"the low bits", {}, function()
      local a = sb({2, 4}, nl.uint16)
      nisa.rng(a)
      return a
    end, {nd.array(low(16), "uint16")}},
    {"lanes are partitions of the chip", {}, function()
      local a = sb({64, 4}, nl.uint32)
      nisa.memset(a, 0)
      nisa.rng(a[{{32, 34}}])
      return a[{{32, 34}}]
    end, {nd.array(gen.rows(2, function(p) return gen.vector(0)(32 + p, 4) end), "uint32")}},
  },
}
