-- nisa.rand2
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local gen = require "spec.support.generators"
local sb, ps = case.sbuf, case.psum

local words = gen.rows(2, function(p) return gen.vector(0, true)(p, 6) end)
local function want(f)
  return gen.map(words, function(row, p) return gen.map(row, function(word) return f(gen.unit(word), p) end) end)
end

return {
  accept = {{"8-bit floats and integers in psum", target = "trn3", function()
    nisa.rand2(ps({4, 8}, nl.float8_e4m3), 0.0, 1.0)
    nisa.rand2(ps({4, 8}, nl.int32), ps {4, 1}, 10.0)
  end}},
  reject = {
    {"err_op_generation", "needs gen4", target = "trn2", function() nisa.rand2(sb {4, 8}, 0.0, 1.0) end},
    {"err_num_partition_mismatch", "dst and max", rule = "same_partitions", target = "trn3",
     function() nisa.rand2(sb {4, 8}, 0.0, sb {8, 1}) end},
    {"err_unsupported_dtype", "min is", target = "trn3",
     function() nisa.rand2(sb {4, 8}, sb({4, 1}, nl.bfloat16), 1.0) end},
  },
  numeric = {
    {"multiples of 2^-24", target = "trn3", {}, function()
      local a = sb {2, 6}
      nisa.rand2(a, 0.0, 1.0)
      return a
    end, {want(function(u) return u end)}},
    {"a range per partition", target = "trn3", {nd.array {{-1}, {0}}, nd.array {{1}, {4}}}, function(lo, hi)
      local a = sb {2, 6}
      nisa.rand2(a, lo, hi)
      return a
    end, {want(function(u, p) return p == 1 and 2 * u - 1 or 4 * u end)}},
  },
}
