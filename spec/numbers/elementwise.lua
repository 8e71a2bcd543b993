-- Moves, products, element-wise instructions and reductions for every combination of dtypes (spec/support/numbers.lua).
local nl, nisa = require "nki.language", require "nki.isa"

local R = {}
local PLAIN = {{"dst"}}
local F32 = {"float32"}
local column = {8, 1}

-- The words of a variant.
local function words(v)
  local list = {}
  for w in v:gmatch "%S+" do
    list[#list + 1] = w
    list[w] = true
  end
  return list
end

local function each(list, suffix, into)
  for name in list:gmatch "%S+" do
    into[#into + 1] = name .. suffix
  end
  return into
end

local VECTOR2 = "add subtract multiply maximum minimum equal not_equal greater_equal greater less_equal less " ..
                "logical_and logical_or logical_xor"
local BITS2 = "bitwise_and bitwise_or bitwise_xor left_shift right_shift"

R.dma_copy = {sources = {{"src", "a"}}, outs = PLAIN, variants = {"plain"},
              f = function(_, s, d) nisa.dma_copy(d[1], s[1]) end}
R.dma_transpose = {sources = {{"src", "a"}}, outs = {{"dst", {64, 8}}}, variants = {"plain"},
                   f = function(_, s, d) nisa.dma_transpose(d[1], s[1]) end}
R.dma_compute = {sources = {{"srcs", "a"}, {"srcs", "b"}}, outs = PLAIN, variants = {"two"},
                 f = function(_, s, d) nisa.dma_compute(d[1], {s[1], s[2]}, nl.add) end}
R.tensor_copy = {sources = {{"src", "a"}}, outs = PLAIN, variants = {"vector", "gpsimd", "scalar"},
                 f = function(v, s, d) nisa.tensor_copy(d[1], s[1], {engine = nisa.engine[v]}) end}
R.memset = {
  sources = {}, outs = PLAIN,
  variants = each("0.0 1.0 -1.0 0.5 2.0 300.0 65504.0 -448.0 1e30 1e-41 inf -inf nan 16777217.0 4294967295.0 " ..
                  "-2147483648.0", "", {}),
  f = function(v, _, d)
    local special = {inf = math.huge, ["-inf"] = -math.huge, nan = -(0.0 / 0.0)}
    nisa.memset(d[1], special[v] or tonumber(v))
  end,
}
R.tensor_copy_predicated = {
  sources = {{"src", "a"}, {"predicate", "b"}}, outs = PLAIN,
  variants = {"tile", "tile reverse", "number", "number reverse"},
  f = function(v, s, d)
    nisa.memset(d[1], 1)
    nisa.tensor_copy_predicated {dst = d[1], src = words(v).tile and s[1] or 2.5, predicate = s[2],
                                 reverse_pred = words(v).reverse ~= nil}
  end,
}

R.nc_matmul = {
  sources = function(v) return {{"stationary", "m"}, {"moving", v == "turned" and "id" or "n"}} end,
  outs = {{"dst", psum = true, shape = function(v)
    return v == "double_row" and {8, 16} or v == "turned" and {16, 8} or {16, 32}
  end}},
  variants = {"plain", "added", "double_row", "turned"},
  f = function(v, s, d)
    if v == "double_row" then
      nisa.nc_matmul {dst = d[1], stationary = s[1]:reshape {8, 2, 8}, moving = s[2]:reshape {8, 2, 16},
                      perf_mode = nisa.matmul_perf_mode.double_row}
    elseif v == "turned" then
      nisa.nc_matmul {dst = d[1], stationary = s[1], moving = s[2], is_transpose = true}
    else
      nisa.nc_matmul {dst = d[1], stationary = s[1], moving = s[2], accumulate = false}
      if v == "added" then
        nisa.nc_matmul {dst = d[1], stationary = s[1], moving = s[2], accumulate = true}
      end
    end
  end,
}
R.nc_matmul_mx = {
  sources = {{"stationary", "x"}, {"moving", "y"}, {"stationary_scale", "xs"}, {"moving_scale", "ys"}},
  outs = {{"dst", {8, 16}, psum = true}}, variants = {"plain"},
  f = function(_, s, d)
    nisa.nc_matmul_mx {dst = d[1], stationary = s[1], moving = s[2], stationary_scale = s[3], moving_scale = s[4]}
  end,
}
R.nc_transpose = {
  sources = {{"data", "m"}}, outs = {{"dst", {16, 8}, psum = function(v) return v == "tensor" end}},
  variants = {"vector", "tensor"},
  f = function(v, s, d) nisa.nc_transpose(d[1], s[1], {engine = nisa.engine[v]}) end,
}

R.tensor_tensor = {
  sources = {{"data1", "a"}, {"data2", "b"}}, outs = PLAIN,
  variants = each("add", " unknown", each(VECTOR2, " gpsimd", each(VECTOR2 .. " abs_max abs_min " .. BITS2, " vector",
                                                                   {}))),
  f = function(v, s, d)
    local op, engine = table.unpack(words(v))
    nisa.tensor_tensor {dst = d[1], data1 = s[1], data2 = s[2], op = nl[op], engine = nisa.engine[engine]}
  end,
}

local function scalar_variants()
  local all = VECTOR2 .. " abs_max abs_min"
  local list = each(all, " reverse", each(all, " column", {}))
  each("reciprocal abs logical_not square relu rsqrt", " one", list)
  each(BITS2 .. " invert", " bits", list)
  for _, v in ipairs {"left_shift reverse_bits", "subtract any", "multiply any", "multiply scalar", "add scalar",
                      "subtract number", "multiply_add two", "subtract_multiply two_reverse",
                      "bitwise_and_left_shift two_bits"} do
    list[#list + 1] = v
  end
  return list
end
local TWO = {two = {nl.multiply, nl.add, -0.7}, two_reverse = {nl.subtract, nl.multiply, 3.0},
             two_bits = {nl.bitwise_and, nl.left_shift, 3}}
R.tensor_scalar = {
  sources = function(v)
    local kind = words(v)[2]
    local any = kind == "any" or kind:find "bits"
    return {{"data", "a"}, {"operand0", "c", dtypes = not any and F32 or nil}}
  end,
  outs = PLAIN, variants = scalar_variants(), also = "operand1",
  f = function(v, s, d)
    local op, kind = table.unpack(words(v))
    local two = TWO[kind]
    local one = kind == "one" or op == "invert"
    nisa.tensor_scalar {dst = d[1], data = s[1], op0 = two and two[1] or nl[op],
                        operand0 = not one and (kind == "number" and 0.3 or s[2]) or nil,
                        reverse0 = kind:find "reverse" ~= nil, op1 = two and two[2], operand1 = two and two[3],
                        engine = kind == "scalar" and nisa.engine.scalar or nil}
  end,
}
R.scalar_tensor_tensor = {
  sources = function(v)
    local any = v == "subtract multiply"
    return {{"data", "a"}, {"operand0", "c", dtypes = not any and F32 or nil},
            {"operand1", "b", dtypes = not any and {"bfloat16"} or nil}}
  end,
  outs = PLAIN,
  variants = {"subtract multiply", "multiply add", "subtract subtract reverse", "maximum minimum", "less logical_and"},
  f = function(v, s, d)
    local w = words(v)
    nisa.scalar_tensor_tensor {dst = d[1], data = s[1], op0 = nl[w[1]], operand0 = s[2], op1 = nl[w[2]],
                               operand1 = s[3], reverse0 = w.reverse ~= nil, reverse1 = w.reverse ~= nil}
  end,
}
R.reciprocal = {sources = {{"data", "a"}}, outs = PLAIN, variants = {"plain"},
                f = function(_, s, d) nisa.reciprocal(d[1], s[1]) end}
R.quantize_mx = {
  sources = {{"src", "q"}}, outs = {{"dst", {32, 4}}, {"dst_scale", {4, 4}}}, variants = {"plain"},
  f = function(_, s, d) nisa.quantize_mx {dst = d[1], src = s[1], dst_scale = d[2]} end,
}

local RANGED = {sqrt = true, rsqrt = true, reciprocal = true}
local function act_sources(v)
  local w = words(v)
  return {{"data", RANGED[w[1]] and "s" or "a"}, w.bias and {"bias", "c"} or nil}
end
R.activation = {
  also = "scale reduce_res",
  sources = act_sources, outs = PLAIN,
  variants = {"copy", "square", "relu", "abs", "sign", "sqrt", "rsqrt", "reciprocal", "copy bias", "relu bias scale"},
  f = function(v, s, d)
    local w = words(v)
    nisa.activation {dst = d[1], op = nl[w[1]], data = s[1], bias = s[2], scale = w.scale and 1.7 or nil}
  end,
}
R.activation_reduce = {
  also = "scale",
  sources = act_sources, outs = {{"dst"}, {"reduce_res", column}}, variants = {"copy", "square", "copy bias"},
  f = function(v, s, d)
    nisa.activation_reduce {dst = d[1], op = nl[words(v)[1]], data = s[1], reduce_op = nl.add, reduce_res = d[2],
                            bias = s[2]}
  end,
}
R.activate2 = {
  also = "relu_param", sources = {{"data", "a"}, {"imm0", "c"}, {"imm1", "p"}},
  outs = {{"dst"}, {"reduce_res", column}},
  variants = {"copy multiply add add", "prelu multiply subtract maximum", "relu subtract bypass minimum reverse0",
              "abs multiply add abs_max", "copy add bypass abs_min"},
  f = function(v, s, d)
    local w = words(v)
    nisa.activate2 {dst = d[1], op = nl[w[1]], data = s[1], imm0 = s[2], imm1 = w.bypass and 0.0 or s[3],
                    op0 = nl[w[2]], op1 = nl[w[3]], reverse0 = w.reverse0 ~= nil, reduce_op = nl[w[4]],
                    relu_param = w.prelu and 0.25 or nil, reduce_res = d[2], reduce_cmd = nisa.reduce_cmd.reset_reduce}
  end,
}

R.tensor_reduce = {
  sources = {{"data", "a"}},
  outs = {{"dst", shape = function(v) return words(v).inner and {8, 8} or column end}},
  variants = {"add", "subtract", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor",
              "bitwise_and", "bitwise_or", "bitwise_xor", "add negate", "maximum inner"},
  f = function(v, s, d)
    local w = words(v)
    nisa.tensor_reduce {dst = d[1], op = nl[w[1]], data = w.inner and s[1]:reshape {8, 8, 8} or s[1],
                        axis = w.inner and 2 or 1, negate = w.negate ~= nil}
  end,
}
R.tensor_partition_reduce = {
  sources = {{"data", "a"}}, outs = {{"dst", {1, 64}}},
  variants = {"add", "maximum", "average", "bitwise_or", "bitwise_and"},
  f = function(v, s, d) nisa.tensor_partition_reduce(d[1], nl[v] or nl.average, s[1]) end,
}
R.tensor_tensor_scan = {
  sources = function(v)
    local one = v ~= "multiply add" and F32 or nil
    return {{"data0", "a"}, {"data1", "b", dtypes = one}, {"initial", "c", dtypes = one}}
  end,
  outs = PLAIN, variants = {"multiply add", "subtract maximum", "add subtract reverse", "logical_xor minimum"},
  f = function(v, s, d)
    local w = words(v)
    nisa.tensor_tensor_scan {dst = d[1], data0 = s[1], data1 = s[2], initial = s[3], op0 = nl[w[1]], op1 = nl[w[2]],
                             reverse0 = w.reverse ~= nil, reverse1 = w.reverse ~= nil}
  end,
}
R.tensor_scalar_reduce = {
  also = "reduce_init", sources = {{"data", "a"}, {"operand0", "c"}}, outs = {{"dst"}, {"reduce_res", column}},
  variants = {"add add", "multiply maximum", "subtract minimum negate", "less add load", "abs multiply",
              "maximum multiply"},
  f = function(v, s, d)
    local w = words(v)
    nisa.tensor_scalar_reduce {dst = d[1], data = s[1], op0 = nl[w[1]], operand0 = w.abs and 0.0 or s[2],
                               reduce_op = nl[w[2]], reduce_res = d[2], reduce_init = w.load and s[2] or nil,
                               reduce_cmd = w.load and nisa.reduce_cmd.load_reduce or nil,
                               reduce_res_negate = w.negate ~= nil}
  end,
}
R.tensor_scalar_cumulative = {
  sources = {{"src", "a"}, {"imm0", "c"}}, outs = PLAIN, also = "imm1",
  variants = {"add add", "multiply subtract", "subtract multiply load", "multiply maximum", "abs minimum",
              "add add chained"},
  f = function(v, s, d)
    local w = words(v)
    local all = {dst = d[1], src = s[1], op0 = nl[w[1]], op1 = nl[w[2]], imm0 = w.abs and 0.0 or s[2],
                 imm1 = w.load and s[2] or nil, reduce_cmd = w.load and nisa.reduce_cmd.load_reduce or nil}
    nisa.tensor_scalar_cumulative(all)
    if w.chained then
      all.reduce_cmd = nisa.reduce_cmd.reduce
      nisa.tensor_scalar_cumulative(all)
    end
  end,
}
R.bn_stats = {sources = {{"data", "a"}}, outs = {{"dst", {8, 6}}}, variants = {"plain"},
              f = function(_, s, d) nisa.bn_stats(d[1], s[1]) end}
R.bn_aggr = {sources = {{"data", "bn"}}, outs = {{"dst", {8, 2}}}, variants = {"plain"},
             f = function(_, s, d) nisa.bn_aggr(d[1], s[1]) end}

return R
