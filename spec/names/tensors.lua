-- Cases of the methods of tensors and of the classes: what a view shows, copied, against indices counted here.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local ncc = require "nki.collectives"
local nd = require "nki.ndarray"
local gen = require "spec.support.generators"

local tile = nd.arange(24, {dtype = "float32"}):reshape {2, 12} -- element (p, f) is 12 p + f
local hbm = nd.arange(24, {dtype = "float32"}):reshape {6, 4} -- element (i, j) is 4 i + j
local cases = {}

-- The list of rows p = 0, 1 whose elements are those of the tile's row p at these places.
local function places(list)
  return {gen.rows(2, function(p) return gen.map(list, function(f) return 12 * p + f end) end)}
end
local function rows_of(list)
  return {gen.map(list, function(i) return gen.rows(4, function(j) return 4 * i + j end) end)}
end

-- A view of the tile: its shape, its elements in row-major order.
local function view(method, name, shape, elements, f)
  local cases_of = cases["nl.NkiTensor." .. method] or {}
  cases["nl.NkiTensor." .. method] = cases_of
  cases_of[#cases_of + 1] = {name, {tile}, function(t)
    local v = f(t)
    assert(v.shape == shape, ("%s has the shape %s"):format(name, v.shape))
    return nl.copy(v):reshape {2, #elements}
  end, places(elements)}
end

local columns = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11} -- of 3 x 4 free elements
local all = gen.rows(12, function(i) return i end)
view("permute", "two free axes", {2, 4, 3}, columns, function(t) return t:reshape({2, 3, 4}):permute {0, 2, 1} end)
view("broadcast", "an axis of size 1", {2, 2, 3}, {0, 1, 2, 0, 1, 2}, function(t)
  return t[{{}, {0, 3}}]:expand_dim(1):broadcast(1, 2)
end)
view("expand_dim", "in the middle", {2, 1, 12}, all, function(t) return t:expand_dim(1) end)
view("expand_dim", "at the end", {2, 12, 1}, all, function(t) return t:expand_dim(-1) end)
view("squeeze_dim", "in the middle", {2, 12}, all, function(t) return t:reshape({2, 1, 12}):squeeze_dim(1) end)
view("reshape_dim", "one size left open", {2, 3, 4}, all, function(t) return t:reshape_dim(1, {3, -1}) end)
view("flatten_dims", "both included", {2, 12}, all, function(t) return t:reshape({2, 3, 2, 2}):flatten_dims(1, 3) end)
view("reshape", "more axes", {2, 2, 6}, all, function(t) return t:reshape {2, 2, 6} end)
view("rearrange", "a string", {2, 4, 3}, columns, function(t) return t:rearrange("p (a b) -> p b a", {a = 3}) end)
view("rearrange", "lists", {2, 4, 3}, columns, function(t)
  return t:rearrange({"p", {"a", "b"}}, {"p", "b", "a"}, {a = 3})
end)
view("slice", "a step", {2, 4}, {1, 4, 7, 10}, function(t) return t:slice(1, 1, 12, 3) end)
view("slice", "from the end", {2, 2}, {10, 11}, function(t) return t:slice {dim = 1, start = -2, stop = 12} end)
view("select", "a number", {2, 4}, {4, 5, 6, 7}, function(t) return t:reshape({2, 3, 4}):select(1, 1) end)
view("select", "a register", {2, 4}, {8, 9, 10, 11}, function(t)
  return t:reshape({2, 3, 4}):select(1, nisa.register_alloc(2))
end)
view("ap", "a pattern", {2, 2, 3}, {1, 3, 5, 7, 9, 11}, function(t)
  return t:ap({{12, 2}, {6, 2}, {2, 3}}, 1)
end)

cases["nl.NkiTensor.__getitem__"] = {
  {"a list of keys", {tile}, function(t) return nl.NkiTensor.__getitem__(t, {1, {2, 12, 5}}) end, {{{14, 19}}}},
  {"a string", {tile}, function(t) return nl.NkiTensor.__getitem__(t, ":, -3:") end, places {9, 10, 11}},
}
cases["nl.NkiTensor.__setitem__"] = {
  {"a number and a tile", {tile}, function(t)
    nl.NkiTensor.__setitem__(t, {{}, {0, 10}}, 5)
    nl.NkiTensor.__setitem__(t, {{}, {0, 2}}, t[{{}, {10, 12}}])
    return t
  end, {{{10, 11, 5, 5, 5, 5, 5, 5, 5, 5, 10, 11}, {22, 23, 5, 5, 5, 5, 5, 5, 5, 5, 22, 23}}}},
}
cases["nl.NkiTensor.vector_select"] = {
  {"rows of hbm", {hbm, nd.array({{4}, {0}, {4}}, "int32")}, function(h, i)
    local out = nl.ndarray({3, 4}, nl.float32, {buffer = nl.shared_hbm})
    nl.store(out, nl.load(h:vector_select(0, nl.load(i))))
    return out
  end, rows_of {4, 0, 4}, hbm = true},
}
for _, method in ipairs {"view", "reinterpret_cast"} do
  cases["nl.NkiTensor." .. method] = {
    {"smaller elements", {nd.array({{0x04030201}}, "uint32")}, function(t) return t[method](t, nl.uint8) end,
     {nd.array({{1, 2, 3, 4}}, "uint8")}},
    {"the bits of a float", {nd.array {{1, -2}}}, function(t) return t[method](t, nl.uint32) end,
     {nd.array({{0x3F800000, 0xC0000000}}, "uint32")}},
  }
end
-- Number i of 16 partitions is index[i % 16, i // 16].
cases["nl.NkiTensor.indirect"] = {
  {"elements picked at run time", {nd.array(gen.rows(16, function(p)
    return gen.rows(4, function(f) return 4 * p + f end)
  end)), nd.array(gen.rows(16, function(p) return {p % 4} end), "uint16")}, function(t, index)
    local out = nl.ndarray({16, 16}, nl.float32)
    nisa.tensor_copy(out, t:indirect(index, 16))
    return out
  end, {gen.rows(16, function(p) return gen.rows(16, function(i) return 4 * p + i % 4 end) end)}, target = "trn3"},
}

-- ---- questions

cases["nl.NkiTensor.is_contiguous"] = {{"whole, and with holes", function()
  local t = nl.ndarray({4, 6}, nl.float32)
  return t:is_contiguous(), t[{{}, {0, 6, 2}}]:is_contiguous(), t[{{0, 2}}]:is_contiguous()
end, {true, false, true}}}
cases["nl.NkiTensor.get_pattern"] = {{"strides and counts", function()
  local t = nl.ndarray({4, 6}, nl.float32)
  return t:get_pattern(), t[{{}, {0, 6, 2}}]:get_pattern()
end, {{{6, 4}, {1, 6}}, {{6, 4}, {2, 3}}}}}
cases["nl.NkiTensor.is_indirect"] = {{"rows picked at run time", function()
  local h = nl.ndarray({6, 4}, nl.float32, {buffer = nl.private_hbm})
  local rows = nl.full({3, 1}, 1, nl.int32)
  return h:is_indirect(), h:vector_select(0, rows):is_indirect(),
    h:select(0, nl.full({1, 1}, 2, nl.int32)):is_indirect()
end, {false, true, true}}}

-- ---- classes

local function rebound(f)
  return {{"another shape and dtype of the same storage", {nd.array({{0x04030201}, {0x08070605}}, "uint32")}, f,
    {nd.array({{0x0201, 0x0403}, {0x0605, 0x0807}}, "uint16")}}}
end
cases["nl.NkiTensor"] = rebound(function(t) return nl.NkiTensor({2, 2}, nl.uint16, t) end)
table.insert(cases["nl.NkiTensor"], {"a declaration, and what is one", function()
  local d = nl.NkiTensor({2, 3}, nl.int8)
  return {d.shape:unpack()}, d.dtype, nl.NkiTensor.isinstance(nl.ndarray({1, 1}, nl.int8)), nl.NkiTensor.isinstance(3)
end, {{2, 3}, "int8", true, false}})
cases["nl.NkiTensor.__init__"] = rebound(function(t) return nl.NkiTensor.__init__({2, 2}, nl.uint16, t) end)

local function records(make)
  return {{"fields, and equality by them", function()
    local a, b, c = make {width = 3}, make {width = 3}, make {width = 4}
    return a.width, a == b, a == c, nl.NKIObject.isinstance(a), nl.NKIObject.isinstance {width = 3}
  end, {3, true, false, true, false}, host = true}}
end
cases["nl.NKIObject"] = records(function(fields) return nl.NKIObject(fields) end)
cases["nl.NKIObject.__init__"] = {{"fills a record", function()
  local o = nl.NKIObject()
  return nl.NKIObject.__init__(o, {width = 3}) == o, o.width
end, {true, 3}, host = true}}
cases["nl._TileSize"] = {{"the limits themselves", function()
  return nl._TileSize() == nl.tile_size, nl._TileSize.isinstance(nl.tile_size), nl._TileSize().pmax
end, {true, true, 128}}}

local function registers(make)
  return {{"the value that is given", {}, function()
    local t, r = nl.ndarray({1, 1}, nl.int32), make(7)
    assert(nisa.VirtualRegister.isinstance(r) and not nisa.VirtualRegister.isinstance(7))
    nisa.register_store(t, r)
    return t
  end, {nd.array({{7}}, "int32")}}}
end
cases["nisa.VirtualRegister"] = registers(function(v) return nisa.VirtualRegister(v) end)
cases["nisa.VirtualRegister.__init__"] = registers(function(v) return nisa.VirtualRegister.__init__(v) end)

local function handles(make)
  return {{"what a call gives", {tile}, function(t)
    local i = nisa.tensor_scalar(t, t, nl.add, 1.0)
    assert(make(i) == i and nisa.NkiInstruction.isinstance(i) and not nisa.NkiInstruction.isinstance(t))
    return t
  end, {gen.rows(2, function(p) return gen.rows(12, function(f) return 12 * p + f + 1 end) end)}}}
end
cases["nisa.NkiInstruction"] = handles(function(i) return nisa.NkiInstruction(i) end)
cases["nisa.NkiInstruction.__init__"] = handles(function(i) return nisa.NkiInstruction.__init__(i) end)
cases["nisa.NkiInstruction.depends_on"] = {{"itself, after others", {tile}, function(t)
  local a = nisa.tensor_scalar(t, t, nl.add, 1.0)
  local b = nisa.tensor_scalar(t, t, nl.multiply, 2.0)
  assert(b:depends_on(a) == b)
  return t
end, {gen.rows(2, function(p) return gen.rows(12, function(f) return 2 * (12 * p + f + 1) end) end)}}}
cases["nisa.NkiValidationError"] = {
  {"made", function()
    local e = nisa.NkiValidationError "too small"
    return e.message, nisa.NkiValidationError.isinstance(e), nisa.NkiValidationError.isinstance "too small"
  end, {"too small", true, false}, host = true},
  {"what an instruction raises", function(target)
    local made = nisa.NkiValidationError "x"
    local ok, e = pcall(function()
      nki.jit(function() nisa.memset(nl.ndarray({2, 2}, nl.int32), 0.5) end, {platform_target = target}):specialize()
    end)
    return ok, nisa.NkiValidationError.isinstance(e), getmetatable(e) == getmetatable(made)
  end, {false, true, true}, host = true},
}
cases["ncc.ReplicaGroup"] = {
  {"groups by value", function()
    local g = ncc.ReplicaGroup {{0, 1}, {2, 3}}
    return g == ncc.ReplicaGroup {{0, 1}, {2, 3}}, g == ncc.ReplicaGroup {{0, 2}, {1, 3}}
  end, {true, false}},
  {"two pairs of ranks", {tile}, function(h)
    local out = nl.ndarray({2, 12}, nl.float32, {buffer = nl.shared_hbm})
    ncc.all_reduce({h}, {out}, ncc.ReplicaGroup {{0, 2}, {1, 3}}, nl.add)
    return out
  end, {{tile * 2, tile * 2, tile * 2, tile * 2}}, ranks = 4},
}

return cases
