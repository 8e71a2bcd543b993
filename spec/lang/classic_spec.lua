-- The classic language: index expressions, masks, block tensors, calls without dst. Numbers are closed forms of iota
-- inputs.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local kernel = require "spec.support.kernel"
local raises = require "spec.support.raises"

local options = {platform_target = "trn2", func_name = "k"}

local function iota(rows, cols) return nd.arange(rows * cols):astype("float32"):reshape {rows, cols} end

-- Runs body(a) -> tile on an array; the tile is stored whole.
local function run(body, ...)
  return kernel.run(body, ...)
end

-- Runs fn(operand, out): what it stores to out, of shape, is returned.
local function on_hbm(shape, fn, ...)
  local function made(a, b)
    local out = nl.ndarray(shape, a.dtype, {buffer = nl.shared_hbm})
    fn(out, a, b)
    return out
  end
  if select("#", ...) == 1 then return nki.jit(function(a) return made(a) end, options)(...) end
  return nki.jit(function(a, b) return made(a, b) end, options)(...)
end

local function fails(id, text, fn)
  return raises(id, text, function() run(function(t) return fn(t) or t end, iota(64, 32)) end)
end

local function p(n) return nl.arange(n)[":, None"] end
local function f(n) return nl.arange(n)["None, :"] end

describe("index expressions", function()
  it("read with offsets, strides and both axes in one", function()
    local r = run(function(t)
      return nl.add(t[{p(64), f(8) * 2 + 3}], t[{p(64), 31 - 1 - 7 + f(8)}])
    end, iota(64, 32))
    for i = 0, 63, 21 do
      for j = 0, 7 do assert.equal((i * 32 + 2 * j + 3) + (i * 32 + 23 + j), r:get(i, j)) end
    end
  end)

  it("write by assignment", function()
    local r = run(function(t)
      local o = nl.zeros({64, 32}, nl.float32)
      o[{p(64), f(16) * 2}] = t[{p(64), f(16)}]
      return o
    end, iota(64, 32))
    assert.same({32, 0, 33, 0}, {r:get(1, 0), r:get(1, 1), r:get(1, 2), r:get(1, 3)})
  end)

  it("take integers, program ids and loop indices for other axes", function()
    local x = nd.arange(4 * 8 * 16):astype("float32"):reshape {4, 8, 16}
    local r = on_hbm({8, 16}, function(out, a)
      nl.store(out, nl.load(a[{2, p(8), f(16)}]))
    end, x)
    assert.equal(2 * 128 + 3 * 16 + 5, r:get(3, 5))
    r = on_hbm({8, 16}, function(out, a)
      nl.store(out, nl.load(a[{-1 + nl.program_id(0), p(8), f(16)}]))
    end, x)
    assert.equal(3 * 128 + 3 * 16 + 5, r:get(3, 5))
  end)

  it("of three dimensions broadcast", function()
    local r = run(function(t)
      local i, j, k = nl.arange(64)[":, None, None"], nl.arange(4)["None, :, None"], nl.arange(8)["None, None, :"]
      return nl.copy(t[{i, j * 8 + k}]:reshape {64, 32})
    end, iota(64, 32))
    assert.equal(5 * 32 + 17, r:get(5, 17))
  end)

  it("of nl.mgrid have names, numbers and unpack", function()
    local r = run(function(t)
      local g = nl.mgrid["0:64, 4:12"]
      local i, j = nl.mgrid[{{0, 64}, {4, 12}}]:unpack()
      return nl.add(t[{g.p, g.x}], t[{i, j}]) + t[{g[0], g[1]}]
    end, iota(64, 32))
    assert.equal(3 * (7 * 32 + 4 + 2), r:get(7, 2))
  end)

  it("move with a device loop", function()
    local r = on_hbm({8, 4}, function(out, a)
      nl.fori_loop(0, 4, function(i)
        nl.store(out[{p(8), nl.arange(1)["None, :"] + i}], nl.load(a[{p(8), nl.arange(1)["None, :"] + i * 2}]))
      end)
    end, iota(8, 8))
    assert.equal(3 * 8 + 4, r:get(3, 2))
  end)

  it("pick rows of HBM by a tile", function()
    local idx = nd.zeros({64, 1}, "int32")
    for i = 0, 63 do idx:set(i, 0, (i * 7) % 100) end
    assert.equal(63, idx:get(9, 0))
    local r = on_hbm({64, 16}, function(out, a, b)
      local at = nl.load(b[{p(64), 0}])
      nl.store(out, nl.load(a[{at[{p(64), 0}], f(16) + 4}]))
    end, iota(100, 32), idx)
    assert.equal((9 * 7 % 100) * 32 + 4 + 3, r:get(9, 3))
  end)

  it("are refused", function()
    fails("err_1d_arange_not_supported", "give it axes", function(t) return t[{nl.arange(64), f(8)}] end)
    fails("err_unsupported_mixing_basic_advanced_tensor_indexing", "a slice", function(t) return t[{p(64), ":"}] end)
    fails("err_unsupported_mixing_basic_advanced_tensor_indexing", "a slice", function(t) return t[{p(64), {0, 4}}] end)
    fails("err_unsupported_mixing_basic_advanced_tensor_indexing", "a slice", function(t)
      return t[{p(64), nl.ds(0, 4)}]
    end)
    fails("err_unsupported_mixing_basic_advanced_tensor_indexing", "fewer keys", function(t) return t[p(64)] end)
    fails("err_tensor_access_out_of_bound", "runs over [0, 39] and axis 1 has 32 elements", function(t)
      return nl.copy(t[{p(64), f(40)}])
    end)
    fails("err_tensor_access_out_of_bound", "runs over [-1, 62]", function(t) return t[{p(64) - 1, f(8)}] + 1 end)
    fails("err_failed_to_infer_tile_from_local_tensor", "dimension 0 of the result", function(t)
      return t[{nl.arange(32)["None, :"], nl.arange(32)[":, None"]}]
    end)
    fails("err_index_arithmetic", "operator //", function(t) return t[{p(64), f(8) // 2}] end)
    fails("err_index_arithmetic", "operator *", function(t) return t[{p(64), f(8) * f(8)}] end)
    fails("err_view_ap_pair", "walks backwards by 1", function(t) return t[{p(64), 31 - f(8)}] end)
    fails("err_elementwise_shape", "dimension 1 has 8 and 9", function() return f(8) + f(9) end)
    fails("err_cannot_assign_to_index", "has no elements in memory", function() p(4)[0] = 1 end)
    fails("err_cannot_assign_to_index", "a mask", function() nl.less(p(4), 2)[0] = 1 end)
    fails("err_control_flow_condition_depending_on_arange", "nl.less(i, n)", function(t) return p(4) < 2 and t end)
    fails("err_key_slice", '":" once for each', function() return nl.arange(4)[":, :"] end)
    fails("err_key_slice", "1 to 5 ranges", function() return nl.mgrid[4] end)
    fails("err_bind_value", "it must be above the start", function() return nl.arange(4, 4) end)
    fails("err_indirect_indices_free_dim", "index 1 is one", function(t)
      local a = nl.ndarray({64, 32}, nl.float32, {buffer = nl.hbm, name = "h"})
      return nl.load(a[{p(64), nl.copy(t[{p(64), 0}], nl.int32)}])
    end)
    fails("err_indirect_indices_free_dim", "use nl.arange", function(t)
      local a = nl.ndarray({64, 32}, nl.float32, {buffer = nl.hbm, name = "h"})
      return nl.load(a[{nl.copy(t[{p(64), 0}], nl.int32), nl.mgrid["0:64,0:8"].x}])
    end)
    fails("err_copy_dynamic_indirect_indices_not_natively_supported", "is on chip and index 0 is a tile", function(t)
      return t[{nl.copy(t[{p(64), 0}], nl.int32), f(4)}]
    end)
    raises("err_nki_api_outside_of_nki_kernel", "nl.arange", function() nl.arange(4) end)
  end)
end)

describe("masks", function()
  -- out starts as -1; fn stores into it
  local function stored(fn, rows, cols)
    return on_hbm({rows, cols}, function(out, a)
      nl.store(out, nl.full({rows, cols}, -1.0, nl.float32))
      fn(out, a)
    end, iota(rows, cols))
  end

  it("bound what leaves the tensor, on both axes", function()
    local r = on_hbm({100, 70}, function(out, a)
      for i in nl.static_range(2) do
        for j in nl.static_range(2) do
          local rows, cols = p(64) + i * 64, f(64) + j * 64
          local m = nl.less(rows, 100) & cols:lt(70)
          local t = nl.load(a[{rows, cols}], {mask = m})
          nl.store(out[{rows, cols}], nl.multiply(t, 2.0, {mask = m}), {mask = m})
        end
      end
    end, iota(100, 70))
    for i = 0, 99, 33 do
      for j = 0, 69, 23 do assert.equal(2 * (i * 70 + j), r:get(i, j)) end
    end
  end)

  it("leave the rest of a destination as it was", function()
    local r = stored(function(out, a)
      local t = nl.full({8, 8}, 5.0, nl.float32)
      t[{p(8), f(8)}] = nl.load(a[{p(8), f(8)}], {mask = f(8):ge(3) & p(8):lt(4)})
      nl.store(out[{p(8), f(8)}], t, {mask = f(8):le(6)})
    end, 8, 8)
    assert.same({5, 11, 14, 5, -1}, {r:get(1, 2), r:get(1, 3), r:get(1, 6), r:get(4, 3), r:get(1, 7)})
  end)

  it("that hold everywhere or nowhere cost nothing", function()
    local a = kernel.body_ops(function(t) return nl.exp(t, {mask = p(128):lt(500)}) end)
    assert.same({"activation"}, a)
    local names = kernel.body_ops(function(t, _, out)
      nl.store(out, t, {mask = p(128):lt(0)})
      t["..."] = nl.exp(t, {mask = f(64):ge(64)})
    end)
    assert.same({}, names)
  end)

  it("are single columns, too, and false ones", function()
    local r = stored(function(out, a)
      nl.store(out[{p(4), f(4)}], nl.load(a), {mask = f(4):eq(2) & true})
      nl.store(out, nl.load(a), {mask = f(4):eq(1) & false})
    end, 4, 4)
    assert.same({-1, -1, 2, -1}, {r:get(0, 0), r:get(0, 1), r:get(0, 2), r:get(0, 3)})
  end)

  it("narrow reductions, transposes and gathers", function()
    local r = stored(function(out, a)
      local t = nl.load(a)
      local s = nl.sum(t, {axis = 1, mask = f(8):lt(3)})
      nl.store(out[{p(8), nl.arange(1)["None, :"]}], s)
      local m = nl.max(t, {axis = 1, mask = p(8):lt(2)})
      nl.store(out[{p(8), nl.arange(1)["None, :"] + 1}], m, {mask = p(8):lt(2)})
      local w = nl.transpose(t, {mask = f(8):lt(5)})
      nl.store(out[{p(8), f(2) + 2}], w[{p(8), f(2) + 3}], {mask = p(8):lt(5)})
    end, 8, 8)
    assert.same({24 + 25 + 26, 7, 15, -1}, {r:get(3, 0), r:get(0, 1), r:get(1, 1), r:get(2, 1)})
    assert.same({3 * 8 + 4, 4 * 8 + 4, -1}, {r:get(4, 2), r:get(4, 3), r:get(5, 2)})
  end)

  it("select parts of operands", function()
    local r = run(function(t)
      local m = p(64):lt(32) & f(32):lt(16)
      return nl.copy(t[m])
    end, iota(64, 32))
    assert.same({32, 16}, {r.shape[0], r.shape[1]})
  end)

  it("are refused", function()
    local m = "err_unsupported_expression_in_mask"
    fails(m, "operator %", function(t) return nl.exp(t, {mask = nl.less(p(64) % 4, 2)}) end)
    fails(m, "may depend on one index only", function(t) return nl.exp(t, {mask = p(64):lt(f(32))}) end)
    fails(m, "may depend on one index only", function(t) return nl.exp(t, {mask = f(32):ne(3)}) end)
    fails(m, "operator |", function() return p(4):lt(2) | f(4):lt(2) end)
    fails(m, "a register's value", function(t)
      nl.fori_loop(0, 4, function(i) nl.exp(t, {mask = nl.less(p(64) + i, 3)}) end)
    end)
    fails(m, "compares affine index", function() return nl.less(p(64), 1.5) end)
    fails(m, "nl.add of masks", function() return nl.add(p(4):lt(2), 1) end)
    fails("err_elementwise_shape", "a mask of shape {64, 8} does not fit a tile of shape {64, 32}", function(t)
      return nl.exp(t, {mask = p(64):lt(3) & (f(8) + p(64) * 0):lt(3)})
    end)
    fails("err_bind_kind", "parameter 'mask' must be comparisons", function(t) return nl.exp(t, {mask = 3}) end)
    fails("err_bind_unknown", "no parameter 'mask'", function(t) return nl.expand_dims(t, 1, {mask = true}) end)
    fails("err_bind_value", "mask the operands instead", function(t) return nl.matmul(t, t, true, {mask = true}) end)
    fails("err_bind_value", "true nowhere", function(t) return nl.sum(t, 1, {mask = false}) end)
    fails("err_tensor_access_out_of_bound", "holds nowhere", function(t) return t[p(64):lt(0)] end)
    fails("err_tensor_access_out_of_bound", "a mask can bound it", function(t)
      return nl.exp(t[{p(64), f(40)}], {mask = f(40):lt(36)})
    end)
    fails("err_no_such_name", "masks are joined by &", function() return p(4):lt(2).all end)
  end)
end)

describe("block tensors", function()
  it("have a tile for every index before nl.par_dim", function()
    local r = run(function(t)
      local b = nl.ndarray({2, 2, nl.par_dim(64), 16}, nl.float32, {name = "blocks"})
      assert.same({2, 2, 64, 16}, {b.shape:unpack()})
      for i in nl.static_range(2) do
        for j in nl.static_range(2) do
          b[{i, j, p(64), f(16)}] = t[{p(64), f(16) + i * 16}] * (j + 1)
        end
      end
      return b[{1, 1}] + b[{0, -1}]
    end, iota(64, 32))
    assert.equal(2 * (32 * 3 + 16 + 5) + 2 * (32 * 3 + 5), r:get(3, 5))
  end)

  it("with nl.par_dim in front are ordinary tiles", function()
    run(function(t)
      assert.equal(64, nl.zeros({nl.par_dim(64), 4}, nl.float32).shape[0])
      return t
    end, iota(64, 32))
  end)

  it("are refused where a tile is wanted", function()
    local function blocks() return nl.ndarray({4, nl.par_dim(64), 8}, nl.float32, {name = "b"}) end
    fails("err_failed_to_infer_tile_from_local_tensor", "'b' has 1 block axes", function() return nl.exp(blocks()) end)
    fails("err_leading_dimension_of_tensor_must_be_partition", "of a block axis", function()
      return blocks()[{{0, 2}}]
    end)
    fails("err_leading_dimension_of_tensor_must_be_partition", "one partition axis", function()
      return nl.ndarray({nl.par_dim(4), nl.par_dim(64), 8}, nl.float32)
    end)
    fails("err_leading_dimension_of_tensor_must_be_partition", "HBM has no partition axis", function()
      return nl.ndarray({4, nl.par_dim(64)}, nl.float32, {buffer = nl.hbm})
    end)
    fails("err_tensor_access_out_of_bound", "index 4 of axis 0", function() return blocks()[4] end)
  end)
end)

describe("classic helpers:", function()
  it("nl.loop_reduce folds over the innermost loops and begins anew in outer ones", function()
    local r = on_hbm({8, 4}, function(out, a)
      for o in nl.affine_range(2) do
        local b
        for i in nl.affine_range(2) do
          for j in nl.affine_range(3) do
            b = nl.loop_reduce(nl.load(a[{p(8), f(2) + o * 12 + i * 6 + j * 2}]), nl.add, {i, j})
          end
        end
        nl.store(out[{p(8), f(2) + o * 2}], b)
      end
    end, iota(8, 24))
    assert.equal(6 * (24 * 2) + 6 * 1 + (0 + 2 + 4 + 6 + 8 + 10), r:get(2, 1))
    assert.equal(6 * (24 * 2) + 6 * 13 + 30, r:get(2, 3))
    fails("err_bind_value", "not the indices of the 1 innermost loops, {2}", function(t)
      for _ in nl.affine_range(2, 3) do nl.loop_reduce(t, nl.add, {7}) end
    end)
  end)

  it("nl.atomic_rmw adds rows picked by a tile", function()
    local idx = nd.zeros({4, 1}, "int32")
    for i = 0, 3 do idx:set(i, 0, 7 - 2 * i) end
    local r = on_hbm({8, 8}, function(out, a, b)
      nl.store(out, nl.load(a))
      local at = nl.load(b)
      nl.atomic_rmw(out[{at[{p(4), 0}], f(8)}], nl.full({4, 8}, 100.0, nl.float32), nl.add)
    end, iota(8, 8), idx)
    assert.same({100 + 7 * 8, 6 * 8, 100 + 8}, {r:get(7, 0), r:get(6, 0), r:get(1, 0)})
    fails("err_bind_value", "it is nl.add", function(t) nl.atomic_rmw(t, t, nl.multiply) end)
  end)

  it("nl.finfo, nl.static_cast and the constants", function()
    run(function(t)
      assert.same({448.0, -448.0, 0.125}, {nl.finfo("float8_e4m3fn").max, nl.finfo("float8_e4m3fn").min,
        nl.finfo("float8_e4m3fn").eps})
      assert.equal(3.3895313892515355e38, nl.finfo(nl.bfloat16).max)
      assert.equal(1.1015625, nl.static_cast(1.1, nl.bfloat16))
      assert.equal("bfloat16", nl.static_cast(nd.ones {2}, nl.bfloat16).dtype)
      return t
    end, iota(4, 4))
    assert.equal(-math.huge, nl.bfp16.min)
    assert.equal(-3.4028234663852886e38, nl.fp32.min)
    fails("err_bind_value", "it is a float type", function() return nl.finfo "int8" end)
    fails("err_read_only", "nl.finfo", function() nl.finfo("float16").max = 1 end)
    fails("err_bind_kind", "a number or an array", function() return nl.static_cast("x", nl.int8) end)
  end)

  it("the grids of a matmul", function()
    run(function(t)
      local s, m = nl.gemm_stationary_grid(), nl.gemm_grid()
      assert.same({128, 1}, s.p.shape)
      assert.same({1, 128}, s.x.shape)
      assert.same({1, 512}, m.x.shape)
      return t
    end, iota(4, 4))
  end)
end)
