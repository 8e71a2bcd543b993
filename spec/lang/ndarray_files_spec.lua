-- Host arrays: bytes, files, memory.
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local raises = require "spec.support.raises"

local DATA = "spec/oracles/data/"
local function temporary(extension, f)
  local path = os.tmpname()
  local named = path .. extension
  local ok, e = pcall(f, named)
  os.remove(path)
  os.remove(named)
  if not ok then
    error(e, 0)
  end
end

describe("bytes", function()
  it("go in and out exactly", function()
    local a = nd.from_bytes("\0\1\254\255\0\128", {3}, "bfloat16")
    assert.equal("\0\1\254\255\0\128", a:bytes())
    raises("err_array_shape", "5 bytes given, 6 needed", function() nd.from_bytes("\0\0\0\0\0", {3}, "int16") end)
    assert.equal("\1\0", nd.from_bytes("\7\0", {2}, "bool_"):bytes())
  end)
end)

describe("files", function()
  it("keep an array of every dtype", function()
    local dtypes = {"bool_", "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bfloat16", "float16",
      "float8_e5m2",
                    "float8_e4m3fn"}
    for _, dtype in ipairs(dtypes) do
      local a = nd.array({{1, 0, 1}, {0, 1, 1}}, dtype)
      for _, extension in ipairs {".npy", ".npz", ".safetensors"} do
        temporary(extension, function(path)
          nd.save(path, extension == ".npy" and a or {x = a})
          local b = nd.load(path, {member = extension ~= ".npy" and "x" or nil, dtype = dtype})
          assert.same({dtype, a:bytes()}, {b.dtype, b:bytes()}, extension)
          assert.is_true(b.shape == {2, 3})
        end)
      end
    end
  end)

  it("with several arrays load as a table", function()
    temporary(".npz", function(path)
      nd.save(path, {b = nd.ones {2}, a = nd.array({3}, "int32")})
      local all = nd.load(path)
      assert.same({{1.0, 1.0}, {3}}, {all.b:totable(), all.a:totable()})
    end)
    temporary(".safetensors", function(path)
      nd.save(path, {w = nd.ones({2}, "bfloat16"), v = nd.array({3}, "int32")})
      local all = nd.load(path)
      assert.same({"bfloat16", {1.0, 1.0}, {3}}, {all.w.dtype, all.w:totable(), all.v:totable()})
    end)
  end)

  it("are the same bytes whatever order the names came in", function()
    temporary(".npz", function(one)
      temporary(".npz", function(two)
        local names = {}
        for i = 1, 40 do names[i] = "n" .. i end
        local forward, backward = {}, {}
        for i = 1, 40 do
          forward[names[i]], backward[names[41 - i]] = nd.full({1}, i), nd.full({1}, 41 - i)
        end
        nd.save(one, forward)
        nd.save(two, backward)
        local f, g = assert(io.open(one, "rb")), assert(io.open(two, "rb"))
        assert.equal(f:read("a"), g:read("a"))
        f:close()
        g:close()
      end)
    end)
  end)

  it("that NumPy wrote are read", function()
    local n = nd.load(DATA .. "dynamic_sum.npz", "n")
    assert.same({"int32", {{20}}}, {n.dtype, n:totable()})
  end)

  it("of raw members read back at once when their dtypes are said", function()
    temporary(".npz", function(path)
      nd.save(path, {w = nd.array({1.5, -2}, "bfloat16"), n = nd.array({7}, "int32")})
      raises("err_file_raw", "2-byte", function() nd.load(path) end)
      local all = nd.load(path, {dtype = {w = "bfloat16"}})
      assert.same({"bfloat16", {1.5, -2}, "int32", {7}}, {all.w.dtype, all.w:totable(), all.n.dtype, all.n:totable()})
      local more = {w = "bfloat16", v = "bfloat16"}
      raises("err_file_member", "no array 'v'", function() nd.load(path, {dtype = more}) end)
      raises("err_unknown_dtype", "bf17", function() nd.load(path, {dtype = {w = "bf17"}}) end)
      raises("err_bind_kind", "{name = dtype}", function() nd.load(path, {dtype = {"bfloat16"}}) end)
    end)
  end)

  it("of bits in unsigned integers are bits as a float of that size, numbers otherwise", function()
    temporary(".npz", function(path)
      nd.save(path, {h = nd.array({0x3f80, 0x4000}, "uint16"), b = nd.array({0x38, 0x40}, "uint8")})
      assert.same({1, 2}, nd.load(path, "h", "bfloat16"):totable())
      assert.same({1.875, 2}, nd.load(path, "h", "float16"):totable())
      assert.same({0x3f80, 0x4000}, nd.load(path, "h", "float32"):totable())
      assert.same({1, 2}, nd.load(path, "b", "float8_e4m3fn"):totable())
      assert.same({0x38, 0x40}, nd.load(path, "b", "bfloat16"):totable())
    end)
    temporary(".safetensors", function(path)
      nd.save(path, {h = nd.array({0x3f80}, "uint16")})
      assert.same({1}, nd.load(path, "h", "bfloat16"):totable())
    end)
  end)

  it("that are wrong are errors", function()
    raises("err_file_open", "no/such.npy", function() nd.load("no/such.npy") end)
    raises("err_file_kind", "x.txt", function() nd.load("x.txt") end)
    raises("err_file_kind", "x.txt", function() nd.save("x.txt", nd.ones {1}) end)
    raises("err_file_member", "no array 'zz'", function() nd.load(DATA .. "alu.npz", "zz") end)
    temporary(".npy", function(path)
      nd.save(path, nd.ones {2})
      raises("err_file_member", "no array 'zz' (an .npy has one, unnamed)", function() nd.load(path, "zz") end)
    end)
    temporary(".npz", function(path)
      build.spit(path, "PK\5\6" .. ("\0"):rep(18))
      raises("err_file_empty", "has no arrays", function() nd.load(path, "zz") end)
    end)
    raises("err_file_raw", "2-byte", function() nd.load(DATA .. "embedding.npz") end)
    raises("err_file_write", "no/such", function() nd.save("no/such/x.npy", nd.ones {1}) end)
    raises("err_bind_kind", "an array", function() nd.save("x.npz", {a = 1}) end)
    raises("err_bind_kind", "by name", function() nd.save("x.npz", {nd.ones {1}}) end)
    raises("err_bind_value", "empty", function() nd.save("x.npz", {}) end)
    temporary(".npz", function(path)
      local name = ("n"):rep(65532)
      raises("err_file_long_name", "is 65532 bytes long", function() nd.save(path, {[name] = nd.ones {1}}) end)
      assert.is_nil(io.open(path))
      nd.save(path, {[name:sub(2)] = nd.ones {1}})
      assert.equal(1, nd.load(path, name:sub(2)):get(0))
    end)
    temporary(".safetensors", function(path)
      raises("err_file_no_name", "float8_e4m3", function() nd.save(path, {x = nd.ones({1}, "float8_e4m3")}) end)
      assert.is_nil(io.open(path))
    end)
  end)
end)

describe("the memory of arrays", function()
  it("is given back by free and at the end of a <close> scope", function()
    local a = nd.ones {4}
    a:free()
    a:free()
    assert.equal("float32[4] (freed)", tostring(a))
    raises("err_array_freed", "array +: parameter 'x'", function() return a + 1 end)
    raises("err_array_freed", "self", function() a:get(0) end)
    assert.is_false(a == nd.ones {4})
    local kept
    do
      local b <close> = nd.ones {4}
      kept = b
    end
    raises("err_array_freed", "self", function() kept:totable() end)
  end)

  it("is collected under pressure", function()
    if build.sanitized then
      return pending "the sanitizer keeps what was freed"
    end
    local function resident()
      local file = assert(io.open("/proc/self/statm"))
      local pages = file:read("a"):match("^%d+ (%d+)")
      file:close()
      return tonumber(pages) * 4096
    end
    nd.ones({1 << 20})
    local before = resident()
    for _ = 1, 200 do
      nd.full({1 << 20}, 1) -- 4 MiB
    end
    assert.is_true(resident() - before < 100 * 2 ^ 20)
  end)

  it("that was freed is no argument of a kernel", function()
    local k = require "nki".jit(function(x) return x end)
    local a = nd.ones {4}
    a:free()
    raises("err_array_freed", "parameter 'x'", function() k(a) end)
  end)
end)
