-- A message names the function that stands on the user's line, also where that function is made of others.
local nki, nl = require "nki", require "nki.language"
local raises = require "spec.support.raises"

local options = {platform_target = "trn2", func_name = "k"}
local stale

-- What a call may be given: good tiles, and everything that is wrong somewhere.
local function values(x)
  return {
    hbm = x,
    big = x:reshape {256, 4},
    tile = nl.ndarray({4, 8}, nl.float32, {name = "t"}),
    ints = nl.ndarray({4, 8}, nl.int32, {name = "i"}),
    cube = nl.ndarray({4, 2, 4}, nl.float32, {name = "c"}),
    tall = nl.ndarray({64, 8}, nl.float32, {name = "p"}),
    psum = nl.ndarray({4, 8}, nl.float32, {buffer = nl.psum, name = "ps"}),
    stale = stale,
    number = 3,
    fraction = 1.5,
    huge = 1 << 62,
    word = "junk",
    list = {1, 2, 3},
    rows = {256, 8},
  }
end

local function traced(f)
  nki.jit(function(x)
    f(values(x))
    return x
  end, options):specialize(nki.decl({32, 32}, nl.float32))
end

-- The messages of nl[name](a, b) for all pairs of values, in one trace: a refused call leaves nothing behind.
local function messages_of(name, each)
  traced(function(v)
    for a, x in pairs(v) do
      for _, b in ipairs {"tile", "rows"} do
        local ok, e = pcall(function() nl[name](x, v[b]) end)
        if not ok then
          assert.equal("table", type(e), tostring(e))
          each(("%s(%s, %s): %s"):format(name, a, b, e.message), e.message)
        end
      end
    end
  end)
end

describe("every function of nl", function()
  nki.jit(function(x)
    stale = nl.load(x)
    return x
  end, options):specialize(nki.decl({4, 8}, nl.float32))
  for name, f in pairs(nl) do
    if type(f) == "function" or type(f) == "userdata" and getmetatable(f) == false then
      it("is named by its errors: " .. name, function()
        local prefix = "nl." .. name
        messages_of(name, function(call, message)
          if not message:find "is a value, not a function$" then
            assert.equal(prefix, message:sub(1, #prefix), call)
          end
        end)
      end)
    end
  end
end)

describe("the function on the user's line", function()
  local function says(id, text, f) return raises(id, text, function() traced(f) end) end

  it("is blamed for the tensors it makes", function()
    says("err_num_partition_exceed_arch_limit", "nl.load: the tensor [256,4] in sbuf has 256 partitions", function(v)
      nl.load(v.big)
    end)
    says("err_num_partition_exceed_arch_limit", "nl.transpose: the tensor [200,4] in sbuf has 200 partitions",
      function() nl.transpose(nl.ndarray({4, 200}, nl.int32)) end)
    says("err_tensor_size", "nl.zeros: axis 1 of 'z' has size 0", function()
      nl.zeros({4, 0}, nl.float32, {name = "z"})
    end)
  end)

  it("stands before the instruction that refuses", function()
    says("err_reduce_axes", "nl.softmax: axis [3] of t[4,8]", function(v) nl.softmax(v.tile, 3) end)
    says("err_bitvec_dtype", "nl.bitwise_and: nisa.tensor_tensor: bitwise operator bitwise_and takes integer tiles"
      .. " of one width, and data1 is t[4,8] float32", function(v) return v.tile & v.tile end)
    says("err_view_dim", "nl.expand_dims: expand_dim of t[4,8]", function(v) nl.expand_dims(v.tile, 9) end)
  end)

  it("is found through an alias, pcall and a loop of the device", function()
    local f = nl.exp
    says("err_num_partition_mismatch", "nl.add", function(v) f(v.tile) return v.tall + v.tile end)
    says("err_bind_kind", "nl.exp: parameter 'x'", function()
      local _, e = pcall(f, 3)
      error(e, 0)
    end)
    says("err_tensor_size", "nl.ndarray: axis 0", function()
      nl.fori_loop(0, 4, function() nl.ndarray({0, 4}, nl.float32) end)
    end)
  end)

  it("is one of nisa or a method, and named once", function()
    local nisa = require "nki.isa"
    local e = says("err_num_partition_mismatch", "nisa.tensor_copy", function(v) nisa.tensor_copy(v.tall, v.tile) end)
    assert.equal(1, select(2, e.message:gsub("nisa.tensor_copy", "")))
    e = says("err_view_shape", "reshape of t[4,8]", function(v) v.tile:reshape {4, 9} end)
    assert.equal("reshape", e.message:sub(1, 7))
  end)
end)

describe("a tensor of another run", function()
  local function says(text, f) raises("err_tile_stale", text, function() traced(f) end) end

  it("says what was done with it", function()
    says("NkiTensor.shape: the tensor is 'sbuf_0' of kernel 'k'", function(v) return v.stale.shape end)
    says("index: the tensor is 'sbuf_0'", function(v) return v.stale[0] end)
    says("assignment: the tensor is 'sbuf_0'", function(v) v.stale[0] = 1 end)
    says("assignment: parameter 'value' is 'sbuf_0'", function(v) v.tile[{}] = v.stale end)
    says("NkiTensor.reshape: parameter 'self' is 'sbuf_0'", function(v) v.stale:reshape {4, 8} end)
    says("nl.softmax: parameter 'x' is 'sbuf_0'", function(v) nl.softmax(v.stale) end)
  end)
end)
