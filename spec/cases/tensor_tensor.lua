-- nisa.tensor_tensor
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function binary(op, dtype, engine)
  return function(a, b)
    local out = sb(a.shape, dtype)
    nisa.tensor_tensor {dst = out, data1 = a, data2 = b, op = op, engine = engine}
    return out
  end
end

local numeric = {
  {"f32 results in the dtype of dst", {nd.array {{1.5, 2.5, -300, 200}}, nd.array {{1, 1, 1, 100}}},
   binary(nl.add, nl.int8),
   {nd.array({{2, 4, -128, 127}}, "int8")}},
  {"bf16 from f32, rounded once", {nd.array {{1, 256}}, nd.array {{2 ^ -8, 1}}}, binary(nl.add, nl.bfloat16),
   {nd.array({{1, 256}}, "bfloat16")}}, -- both are ties that go to even
  {"int32 on Vector through f32", {nd.array({{16777217}}, "int32"), nd.array({{0}}, "int32")},
   binary(nl.add, nl.int32, nisa.engine.vector), {nd.array({{16777216}}, "int32")}},
  {"int32 on GpSimd exactly, wrapping", {nd.array({{16777217, 2147483647}}, "int32"), nd.array({{2, 1}}, "int32")},
   binary(nl.add, nl.int32, nisa.engine.gpsimd), {nd.array({{16777219, -2147483648}}, "int32")}},
  {"int32 where no engine is named, exactly", {nd.array({{16777217}}, "int32"), nd.array({{1}}, "int32")},
   binary(nl.subtract, nl.int32), {nd.array({{16777216}}, "int32")}},
  {"comparisons as 1 and 0 of an int dtype", {nd.array {{-5, 2}}, nd.array {{-2, 2}}}, binary(nl.less, nl.int8),
   {nd.array({{1, 0}}, "int8")}},
  {"bits of integers", {nd.array({{0xF0F0, 0x8001}}, "uint16"), nd.array({{0xFF00, 15}}, "uint16")},
   binary(nl.bitwise_xor, nl.uint16), {nd.array({{0x0FF0, 0x800E}}, "uint16")}},
  {"shifts, by the width and more too", {nd.array({{1, 0x80, 0xFF, 3}}, "uint8"), nd.array({{7, 7, 8, 200}}, "uint8")},
   function(a, b)
     local l, r = sb(a.shape, nl.uint8), sb(a.shape, nl.uint8)
     nisa.tensor_tensor(l, a, b, nl.left_shift)
     nisa.tensor_tensor(r, a, b, nl.right_shift)
     return l, r
   end, {nd.array({{128, 0, 0, 0}}, "uint8"), nd.array({{0, 1, 0, 0}}, "uint8")}},
  {"power on GpSimd", {nd.array {{2, -2, 9, 0}}, nd.array {{10, 3, 0.5, 0}}}, binary(nl.power), {{{1024, -8, 3, 1}}}},
  {"elements by count, whatever the free shapes", {nd.array {{{1, 2}, {3, 4}}}, nd.array {{10, 20, 30, 40}}},
   function(a, b)
    local out = sb {1, 1, 4}
    nisa.tensor_tensor(out, a, b, nl.add)
    return out
  end, {{{{11, 22, 33, 44}}}}},
  {"in place, all reads before the writes", {nd.array {{1, 2, 3, 4}}}, function(a)
    nisa.tensor_tensor(a[{{}, {1, 4}}], a[{{}, {0, 3}}], a[{{}, {1, 4}}], nl.add)
    return a
  end, {{{1, 3, 5, 7}}}},
  {"the larger magnitude, on gen4", {nd.array {{-3, 2, -1, 0 / 0}}, nd.array {{2, -2, 1, 1}}}, binary(nl.abs_max),
   {{{-3, -2, 1, 0 / 0}}}, target = "trn3"},
}

-- Every operator on all pairs of edge values, as NumPy has them.
local alu = case.oracle("alu.npz", {20, 20})
for _, name in ipairs {"add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal", "greater",
  "greater_equal", "less",
                       "less_equal", "logical_and", "logical_or", "logical_xor"} do
  numeric[#numeric + 1] = {name .. " of edge values", {alu.a, alu.b}, binary(nl[name]), {alu[name]}}
  numeric[#numeric + 1] = {name .. " of edge values on GpSimd", {alu.a, alu.b},
    binary(nl[name], nil, nisa.engine.gpsimd), {alu[name]}}
end

return {
  accept = {
    {"one operand and the result in psum",
     function() nisa.tensor_tensor(ps {128, 8}, ps {128, 8}, sb {128, 8}, nl.add) end},
    {"every mix of dtypes", function() nisa.tensor_tensor(sb({4, 8}, nl.uint8), sb({4, 8}, nl.bfloat16),
     sb({4, 8}, nl.int32), nl.add) end},
    {"halves that start at different partitions", function()
      local t = sb {128, 8}
      nisa.tensor_tensor(t[{{0, 64}}], t[{{64, 128}}], t[{{0, 64}}], nl.add)
    end},
    {"labels", function() nisa.tensor_tensor {dst = sb {1, 1}, data1 = sb {1, 1}, data2 = sb {1, 1}, op = nl.add,
     name = "sum"} end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and data2 must have the same number of partitions", rule = "same_partitions",
     function() nisa.tensor_tensor(sb {128, 8}, sb {128, 8}, sb {64, 8}, nl.add) end},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data1 has 4", rule = "same_count",
     function() nisa.tensor_tensor(sb {128, 8}, sb {128, 4}, sb {128, 8}, nl.add) end},
    {"err_both_in_psum", "data1 and data2 may not both be in psum", rule = "one_in_psum",
     function() nisa.tensor_tensor(sb {128, 8}, ps {128, 8}, ps {128, 8}, nl.add) end},
    {"err_gpsimd_memory", "engine gpsimd reaches sbuf only, and data1", rule = "gpsimd_reach",
     function() nisa.tensor_tensor {dst = sb {4, 8}, data1 = ps {4, 8}, data2 = sb {4, 8}, op = nl.add,
       engine = nisa.engine.gpsimd} end},
    {"err_gpsimd_memory", "dst", rule = "gpsimd_reach",
     function() nisa.tensor_tensor(ps {4, 8}, sb {4, 8}, sb {4, 8}, nl.power) end},
    {"err_operator_engine", "engine vector cannot execute op power; gpsimd can", rule = "op_engine",
     function() nisa.tensor_tensor {dst = sb {4, 8}, data1 = sb {4, 8}, data2 = sb {4, 8}, op = nl.power,
       engine = nisa.engine.vector} end},
    {"err_operator_engine", "engine gpsimd cannot execute op bitwise_and", rule = "op_engine", function()
      local t = sb({4, 8}, nl.int32)
      nisa.tensor_tensor {dst = t, data1 = t, data2 = t, op = nl.bitwise_and, engine = nisa.engine.gpsimd}
    end},
    {"err_bitvec_dtype", "bitwise_or takes integer tiles of one width, and data1 is", rule = "bitvec_int",
     function() nisa.tensor_tensor(sb {4, 8}, sb {4, 8}, sb {4, 8}, nl.bitwise_or) end},
    {"err_bitvec_dtype", "data2 is", rule = "bitvec_int", function()
      nisa.tensor_tensor(sb({4, 8}, nl.int32), sb({4, 8}, nl.uint32), sb({4, 8}, nl.int16), nl.bitwise_or)
    end},
    {"err_operator_set", "op cannot be rsqrt",
     function() nisa.tensor_tensor(sb {4, 8}, sb {4, 8}, sb {4, 8}, nl.rsqrt) end},
    {"err_argument_generation", "abs_max needs gen4",
     function() nisa.tensor_tensor(sb {4, 8}, sb {4, 8}, sb {4, 8}, nl.abs_max) end},
    {"err_engine_set", "engine scalar is not one of", function()
      nisa.tensor_tensor {dst = sb {4, 8}, data1 = sb {4, 8}, data2 = sb {4, 8}, op = nl.add,
        engine = nisa.engine.scalar}
    end},
    {"err_unsupported_memory", "data1 must be in sbuf or psum, not",
     function() nisa.tensor_tensor(sb {4, 8}, hbm {4, 8}, sb {4, 8}, nl.add) end},
    {"err_start_partition", "dst starts at partition 16", function()
      nisa.tensor_tensor(sb {128, 8}[{{16, 48}}], sb {32, 8}, sb {32, 8}, nl.add)
    end},
    {"err_start_partition", "data1 starts at partition 32; 64 partitions may start at 0 or 64", function()
      nisa.tensor_tensor(sb {64, 8}, sb {128, 8}[{{32, 96}}], sb {64, 8}, nl.add)
    end},
    {"err_unsupported_dtype", "float8_e4m3fn_x4", target = "trn3", function()
      nisa.tensor_tensor(sb {4, 8}, sb({4, 8}, nl.float8_e4m3fn_x4), sb {4, 8}, nl.add)
    end},
  },
  numeric = numeric,
}
