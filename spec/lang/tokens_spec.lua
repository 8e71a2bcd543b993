-- Tokens and module tables.
local kernel = require "spec.support.kernel"
local nl, nisa = require "nki.language", require "nki.isa"

describe("module tables", function()
  it("are strict and suggest the nearest name", function()
    local ok, e = pcall(function() return nl.laod end)
    assert.is_false(ok)
    assert.equal("no nl.laod; did you mean nl.load?", e.message)
    ok, e = pcall(function() return nisa.tensor_tensr end)
    assert.is_false(ok)
    assert.equal("no nisa.tensor_tensr; did you mean nisa.tensor_tensor?", e.message)
    ok, e = pcall(function() return nisa.engine.vektor end)
    assert.is_false(ok)
    assert.equal("no nisa.engine.vektor; did you mean nisa.engine.vector?", e.message)
    assert.is_false((pcall(function() return nl[1] end)))
    ok, e = pcall(function() return require "nki".ndarray end)
    assert.is_false(ok)
    assert.equal('no nki.ndarray; it is a module: require "nki.ndarray"', e.message)
    ok, e = pcall(function() return require "nki".kernels end)
    assert.is_false(ok)
    assert.equal('no nki.kernels; it is a module: require "nki.kernels.softmax" for one', e.message)
    ok, e = pcall(function() return nl.isa end)
    assert.is_false(ok)
    assert.is_nil(e.message:find("module", 1, true))
  end)

  it("cannot be changed", function()
    for _, m in ipairs {nl, nisa, nisa.engine, nl.MemoryRegion, nl.tile_size} do
      local ok, e = pcall(function() m.add = 1 end)
      assert.is_false(ok)
      assert.equal("err_read_only", e.id)
    end
    assert.is_false(getmetatable(nl))
  end)

  it("can be listed", function()
    local seen = {}
    for k, v in pairs(nl) do seen[k] = v end
    assert.equal(nl.add, seen.add)
    assert.equal("float32", seen.float32)
    assert.equal("function", type(seen.softmax))
  end)

  it("have every dtype under its name", function()
    for _, name in ipairs {"bool_", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32",
      "bfloat16", "tfloat32",
      "float8_e4m3", "float8_e4m3fn", "float8_e5m2", "float8_e5m2_x4", "float8_e4m3fn_x4", "float8_e8m0fnu",
        "float4_e2m1fn_x4"} do
      assert.equal(name, nl[name])
    end
  end)
end)

describe("tokens", function()
  it("have names, values and identity", function()
    assert.equal("nl.add", tostring(nl.add))
    assert.equal("add", nl.add.name)
    assert.equal("nisa.engine.vector", tostring(nisa.engine.vector))
    assert.equal("vector", nisa.engine.vector.name)
    assert.equal(5, nisa.engine.vector.value)
    assert.equal(nisa.engine.vector, nisa.vector_engine)
    assert.equal(nl.hbm, nl.private_hbm)
    assert.equal(nl.sbuf, nl.MemoryRegion.sbuf)
    assert.equal("sbuf", nl.sbuf.value)
    assert.are_not.equal(nl.sbuf, nl.psum)
  end)

  it("are immutable and only some can be called", function()
    assert.is_false((pcall(function() nl.add.name = "x" end)))
    local ok, e = pcall(function() return nl.add.nam end)
    assert.is_false(ok)
    assert.equal("no nl.add.nam", e.message)
    e = kernel.error_of(function(t) nl.average(t) end)
    assert.equal("err_token_call", e.id)
    kernel.trace(function(t) assert.equal("{128, 64}", tostring(nl.add(t, t).shape)) end)
  end)

  it("stand for operators and activations", function()
    local art = kernel.trace(function(t)
      nisa.tensor_tensor(t, t, t, nl.maximum)
      nisa.activation(t, nl.gelu, t)
      nisa.tensor_scalar(t, t, nl.subtract, 1, true, nl.multiply, 2)
    end)
    for _, name in ipairs {"maximum", "gelu", "subtract", "multiply"} do
      assert.truthy(art.ir:find('"' .. name .. '"', 1, true), name)
    end
  end)

  it("tell memories apart", function()
    assert.is_true(nl.is_hbm(nl.shared_hbm))
    assert.is_true(nl.is_hbm(nl.hbm))
    assert.is_false(nl.is_hbm(nl.sbuf))
    assert.is_true(nl.is_on_chip(nl.psum))
    assert.is_true(nl.is_sbuf(nl.sbuf))
    assert.is_false(nl.is_psum(nl.sbuf))
    assert.is_false((pcall(nl.is_sbuf, "sbuf")))
  end)
end)

describe("nl.tile_size", function()
  it("knows the target of the running kernel", function()
    assert.equal(128, nl.tile_size.pmax)
    assert.equal(512, nl.tile_size.gemm_moving_fmax)
    assert.equal(2048, nl.tile_size.psum_bank_fmax_bytes)
    local seen = {}
    for _, target in ipairs {"trn1", "trn2", "trn3"} do
      kernel.trace(function()
        seen[target] = {nl.tile_size.sbuf_fmax_bytes, nl.tile_size.sbuf_size_bytes, nisa.get_nc_version().name}
      end, nil, {platform_target = target, enable_cache = false})
    end
    assert.same({180224, 25165824, "gen2"}, seen.trn1)
    assert.same({212984, 29360128, "gen3"}, seen.trn2)
    assert.same({245752, 33554432, "gen4"}, seen.trn3)
    local ok, e = pcall(function() return nl.tile_size.pmx end)
    assert.is_false(ok)
    assert.equal("no nl.tile_size.pmx; did you mean pmax?", e.message)
  end)
end)
