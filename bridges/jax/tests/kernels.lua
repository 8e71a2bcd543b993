-- Small kernels for the tests of the bridge.
local nki, nl = require "nki", require "nki.language"

local function like(x)
  return nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
end

local function copy(x)
  local out = like(x)
  nl.store(out, nl.load(x))
  return out
end

local function kernel(name, body)
  return nki.jit(body, {func_name = name})
end

return {
  copy = kernel("copy", copy),
  -- Two outputs of different shapes and dtypes.
  parts = kernel("parts", function(x)
    local rows, cols = x.shape:unpack()
    local half = nl.ndarray({rows, cols // 2}, x.dtype, {buffer = nl.shared_hbm})
    local narrow = nl.ndarray({rows, cols}, nl.bfloat16, {buffer = nl.shared_hbm})
    local tile = nl.load(x)
    nl.store(half, tile[{{}, {0, cols // 2}}])
    nl.store(narrow, nl.copy(tile, nl.bfloat16))
    return half, narrow
  end),
  sequence = kernel("sequence", function(x)
    return {copy(x)}
  end),
  -- In place: x becomes 2x; what it was is the other output, and the first one.
  double = kernel("double", function(x)
    local old = nl.load(x)
    local was = like(x)
    nl.store(was, old)
    nl.store(x, old * 2)
    return was, x
  end),
  -- out = x * scale + shift, where shift may be absent; says what its constants are.
  affine = kernel("affine", function(x, scale, shift, kind)
    local out = like(x)
    local y = nl.load(x) * (scale or 1)
    if shift then
      y = y + nl.load(shift)
    end
    if kind then
      assert(math.type(scale) == kind, tostring(scale) .. " is no " .. kind)
    end
    nl.store(out, y)
    return out
  end),
  -- Constants of every kind.
  choose = kernel("choose", function(x, flag, name, sizes, nothing)
    assert(flag == true and name == "caf\u{e9}" and nothing == nil)
    local out = like(x)
    nl.store(out, nl.load(x) * (sizes[1] * 100 + sizes[2][1]))
    return out
  end),
  unused = kernel("unused", function(a, _b, c)
    local out = like(a)
    nl.store(out, nl.load(a) - nl.load(c))
    return out
  end),
  legacy = nki.jit(function(a, _b, c)
    nl.store(c, nl.load(a) * 3)
  end, {func_name = "legacy", mode = "legacy"}),
  fails = kernel("fails", function(x)
    return nl.laod(x)
  end),
  wrong = kernel("wrong", function(x)
    local out = like(x)
    nl.store(out, nl.load(x[nl.ds(0, 2)]))
    return out
  end),
}
