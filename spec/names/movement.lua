-- Cases of the functions of nki.language that make, move and select: small integers that every dtype here holds.
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local gen = require "spec.support.generators"

local a = {{1, 2, 3}, {4, 5, 6}}
local turned = {{1, 4}, {2, 5}, {3, 6}}
local counted = nd.arange(100 * 64, {dtype = "int32"}):reshape {100, 64}
local cases = {}

-- ---- making

local function filled(value, dtype)
  return nd.array(gen.rows(3, function() return {value, value} end), dtype or "float32")
end
cases["nl.zeros"] = {{"in bf16", {}, function() return nl.zeros({3, 2}, nl.bfloat16) end, {filled(0, "bfloat16")}}}
cases["nl.ones"] = {
  {"integers", {}, function() return nl.ones({3, 2}, nl.int16) end, {filled(1, "int16")}},
  {"in psum", {}, function() return nl.ones({3, 2}, nl.float32, {buffer = nl.psum}) end, {filled(1)}},
}
cases["nl.full"] = {
  {"a fraction", {}, function() return nl.full({3, 2}, 2.5, nl.float32) end, {filled(2.5)}},
  {"an integer", {}, function() return nl.full({3, 2}, -7, nl.int8) end, {filled(-7, "int8")}},
}
cases["nl.zeros_like"] = {
  {"its shape and dtype", {filled(9, "int16")}, function(t) return nl.zeros_like(t) end, {filled(0, "int16")}},
  {"another dtype", {filled(9)}, function(t) return nl.zeros_like(t, nl.bfloat16) end, {filled(0, "bfloat16")}},
}
cases["nl.empty_like"] = {
  {"its shape, dtype and memory", {filled(9, "int16")}, function(t)
    local e = nl.empty_like(t)
    assert(e.buffer == nl.sbuf and nl.empty_like(t, {buffer = nl.psum}).buffer == nl.psum)
    nisa.memset(e, 4)
    return e
  end, {filled(4, "int16")}},
}
cases["nl.ndarray"] = {
  {"in every memory", {filled(9)}, function(t)
    local chip = nl.ndarray({3, 2}, nl.float32, {buffer = nl.psum})
    local device = nl.ndarray({3, 2}, nl.float32, {buffer = nl.private_hbm, name = "device"})
    local placed = nl.ndarray({3, 2}, nl.float32, {address = {32, 1024}})
    nisa.tensor_copy(chip, t)
    nisa.tensor_copy(placed, chip)
    nl.store(device, placed)
    local back = nl.ndarray({3, 2}, nl.float32)
    nisa.dma_copy(back, device)
    return back
  end, {filled(9)}},
}
cases["nl.shared_constant"] = {
  {"a nested list", {}, function() return nl.load(nl.shared_constant(a)) end, {a}},
  {"a host array", {}, function() return nl.load(nl.shared_constant(nd.array(a, "int8"))) end, {nd.array(a, "int8")}},
}
cases["nl.shared_identity_matrix"] = {
  {"uint8", {}, function() return nl.shared_identity_matrix(3) end,
   {nd.array({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, "uint8")}},
  {"into dst", {}, function()
    return nl.shared_identity_matrix(2, {dtype = nl.float32, dst = nl.ndarray({2, 2}, nl.float32)})
  end, {{{1, 0}, {0, 1}}}},
}

-- ---- moving

local function on_hbm(name, inputs, f, want) return {name, inputs, f, want, hbm = true} end
local function out_of(shape, dtype) return nl.ndarray(shape, dtype or nl.float32, {buffer = nl.shared_hbm}) end

cases["nl.load"] = {
  on_hbm("rows of hbm", {nd.array(a)}, function(h) return nl.load(h["1:2"]) end, {{{4, 5, 6}}}),
  on_hbm("converted", {nd.array(a)}, function(h) return nl.load(h, nl.int8) end, {nd.array(a, "int8")}),
}
cases["nl.store"] = {
  on_hbm("rows and columns apart", {nd.array(a)}, function(h)
    local out = out_of {2, 3}
    for i in nl.affine_range(2) do
      nl.store(out[{i, {0, 3}}], nl.load(h["0:1"]) * (i + 1)) -- a row, from a tile of one partition
    end
    return out
  end, {{{1, 2, 3}, {2, 4, 6}}}),
}
cases["nl.load_transpose2d"] = {
  on_hbm("2 x 3", {nd.array(a)}, function(h) return nl.load_transpose2d(h) end, {turned}),
}
cases["nl.copy"] = {
  {"bits as they are", {counted}, function(t) return nl.copy(t) end, {counted}},
  {"converted", {nd.array {{0.5, 1.5, -300}}}, function(t) return nl.copy(t, nl.int8) end,
   {nd.array({{0, 2, -128}}, "int8")}},
}
cases["nl.transpose"] = {
  {"2 x 3", {nd.array(a)}, function(t) return nl.transpose(t) end, {turned}},
  {"100 x 64 integers", {counted}, function(t) return nl.copy(nl.transpose(t)) end,
   {nd.array(gen.rows(64, function(f) return gen.rows(100, function(p) return 64 * p + f end) end), "int32")}},
}
local product = {{22, 28}, {49, 64}} -- a by {{1, 2}, {3, 4}, {5, 6}}
cases["nl.matmul"] = {
  {"x y", {nd.array(a), nd.array {{1, 2}, {3, 4}, {5, 6}}}, function(s, t) return nl.matmul(s, t) end, {product}},
  {"x turned", {nd.array(turned), nd.array {{1, 2}, {3, 4}, {5, 6}}}, function(s, t) return nl.matmul(s, t, true) end,
   {product}},
}
cases["nl.broadcast_to"] = {
  {"free elements", {nd.array {{1}, {2}}}, function(t) return nl.broadcast_to(t, {2, 3}) end,
   {{{1, 1, 1}, {2, 2, 2}}}},
  {"partitions", {nd.array {{1, 2}}}, function(t) return nl.broadcast_to(t, {3, 2}) end, {{{1, 2}, {1, 2}, {1, 2}}}},
}
cases["nl.expand_dims"] = {
  {"a further axis", {nd.array(a)}, function(t)
    local v = nl.expand_dims(t, 1)
    assert(v.shape == {2, 1, 3}, "the axis is somewhere else")
    return nl.copy(v):reshape {2, 3}
  end, {a}},
}
cases["nl.gather_flattened"] = {
  {"elements of each partition", {nd.array {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}},
    nd.array({{3, 0, 0}, {1, 1, 2}}, "uint32")}, function(t, i) return nl.gather_flattened(t, i) end,
   {{{4, 1, 1}, {6, 6, 7}}}},
}

return cases
