-- nisa.iota
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function counted(shape, pattern, options)
  return function()
    local all = {dst = sb(shape, options and options.dtype or nl.int32), pattern = pattern}
    all.offset, all.channel_multiplier = options and options.offset, options and options.channel_multiplier
    nisa.iota(all)
    return all.dst
  end
end

local function refused(pattern, shape, options)
  return function()
    local all = {dst = sb(shape or {4, 8}, nl.int32), pattern = pattern}
    nisa.iota(case.with(all, options))
  end
end

return {
  accept = {
    {"every dtype", function()
      for _, dtype in ipairs {"int8", "uint16", "uint32", "float32", "bfloat16"} do
        nisa.iota(sb({4, 8}, dtype), {{1, 8}})
      end
    end},
    {"four levels", refused({{64, 1}, {16, 2}, {4, 2}, {1, 2}})},
  },
  reject = {
    {"err_instruction_invalid", "pattern has 5 [step, num] pairs; 1..4 are legal",
     refused({{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 8}})},
    {"err_instruction_invalid", "pattern pair 0 is [1, 0]; num is 1..65536", refused({{1, 0}})},
    {"err_shape_required", "with the pattern's 7 elements per partition", refused({{1, 7}})},
    {"err_instruction_invalid", "the pattern's values leave int32", refused({{1 << 30, 8}})},
    {"err_argument_range", "offset is 2147483648", refused({{1, 8}}, nil, {offset = 2147483648})},
    {"err_unsupported_memory", "dst must be in sbuf", function() nisa.iota(ps({4, 8}, nl.int32), {{1, 8}}) end},
  },
  numeric = {
    {"one level", {}, counted({2, 4}, {{3, 4}}, {offset = 5}), {nd.array({{5, 8, 11, 14}, {5, 8, 11, 14}}, "int32")}},
    {"a step per partition", {}, counted({3, 2}, {{1, 2}}, {channel_multiplier = -10}),
     {nd.array({{0, 1}, {-10, -9}, {-20, -19}}, "int32")}},
    {"two levels, the slowest first", {}, counted({1, 6}, {{100, 2}, {1, 3}}),
     {nd.array({{0, 1, 2, 100, 101, 102}}, "int32")}},
    {"four levels", {}, counted({1, 16}, {{1000, 2}, {100, 2}, {10, 2}, {1, 2}}),
     {nd.array({{0, 1, 10, 11, 100, 101, 110, 111, 1000, 1001, 1010, 1011, 1100, 1101, 1110, 1111}}, "int32")}},
    {"int32 exactly beyond 2^24", {}, counted({1, 2}, {{1, 2}}, {offset = 2147483646}),
     {nd.array({{2147483646, 2147483647}}, "int32")}},
    {"saturating in a narrow dtype", {}, counted({1, 4}, {{100, 4}}, {offset = -100, dtype = nl.int8}),
     {nd.array({{-100, 0, 100, 127}}, "int8")}},
  },
}
