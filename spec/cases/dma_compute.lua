-- nisa.dma_compute
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function rows(n) return nl.ndarray({n, 1}, nl.int32) end
local refused = case.calls(nisa.dma_compute, function()
  return {dst = sb {4, 8}, srcs = {hbm {4, 8}, sb {4, 8}}, reduce_op = nl.add}
end)

-- table[index] += add, in a copy of table; returns it.
local function scattered(options)
  return function(table_, index, add)
    local out = nl.ndarray(table_.shape, table_.dtype, {buffer = nl.shared_hbm})
    nisa.dma_copy(out, table_)
    local picked = out:vector_select(0, nl.load(index))
    nisa.dma_compute {dst = picked, srcs = options.swap and {nl.load(add), picked} or {picked, nl.load(add)},
      reduce_op = nl.add,
                      oob_mode = options.oob_mode}
    return out
  end
end

-- tile + table[index]
local function gathered(options)
  return function(table_, index, add)
    local tile = nl.load(add)
    nisa.dma_compute {dst = tile, srcs = {table_:vector_select(0, nl.load(index)), tile}, reduce_op = nl.add,
      oob_mode = options.oob_mode}
    return tile
  end
end

local x = nd.array {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
local index = nd.array({{2}, {0}}, "int32")
local add = nd.array {{10, 20, 30}, {-1, -2, -3}}
local far = nd.array({{2}, {3}}, "int32")
local skip = nisa.oob_mode.skip
return {
  accept = {
    {"sixteen sources", refused(function()
      local list = {}
      for i = 1, 16 do
        list[i] = hbm {4, 8}
      end
      return {srcs = list, dst = hbm {2, 16}, scales = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}
    end)},
    {"picked rows",
     refused(function() return {srcs = {hbm {9, 8}:vector_select(0, rows(4)), sb {4, 8}}, oob_mode = skip} end)},
  },
  reject = {
    {"err_num_elements_mismatch", "dst has 32 elements and srcs has 16",
     refused(function() return {srcs = {hbm {4, 8}, hbm {4, 4}}} end)},
    {"err_instruction_invalid", "srcs has 17 tensors; 1 to 16 are legal", refused(function()
      local list = {}
      for i = 1, 17 do
        list[i] = hbm {4, 8}
      end
      return {srcs = list}
    end)},
    {"err_instruction_invalid", "scales[1] is 2; every number must be 1",
     refused(function() return {scales = {1, 2}} end)},
    {"err_instruction_invalid", "scales has 1 numbers and srcs 2 tensors; there is one for each",
     refused(function() return {scales = {1}} end)},
    {"err_operator_set", "reduce_op cannot be maximum", refused(function() return {reduce_op = nl.maximum} end)},
    {"err_unsupported_memory", "dst must be in sbuf", refused(function() return {dst = ps {4, 8}} end)},
    {"err_argument_value", "oob_mode is skip; it needs a src with a vector offset",
     refused(function() return {oob_mode = skip} end)},
    {"err_instruction_invalid", "with a vector offset there are exactly two srcs", refused(function()
      return {srcs = {hbm {9, 8}:vector_select(0, rows(4))}}
    end)},
    {"err_instruction_invalid", "only one of srcs may have a vector offset", refused(function()
      return {srcs = {hbm {9, 8}:vector_select(0, rows(4)), hbm {9, 8}:vector_select(0, rows(4))}}
    end)},
    {"err_argument_value", "unique_indices is false", refused(function()
      return {srcs = {hbm {9, 8}:vector_select(0, rows(4)), sb {4, 8}}, unique_indices = false}
    end)},
    {"err_shape_required", "dst must have shape one partition in sbuf per picked row", refused(function()
      return {srcs = {hbm {9, 8}:vector_select(0, rows(4)), sb {4, 8}}, dst = sb {8, 4}}
    end)},
    {"err_shape_required", "the src without an offset must have shape one partition in sbuf", refused(function()
      return {srcs = {hbm {9, 8}:vector_select(0, rows(4)), hbm {4, 8}}}
    end)},
    {"err_instruction_invalid", "dst with a vector offset must be the same view", refused(function()
      local t = hbm {9, 8}
      return {dst = t:vector_select(0, rows(4)), srcs = {t:vector_select(0, rows(4)), sb {4, 8}}}
    end)},
    {"err_instruction_invalid", "dst has a vector offset and none of srcs has one", refused(function()
      return {dst = hbm {9, 8}:vector_select(0, rows(4))}
    end)},
  },
  numeric = {
    {"a sum of three, one of them twice, in f32, in place", hbm = true,
     {x, nd.array({{100, 200, 300, 400, 500, 600, 700, 800, 900}}, "int16")}, function(a, b)
      local out = nl.ndarray({3, 3}, nl.float32, {buffer = nl.shared_hbm})
      nisa.dma_copy(out, a)
      nisa.dma_compute(out, {out, b, out}, nl.add, {1, 1, 1})
      return out
    end, {{{102, 204, 306}, {408, 510, 612}, {714, 816, 918}}}},
    {"one rounding, at the end", hbm = true, {nd.array({{256}}, "bfloat16")}, function(a)
      local one, out = nl.ones({1, 1}, nl.bfloat16), nl.ndarray({1, 1}, nl.bfloat16, {buffer = nl.shared_hbm})
      nisa.dma_compute(out, {a, one, one}, nl.add)
      return out
    end, {nd.array({{258}}, "bfloat16")}},
    {"added to picked rows", hbm = true, {x, index, add}, scattered {}, {{{0, 0, 0}, {4, 5, 6}, {17, 28, 39}}}},
    {"the same the other way round", hbm = true, {x, index, add}, scattered {swap = true},
     {{{0, 0, 0}, {4, 5, 6}, {17, 28, 39}}}},
    {"a row that does not exist is left out", hbm = true, {x, far, add}, scattered {oob_mode = skip},
     {{{1, 2, 3}, {4, 5, 6}, {17, 28, 39}}}},
    {"picked rows added to a tile", hbm = true, {x, index, add}, gathered {}, {{{17, 28, 39}, {0, 0, 0}}}},
    {"the tile keeps the row whose partner does not exist", hbm = true, {x, far, add}, gathered {oob_mode = skip},
     {{{17, 28, 39}, {-1, -2, -3}}}},
  },
}
