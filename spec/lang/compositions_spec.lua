-- Every function of nl that makes a tile of tiles takes them from both memories on chip, in every rank, in every dtype.
local kernel = require "spec.support.kernel"
local raises = require "spec.support.raises"
local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"

local functions = {
  softmax = function(t) return nl.softmax(t) end,
  rms_norm = function(t) return nl.rms_norm(t, t, -1, 24) end,
  gather_flattened = function(t) return nl.gather_flattened(t, nl.zeros(t.shape, nl.uint32)) end,
  dropout = function(t) return nl.dropout(t, 0.0) end,
  where = function(t) return nl.where(nl.greater(t, 2), t, 7) end,
  broadcast_to = function(t) return nl.broadcast_to(t, t.shape) end,
}
for name in ("abs square sign exp sqrt rsqrt tanh sigmoid relu gelu silu erf sin floor logical_not negative " ..
             "reciprocal copy"):gmatch "%S+" do
  functions[name] = function(t) return nl[name](t) end
end
for name in ("add subtract multiply divide maximum mod power equal less logical_and"):gmatch "%S+" do
  functions[name] = function(t) return nl[name](t, t) end
  functions[name .. " by a number"] = function(t) return nl[name](3, t) end
end
for name in ("sum prod max min mean var all"):gmatch "%S+" do
  functions[name] = function(t) return nl[name](t, -1) end
end
local names = {}
for name in pairs(functions) do names[#names + 1] = name end
table.sort(names)

local x = nd.arange(4 * 24):astype("float32"):reshape {4, 24} * 0.03125 + 1

local function all(prepare, more)
  local k = nki.jit(function(a)
    local t, outs = nl.load(a), {}
    for i, name in ipairs(names) do outs[i] = kernel.stored((more or functions[name])(prepare(t), name)) end
    return table.unpack(outs)
  end, {platform_target = "trn3", enable_cache = false})
  local outs = table.pack(k(x))
  for i, name in ipairs(names) do outs[i] = {name, outs[i].dtype, outs[i]:bytes()} end
  return outs
end

describe("functions of nl", function()
  for _, dtype in ipairs {"float32", "bfloat16", "int32", "uint8"} do
    it("take a tile in PSUM: " .. dtype, function()
      assert.same(all(function(t) return nl.copy(t, dtype) end), all(function(t)
        local p = nl.ndarray(t.shape, dtype, {buffer = nl.psum})
        p["..."] = nl.copy(t, dtype)
        return p
      end))
    end)
  end

  it("take tiles of every rank", function()
    local flat = all(function(t) return t end)
    for _, shape in ipairs {{4, 1, 24}, {4, 1, 1, 24}} do
      assert.same(flat, all(function(t) return t:reshape(shape) end))
    end
  end)
end)

describe("nl.rms_norm and nl.softmax", function()
  it("over several axes are those over the axes as one", function()
    local function both(f)
      local one = kernel.run(function(t) return f(t, -1) end, x)
      local cases = {{{4, 6, 4}, {1, 2}}, {{4, 6, 4}, {-1, -2}}, {{4, 2, 3, 4}, {1, 3, 2}}, {{4, 24, 1}, {2, 1}}}
      for _, case in ipairs(cases) do
        local r = kernel.run(function(t) return f(t:reshape(case[1]), case[2]) end, x)
        assert.equal(one:bytes(), r:bytes())
      end
    end
    both(function(t, axis) return nl.rms_norm(t, t, axis, 24) end)
    both(function(t, axis) return nl.softmax(t, axis) end)
  end)

  -- How many axes there are decides the instructions; which, whether there is a result at all.
  it("refuse axes that are no run of free axes, as every reduction does", function()
    local function rms_norm(t, axis) return nl.rms_norm(t, t, axis, 24) end
    local shapes = {[2] = {{0}, {2}, {-2}, {7}, {}}, [3] = {{1, 1}, {2, 7}, {0, 2}, {1}, {1, 2, 2}}}
    for name, f in pairs {rms_norm = rms_norm, softmax = nl.softmax, sum = nl.sum} do
      for rank, lists in pairs(shapes) do
        for _, axis in ipairs(lists) do
          local e = kernel.error_of(function(t) f(rank == 3 and t:reshape {128, 8, 8} or t, axis) end)
          assert.equal("err_reduce_axes", e.id, name .. " " .. table.concat(axis, ","))
          local want = ("nl.%s: axis [%s] of "):format(name, table.concat(axis, ","))
          assert.truthy(e.message:find(want, 1, true), e.message)
          assert.truthy(e.message:find(rank == 3 and "legal are [2], [1,2]" or "legal are [1]", 1, true), e.message)
        end
      end
      local e = kernel.error_of(function(t) f(t:reshape {128, 8, 8}, {2, 2.5}) end)
      assert.equal("err_bind_kind", e.id, name)
    end
  end)

  it("refuse a count that is no positive number", function()
    local function refused(n, id, text)
      local e = kernel.error_of(function(t) nl.rms_norm(t, t, 1, n) end)
      assert.equal(id, e.id)
      assert.truthy(e.message:find("nl.rms_norm: parameter 'n' " .. text, 1, true), e.message)
    end
    refused("6", "err_bind_kind", "must be a number, got the string '6'")
    refused(true, "err_bind_kind", "must be a number, got true")
    refused(nl.add, "err_bind_kind", "must be a number, got nl.add")
    refused(0, "err_bind_value", "is 0; it must be positive and finite")
    refused(-1.5, "err_bind_value", "is -1.5;")
    refused(0 / 0, "err_bind_value", "is nan;")
    refused(math.huge, "err_bind_value", "is inf;")
  end)

  it("of truth values are float32, like nl.exp of them", function()
    for _, f in ipairs {functions.softmax, functions.rms_norm, functions.exp, functions.mean} do
      local r = kernel.run(function(t) return f(nl.copy(t, nl.bool_)) end, nd.ones {2, 4})
      assert.equal("float32", r.dtype)
    end
    assert.equal(0.25, kernel.run(function(t) return nl.softmax(nl.copy(t, nl.bool_)) end, nd.ones {2, 4}):get(1, 3))
  end)
end)

describe("operators that GpSimd lacks", function()
  it("run on Vector when all tiles are 32-bit integers", function()
    local a, b = nd.array({{-7, 2, 5, -3}}, "int32"), nd.array({{4, -3, -5, 3}}, "int32")
    local function of(op, target)
      local k = nki.jit(function(s, t) return kernel.stored(nl[op](nl.load(s), nl.load(t))) end,
        {platform_target = target})
      return k(a, b)
    end
    assert.same({{-7, -3, -5, 3}}, of("abs_max", "trn3"):totable())
    assert.same({{4, 2, -5, 3}}, of("abs_min", "trn3"):totable())
    raises("err_argument_generation", "abs_max", function() of("abs_max", "trn2") end)
  end)
end)

describe("nl.transpose", function()
  it("takes a view that moves with a device loop, in every dtype and on every target", function()
    local a = nd.arange(8 * 80):reshape {8, 80}
    for _, target in ipairs {"trn1", "trn2", "trn3"} do
      for _, dtype in ipairs {"int32", "uint8", "float32", "bfloat16"} do
        local k = nki.jit(function(s)
          local out = nl.ndarray({80, 8}, "float32", {buffer = nl.shared_hbm})
          local t = nl.copy(nl.load(s), dtype)
          nl.fori_loop(0, 2, function(i)
            nl.store(out[nl.ds(i * 40, 40)], nl.copy(nl.transpose(t[{":", nl.ds(i * 40, 40)}]), "float32"))
          end)
          return out
        end, {platform_target = target, enable_cache = false})
        local got, want = k(a:astype("int32")), a:astype(dtype):astype("float32")
        for i = 0, 79, 13 do
          for p = 0, 7 do assert.equal(want:get(p, i), got:get(i, p)) end
        end
      end
    end
  end)
end)
