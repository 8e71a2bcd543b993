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
  -- Two programs or more, each with its share of the rows.
  by_rows = kernel("by_rows", function(x)
    local out = like(x)
    local n = x.shape[0] // nl.num_programs(0)
    local rows = nl.ds(nl.program_id(0) * n, n)
    nl.store(out[rows], nl.load(x[rows]) * 2)
    return out
  end),
  -- Parameters with the names of options.
  named = kernel("named", function(x, grid, mode)
    local out = like(x)
    nl.store(out, nl.load(x) * (grid * mode))
    return out
  end),
  -- Constants of which only the kernel can tell what they were.
  told = kernel("told", function(x, kind, text, value)
    local got = string.format(math.type(value) == "float" and "%a" or "%s", value)
    assert(type(value) == kind and got == text, type(value) .. " " .. got)
    return copy(x)
  end),
  cast = kernel("cast", function(x, dtype)
    local out = nl.ndarray(x.shape, dtype, {buffer = nl.shared_hbm})
    nl.store(out, nl.copy(nl.load(x), dtype))
    return out
  end),
  constant = kernel("constant", function(n)
    local out = nl.ndarray({4, n}, nl.float32, {buffer = nl.shared_hbm})
    nl.store(out, nl.full({4, n}, 3, nl.float32, {buffer = nl.sbuf}))
    return out
  end),
  nothing = kernel("nothing", function(_x) end),
  reads_unwritten = kernel("reads_unwritten", function(x)
    local out = like(x)
    nl.store(out, nl.load(x) + nl.ndarray(x.shape, x.dtype, {buffer = nl.sbuf}))
    return out
  end),
  for_trn1 = nki.jit(copy, {func_name = "for_trn1", platform_target = "trn1"}),
  for_torch = nki.jit(copy, {func_name = "for_torch", mode = "torchxla"}),
  only_simulated = nki.jit(copy, {func_name = "only_simulated", mode = "simulation"}),
  by_reference = kernel("by_reference", function(a, c)
    nl.store(c, nl.load(a) * 3)
  end),
  stops = kernel("stops", function(_x, what)
    error(what == "table" and {code = 3} or what)
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
