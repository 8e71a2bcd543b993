-- NkiTensor.indirect: elements of a partition picked by an index tensor, in every instruction that takes such views.
-- What a gather must give is worked out on the host from the lists of numbers, never by the simulator's own gather.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local case = require "spec.support.case"
local gen = require "spec.support.generators"
local raises = require "spec.support.raises"
local trip = require "spec.support.trip"
local sb, ps = case.sbuf, case.psum

local function at(P, K) return sb({P, K}, nl.uint16) end

-- P, F: partitions and elements; n numbers per group of G, held by K columns.
local P, F, n, K = 64, 40, 20, 2

-- The lists: no number twice in a group. Number i of group g.
local function number(G) return function(g, i) return (i * 7 + g * 3 + G) % F end end

local function lists(G, parts)
  local num = number(G)
  return nd.array(gen.rows(parts or P, function(p)
    return gen.rows(K, function(c) return num(p // G, c * G + p % G) end)
  end), "uint16")
end

local function value(p, f) return (p * 5 + f * 3) % 23 - 9 end
local function data(dtype, parts)
  return nd.array(gen.rows(parts or P, function(p)
    return gen.rows(F, function(f) return value(p, f) end)
  end), dtype or "float32")
end
local function picked(G, dtype, parts)
  local num = number(G)
  return nd.array(gen.rows(parts or P, function(p)
    return gen.rows(n, function(i) return value(p, num(p // G, i)) end)
  end), dtype or "float32")
end
-- What a scatter of v over a tile of zeros gives.
local function spread(v, G)
  local num = number(G)
  local out = nd.zeros({v.shape[0], F}, v.dtype)
  for p = 0, v.shape[0] - 1 do
    for i = 0, n - 1 do out:set(p, num(p // G, i), v:get(p, i)) end
  end
  return out
end

local function kernel(f)
  return nki.jit(function(a, b, c, d)
    local tiles = {a, b, c, d}
    for i = 1, #tiles do tiles[i] = nl.load(tiles[i]) end
    local r = f(table.unpack(tiles))
    if r.buffer == nl.psum then r = nl.copy(r) end
    local out = nl.ndarray(r.shape, r.dtype, {buffer = nl.shared_hbm})
    nl.store(out, r)
    return out
  end, {platform_target = "trn3", func_name = "k"})
end

local function same(want, got)
  assert.equal(want.dtype, got.dtype)
  assert.same(want:totable(), got:totable())
end

-- {name, f(dst, src)}: any element-wise instruction on tiles of one shape
local lanewise = {
  {"tensor_copy", function(dst, src) nisa.tensor_copy(dst, src) end},
  {"tensor_copy on the Scalar engine", function(dst, src)
    nisa.tensor_copy {dst = dst, src = src, engine = nisa.engine.scalar}
  end},
  {"tensor_tensor", function(dst, src)
    local ones = nl.full({P, n}, 1.5, nl.float32)
    nisa.tensor_tensor(dst, src, ones, nl.add)
  end},
  {"tensor_tensor on GpSimd", function(dst, src)
    nisa.tensor_tensor {dst = dst, data1 = src, data2 = nl.full({P, n}, 2.0, nl.float32), op = nl.multiply,
                        engine = nisa.engine.gpsimd}
  end},
  {"tensor_scalar", function(dst, src) nisa.tensor_scalar(dst, src, nl.multiply, 3.0) end},
  {"activation", function(dst, src) nisa.activation {dst = dst, op = nl.square, data = src} end},
  {"activation_reduce", function(dst, src)
    nisa.activation_reduce {dst = dst, op = nl.square, data = src, reduce_op = nl.add, reduce_res = sb {P, 1}}
  end},
  {"activate2", function(dst, src)
    nisa.activate2 {dst = dst, op = nl.relu, data = src, imm0 = 2.0, imm1 = 1.0, op0 = nl.multiply, op1 = nl.add}
  end},
  {"exponential", function(dst, src) nisa.exponential(dst, src, 2.0) end},
  {"tensor_scalar_reduce", function(dst, src)
    nisa.tensor_scalar_reduce {dst = dst, data = src, op0 = nl.add, operand0 = 1.0, reduce_op = nl.add,
                               reduce_res = sb {P, 1}}
  end},
  {"tensor_scalar_cumulative", function(dst, src)
    nisa.tensor_scalar_cumulative {dst = dst, src = src, op0 = nl.multiply, op1 = nl.add, imm0 = 1.0}
  end},
}

describe("indirect views", function()
  for _, c in ipairs(lanewise) do
    it("gather and scatter in " .. c[1], function()
      local plain = kernel(function(x)
        local out = nl.zeros({P, n}, nl.float32)
        c[2](out, x)
        return out
      end)(picked(16))
      same(plain, trip.run(kernel(function(x, index)
        local out = nl.zeros({P, n}, nl.float32)
        c[2](out, x:indirect(index, n))
        return out
      end), data(), lists(16)))
      same(spread(plain, 16), trip.run(kernel(function(x, index)
        local out = nl.zeros({P, F}, nl.float32)
        c[2](out:indirect(index, n), x)
        return out
      end), picked(16), lists(16)))
      same(spread(plain, 16), trip.run(kernel(function(x, index)
        local out = nl.zeros({P, F}, nl.float32)
        c[2](out:indirect(index, n), x:indirect(index, n))
        return out
      end), data(), lists(16)))
    end)
  end

  it("gather what the lists say", function()
    same(picked(16), kernel(function(x, index)
      local out = sb {P, n}
      nisa.tensor_copy(out, x:indirect {index = index, num_elem = n})
      return out
    end)(data(), lists(16)))
  end)

  it("take all of a short index tensor, of a part of a tile, of any dtype", function()
    -- 16 partitions: index.size is all there is; the view begins at element 8 of its tile
    local index = nd.array(gen.rows(16, function(p) return {15 - p} end), "uint16")
    for _, dtype in ipairs {"bfloat16", "uint8", "int32"} do
      local add = dtype == "uint8" and 9 or 0
      local whole = nd.array(gen.rows(16, function(p)
        return gen.rows(F, function(f) return value(p, f) + add end)
      end), dtype)
      local got = trip.run(kernel(function(x, at_)
        local out = sb({16, 16}, dtype)
        local part = x[{{}, {8, 24}}]:indirect(at_)
        assert.same({16, 16}, {part.shape:unpack()})
        nisa.tensor_copy(out, part)
        return out
      end), whole, index)
      same(nd.array(gen.rows(16, function(p)
        return gen.rows(16, function(i) return value(p, 8 + 15 - i) + add end)
      end), dtype), got)
    end
  end)

  it("reduce gathered elements, and scatter what was reduced", function()
    local function sum(_, v) return gen.rows(P, function(p)
      local s = 0.0
      for i = 0, n - 1 do s = s + v:get(p, i) end
      return {s}
    end) end
    same(nd.array(sum(16, picked(16))), trip.run(kernel(function(x, index)
      local out = sb {P, 1}
      nisa.tensor_reduce {dst = out, op = nl.add, data = x:indirect(index, n), axis = 1}
      return out
    end), data(), lists(16)))
    local got = trip.run(kernel(function(x, index)
      local out = nl.zeros({P, F}, nl.float32)
      nisa.tensor_reduce {dst = out:indirect(index, 1), op = nl.maximum, data = x, axis = 1}
      return out
    end), data(), lists(16))
    for p = 0, P - 1 do
      for f = 0, F - 1 do
        assert.equal(f == number(16)(p // 16, 0) and 13 or 0, got:get(p, f))
      end
    end
  end)

  it("predicates gather, copies where they hold scatter and leave the rest", function()
    local pred = nd.array(gen.rows(P, function(p)
      return gen.rows(F, function(f) return (p + f) % 3 == 0 and 1 or 0 end)
    end), "uint8")
    local got = trip.run(kernel(function(x, mask, index)
      nisa.tensor_copy_predicated(x:indirect(index, n), 100.0, mask:indirect(index, n))
      return x
    end), data(), pred, lists(16))
    for p = 0, P - 1 do
      local hit = {}
      for i = 0, n - 1 do hit[number(16)(p // 16, i)] = true end
      for f = 0, F - 1 do
        assert.equal(hit[f] and (p + f) % 3 == 0 and 100 or value(p, f), got:get(p, f))
      end
    end
  end)

  it("a copy where nothing is chosen twice keeps what it did not choose", function()
    -- both numbers of a list are 3; only the first one's element is chosen, so the second must not undo it
    local same_place = nd.full({16, 1}, 3, "uint16")
    local mask = nd.array(gen.rows(16, function() return {1, 0} end), "uint8")
    local got = kernel(function(x, pred, index)
      nisa.tensor_copy_predicated(x:indirect(index, 2), 7.0, pred)
      return x
    end)(nd.zeros {16, 8}, mask, same_place)
    for p = 0, 15 do assert.equal(7, got:get(p, 3)) end
  end)

  it("the last of several writes to one element is kept, and the run says so", function()
    local r = build.run {"-e", [[
      local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
      local nd = require "nki.ndarray"
      local k = nki.jit(function(x, index)
        local out = nl.zeros({16, 8}, nl.float32)
        nisa.tensor_copy(out:indirect(nl.load(index), 4), nl.load(x))
        local y = nl.ndarray({16, 8}, nl.float32, {buffer = nl.shared_hbm})
        nl.store(y, out)
        return y
      end, {platform_target = "trn3"})
      local row = {1, 2, 3, 4}
      local x, at = {}, {}
      for p = 1, 16 do x[p], at[p] = row, {5} end
      local y = k(nd.array(x), nd.array(at, "uint16"))
      print(y:get(9, 5), y:get(9, 4))]]}
    assert.equal("4.0\t0.0\n", r.out)
    assert.truthy(r.err:find("picks element 5 of the partitions of sbuf_0[16,8] float32 in sbuf more than", 1, true))
  end)

  it("the Tensor engine takes its numbers from groups of 32", function()
    local function st(k, m) return (k + 2 * m) % 5 - 2 end
    local x = data("bfloat16")
    local w = nd.array(gen.rows(P, function(k) return gen.rows(8, function(m) return st(k, m) end) end), "bfloat16")
    local want = gen.rows(8, function(m) return gen.rows(n, function(i)
      local s = 0.0
      for k = 0, P - 1 do s = s + st(k, m) * value(k, number(32)(k // 32, i)) end
      return s
    end) end)
    local got = trip.run(kernel(function(moving, stationary, index)
      local out = ps {8, n}
      nisa.nc_matmul(out, stationary, moving:indirect(index, n))
      return out
    end), x, w, lists(32))
    same(nd.array(want), got)
  end)

  it("matmul results scatter and accumulate where they lie", function()
    local K2 = 32
    local x = nd.array(gen.rows(K2, function(k) return gen.rows(n, function(i) return (k + i) % 4 end) end), "bfloat16")
    local w = nd.array(gen.rows(K2, function(k)
      return gen.rows(32, function(m) return (k * m) % 3 end)
    end), "bfloat16")
    local got = trip.run(kernel(function(moving, stationary, index)
      local out = nl.ndarray({32, F}, nl.bfloat16, {buffer = nl.psum})
      nisa.memset(out, 0.0)
      for _ = 1, 2 do nisa.nc_matmul(out:indirect(index, n), stationary, moving) end
      return out
    end), x, w, lists(32, 32))
    local want = nd.zeros({32, F}, "bfloat16")
    for m = 0, 31 do
      for i = 0, n - 1 do
        local s = 0
        for k = 0, K2 - 1 do s = s + (k + i) % 4 * ((k * m) % 3) end
        want:set(m, number(32)(0, i), 2 * s)
      end
    end
    same(want, got)
  end)

  it("packed tiles and their scales gather together", function()
    local plain, gathered = {}, {}
    local function run(list, pick)
      list[1] = kernel(function(index)
        local src = nl.ndarray({32, 8 * 4}, nl.bfloat16)
        nisa.iota(nl.ndarray({32, 32}, nl.int32), {{1, 32}}, 0, 1)
        local raw = nl.ndarray({32, 32}, nl.int32)
        nisa.iota(raw, {{1, 32}}, 0, 3)
        nisa.tensor_scalar(src, raw, nl.multiply, 0.25)
        local q, sc = sb({32, 8}, nl.float8_e4m3fn_x4), nl.ndarray({32, 8}, nl.uint8)
        nisa.memset(sc, 127)
        nisa.quantize_mx(q, src, sc)
        local out = ps {8, 4}
        local mv, ms = q[{{}, {0, 4}}], sc[{{}, {0, 4}}]
        if pick then mv, ms = q:indirect(index, 4), sc:indirect(index, 4) end
        nisa.nc_matmul_mx {dst = out, stationary = q, moving = mv, stationary_scale = sc, moving_scale = ms}
        return out
      end)(nd.array(gen.rows(32, function(p) return {p % 4} end), "uint16"))
    end
    run(plain, false)
    run(gathered, true)
    same(plain[1], gathered[1])
  end)

  it("say what they are and have no views", function()
    local k = nki.jit(function()
      local v = sb {32, 8}:indirect(at(32, 1), 8)
      assert.is_true(v:is_indirect())
      assert.is_false(v:is_contiguous())
      assert.truthy(tostring(v):find("indirect view [32,8]", 1, true))
      for _, f in ipairs {
        function() return v[{{}, {0, 4}}] end, function() return v:reshape {32, 2, 4} end,
        function() return v:permute {0, 1} end, function() return v:expand_dim(1) end,
        function() return v:slice(1, 0, 2) end, function() return v:select(1, 0) end,
        function() return v:reshape_dim(1, {2, 4}) end,
      } do raises("err_view_picked", "cannot be viewed again", f) end
      raises("err_view_ap_indirect", "run-time offset", function() return v:view(nl.int32) end)
      raises("err_view_ap_indirect", "run-time offset", function() return v:ap {{8, 32}, {1, 4}} end)
      raises("err_view_one_dynamic", "at most one", function() return v:indirect(at(32, 1), 4) end)
      local out = nl.ndarray({1, 1}, nl.float32, {buffer = nl.shared_hbm})
      nl.store(out, nl.zeros({1, 1}, nl.float32))
      return out
    end, {platform_target = "trn3", func_name = "k"})
    k:specialize()
  end)
end)

describe("an indirect view refuses", function()
  for i, c in ipairs(require "spec.support.indirect_refusals") do
    it(("%d: %s"):format(i, c[2]), function() case.reject {c[1], c[2], c[3], target = c[4] or "trn3"} end)
  end

  it("a number beyond the view, on the line of the instruction", function()
    local k = kernel(function(x, index_)
      local out = sb {16, 4}
      nisa.tensor_copy(out, x[{{}, {0, 8}}]:indirect(index_, 4)) -- HERE
      return out
    end)
    local numbers = nd.array(gen.rows(16, function(p) return {p == 2 and 8 or 1} end), "uint16")
    local ok, e = pcall(k, nd.zeros {16, 12}, numbers)
    assert.is_false(ok)
    assert.equal("err_tensor_access_out_of_bound", e.id)
    assert.truthy(e:find("number [2, 0] of its index tensor picks element 8 of 8 per partition", 1, true))
    local line = 0
    for text in io.lines "spec/lang/indirect_spec.lua" do
      line = line + 1
      if text:find("HERE", 1, true) then break end
    end
    assert.equal(line, e.line)
  end)
end)

describe("rows of a view", function()
  it("are picked by the view's own rows: single elements of a reshaped tensor", function()
    local R, V = 6, 10
    local logits = nd.arange(R * V):reshape {R, V}
    local labels = nd.array({{3}, {0}, {9}, {5}, {5}, {1}}, "int32")
    local k = nki.jit(function(x, label)
      local l, base, where = nl.load(label), sb({R, 1}, nl.int32), sb({R, 1}, nl.int32)
      nisa.iota(base, {{1, 1}}, 0, V)
      nisa.tensor_tensor(where, base, l, nl.add)
      local got = nl.load(x:reshape({R * V, 1}):vector_select(0, where))
      local out = nl.ndarray({R, 1}, nl.float32, {buffer = nl.shared_hbm})
      nl.store(out, got)
      return out
    end, {platform_target = "trn2", func_name = "k"})
    local got = trip.run(k, logits, labels)
    for r = 0, R - 1 do assert.equal(r * V + labels:get(r, 0), got:get(r, 0)) end
  end)

  it("are every second row, or scattered to; a row that the view has not is refused", function()
    local k = nki.jit(function(x, at_)
      local rows = nl.load(at_)
      local got = nl.load(x[{{1, 9, 2}}]:vector_select(0, rows)) -- rows 1, 3, 5, 7
      local out = nl.ndarray({16, 2}, nl.float32, {buffer = nl.shared_hbm})
      nl.store(out, nl.zeros({16, 2}, nl.float32))
      nl.store(out:reshape({8, 4})[{{}, {0, 3}}]:vector_select(0, rows), got)
      return out
    end, {platform_target = "trn2", func_name = "k"})
    local x = nd.arange(10 * 3):reshape {10, 3}
    local got = trip.run(k, x, nd.array({{3}, {0}}, "int32"))
    local want = {}
    for i = 0, 2 do
      want[12 + i] = 21 + i
      want[i] = 3 + i
    end
    for e = 0, 31 do assert.equal(want[e] or 0, got:get(e // 2, e % 2)) end
    local ok, e = pcall(k, x, nd.array({{3}, {4}}, "int32"))
    assert.is_false(ok)
    assert.truthy(e:find("row 1 of its vector offset is index 4 of dimension 0, which has 4", 1, true))
  end)
end)
