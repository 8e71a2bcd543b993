-- Class names as values, the handle that a call of nisa returns, and constants that a kernel carries.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local kernel = require "spec.support.kernel"
local raises = require "spec.support.raises"

local function refuses(id, text, fn) return raises(id, text, function() kernel.trace(fn) end) end

describe("nl.NkiTensor", function()
  it("has methods and attributes as functions", function()
    kernel.trace(function(t)
      assert.same({128, 8, 8}, {nl.NkiTensor.reshape(t, {128, 8, 8}).shape:unpack()})
      assert.equal(t.dtype, nl.NkiTensor.dtype(t))
      assert.equal(4, nl.NkiTensor.__getitem__(t, {{}, {0, 4}}).shape[1])
      nl.NkiTensor.__setitem__(t, {{}, {0, 1}}, 0.0)
    end)
  end)

  it("knows its own", function()
    kernel.trace(function(t)
      assert.is_true(nl.NkiTensor.isinstance(t))
      assert.is_false(nl.NkiTensor.isinstance(3) or nl.NkiTensor.isinstance(nl.add))
    end)
  end)

  it("rebinds storage, or declares without any", function()
    kernel.trace(function(t)
      local v = nl.NkiTensor({128, 128}, nl.bfloat16, t)
      assert.same({128, 128}, {v.shape:unpack()})
      assert.equal("bfloat16", v.dtype)
    end)
    assert.same({2, 3}, {nl.NkiTensor({2, 3}, nl.int8).shape:unpack()})
    refuses("err_bind_kind", "parameter 'storage'", function() return nl.NkiTensor({1}, nl.int8, 3) end)
    refuses("err_bind_value", "the storage is in nl.sbuf", function(t)
      return nl.NkiTensor({128, 64}, nl.float32, t, nl.psum)
    end)
  end)

  it("is read-only and strict", function()
    raises("err_no_such_name", "no nl.NkiTensor.reshap", function() return nl.NkiTensor.reshap end)
    raises("err_read_only", "nl.NkiTensor", function() nl.NkiTensor.x = 1 end)
    assert.equal("class nl.NkiTensor", tostring(nl.NkiTensor))
  end)

  it("does not make a kernel impure", function()
    local k = nki.jit(function(a)
      assert(nl.NkiTensor.isinstance(a))
      return a
    end)
    k(nd.ones {2, 2})
    k(nd.ones {2, 2})
    assert.equal(1, k:cache_info().hits)
  end)
end)

describe("nl.NKIObject", function()
  local Config = nl.NKIObject:extend {tile = 128, name = "c"}
  local Wide = Config:extend {tile = 512}

  it("has fields, defaults and structural equality", function()
    local a, b = Config {tile = 64}, Config {tile = 64}
    assert.same({64, "c", 512, "c"}, {a.tile, a.name, Wide().tile, Wide().name})
    assert.is_true(a == b)
    assert.is_false(a == Config {tile = 32} or a == Config() or Config() == Wide {tile = 128})
    assert.is_true(nl.NKIObject {x = a} == nl.NKIObject {x = b})
    raises("err_bind_key", "fields have names", function() Config {1} end)
  end)

  it("knows its own and takes methods", function()
    function Config:twice() return 2 * self.tile end
    assert.equal(1024, Wide():twice())
    assert.is_true(Config.isinstance(Wide()) and nl.NKIObject.isinstance(Config()) and Wide.isinstance(Wide()))
    assert.is_false(Wide.isinstance(Config()) or Config.isinstance {} or Config.isinstance(3))
  end)

  it("serves a kernel from outside", function()
    local cfg = Config {tile = 3}
    local k = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(a) * cfg.tile)
      return out
    end)
    assert.equal(3, k(nd.ones {2, 2}):get(1, 1))
    cfg.tile = 5
    assert.equal(5, k(nd.ones {2, 2}):get(1, 1))
  end)
end)

describe("other classes:", function()
  it("nl.DType and nl._TileSize", function()
    assert.equal("bfloat16", nl.DType "bf16")
    assert.is_true(nl.DType.isinstance "float32")
    assert.is_false(nl.DType.isinstance "float99" or nl.DType.isinstance(3))
    assert.same({128, 512}, {nl._TileSize.pmax, nl._TileSize().psum_fmax})
    assert.is_true(nl._TileSize.isinstance(nl.tile_size))
  end)

  it("nisa.VirtualRegister", function()
    kernel.trace(function()
      local r = nisa.VirtualRegister(3)
      assert.is_true(nisa.VirtualRegister.isinstance(r))
      assert.is_false(nisa.VirtualRegister.isinstance(3))
    end)
    refuses("err_bind_value", "only device loops", function() nisa.VirtualRegister(3, true) end)
  end)

  it("nisa.NkiValidationError", function()
    local ok, e = pcall(kernel.trace, function(t) nisa.tensor_copy(t, t[{{0, 64}}]) end)
    assert.is_false(ok)
    assert.is_true(nisa.NkiValidationError.isinstance(e))
    assert.is_false(nisa.NkiValidationError.isinstance "x" or nisa.NkiValidationError.isinstance {id = e.id})
    local mine = nisa.NkiValidationError "the tile is too small"
    assert.is_true(nisa.NkiValidationError.isinstance(mine))
    assert.equal("the tile is too small", mine.message)
  end)

  it("nisa.get_nc_sub_version and nisa.fp32", function()
    assert.equal(0, nisa.get_nc_sub_version())
    assert.equal(nl.fp32.min, nisa.fp32.min)
  end)
end)

describe("an instruction", function()
  it("depends on earlier ones and is itself again", function()
    kernel.trace(function(t)
      local a = nisa.memset(t, 1.0)
      local b = nisa.tensor_scalar(t, t, nl.add, 1.0)
      local c = nisa.tensor_scalar(t, t, nl.add, 1.0)
      assert.is_true(rawequal(c, c:depends_on(a, b)))
      assert.is_true(nisa.NkiInstruction.depends_on(b, a) == b)
      assert.is_true(nisa.NkiInstruction.isinstance(a) and nisa.NkiInstruction(a) == a)
      assert.is_false(nisa.NkiInstruction.isinstance(t))
      assert.truthy(tostring(a):find "^instruction %d+$")
    end)
  end)

  it("is refused where it is not earlier, or is in another loop or kernel", function()
    local kept
    refuses("err_bind_value", "not issued before it", function(t)
      kept = nisa.memset(t, 1.0)
      local b = nisa.memset(t, 2.0)
      kept:depends_on(b)
    end)
    refuses("err_index_stale", "of another kernel run", function(t) nisa.memset(t, 1.0):depends_on(kept) end)
    refuses("err_bind_value", "in another device loop", function(t)
      local a = nisa.memset(t, 1.0)
      nl.fori_loop(0, 4, function() nisa.memset(t, 2.0):depends_on(a) end)
    end)
    refuses("err_bind_kind", "parameter 'producers' must be an instruction", function(t)
      nisa.memset(t, 1.0):depends_on(3)
    end)
    refuses("err_no_such_name", "no NkiInstruction.", function(t) return nisa.memset(t, 1.0).depend_on end)
    refuses("err_bind_kind", "parameter 'handle'", function() return nisa.NkiInstruction(3) end)
  end)
end)

describe("nl.shared_constant", function()
  local function plus(make)
    return nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(a) + nl.load(make()))
      return out
    end)
  end

  it("takes arrays, lists and files", function()
    local c = nd.array({{1, 2}, {3, 4}}, "float32")
    assert.equal(14, plus(function() return nl.shared_constant(c) end)(nd.full({2, 2}, 10, "float32")):get(1, 1))
    local k = plus(function() return nl.shared_constant({{1, 2}, {3, 4}}, nl.bfloat16) end)
    assert.equal(13, k(nd.full({2, 2}, 10, "float32")):get(1, 0))
    local name = os.tmpname() .. ".npy"
    nd.save(name, c)
    k = plus(function() return nl.shared_constant(name) end)
    assert.equal(12, k(nd.full({2, 2}, 10, "float32")):get(0, 1))
    nd.save(name, c + c)
    assert.equal(14, k(nd.full({2, 2}, 10, "float32")):get(0, 1))
    assert.equal(0, k:cache_info().entries)
    assert.truthy(k:cache_info().reason:find("a file that nl.shared_constant reads", 1, true))
    os.remove(name)
  end)

  it("is refused of other things, and is not written", function()
    refuses("err_bind_kind", "an array, a list of numbers or the name of an .npy file", function()
      return nl.shared_constant(3)
    end)
    refuses("err_bind_value", "the string 'a.txt'; a file's name ends in .npy", function()
      return nl.shared_constant "a.txt"
    end)
    refuses("err_write_to_constant", "dst is a constant", function(t)
      nl.store(nl.shared_constant(nd.ones {128, 64}), t)
    end)
  end)
end)

describe("nl.shared_identity_matrix", function()
  it("is one tile for each size and dtype", function()
    kernel.trace(function()
      local a, b = nl.shared_identity_matrix(16), nl.shared_identity_matrix(16, nl.uint8)
      assert.is_true(rawequal(a, b))
      assert.is_false(rawequal(a, nl.shared_identity_matrix(8)) or rawequal(a, nl.shared_identity_matrix(16,
        nl.float32)))
    end)
  end)

  it("is made anew in loops and for dst", function()
    kernel.trace(function(t)
      local last
      for _ in nl.sequential_range(2) do
        local m = nl.shared_identity_matrix(16)
        assert.is_false(rawequal(last, m))
        last = m
      end
      local d = nl.ndarray({16, 16}, nl.float32)
      assert.is_true(rawequal(d, nl.shared_identity_matrix(16, nl.float32, d)))
      return t
    end)
  end)
end)

describe("help", function()
  it("knows the functions that are written in Lua, by name and as values", function()
    local r = build.shell(build.program .. " repl",
      {stdin = "nl = require 'nki.language'\nhelp(nl.softmax)\nhelp 'nl.arange'\nhelp(nl.exp)\n"})
    assert.truthy((r.out .. r.err):find("nl.softmax(x, [axis], [dtype], [compute_dtype])", 1, true))
    assert.truthy((r.out .. r.err):find("nl.arange(start, [stop])", 1, true))
    assert.truthy((r.out .. r.err):find("nl.exp(x, [dtype])", 1, true))
  end)
end)

describe("nl.softmax", function()
  it("computes in compute_dtype", function()
    local x = nd.random.normal({4, 8}, {seed = 1})
    local y = kernel.run(function(t) return nl.softmax(t, -1, {compute_dtype = nl.bfloat16}) end, x)
    assert.equal("bfloat16", y.dtype)
    local z = kernel.run(function(t) return nl.softmax(t, -1, nl.float32, nl.bfloat16) end, x)
    local total = 0
    for i = 0, 7 do total = total + z:get(0, i) end
    assert.is_true(math.abs(total - 1) < 0.01 and total ~= 1)
  end)
end)
