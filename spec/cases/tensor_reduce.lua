-- nisa.tensor_reduce
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function reduced(shape, op, axis, options)
  return function(t)
    local all = {dst = sb(shape, options and options.dtype), op = op, data = t, axis = axis}
    all.negate, all.keepdims = options and options.negate, options and options.keepdims
    nisa.tensor_reduce(all)
    return all.dst
  end
end

-- Sums as 32 partial results folded in halves (16, 8, 4, 2, 1), element by element in float32.
local function f32(v) return (string.unpack("<f", string.pack("<f", v))) end
local function sum(list)
  local lane = {}
  for i = 1, 32 do lane[i] = 0.0 end
  for i, v in ipairs(list) do lane[(i - 1) % 32 + 1] = f32(lane[(i - 1) % 32 + 1] + v) end
  for _, half in ipairs {16, 8, 4, 2, 1} do
    for i = 1, half do lane[i] = f32(lane[i] + lane[i + half]) end
  end
  return lane[1]
end

-- Of 300 results of n elements each: the sums, largest and smallest elements.
local function few(n)
  local data = nd.random.normal({2, 300, n}, {seed = n, dtype = nl.float32})
  local sums, high, low = {}, {}, {}
  for p, rows in ipairs(data:totable()) do
    sums[p], high[p], low[p] = {}, {}, {}
    for k, row in ipairs(rows) do
      sums[p][k], high[p][k], low[p][k] = sum(row), math.max(table.unpack(row)), math.min(table.unpack(row))
    end
  end
  return {("%d elements for each of 300 results"):format(n), {data}, function(t)
    local outs = {}
    for i, op in ipairs {nl.add, nl.maximum, nl.minimum} do
      outs[i] = sb {2, 300}
      nisa.tensor_reduce(outs[i], op, t, 2)
    end
    return table.unpack(outs)
  end, {sums, high, low}}
end

local nan, inf = 0 / 0, 1 / 0
local odd = nd.array {{{1, nan, 2}, {inf, 1, -inf}, {inf, 1, 2}, {-0.0, -0.0, -0.0}, {1e8, 1, -1e8}, {4, 2, 2},
  {nan, nan, nan}, {0, 0, -0.0}}}
local x = nd.array {{{1, 2}, {3, 4}, {5, 6}}, {{-7, 8}, {9, -10}, {11, 12}}}
local bytes = nd.array({{0xFF, 0x0F, 0x3C}, {1, 2, 4}}, "uint8")
return {
  accept = {
    {"psum to psum", function() nisa.tensor_reduce(ps {4, 1}, nl.add, ps {4, 8}, 1) end},
    {"a list of trailing axes in any order",
     function() nisa.tensor_reduce(sb {4, 1}, nl.add, sb {4, 2, 8}, {2, 1}) end},
    {"negative axes", function() nisa.tensor_reduce(sb {4, 2}, nl.add, sb {4, 2, 8}, -1) end},
    {"keepdims", function() nisa.tensor_reduce {dst = sb {4, 2, 1}, op = nl.add, data = sb {4, 2, 8}, axis = 2,
     keepdims = true} end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and data", rule = "same_partitions",
     function() nisa.tensor_reduce(sb {8, 1}, nl.add, sb {4, 8}, 1) end},
    {"err_reduce_axes", "legal are [2], [1,2]", rule = "reduce_axes",
     function() nisa.tensor_reduce(sb {4, 8}, nl.add, sb {4, 2, 8}, 1) end},
    {"err_reduce_axes", "[0]", rule = "reduce_axes",
     function() nisa.tensor_reduce(sb {4, 8}, nl.add, sb {4, 2, 8}, 0) end},
    {"err_reduce_axes", "[3]", rule = "reduce_axes",
     function() nisa.tensor_reduce(sb {4, 8}, nl.add, sb {4, 2, 8}, 3) end},
    {"err_bitvec_dtype", "bitwise operator bitwise_and", rule = "bitvec_int",
     function() nisa.tensor_reduce(sb {4, 1}, nl.bitwise_and, sb {4, 8}, 1) end},
    {"err_shape_required", "dst must have shape [4,2]",
     function() nisa.tensor_reduce(sb {4, 8}, nl.add, sb {4, 2, 8}, 2) end},
    {"err_argument_value", "a bitwise result is not negated", function()
      local t = sb({4, 8}, nl.int32)
      nisa.tensor_reduce {dst = t[{{}, {0, 1}}], op = nl.bitwise_and, data = t, axis = 1, negate = true}
    end},
    {"err_operator_set", "op cannot be power", function() nisa.tensor_reduce(sb {4, 1}, nl.power, sb {4, 8}, 1) end},
    {"err_argument_range", "axis is 8; legal is -7..7",
     function() nisa.tensor_reduce(sb {4, 1}, nl.add, sb {4, 8}, 8) end},
    {"err_unsupported_memory", "data", function() nisa.tensor_reduce(sb {4, 1}, nl.add, hbm {4, 8}, 1) end},
  },
  numeric = {
    {"the last axis", {x}, reduced({2, 3}, nl.add, 2), {{{3, 7, 11}, {1, -1, 23}}}},
    {"all free axes", {x}, reduced({2, 1}, nl.add, {1, 2}), {{{21}, {23}}}},
    {"products", {x}, reduced({2, 3}, nl.multiply, -1), {{{2, 12, 30}, {-56, -90, 132}}}},
    {"maxima and minima", {x}, function(t)
      local high, low = sb {2, 1}, sb {2, 1}
      nisa.tensor_reduce(high, nl.maximum, t, {1, 2})
      nisa.tensor_reduce(low, nl.minimum, t, {1, 2})
      return high, low
    end, {{{6}, {12}}, {{1}, {-10}}}},
    {"NaN in maxima, wherever it stands", {nd.array {{0 / 0, 1, 2}, {1, 0 / 0, 2}, {1, 2, 0 / 0}}},
     reduced({3, 1}, nl.maximum, 1),
     {{{0 / 0}, {0 / 0}, {0 / 0}}}},
    few(1), few(2), few(3), few(5), few(8), few(13), few(16), few(17), few(33),
    {"NaN, infinities and zeros among few elements", {odd}, function(t)
      local total, high, product = sb {1, 8}, sb {1, 8}, sb {1, 8}
      nisa.tensor_reduce {dst = total, op = nl.add, data = t, axis = 2, negate = true}
      nisa.tensor_reduce(high, nl.maximum, t, 2)
      nisa.tensor_reduce(product, nl.multiply, t, 2)
      nisa.reciprocal(total, total) -- tells -0 from 0
      return total, high, product
    end, {{{nan, nan, 0, -inf, -1, -0.125, nan, -inf}}, {{nan, inf, inf, 0, 1e8, 4, nan, 0}},
          {{nan, -inf, inf, 0, -1e16, 16, nan, 0}}}},
    {"negated", {x}, reduced({2, 1}, nl.maximum, {1, 2}, {negate = true}), {{{-6}, {-12}}}},
    {"in f32, rounded once", {nd.array({{256, 1, 1, 1}}, "bfloat16")},
     reduced({1, 1}, nl.add, 1, {dtype = nl.bfloat16}),
     {nd.array({{260}}, "bfloat16")}}, -- 259 is a tie between 258 and 260
    {"logic", {nd.array {{1, 2, 0}, {1, -1, 0.5}}}, function(t)
      local all, any = sb({2, 1}, nl.uint8), sb({2, 1}, nl.uint8)
      nisa.tensor_reduce(all, nl.logical_and, t, 1)
      nisa.tensor_reduce(any, nl.logical_or, t, 1)
      return all, any
    end, {nd.array({{0}, {1}}, "uint8"), nd.array({{1}, {1}}, "uint8")}},
    {"bits", {bytes}, function(t)
      local all, any = sb({2, 1}, nl.uint8), sb({2, 1}, nl.uint8)
      nisa.tensor_reduce(all, nl.bitwise_and, t, 1)
      nisa.tensor_reduce(any, nl.bitwise_or, t, 1)
      return all, any
    end, {nd.array({{0x0C}, {0}}, "uint8"), nd.array({{0xFF}, {7}}, "uint8")}},
    {"one view of a larger tile", {x}, function(t)
      local out = sb {2, 1}
      nisa.tensor_reduce(out, nl.add, t[{{}, {1, 3}, {0, 1}}]:flatten_dims(1, 2), 1)
      return out
    end, {{{8}, {20}}}},
  },
}
