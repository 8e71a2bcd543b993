-- What the classic layer refuses: sizes and steps it cannot keep, names it does not have, options nothing would obey.
-- And tiles written in a box only, once more of them is written.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local kernel = require "spec.support.kernel"
local raises = require "spec.support.raises"

local x = nd.arange(64 * 8):astype("float32"):reshape {64, 8}

local function run(body) return kernel.run(body, x) end

local function fails(id, text, fn)
  return raises(id, text, function() run(function(t) return fn(t) or t end) end)
end

local function p(n) return nl.arange(n)[":, None"] end
local function f(n) return nl.arange(n)["None, :"] end

describe("classic functions", function()
  it("bind their arguments as all do", function()
    fails("err_bind_surplus", "nl.arange: too many arguments: at most 2, got 3", function() nl.arange(0, 8, 2) end)
    fails("err_bind_missing", "nl.arange: parameter 'start' is required", function() nl.arange() end)
    fails("err_bind_kind", "bounds must be integers", function() nl.arange "4" end)
    fails("err_bind_surplus", "nl.finfo: too many arguments: at most 1", function() nl.finfo(nl.float32, 1) end)
    fails("err_bind_unknown", "nl.par_dim: no parameter 'n'", function() nl.par_dim {n = 4} end)
    fails("err_bind_missing", "nl.loop_reduce: parameter 'op' is required", function(t) nl.loop_reduce(t) end)
    fails("err_bind_value", "'loop_indices' is not the indices of the 0 innermost loops", function(t)
      for _ in nl.affine_range(2) do nl.loop_reduce(t, nl.add, {}) end
    end)
    fails("err_bind_kind", "nl.atomic_rmw: parameter 'value' must be a tensor, got 3", function(t)
      nl.atomic_rmw(t, 3, nl.add)
    end)
    run(function(t)
      assert.equal("index expression 1*[0,4) along 0 + 4", tostring(nl.arange {start = 4, stop = 8}))
      return t
    end)
  end)

  it("with a mask and no tile are refused as without one", function()
    for _, v in ipairs {"text", {}, {nil, 3}, function() end, nl.add} do
      for _, name in ipairs {"sum", "max", "min", "mean", "var", "all"} do
        fails("err_bind_kind", ("nl.%s: parameter 'x' must be a tile"):format(name), function()
          nl[name](v, {axis = 1, mask = f(8):lt(4)})
        end)
      end
      fails("err_bind_kind", "nl.transpose: parameter 'x' must be", function() nl.transpose(v, {mask = f(8):lt(4)}) end)
      fails("err_bind_kind", "nl.device_print: parameter 'tensor' must be", function()
        nl.device_print("v", {tensor = v, mask = f(8):lt(4)})
      end)
      fails("err_bind_kind", "nl.gather_flattened: parameter 'indices' must be", function(t)
        nl.gather_flattened {data = t, indices = v, mask = f(8):lt(4)}
      end)
      fails("err_bind_kind", "nl.store: parameter 'dst' must be", function(t)
        nl.store {dst = v, value = t, mask = f(8):lt(4)}
      end)
      fails("err_bind_kind", "nl.load: parameter 'src' must be", function() nl.load {src = v, mask = f(8):lt(4)} end)
    end
  end)

  it("take a mask by name", function()
    local out = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.full(a.shape, 1, a.dtype))
      nl.atomic_rmw(out[{p(64), f(8)}], nl.load(a), nl.add, {mask = p(64):lt(32)})
      return out
    end, {platform_target = "trn2", func_name = "k"})(x)
    assert.same({256, 1}, {out:get(31, 7), out:get(32, 0)})
  end)
end)

-- One argument is nil, and those behind it stand where the form without dst has something else.
describe("a nil among the arguments of an instruction", function()
  local function lacks(text, fn)
    local e = fails("err_argument_missing", text, fn)
    assert.is_nil(tostring(e):find("note:", 1, true))
  end

  it("is what the error tells", function()
    lacks("nisa.tensor_scalar: data is required", function(t) nisa.tensor_scalar(t, nil, nl.add, 1.0) end)
    lacks("nisa.scalar_tensor_tensor: data is required", function(t)
      nisa.scalar_tensor_tensor(t, nil, nl.add, 1.0, nl.add, t)
    end)
    lacks("nisa.scalar_tensor_tensor: operand1 is required", function(t)
      nisa.scalar_tensor_tensor(t, t, nl.add, 1.0, nl.add, nil)
    end)
    lacks("nisa.nc_match_replace8: data is required", function(t) nisa.nc_match_replace8(t, nil, t, 0.0) end)
    lacks("nisa.nc_match_replace8: vals is required", function(t) nisa.nc_match_replace8(t, t, nil, 0.0) end)
    lacks("nisa.tensor_tensor_scan: op1 is required", function(t)
      nisa.tensor_tensor_scan(t, t, t, 0.0, nl.multiply, nil)
    end)
    lacks("nisa.tensor_tensor_scan: initial is required", function(t)
      nisa.tensor_tensor_scan(t, t, t, nil, nl.multiply, nl.add)
    end)
    lacks("nisa.nc_stream_shuffle: dst is required", function(t) nisa.nc_stream_shuffle(nil, t, {0}) end)
    lacks("nisa.tensor_copy_predicated: dst is required", function(t)
      nisa.tensor_copy_predicated(nil, t, nl.zeros({64, 8}, nl.uint8))
    end)
  end)
end)

describe("index expressions", function()
  it("never wrap", function()
    for _, make in ipairs {function() return p(4) * (1 << 62) * 4 end, function() return p(4) * (1 << 52) * 4 end,
      function() return p(4) + math.maxinteger + 1 end,
      function() return nl.arange(math.mininteger, math.maxinteger) end,
      function() return nl.arange(1 << 30)[":, None"] * (1 << 24) end} do
      fails("err_index_arithmetic", "its values leave -2^53 .. 2^53", make)
    end
  end)

  it("come from grids of ranges that are written out", function()
    for _, key in ipairs {"0:4, foo, 0:8", "0:4:2", "0:4,", "0:99999999999999999999999, 0:8", "-:4"} do
      fails("err_key_slice", "it must be a start and a stop", function() return nl.mgrid[key] end)
    end
    for _, key in ipairs {{{0, 4, 2}, {0, 8}}, {{0, 4}, 5, {0, 8}}, {{4}}, {nl.ds(0, 4), nl.ds(0, 8)}} do
      fails("err_key_slice", "it must be a start and a stop", function() return nl.mgrid[key] end)
    end
    fails("err_no_such_name", "no grid.y; an index grid of 2 dimensions has", function()
      return nl.mgrid["0:4, 0:8"].y
    end)
    run(function(t)
      local g = nl.mgrid["-2:4, :8"]
      assert.equal("index expression 1*[0,6) along 0 + -2", tostring(g.p))
      assert.equal("index expression 1*[0,8) along 1 + 0", tostring(g[1]))
      return t
    end)
  end)

  it("make masks that join masks only", function()
    fails("err_unsupported_expression_in_mask", "the other side is nil", function() return p(4):lt(3) & nil end)
  end)
end)

describe("block tensors", function()
  it("have axes of a size that can be made", function()
    for _, size in ipairs {0, -1} do
      fails("err_tensor_size", ("nl.ndarray: axis 0 of the tensor has size %d"):format(size), function()
        nl.ndarray({size, nl.par_dim(4), 8}, nl.float32)
      end)
    end
    fails("err_bind_kind", "nl.ndarray: parameter 'shape' must be an integer, got the string 'q'", function()
      nl.ndarray({"q", nl.par_dim(4), 8}, nl.float32)
    end)
    fails("err_bind_value", "has the block axes {2, 1099511627776}; they make at most 65536 tiles", function()
      nl.ndarray({2, 1 << 40, nl.par_dim(4), 8}, nl.float32)
    end)
  end)

  it("are no operands and no results", function()
    fails("err_failed_to_infer_tile_from_local_tensor", "has 1 block axes", function()
      return nl.ndarray({2, nl.par_dim(4), 8}, nl.float32) + 1
    end)
    local function returns(make)
      return function() nki.jit(make, {platform_target = "trn2", func_name = "k"})(x) end
    end
    raises("err_kernel_return", "return value 1 is a table",
      returns(function(_) return nl.ndarray({2, nl.par_dim(4), 8}, nl.float32) end))
    raises("err_kernel_return", "return value 1 is a table", returns(function(_) return nl.arange(4) end))
  end)
end)

describe("classic instructions", function()
  it("refuse names they do not have", function()
    fails("err_bind_unknown", "nisa.iota: no parameter 'foo' (parameters: expr, dtype, mask, name)", function()
      return nisa.iota(p(4), nl.int32, {foo = 1})
    end)
    fails("err_bind_unknown", "nisa.affine_select: no parameter 'a'", function(t)
      return nisa.affine_select(p(64):ge(f(8)), t, 0.0, {b = 1, a = 2})
    end)
    fails("err_bind_unknown", "nisa.memset: no parameter 'foo'", function()
      return nisa.memset({4, 8}, 0.0, nl.float32, {foo = 1})
    end)
    fails("err_bind_unknown", "no parameter 'dst_rmw_op'", function(t)
      return nisa.tensor_copy(t, {dst_rmw_op = nl.add})
    end)
    fails("err_bind_unknown", "no parameter 'engine'", function(t)
      nisa.dma_copy {dst = t, src = t, dst_rmw_op = nl.add, engine = nisa.engine.gpsimd}
    end)
  end)

  it("refuse values of another kind by name", function()
    fails("err_bind_kind", "nisa.affine_select", function() return nisa.affine_select(p(64):ge(f(8))) end)
    fails("err_bind_kind", "parameter 'axis' must be", function(t) return nisa.tensor_reduce(nl.add, t, "x") end)
    fails("err_bind_kind", "parameter 'axis' must be", function(t) return nisa.tensor_reduce(nl.add, t, {"x"}) end)
    fails("err_bind_kind", "parameter 'num_elem_per_idx' must be", function(t)
      return nisa.local_gather(t, nl.copy(t, nl.uint16), "x", {})
    end)
  end)

  it("obey a mask in iota and affine_select", function()
    local r = run(function()
      local t = nl.full({64, 8}, -7, nl.int32)
      t["..."] = nisa.iota(p(64) * 8 + f(8), nl.int32, {mask = p(64):ge(32) & f(8):lt(3)})
      return nl.copy(t, nl.float32)
    end)
    assert.same({-7, 256, 258, -7, 506}, {r:get(31, 0), r:get(32, 0), r:get(32, 2), r:get(32, 3), r:get(63, 2)})
    r = run(function(t)
      local o = nl.full({64, 8}, -7, nl.float32)
      o["..."] = nisa.affine_select((p(64) - 32):ge(f(8)), t, -1.0, {mask = p(64):ge(32) & f(8):gt(0)})
      return o
    end)
    assert.same({-7, -7, -1, 257 + 8, -1}, {r:get(31, 1), r:get(33, 0), r:get(32, 1), r:get(33, 1), r:get(33, 2)})
  end)

  it("keep columns that only happen to be as many as those of the data", function()
    local r = run(function(t)
      local o = nl.zeros({64, 8}, nl.float32)
      o["0:32"] = nisa.max8(t[":, 0:8"], {mask = p(64):lt(32) & f(8):lt(8)})["0:32"]
      return o
    end)
    assert.same({7, 0}, {r:get(0, 0), r:get(0, 7)})
    r = run(function(t)
      local o = nl.zeros({64, 6}, nl.float32)
      o["..."] = nisa.bn_stats(t[":, 0:6"], {mask = f(6):lt(4)})
      return o
    end)
    assert.same({2, 9, 2, 10}, {r:get(1, 0), r:get(1, 1), r:get(1, 3), r:get(1, 4)})
    r = run(function(t)
      local o = nl.zeros({64, 8}, nl.float32)
      o["..."] = nisa.nc_find_index8(t, nisa.max8(t), {mask = p(64):lt(32) & f(8):lt(8)})
      return o
    end)
    assert.same({0, 7, 0}, {r:get(5, 7), r:get(5, 0), r:get(40, 0)})
  end)
end)

describe("a tile that is written in a box only", function()
  local function kept(more)
    return run(function(t)
      local o = nl.full({64, 8}, 7, nl.float32)
      local part = nl.copy(t, {mask = p(64):lt(32)})
      more(part, t)
      o["..."] = part
      return o
    end)
  end

  it("is whole for assignments once the rest of it is written", function()
    local r = kept(function() end)
    assert.same({255, 7}, {r:get(31, 7), r:get(32, 0)})
    for _, more in ipairs {function(t) t["..."] = -1 end, function(t) nisa.memset(t["32:64"], -1.0) end,
      function(t) t[{p(32) + 32, f(8)}] = -1 end,
      function(t) nisa.tensor_copy(t, nl.full({64, 8}, -1, nl.float32)) end} do
      r = kept(more)
      assert.same({-1, -1}, {r:get(32, 0), r:get(63, 7)})
    end
  end)

  it("stays one when it is written inside the box again", function()
    local r = kept(function(t) t["0:32"] = t["0:32"] + 1 end)
    assert.same({256, 7}, {r:get(31, 7), r:get(32, 0)})
    r = kept(function(t, whole) t["..."] = nl.add(t, whole, {mask = p(64):lt(32)}) end)
    assert.same({510, 7}, {r:get(31, 7), r:get(32, 0)})
  end)

  it("is stored and assigned in its box, whatever axes of size 1 there are", function()
    local out = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.full(a.shape, 7, a.dtype))
      nl.store(out, nl.load(a[{p(64), f(8)}], {mask = p(64):lt(32) & f(8):lt(7)}))
      out[":, 7"] = nl.load(a[{p(64), f(1)}], {mask = p(64):ge(32)})
      return out
    end, {platform_target = "trn2", func_name = "k"})(x)
    assert.same({254, 7, 7, 256}, {out:get(31, 6), out:get(31, 7), out:get(32, 6), out:get(32, 7)})
    fails("err_store_dst_shape_smaller_than_other_shape", "dst has 256", function(t)
      t["0:32"] = nl.copy(t, {mask = p(64):lt(32)})
    end)
  end)

  it("that holds nothing is filled by any write", function()
    local r = run(function(t)
      local o = nl.full({64, 8}, 7, nl.float32)
      local none = nl.copy(t, {mask = false})
      o["..."] = none
      none["..."] = 3
      o["32:64"] = none["32:64"]
      return o
    end)
    assert.same({7, 3}, {r:get(31, 7), r:get(32, 0)})
  end)
end)
