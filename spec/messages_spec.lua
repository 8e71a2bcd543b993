-- Messages that no other spec meets on its way: what raises each, and what it names.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local raises = require "spec.support.raises"
local trip = require "spec.support.trip"

local options = {platform_target = "trn1", func_name = "k"}

-- Traces f(t) with a tile t of shape.
local function on_tile(shape, f)
  return function()
    nki.jit(function(x)
      f(nl.ndarray(shape, nl.float32, {name = "t"}), x)
      return x
    end, options):specialize(nki.decl({4, 8}, nl.float32))
  end
end

describe("views", function()
  it("have at most 8 dimensions", function()
    raises("err_exceed_max_supported_dimension", "has 9 dimensions; at most 8 are supported",
      on_tile({4, 8}, function(t)
        for _ = 1, 7 do
          t = t:expand_dim(1)
        end
      end))
  end)

  it("take dimensions in an order that exists", function()
    raises("err_view_dim_order", "first dimension 2 lies behind last dimension 1",
      on_tile({4, 8, 8}, function(t) t:flatten_dims(2, 1) end))
    raises("err_view_permutation", "[0,2,2] is not an order of its dimensions 0..2",
      on_tile({4, 8, 8}, function(t) t:permute {0, 2, 2} end))
  end)

  it("merge only what lies together", function()
    raises("err_view_strides", "seen as [32] without a copy", on_tile({4, 8, 8}, function(t)
      t[{{}, {}, {0, 4}}]:flatten_dims(1, 2)
    end))
  end)

  it("keep a free dimension on chip", function()
    raises("err_view_least_rank", "squeeze_dim of t[4,1] float32 in sbuf: the result must have rank 2 or more",
      on_tile({4, 1}, function(t) t:squeeze_dim(1) end))
  end)
end)

describe("calls", function()
  local k = nki.jit(function(x, y)
    nl.store(x, nl.load(y))
    return x
  end, options)
  local x = nd.ones {4, 8}

  it("of an artifact take its operands", function()
    local a = trip.decoded(k:specialize(x, x))
    raises("err_artifact_operands", "2 operands are needed, got 1", function() a:simulate(x) end)
    raises("err_artifact_operands", "a key of the table is not the name of an operand", function()
      a:simulate {x = x, z = x}
    end)
    local y = "operand 'y' must be an array float32[4,8], got "
    raises("err_artifact_operands", y, function() a:simulate(x, nd.ones {4, 9}) end)
    raises("err_artifact_operands", y .. "nil", function() a:simulate {x = x} end)
  end)

  it("take arrays of the dtype they were specialized for", function()
    local a = k:specialize(x, x)
    raises("err_artifact_operands", "operand 'x'", function() a:simulate(x:astype "bfloat16", x) end)
  end)

  it("return the same number of tensors from every program", function()
    local uneven = nki.jit(function(t)
      local out = nl.ndarray(t.shape, t.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(t))
      if nl.program_id(0) == 0 then
        return {out}
      end
      return {out, out}
    end, options)
    raises("err_spmd_output_count", "returns another number of tensors (1) than program 1 (2)",
      function() uneven[2](x) end)
  end)

  it("need a limit of instructions that is a number", function()
    local script = [[
      local nki = require "nki"
      local k = nki.jit(function(x) return x end, {platform_target = "trn1"})
      local ok, e = pcall(k.specialize, k, nki.decl({4, 8}, "float32"))
      print(ok, e.id, e.message)]]
    for _, value in ipairs {"many", "0", "-3", "1.5"} do
      local r = build.run {"-e", script, env = "NKILUA_MAX_INSTR=" .. value}
      assert.equal(("false\terr_env_value\tNKILUA_MAX_INSTR: '%s' is not a positive integer\n"):format(value), r.out)
    end
  end)
end)

describe("a run", function()
  it("that needs more memory than there is does not begin", function()
    local k = nki.jit(function(x)
      local huge = nl.ndarray({1 << 24, 1 << 20}, nl.float32, {buffer = nl.private_hbm}) -- 64 TiB
      nl.store(huge[{{0, 4}, {0, 8}}], nl.load(x))
      nl.store(x, nl.load(huge[{{0, 4}, {0, 8}}]))
      return x
    end, options)
    raises("err_sim_memory", "MiB, more than this machine has", function() k(nd.ones {4, 8}) end)
  end)
end)

describe("files", function()
  it("that are no .safetensors say where", function()
    local name = os.tmpname()
    local path = name .. ".safetensors"
    for _, bytes in ipairs {"", "\8\0\0\0\0\0\0\0{}", "\255\255\255\255\255\255\255\255", "\2\0\0\0\0\0\0\0{}x"} do
      build.spit(path, bytes)
      local ok, e = pcall(nd.load, path)
      assert.is_false(ok, ("%q"):format(bytes))
      assert.truthy(e.id == "err_safetensors" or e.id == "err_json", tostring(e))
      assert.truthy(e.message:find(path, 1, true))
    end
    os.remove(name)
    os.remove(path)
  end)
end)

describe("backend_config", function()
  it("has its keys, each of its type", function()
    local a = nki.jit(function(x) return x end, options):specialize(nki.decl({4, 8}, nl.float32))
    local function encoded(text)
      local name = os.tmpname()
      build.spit(name, text)
      local r = build.shell("base64 -w0 " .. name)
      os.remove(name)
      return r.out
    end
    assert.equal(a.config_json, nki.decode(encoded(a.config_json)).config_json)
    local function refused(text, from, to, id)
      local damaged, n = a.config_json:gsub(from, to, 1)
      assert.equal(1, n)
      raises(id or "err_config_key", text, function() nki.decode(encoded(damaged)) end)
    end
    refused("missing key 'tiled'", '"tiled":[^,]*,', "")
    refused("unknown key 'untiled'", '"tiled":', '"untiled":')
    refused("'tiled' must be true or false", '"tiled":[^,]*', '"tiled":1', "err_config_type")
    refused("'kernel_version': must be at least 1", '"kernel_version":1', '"kernel_version":0', "err_config_value")
  end)
end)
