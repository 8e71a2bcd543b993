-- nisa.memset
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function set(dtype, value)
  return function()
    local out = sb({2, 3}, dtype)
    nisa.memset(out, value)
    return out
  end
end

local numeric = {
  {"part of a tile; the rest stays", {nd.array {{1, 2, 3}, {4, 5, 6}}}, function(x)
    nisa.memset(x[{{}, {1, 2}}], 9)
    return x
  end, {{{1, 9, 3}, {4, 9, 6}}}},
  {"psum", {}, function()
    local out = ps {2, 3}
    nisa.memset(out, -0.5)
    return out
  end, {nd.full({2, 3}, -0.5)}},
}
for dtype, value in pairs {float32 = 0.1, bfloat16 = 0.1, float16 = -65504, float8_e5m2 = 1e9, int8 = -128,
  uint8 = 255, int16 = -32768,
                           uint16 = 65535, int32 = -2147483648, uint32 = 4294967295} do
  numeric[#numeric + 1] = {"a " .. dtype, {}, set(dtype, value), {nd.full({2, 3}, value, dtype)}}
end

return {
  accept = {
    {"steps of 32767 elements, and longer ones of one run", function()
      nisa.memset(sb({4, 2, 32767}, nl.uint8)[{{}, {}, {0, 10}}], 0)
      nisa.memset(sb({4, 2, 40000}, nl.uint8)["..., ::2"], 0)
    end},
    {"both engines", function()
      nisa.memset {dst = sb {4, 8}, value = 1.0, engine = nisa.engine.vector}
      nisa.memset {dst = sb {4, 8}, value = 1.0, engine = nisa.engine.gpsimd}
    end},
    {"infinity and NaN into floats", function()
      nisa.memset(sb {4, 8}, math.huge)
      nisa.memset(sb({4, 8}, nl.bfloat16), 0 / 0)
    end},
    {"0 into packed elements", target = "trn3", function() nisa.memset(sb({4, 8}, nl.float8_e4m3fn_x4), 0) end},
    {"a power of two into a scale", target = "trn3", function() nisa.memset(sb({4, 8}, nl.float8_e8m0fnu), 0.25) end},
    {"4.0 into integers", function() nisa.memset(sb({4, 8}, nl.int8), 4.0) end},
  },
  reject = {
    {"err_pattern_stride", "dst goes on in steps of 32768 elements; the engines address steps up to 32767",
     function() nisa.memset(sb({4, 2, 32768}, nl.uint8)[{{}, {}, {0, 10}}], 0) end},
    {"err_gpsimd_memory", "dst", rule = "gpsimd_reach",
     function() nisa.memset {dst = ps {4, 8}, value = 1.0, engine = nisa.engine.gpsimd} end},
    {"err_argument_value", "value is 0.5; int8 takes integers -128..127",
     function() nisa.memset(sb({4, 8}, nl.int8), 0.5) end},
    {"err_argument_value", "value is 256; uint8 takes integers 0..255",
     function() nisa.memset(sb({4, 8}, nl.uint8), 256) end},
    {"err_argument_value", "packed types take 0 only", target = "trn3",
     function() nisa.memset(sb({4, 8}, nl.float8_e4m3fn_x4), 1) end},
    {"err_argument_value", "a scale is a power of two", target = "trn3",
     function() nisa.memset(sb({4, 8}, nl.float8_e8m0fnu), 3) end},
    {"err_engine_set", "engine scalar is not one of",
     function() nisa.memset {dst = sb {4, 8}, value = 1, engine = nisa.engine.scalar} end},
    {"err_argument_missing", "value is required", function() nisa.memset {dst = sb {4, 8}} end},
    {"err_bind_kind", "value", function() nisa.memset(sb {4, 8}, "1") end},
  },
  numeric = numeric,
}
