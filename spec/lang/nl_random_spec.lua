-- Random numbers and gathers of nl, nl.shared_identity_matrix; what the run-time checks of gathers say.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local gen = require "spec.support.generators"
local build = require "spec.support.build"
local raises = require "spec.support.raises"

local function run(target, f, ...)
  local k = nki.jit(function(a, b)
    local t = f(a and nl.load(a), b and nl.load(b))
    local out = nl.ndarray(t.shape, t.dtype, {buffer = nl.shared_hbm})
    nl.store(out, t)
    return out
  end, {platform_target = target, func_name = "random"})
  return k(...)
end

local function units(seed, gen4)
  return nd.array(gen.rows(3, function(p)
    return gen.map(gen.vector(seed, gen4)(p, 8), gen.unit)
  end))
end

describe("random numbers of nl", function()
  it("are the generator's upper 24 bits as a fraction, on every generation", function()
    for target, gen4 in pairs {trn1 = false, trn2 = false, trn3 = true} do
      local got = run(target, function(seed)
        nl.random_seed(seed)
        return nl.rand({3, 8}, nl.float32)
      end, nd.array({{42}}, "int32"))
      assert.equal(units(42, gen4), got)
    end
  end)

  it("stay in memory and under the name that is asked for", function()
    local r = run("trn1", function()
      local t = nl.rand({4, 8}, nl.bfloat16, {buffer = nl.psum, name = "noise"})
      assert.equal(nl.psum, t.buffer)
      assert.equal("noise", t.name)
      return nl.copy(t)
    end)
    assert.equal("bfloat16", r.dtype)
  end)

  it("drop elements in another dtype, too", function()
    local r = run("trn1", function(x) return nl.dropout(x, 0.5, {dtype = nl.bfloat16}) end, nd.ones({3, 8}, "float32"))
    local want = nd.array(gen.rows(3, function(p)
      return gen.map(gen.vector(0)(p, 8), function(w) return gen.unit(w) >= 0.5 and 1 or 0 end)
    end), "bfloat16")
    assert.equal(want, r)
  end)
end)

describe("nl.gather_flattened", function()
  local x, index = nd.array {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, nd.array({{3, 0, 0}, {1, 1, 2}}, "uint32")

  it("picks elements of each partition", function()
    local r = run("trn1", nl.gather_flattened, x, index)
    assert.equal(nd.array {{4, 1, 1}, {6, 6, 7}}, r)
  end)

  it("converts, and knows partitions as its axis only", function()
    local r = run("trn1", function(a, b) return nl.gather_flattened(a, b, {dtype = nl.bfloat16}) end, x, index)
    assert.equal("bfloat16", r.dtype)
    raises("err_bind_value", "axis",
      function() run("trn1", function(a, b) return nl.gather_flattened(a, b, 1) end, x, index) end)
  end)

  it("stops at an index outside", function()
    raises("err_tensor_access_out_of_bound", "its element 4 is 4, and data has 4 elements per partition", function()
      run("trn1", nl.gather_flattened, x, nd.array({{3, 0, 0}, {1, 4, 2}}, "uint32"))
    end)
  end)
end)

describe("run-time faults of gathers", function()
  it("local_gather stops at a run that leaves the partition", function()
    raises("err_tensor_access_out_of_bound", "its element 0 is 7, and src_buffer has 8 elements per partition",
      function()
      run("trn1", function(src, index)
        local out = nl.ndarray({16, 32}, nl.float32)
        nisa.local_gather {dst = out, src_buffer = src, index = index, num_elem_per_idx = 2, num_valid_indices = 16}
        return out
      end, nd.zeros({16, 8}, "float32"), nd.full({16, 1}, 7, "uint16"))
    end)
  end)

  local function scatter(index)
    local k = nki.jit(function(t, i, a)
      local out = nl.ndarray(t.shape, t.dtype, {buffer = nl.shared_hbm})
      nisa.dma_copy(out, t)
      local picked = out:vector_select(0, nl.load(i))
      nisa.dma_compute(picked, {picked, nl.load(a)}, nl.add)
      return out
    end, {platform_target = "trn1", func_name = "scatter"})
    return k(nd.zeros({4, 2}, "float32"), nd.array(index, "int32"), nd.ones({2, 2}, "float32"))
  end

  it("dma_compute stops at a row that does not exist", function()
    raises("err_tensor_access_out_of_bound", "row 1 of its vector offset is index 4 of dimension 0, which has 4",
      function()
      scatter {{0}, {4}}
    end)
  end)
end)

describe("reports", function()
  local function reported(body)
    local r = build.run {"-e", [[
      local nki, nl, nisa, nd = require "nki", require "nki.language", require "nki.isa", require "nki.ndarray"
      nki.jit(function(x)
        local tile = nl.load(x)
        ]] .. body .. [[

        nl.store(x, tile)
        return x
      end, {platform_target = "trn3"})(nd.zeros({2, 4}, "float32"))]]}
    assert.equal(0, r.code, r.err)
    return r.err
  end

  it("name an index that dma_compute is given twice", function()
    assert.matches("nisa.dma_compute: unique_indices is set, but row 1 of .* is picked more than once", reported [[
      local rows = nl.ndarray({2, 1}, nl.int32)
      nisa.memset(rows, 1)
      local picked = nl.ndarray({3, 4}, nl.float32, {buffer = nl.private_hbm})
      nl.store(picked, nl.zeros({3, 4}, nl.float32))
      picked = picked:vector_select(0, rows)
      nisa.dma_compute(picked, {picked, tile}, nl.add)]])
  end)

  it("name an accumulator of the Vector engine that is used before any reset", function()
    assert.matches("uses the Vector engine's accumulator of partition 0 before any reset", reported [[
      nisa.exponential {dst = tile, src = tile, reduce_cmd = nisa.reduce_cmd.reduce}]])
    assert.equal("", reported [[
      local sum = nl.ndarray({2, 1}, nl.float32)
      nisa.exponential {dst = tile, src = tile, reduce_cmd = nisa.reduce_cmd.reset_reduce}
      nisa.tensor_scalar_reduce {dst = tile, data = tile, op0 = nl.add, operand0 = 1.0, reduce_op = nl.maximum,
        reduce_res = sum, reduce_cmd = nisa.reduce_cmd.reduce}]])
  end)
end)

describe("nl.shared_identity_matrix", function()
  it("has ones where partition and column agree", function()
    assert.equal(nd.array({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, "uint8"),
      run("trn1", function() return nl.shared_identity_matrix(3) end))
    assert.equal("float32", run("trn1", function() return nl.shared_identity_matrix(3, nl.float32) end).dtype)
    assert.equal(nd.array {{1, 0}, {0, 1}}, run("trn1", function()
      return nl.shared_identity_matrix(2, {dtype = nl.float32, dst = nl.ndarray({2, 2}, nl.float32)})
    end))
  end)
end)
