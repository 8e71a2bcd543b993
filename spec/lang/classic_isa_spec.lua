-- Classic instruction calls, which return a tile: each gives the tile that the current form fills, of the shape and
-- dtype the classic documents say.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local testing = require "nki.testing"
local kernel = require "spec.support.kernel"
local raises = require "spec.support.raises"

local x = nd.random.normal({64, 32}, {seed = 3})

local function p(n) return nl.arange(n)[":, None"] end
local function f(n) return nl.arange(n)["None, :"] end

local function filled(shape, dtype, fn, buffer)
  local dst = nl.ndarray(shape, dtype or nl.float32, {buffer = buffer})
  fn(dst)
  return dst
end

local f32 = "float32"
-- name, classic, current; t is 64 x 32
local cases = {
  {"activation", function(t) return nisa.activation(nl.exp, t, {scale = 0.5}) end,
    function(t) return filled({64, 32}, f32, function(d) nisa.activation(d, nl.exp, t, nil, 0.5) end) end},
  {"activation by name, with a dtype", function(t)
    return nisa.activation {op = nl.exp, data = t, dtype = nl.bfloat16}
  end,
    function(t) return filled({64, 32}, nl.bfloat16, function(d) nisa.activation(d, nl.exp, t) end) end},
  {"activation_reduce", function(t)
    local sums = nl.ndarray({64, 1}, f32)
    nisa.activation_reduce(nl.square, t, {reduce_op = nl.add, reduce_res = sums})
    return sums
  end, function(t) return nl.sum(nl.square(t), 1) end},
  {"bn_stats and bn_aggr", function(t) return nisa.bn_aggr(nisa.bn_stats(t)) end, function(t)
    local s = filled({64, 6}, f32, function(d) nisa.bn_stats(d, t) end)
    return filled({64, 2}, f32, function(d) nisa.bn_aggr(d, s) end)
  end},
  {"dropout", function(t) return nisa.dropout(t, 1.0) end, function(t) return t * 0.0 end},
  {"dropout with a column", function(t) return nisa.dropout(t, nl.zeros({64, 1}, f32)) end, function(t) return t end},
  {"iota", function() return nisa.iota(p(64) * 3 + f(32) + 7, nl.int32) end, function()
    return filled({64, 32}, "int32", function(d) nisa.iota(d, {{1, 32}}, 7, 3) end)
  end},
  {"affine_select", function(t) return nisa.affine_select(p(64):ge(f(32) * 2 + 1), t, -5.0) end, function(t)
    return filled({64, 32}, f32, function(d)
      nisa.affine_select(d, {{-2, 32}}, 1, t, -5.0, nl.greater_equal, -1)
    end)
  end},
  {"memset", function() return nisa.memset({64, 32}, 2.5, nl.bfloat16) end, function()
    return nl.full({64, 32}, 2.5, nl.bfloat16)
  end},
  {"max8, nc_find_index8 and nc_match_replace8", function(t)
    local m = nisa.max8 {src = t}
    return nl.add(nisa.nc_match_replace8 {data = t, vals = m, imm = 0.0}[{{}, {0, 8}}], nisa.nc_find_index8 {data = t,
      vals = m})
  end, function(t)
    local m = filled({64, 8}, f32, function(d) nisa.max8(d, t) end)
    local i = filled({64, 8}, "uint32", function(d) nisa.nc_find_index8(d, t, m) end)
    return nl.add(filled({64, 32}, f32, function(d) nisa.nc_match_replace8(d, t, m, 0.0) end)[{{}, {0, 8}}], i)
  end},
  {"nc_matmul", function(t) return nl.copy(nisa.nc_matmul(t, t)) end, function(t)
    return nl.copy(nl.matmul(t, t, true))
  end},
  {"nc_transpose", function(t) return nl.copy(nisa.nc_transpose(t)) end, function(t)
    return nl.copy(nl.transpose(t))
  end},
  {"nc_transpose on Vector", function(t)
    return nisa.nc_transpose(t[{{0, 32}}], {engine = nisa.engine.vector})
  end, function(t) return nl.transpose(t[{{0, 32}}]) end},
  {"dma_transpose", function(t) return nisa.dma_transpose(t) end, function(t)
    return filled({32, 64}, f32, function(d) nisa.dma_transpose(d, t) end)
  end},
  {"range_select", function(t)
    local lo, hi = nl.full({64, 1}, 3.0, f32), nl.full({64, 1}, 9.0, f32)
    return nisa.range_select {on_true_tile = t, comp_op0 = nl.greater_equal, comp_op1 = nl.less, bound0 = lo,
      bound1 = hi}
  end, function(t)
    local lo, hi = nl.full({64, 1}, 3.0, f32), nl.full({64, 1}, 9.0, f32)
    return filled({64, 32}, f32, function(d) nisa.range_select(d, t, nl.greater_equal, nl.less, lo, hi) end)
  end},
  {"reciprocal", function(t) return nisa.reciprocal(t) end, function(t) return nl.reciprocal(t) end},
  {"scalar_tensor_tensor", function(t)
    return nisa.scalar_tensor_tensor {data = t, op0 = nl.multiply, operand0 = 2.0, op1 = nl.add, operand1 = t}
  end, function(t)
    return filled({64, 32}, f32, function(d) nisa.scalar_tensor_tensor(d, t, nl.multiply, 2.0, nl.add, t) end)
  end},
  {"tensor_copy with a dtype", function(t) return nisa.tensor_copy(t, {dtype = nl.float16}) end,
    function(t) return nl.copy(t, nl.float16) end},
  {"tensor_partition_reduce", function(t) return nisa.tensor_partition_reduce(nl.add, t) end, function(t)
    return filled({1, 32}, f32, function(d) nisa.tensor_partition_reduce(d, nl.add, t) end)
  end},
  {"tensor_reduce", function(t) return nisa.tensor_reduce(nl.maximum, t, 1, {negate = true}) end,
    function(t) return nl.negative(nl.max(t, 1)) end},
  {"tensor_reduce of a list of axes", function(t) return nisa.tensor_reduce(nl.add, t:reshape {64, 4, 8}, {1, 2}) end,
    function(t) return nl.sum(t, 1) end},
  {"tensor_reduce that keeps its axes", function(t)
    return nisa.tensor_reduce {op = nl.add, data = t:reshape {64, 4, 8}, axis = -1, keepdims = true}
  end, function(t) return nl.sum(t:reshape {64, 4, 8}, 2, {keepdims = true}) end},
  {"tensor_scalar", function(t) return nisa.tensor_scalar(t, nl.multiply, 2.0, false, nl.add, 1.0) end, function(t)
    return filled({64, 32}, f32, function(d) nisa.tensor_scalar(d, t, nl.multiply, 2.0, false, nl.add, 1.0) end)
  end},
  {"tensor_scalar_reduce", function(t)
    local sums = nl.ndarray({64, 1}, f32)
    nisa.tensor_scalar_reduce {data = t, op0 = nl.multiply, operand0 = 2.0, reduce_op = nl.add, reduce_res = sums}
    return sums
  end, function(t) return nl.sum(t * 2.0, 1) end},
  {"tensor_tensor", function(t) return nisa.tensor_tensor(t, nl.copy(t, nl.bfloat16), nl.add) end,
    function(t) return nl.add(t, nl.copy(t, nl.bfloat16)) end},
  {"tensor_tensor_scan", function(t)
    return nisa.tensor_tensor_scan(t, t, nl.zeros({64, 1}, f32), nl.multiply, nl.add)
  end, function(t)
    return filled({64, 32}, f32, function(d)
      nisa.tensor_tensor_scan(d, t, t, nl.zeros({64, 1}, f32), nl.multiply, nl.add)
    end)
  end},
  {"sequence_bounds", function()
    return nisa.sequence_bounds {segment_ids = nl.ones({1, 8}, nl.int32)}
  end, function()
    return filled({1, 2, 8}, "int32", function(d) nisa.sequence_bounds(d, nl.ones({1, 8}, nl.int32)) end)
  end},
  {"local_gather", function(t) return nisa.local_gather(t, nl.full({64, 1}, 3, nl.uint16), 1, 16) end, function(t)
    return filled({64, 16}, f32, function(d) nisa.local_gather(d, t, nl.full({64, 1}, 3, nl.uint16), 1, 16) end)
  end},
  {"local_gather of all indices", function(t)
    return nisa.local_gather(t, nl.full({64, 1}, 3, nl.uint16)) end, function(t)
    return filled({64, 16}, f32, function(d) nisa.local_gather(d, t, nl.full({64, 1}, 3, nl.uint16)) end)
  end},
  {"nc_stream_shuffle by name", function(t)
    local mask = {}
    for i = 1, 32 do mask[i] = 32 - i end
    local d = nl.copy(t)
    nisa.nc_stream_shuffle {src = t, dst = d, shuffle_mask = mask}
    return d
  end, function(t)
    local mask = {}
    for i = 1, 32 do mask[i] = 32 - i end
    return filled({64, 32}, f32, function(d) nisa.nc_stream_shuffle(d, t, mask) end)
  end},
  {"tensor_copy_dynamic_src", function(t)
    local at = nl.full({1, 1}, 5, nl.int32)
    return nisa.tensor_copy_dynamic_src(t[{p(64), at + f(8)}])
  end, function(t) return nl.copy(t[{{}, {5, 13}}]) end},
  {"tensor_copy_dynamic_dst", function(t)
    local at, d = nl.full({1, 1}, 5, nl.int32), nl.zeros({64, 32}, f32)
    nisa.tensor_copy_dynamic_dst {dst = d[{p(64), f(8) + at}], src = t[{{}, {0, 8}}]}
    return d
  end, function(t)
    local d = nl.zeros({64, 32}, f32)
    d[{{}, {5, 13}}] = t[{{}, {0, 8}}]
    return d
  end},
  -- masks
  {"activation with a mask", function(t)
    local d = nl.zeros({64, 32}, f32)
    d["..."] = nisa.activation(nl.exp, t, {mask = f(32):lt(20)})
    return d
  end, function(t)
    local d = nl.zeros({64, 32}, f32)
    d[{{}, {0, 20}}] = nl.exp(t[{{}, {0, 20}}])
    return d
  end},
  {"tensor_copy_predicated with a mask and dst", function(t)
    local d = nl.zeros({64, 32}, f32)
    nisa.tensor_copy_predicated {src = t, dst = d, predicate = nl.ones({64, 32}, nl.uint8), mask = p(64):lt(32)}
    return d
  end, function(t)
    local d = nl.zeros({64, 32}, f32)
    d[{{0, 32}}] = t[{{0, 32}}]
    return d
  end},
  {"memset with a mask", function(t)
    t["..."] = nisa.memset({64, 32}, 2.0, f32, {mask = f(32):ge(30)})
    return t
  end, function(t)
    t[{{}, {30, 32}}] = 2.0
    return t
  end},
  {"max8 with a mask", function(t)
    local d = nl.zeros({64, 8}, f32)
    d["..."] = nisa.max8 {src = t, mask = p(64):lt(32) & f(32):lt(16)}
    return d
  end, function(t)
    local d = nl.zeros({64, 8}, f32)
    nisa.max8(d[{{0, 32}}], t[{{0, 32}, {0, 16}}])
    return d
  end},
}

describe("a classic call of", function()
  for _, case in ipairs(cases) do
    it(case[1] .. " makes the tile itself", function()
      local got, want = kernel.run(case[2], x), kernel.run(case[3], x)
      assert.equal(want.dtype, got.dtype)
      assert.same({want.shape:unpack()}, {got.shape:unpack()})
      testing.assert_allclose(got, want, {rtol = 0, atol = 0})
    end)
  end

  it("dma_copy takes a mask and adds with dst_rmw_op", function()
    local k = nki.jit(function(a)
      local out = nl.ndarray({64, 32}, nl.float32, {buffer = nl.shared_hbm})
      nl.store(out, nl.full({64, 32}, 1.0, nl.float32))
      nisa.dma_copy {dst = out, src = a, mask = p(64):lt(10)}
      nisa.dma_copy {dst = out, src = a, dst_rmw_op = nl.add}
      return out
    end, {platform_target = "trn2"})
    local y = k(x)
    assert.equal(2 * x:get(3, 4), y:get(3, 4))
    assert.is_true(math.abs(y:get(20, 4) - 1 - x:get(20, 4)) < 1e-6)
  end)
end)

describe("a call that is neither form", function()
  local function fails(id, text, fn)
    return raises(id, text, function() kernel.run(function(t) return fn(t) or t end, x) end)
  end

  it("is refused as the current form", function()
    fails("err_bind_kind", "nisa.activation: parameter 'dst' must be a tensor, got nl.exp", function()
      return nisa.activation(nl.exp, 3)
    end)
    fails("err_bind_kind", "parameter 'data' must be a tensor, got 4", function(t)
      return nisa.activation(t, nl.exp, 4)
    end)
    fails("err_argument_missing", "nisa.tensor_tensor: data1 is required", function(t) return nisa.tensor_tensor(t) end)
    fails("err_bind_unknown", "no parameter 'dtypo'", function(t) return nisa.tensor_copy(t, t, {dtypo = 1}) end)
    fails("err_bind_unknown", "no parameter 'dtype'", function(t) return nisa.tensor_copy(t, t, {dtype = nl.int8}) end)
    fails("err_bind_unknown", "no parameter 'mask'", function(t) return nisa.nc_n_gather(t, t, t, {mask = true}) end)
  end)

  it("is told what its mask can be", function()
    fails("err_bind_value", "mask the operands instead", function(t)
      return nisa.nc_matmul(t, t, {mask = p(64):lt(3)})
    end)
    fails("err_unsupported_expression_in_mask", "this joins several", function(t)
      return nisa.affine_select(p(64):lt(3) & f(32):lt(3), t, 0.0)
    end)
    fails("err_1d_arange_not_supported", "nisa.iota", function() return nisa.iota(nl.arange(4), nl.int32) end)
    fails("err_bind_missing", "nisa.tensor_copy_dynamic_src: parameter 'src'", function()
      return nisa.tensor_copy_dynamic_src()
    end)
    fails("err_bind_value", "has no place in a tile of 2 dimensions", function(t)
      return nisa.affine_select(nl.arange(4)[":, None, None"]:lt(3), t, 0.0)
    end)
  end)
end)
