-- section_5_spec: the specialization cache.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local raises = require "spec.support.raises"

local d = nki.decl({2, 2}, "float32")

local function scaled(a, by)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a) * (type(by) == "number" and by or 1))
  return out
end

local function misses(k, ...)
  local before = k:cache_info().misses
  k:specialize(...)
  return k:cache_info().misses - before
end

describe("section 5: the key", function()
  it("has a tensor by shape and dtype only, never by its values", function()
    local k = nki.jit(scaled)
    assert.equal(1, misses(k, nd.zeros({2, 2}, "float32"), 1.0))
    assert.equal(0, misses(k, nd.ones({2, 2}, "float32"), 1.0))
    assert.equal(1, misses(k, nd.ones({2, 3}, "float32"), 1.0))
    assert.equal(1, misses(k, nd.ones({2, 2}, "bfloat16"), 1.0))
  end)

  it("has a constant by value: each one is a specialization of its own", function()
    local k = nki.jit(scaled)
    for _, value in ipairs{1, 1.0, true, 0.0, -0.0, 0 / 0, "1"} do
      assert.equal(1, misses(k, d, value))
      assert.equal(0, misses(k, d, value))
    end
  end)

  it("raises for an argument that is not hashable instead of ignoring it", function()
    local k = nki.jit(scaled)
    raises("err_nki_param_not_hashable", "parameter 'by'", function()
      k:specialize(d, {1, 2})
    end)
    raises("err_nki_param_not_hashable", "parameter 'by'", function()
      k:_arg_hash_key(d, {1, 2})
    end)
    raises("err_nki_param_not_hashable", "a kernel takes tensors, numbers", function()
      k:_return_shape_dtype_or_hashable({1, 2})
    end)
    assert.equal(1, misses(k, d, nki.tuple{1, 2}))
    assert.equal(0, misses(k, d, nki.tuple{1, 2}))
  end)

  it("has the grid, the options, and the target", function()
    local k = nki.jit(scaled, {platform_target = "trn2"})
    local keys = {}
    for _, way in ipairs{k, k[2], k[{2, 1}], k:replace{opts = {a = 1}}, k:replace{platform_target = "trn1"}} do
      local key = way:_arg_hash_key(d, 2)
      assert.is_nil(keys[key])
      keys[key] = true
      assert.equal(key, way:_generate_hash_key(way:bind_arguments(d, {by = 2})))
    end
  end)

  it("is what the cache holds the whole result under", function()
    local k = nki.jit(scaled)
    local a = k:specialize(d, 3)
    local entry = k.__neuron_kernel_interface_kernel_cache__[1]
    assert.equal(k:_arg_hash_key(d, 3), entry.key)
    assert.equal(a, entry.result)
    assert.equal(a.operand_output_aliases[1], entry.result.operand_output_aliases[1])
    assert.equal(a, k:specialize(d, 3))
  end)
end)

describe("section 5: the cache", function()
  it("is ordered and is never emptied by itself", function()
    local k = nki.jit(scaled)
    for i = 1, 200 do
      k:specialize(d, i)
    end
    assert.equal(200, k:cache_info().entries)
    local entries = k.__neuron_kernel_interface_kernel_cache__
    assert.equal(1, entries[1].result.constant_values[1].value)
    assert.equal(200, entries[200].result.constant_values[1].value)
  end)

  it("has a cap when it is asked for", function()
    local k = nki.jit(scaled, {cache_size = 3})
    for i = 1, 10 do
      k:specialize(d, i)
    end
    assert.equal(3, k:cache_info().entries)
  end)

  it("is not there with enable_cache = false", function()
    local k = nki.jit(scaled, {enable_cache = false})
    assert.not_equal(k:specialize(d, 1), k:specialize(d, 1))
    assert.equal(0, k:cache_info().entries)
  end)
end)
