-- nisa.dropout
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local gen = require "spec.support.generators"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.dropout, function() return {dst = sb {4, 8}, data = sb {4, 8}, prob = 0.5} end)

local function dropped(x, prob)
  local out = sb(x.shape, x.dtype)
  nisa.dropout(out, x, prob)
  return out
end

local function in_place(a, prob)
  nisa.dropout(a, a, prob)
  return a
end

local x = gen.rows(2, function(p) return gen.rows(40, function(i) return 1 + 100 * p + i end) end)
local function want(prob, gen4)
  return gen.rows(2, function(p)
    local words = gen.vector(0, gen4)(p, 40)
    return gen.map(x[p + 1], function(v, i) return gen.unit(words[i]) >= prob[p + 1] and v or 0 end)
  end)
end

return {
  accept = {
    {"integers with a float32 column",
     refused(function() return {dst = sb({4, 8}, nl.int8), data = ps({4, 8}, nl.int8), prob = sb {4, 1}} end)},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and prob", rule = "same_partitions",
     refused(function() return {prob = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data has 4", rule = "same_count",
     refused(function() return {data = sb {4, 4}} end)},
    {"err_dtype_mismatch", "dst and data", rule = "same_dtype",
     refused(function() return {data = sb({4, 8}, nl.bfloat16)} end)},
    {"err_argument_range", "prob is 1.5; legal is 0..1", refused(function() return {prob = 1.5} end)},
    {"err_unsupported_dtype", "float32 for integer data", refused(function()
      return {dst = sb({4, 8}, nl.int8), data = sb({4, 8}, nl.int8), prob = sb({4, 1}, nl.bfloat16)}
    end)},
  },
  numeric = {
    {"nothing, everything", {nd.array(x)}, function(a) return dropped(a, 0.0), dropped(a, 1.0) end,
     {nd.array(x), nd.zeros({2, 40}, "float32")}},
    {"some elements, unscaled", {nd.array(x)}, last = "trn2", function(a) return dropped(a, 0.25) end,
     {nd.array(want {0.25, 0.25})}},
    {"some elements, unscaled (gen4)", {nd.array(x)}, target = "trn3", function(a) return dropped(a, 0.25) end,
     {nd.array(want({0.25, 0.25}, true))}},
    {"a probability per partition, integers, in place", {nd.array(x, "int16"), nd.array {{0.75}, {0.5}}},
     last = "trn2", in_place, {nd.array(want {0.75, 0.5}, "int16")}},
    {"the same on gen4", {nd.array(x, "int16"), nd.array {{0.75}, {0.5}}}, target = "trn3", in_place,
     {nd.array(want({0.75, 0.5}, true), "int16")}},
  },
}
