-- nisa.tensor_copy
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function copied(dtype, engine)
  return function(x)
    local out = sb(x.shape, dtype)
    nisa.tensor_copy {dst = out, src = x, engine = engine}
    return out
  end
end

local numeric = {
  {"int32 bits exactly", {nd.array({{16777217, -2147483647}}, "int32")}, copied "int32",
   {nd.array({{16777217, -2147483647}}, "int32")}},
  {"another integer dtype through f32", {nd.array({{16777217, 300, -1}}, "int32")}, function(x)
    local wide, narrow = sb(x.shape, nl.uint32), sb(x.shape, nl.uint8)
    nisa.tensor_copy(wide, x)
    nisa.tensor_copy(narrow, x)
    return wide, narrow
  end, {nd.array({{16777216, 300, 0}}, "uint32"), nd.array({{255, 255, 0}}, "uint8")}},
  {"elements by count, whatever the free shapes", {nd.array {{{1, 2}, {3, 4}}}}, function(x)
    local out = sb {1, 4}
    nisa.tensor_copy(out, x)
    return out
  end, {{{1, 2, 3, 4}}}},
  {"between partitions that may start differently", {nd.arange(64):reshape {64, 1}}, function(x)
    local big, out = nl.zeros({128, 1}, nl.float32), sb {32, 1}
    nisa.tensor_copy(big[{{64, 128}}], x)
    nisa.tensor_copy(out, big[{{96, 128}}])
    return out
  end, {nd.arange(32, 64):reshape {32, 1}}},
  {"overlapping, all reads before the writes", {nd.array {{1, 2, 3, 4}}}, function(x)
    nisa.tensor_copy(x[{{}, {1, 4}}], x[{{}, {0, 3}}])
    return x
  end, {{{1, 1, 2, 3}}}},
}
-- Every conversion at its edges, as ml_dtypes and NumPy have them.
for _, dtype in ipairs {"bfloat16", "float16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn"} do
  local file = "spec/oracles/data/to_" .. dtype .. ".npz"
  local x = nd.load(file, "x")
  local n = x.size // 2 * 2
  local bytes = nd.load(file, "out"):bytes()
  local width = #bytes // x.size
  local function rows(a) return nd.from_bytes(a:bytes():sub(1, n * 4), {2, n // 2}, "float32") end
  numeric[#numeric + 1] = {"float32 as " .. dtype, {rows(x)}, copied(dtype),
    {nd.from_bytes(bytes:sub(1, n * width), {2, n // 2}, dtype)}}
end
for _, dtype in ipairs {"int8", "uint8", "int16", "uint16", "int32", "uint32"} do
  local oracle = case.oracle("to_" .. dtype .. ".npz", {1, 20})
  numeric[#numeric + 1] = {"float32 as " .. dtype, {oracle.x}, copied(dtype), {oracle.out}}
end

return {
  accept = {
    {"sbuf and psum in any combination", function()
      for _, dst in ipairs {sb {4, 8}, ps {4, 8}} do
        for _, src in ipairs {sb {4, 8}, ps {4, 8}} do
          nisa.tensor_copy(dst, src)
        end
      end
    end},
    {"each engine that can", target = "trn2", function()
      for _, name in ipairs {"vector", "scalar", "gpsimd"} do
        nisa.tensor_copy {dst = sb {4, 8}, src = sb {4, 8}, engine = nisa.engine[name]}
      end
    end},
    {"packed elements as they are", target = "trn3", function()
      nisa.tensor_copy(sb({4, 8}, nl.float4_e2m1fn_x4), sb({4, 8}, nl.float4_e2m1fn_x4))
    end},
    {"65536 elements per partition", function()
      nisa.tensor_copy(sb({4, 65536}, nl.int8), sb({4, 65536}, nl.int8))
    end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and src", rule = "same_partitions",
     function() nisa.tensor_copy(sb {4, 8}, sb {8, 8}) end},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and src has 9", rule = "same_count",
     function() nisa.tensor_copy(sb {4, 8}, sb {4, 9}) end},
    {"err_gpsimd_memory", "src", rule = "gpsimd_reach",
     function() nisa.tensor_copy {dst = sb {4, 8}, src = ps {4, 8}, engine = nisa.engine.gpsimd} end},
    {"err_dtype_mismatch", "dst and src must have the same dtype", target = "trn3",
     function() nisa.tensor_copy(sb {4, 8}, sb({4, 8}, nl.float4_e2m1fn_x4)) end},
    {"err_argument_generation", "engine scalar needs gen3",
     function() nisa.tensor_copy {dst = sb {4, 8}, src = sb {4, 8}, engine = nisa.engine.scalar} end},
    {"err_engine_set", "engine tensor is not one of",
     function() nisa.tensor_copy {dst = sb {4, 8}, src = sb {4, 8}, engine = nisa.engine.tensor} end},
    {"err_unsupported_memory", "src must be in sbuf or psum", function() nisa.tensor_copy(sb {4, 8}, hbm {4, 8}) end},
    {"err_size_of_dimension_exceed_arch_limit", "the limit is 65536", function()
      nisa.tensor_copy(sb({4, 65537}, nl.int8), sb({4, 65537}, nl.int8))
    end},
    {"err_pattern_dims", "dst needs 5 free dimensions", function()
      local t = sb {2, 4, 4, 4, 4, 4}
      local even = {0, 4, 2}
      nisa.tensor_copy(t[{{}, even, even, even, even, even}], sb {2, 32})
    end},
  },
  numeric = numeric,
}
