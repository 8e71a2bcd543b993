-- Section 4 of the source page: what a program holds besides its operands. Constant tensors are trailing operands of
-- the custom-call; numbers keep their kind and all their bits.
local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local raises = require "spec.support.raises"
local testing = require "nki.testing"

local function plus(table_of)
  return nki.jit(function(a)
    local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
    nl.store(out, nl.load(a) + nl.load(nl.shared_constant(table_of)))
    return out
  end, {func_name = "plus", platform_target = "trn2"})
end

local big = nd.random.normal({8, 16}, {seed = 5})
local d = nki.decl({8, 16}, "float32")

describe("section 4: a host array that a kernel makes a constant of", function()
  it("is no operand of the kernel and the last one of the custom-call", function()
    local a = plus(big):specialize(d)
    assert.same({"a"}, a.input_names)
    assert.equal(1, #a.constant_values)
    local c = a.constant_values[1]
    assert.same({"tensor", "float32"}, {c.kind, c.dtype})
    assert.same({8, 16}, c.shape)
    assert.matches("f32%[8,16%]{1,0} custom%-call%(%%a, %%constant%.0%), custom_call_target", (a:hlo()))
    assert.matches("f32%[8,16%]{1,0} constant%({ ?{", (a:hlo()))
    assert.matches("stablehlo%.constant dense<", (a:stablehlo()))
    assert.matches("%(tensor<8x16xf32>, tensor<8x16xf32>%) %-> tensor<8x16xf32>", (a:stablehlo()))
    assert.same({}, a.operand_output_aliases)
  end)

  it("is in the key by its elements", function()
    local k = plus(big)
    local first = k:specialize(d)
    assert.equal(first.cache_key, plus(big:copy()):specialize(d).cache_key)
    local kept = big:get(3, 4)
    big:set(3, 4, kept + 1)
    local second = k:specialize(d)
    assert.not_equal(first.cache_key, second.cache_key)
    assert.not_equal(first.backend_config, second.backend_config)
    big:set(3, 4, kept)
    assert.equal(first, k:specialize(d))
    assert.equal(2, k:cache_info().entries)
  end)

  it("is there once, however often it is asked for", function()
    local k = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      local one, two = nl.load(nl.shared_constant(big)), nl.load(nl.shared_constant(big:copy()))
      nl.store(out, nl.load(a) + one + two + nl.load(nl.shared_constant(big + big)))
      return out
    end)
    assert.equal(2, #k:specialize(d).constant_values)
  end)

  it("gives NumPy's sum, from Lua, from a config and from another process", function()
    local x = nd.random.normal({8, 16}, {seed = 6})
    local k = plus(big)
    testing.assert_equal(k(x), x + big)
    local a = k:specialize(d)
    testing.assert_equal(nki.decode(a.backend_config):simulate(x), x + big)
    local folder = cli.folder()
    build.spit(folder .. "/c", a.backend_config)
    nd.save(folder .. "/x.npy", x)
    cli.ok{"exec", folder .. "/c", "a=" .. folder .. "/x.npy", "-o", folder .. "/y.npy"}
    testing.assert_equal(nd.load(folder .. "/y.npy"), x + big)
    os.execute("rm -rf " .. build.quote(folder))
  end)
end)

describe("section 4: numbers beyond what a double holds", function()
  local function pass(a)
    return a
  end

  it("keep kind and value as constants", function()
    local k = nki.jit(function(a, n)
      assert(n ~= nil)
      return a
    end)
    for _, n in ipairs{math.maxinteger, math.mininteger, (1 << 53) + 1, -(1 << 53) - 1, (1 << 53) - 1, 1 << 53, 0.5,
      3.0, math.huge, -math.huge, "9223372036854775807"} do
      local a = k:specialize(d, n)
      local b = nki.decode(a.backend_config)
      assert.equal(a.backend_config, b.backend_config)
      for _, artifact in ipairs{a, b} do
        local got = artifact.constant_values[1].value
        assert.equal(n, got)
        assert.equal(math.type(n), math.type(got))
      end
    end
    local nan = nki.decode(k:specialize(d, 0 / 0).backend_config).constant_values[1].value
    assert.is_true(nan ~= nan)
    local tuple = k:specialize(d, nki.tuple{1, nki.tuple{math.mininteger}}).constant_values[1].value
    assert.equal(math.mininteger, tuple[2].value[1].value)
  end)

  it("keep kind and value as options, or are refused where the config cannot hold them", function()
    for _, n in ipairs{1 << 53, -(1 << 53), (1 << 53) - 1, 2.0 ^ 53, 2.0 ^ 60, -0.5, 3.0, "9223372036854775807",
      true} do
      local a = nki.jit(pass, {opts = {level = n}}):specialize(d)
      for _, artifact in ipairs{a, nki.decode(a.backend_config)} do
        assert.equal(n, artifact.opts.level)
        assert.equal(math.type(n), math.type(artifact.opts.level))
      end
    end
    for _, n in ipairs{(1 << 53) + 1, -(1 << 53) - 1, math.maxinteger, math.mininteger, math.huge, -math.huge, 0 / 0} do
      raises("err_opt_value", (n == n and tostring(n) or "nan") .. "; the config holds integers", function()
        nki.jit(pass, {opts = {level = n}})
      end)
      raises("err_opt_value", "opts.level is", function()
        nki.jit(pass):with_opts{level = n}
      end)
    end
  end)
end)
