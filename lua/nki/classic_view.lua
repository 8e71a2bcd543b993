-- Tensors indexed by index expressions, t[{ip, jf}]: each axis of the tensor gets an affine function of the positions,
-- so the whole is one access pattern. Also what a mask may still bring into the tensor (Pending), and tensors with
-- block axes in front of the partition axis (Blocks).
local fail, _, lib = ...
local kind, fault = lib.kind, lib.fault
local classic = lib.half "nki.classic"

local M = {}
local Pending = {__name = "NkiPendingView"} -- out of bounds unless a mask bounds it
local Blocks = {__name = "NkiBlockTensor"}

function M.is_pending(v) return getmetatable(v) == Pending end
function M.is_blocks(v) return getmetatable(v) == Blocks end

local function shape_text(shape) return "{" .. table.concat(shape, ", ") .. "}" end

local function slices_mixed(t, word)
  fault("unsupported_mixing_basic_advanced_tensor_indexing", t.name, word)
end

-- The key of one axis as an expression; a whole tile of indices stays beside it.
local function axis_of(t, key, d)
  if key == nil or type(key) == "string" or kind(key) == "ds" then
    slices_mixed(t, key and "a slice" or "a whole axis")
  end
  if type(key) == "table" and not classic.is_expr(key) then slices_mixed(t, "a slice") end
  if kind(key) == "tile" then return {rank = 0, size = {}, coef = {}, base = 0, rows = key} end
  local n = math.type(key) and math.tointeger(key)
  if n and n < 0 then key = n + t.shape[d - 1] end
  local e = classic.lift(key)
  if not e then
    fail("key_kind", ("index %d of '%s' is %s; use an index expression or an integer"):format(d - 1, t.name,
      lib.rename(key)))
  end
  if e.flat then
    fault("1d_arange_not_supported", ("index %d of '%s'"):format(d - 1, t.name))
  end
  if e.spoilt then
    fail("index_arithmetic",
      ("index %d of '%s': operator %s leaves no affine expression; only + - and * with integers do")
      :format(d - 1, t.name, e.spoilt))
  end
  return e
end

-- Rows picked by a tile of indices.
local function check_rows(t, axes)
  for d, e in ipairs(axes) do
    if e.rows then
      if lib.on_chip(t) then
        fault("copy_dynamic_indirect_indices_not_natively_supported", t.name, d - 1)
      end
      if d > 1 then
        fault("indirect_indices_free_dim", t.name,
          ("index %d is one, and only axis 0, which becomes the partition axis, can be"):format(d - 1))
      end
    elseif axes[1].rows and e.grid then
      fault("indirect_indices_free_dim", t.name,
        "the other indices may not come from nl.mgrid; use nl.arange with axes")
    end
  end
end

-- Places: axes {expr}, rank and size of the result.
local function places(t, key)
  if classic.is_expr(key) then key = {key} end
  if kind(key) == "tile" then
    if lib.on_chip(t) then fault("copy_dynamic_indirect_indices_not_natively_supported", t.name, 0) end
    key = {key}
  end
  local axes, rank, size = {}, 0, {}
  if #key ~= t.ndim then
    for d = 1, t.ndim do
      if key[d] == nil and #key < t.ndim then slices_mixed(t, "fewer keys than axes, which means whole ones") end
    end
    fail("key_count", ("'%s' has rank %d, and the number of keys is %d; give at most one per axis"):format(
      t.name, t.ndim, #key))
  end
  local shape = classic.lift(0)
  for d = 1, t.ndim do
    local e = axis_of(t, key[d], d)
    axes[d] = e
    rank, size = classic.common(shape, e, "index of '" .. t.name .. "'")
    shape = {rank = rank, size = size}
  end
  check_rows(t, axes)
  return {axes = axes, rank = rank, size = size}
end

local function coef_of(e, rank, d) return e.coef[d - (rank - e.rank)] or 0 end

local function limits(p, e)
  local least, most = e.base, e.base
  for d = 1, p.rank do
    local last = coef_of(e, p.rank, d) * (p.size[d] - 1)
    least, most = least + math.min(0, last), most + math.max(0, last)
  end
  return least, most
end

-- The first axis that the places leave: its text.
local function outside(t, p)
  for d, e in ipairs(p.axes) do
    local least, most = limits(p, e)
    local size = t.shape[d - 1]
    if not e.rows and not e.register and not e.tile and (least < 0 or most >= size) then
      return ("index %d of '%s' runs over [%d, %d] and axis %d has %d elements; a mask can bound it"):format(d - 1,
        t.name,
        least, most, d - 1, size)
    end
  end
end

local function check_partition(t, p)
  local first = p.axes[1]
  for d = 1, p.rank do
    local c = coef_of(first, p.rank, d)
    if d > 1 and c ~= 0 and p.size[d] > 1 or d == 1 and c == 0 and p.size[1] > 1 then
      fault("failed_to_infer_tile_from_local_tensor", t.name,
        ("is on chip: its axis 0 is the partition axis, so the index "
        .. "there runs along dimension 0 of the result {%s} and no other"):format(table.concat(p.size, ", ")))
    end
  end
end

local function rows_of(t, p)
  local rows = p.axes[1].rows
  local n = rows.shape[0]
  if p.rank == 0 then p.rank, p.size = 1, {1} end
  if p.size[1] ~= 1 and p.size[1] ~= n then
    fail("elementwise_shape", ("'%s': %d rows are picked and dimension 0 of the other indices has %d positions"):format(
      t.name, n, p.size[1]))
  end
  p.size[1] = n
  return rows
end

-- A scalar known at run time only: at most one axis has one.
local function scalar_of(t, p)
  local found, axis
  for d, e in ipairs(p.axes) do
    local s = e.register or e.tile
    if s and found then
      fail("view_one_dynamic", ("'%s': a view has at most one run-time offset, scalar or vector"):format(t.name))
    end
    if s then found, axis = s, d - 1 end
  end
  return found, axis
end

local function build(t, p)
  local strides, pattern, offset = t.strides, {}, 0
  local rows = p.axes[1].rows and rows_of(t, p)
  if lib.on_chip(t) then check_partition(t, p) end
  for k, e in ipairs(p.axes) do offset = offset + e.base * strides[k] end
  for d = 1, p.rank do
    local stride = 0
    for k, e in ipairs(p.axes) do stride = stride + coef_of(e, p.rank, d) * strides[k] end
    if stride < 0 then
      local text = "index of '%s': dimension %d walks backwards by %d elements; addresses only grow"
      fail("view_ap_pair", text:format(t.name,
        d - 1, -stride))
    end
    pattern[d] = {stride, p.size[d]}
  end
  if rows then return t:ap(pattern, offset, nil, rows, 0) end
  local scalar, axis = scalar_of(t, p)
  if scalar then return t:ap(pattern, offset, scalar, nil, axis) end
  return t:ap(pattern, offset)
end

-- Where key is a mask: the box of the tile.
function M.boxed(t, box)
  local key = {}
  if box.full then return t end
  for d = 1, #box.lo do
    local whole = t.shape[d - 1] == 1 or box.lo[d] == 0 and box.hi[d] == t.shape[d - 1]
    key[d] = whole and ":" or {box.lo[d], box.hi[d]}
  end
  return t[key]
end

function M.shape_of(v)
  if M.is_pending(v) then return rawget(v, "places").size end
  return {v.shape:unpack()}
end

function M.dtype_of(v) return M.is_pending(v) and rawget(v, "tensor").dtype or v.dtype end

-- The positions of the box of a tile or a pending view.
function M.resolve(v, box)
  if not M.is_pending(v) then return M.boxed(v, box) end
  local t, p = rawget(v, "tensor"), rawget(v, "places")
  local axes, size = {}, {}
  for d = 1, p.rank do size[d] = p.size[d] == 1 and 1 or box.hi[d] - box.lo[d] end
  for k, e in ipairs(p.axes) do
    local base = e.base
    for d = 1, p.rank do
      if p.size[d] > 1 then base = base + coef_of(e, p.rank, d) * box.lo[d] end
    end
    axes[k] = {rank = e.rank, size = e.size, coef = e.coef, base = base, rows = e.rows, register = e.register,
      tile = e.tile}
  end
  local inner = {axes = axes, rank = p.rank, size = size}
  local why = outside(t, inner)
  if why then fail("tensor_access_out_of_bound", why) end
  return build(t, inner)
end

local function use(v) fail("tensor_access_out_of_bound", rawget(v, "why")) end
Pending.__index, Pending.__newindex, Pending.__len, Pending.__use = use, use, use, use
local operators = {"add", "sub", "mul", "div", "idiv", "pow", "mod", "unm", "band", "bor", "bxor", "bnot", "shl", "shr"}
for _, event in ipairs(operators) do
  Pending["__" .. event] = function(x, y) use(M.is_pending(x) and x or y) end
end
Pending.__tostring = function(v) return "a view out of bounds: " .. rawget(v, "why") end

--- t[key] where the key holds an index expression, a mask or a tile.
function M.index(t, key)
  if classic.is_mask(key) then
    local box = classic.box(key, {t.shape:unpack()})
    if box.empty then
      fail("tensor_access_out_of_bound",
        ("the mask of '%s' holds nowhere: a tile has at least one element"):format(t.name))
    end
    return M.boxed(t, box)
  end
  local p = places(t, key)
  local why = outside(t, p)
  if why then return setmetatable({tensor = t, places = p, why = why}, Pending) end
  return build(t, p)
end

-- ---- block axes

local MOST_BLOCKS = 65536 -- more tiles than any memory on chip holds

local PartitionDim = {__name = "NkiPartitionDim"}
PartitionDim.__tostring = function(d) return ("nl.par_dim(%d)"):format(d.size) end

function M.par_dim(n) return setmetatable({size = lib.integer(n, "nl.par_dim", "size")}, PartitionDim) end

--- Sizes of a shape with nl.par_dim in it, and where that stands (nil when nowhere).
function M.read_shape(shape, func)
  local sizes, at = {}, nil
  if type(shape) ~= "table" or getmetatable(shape) then return nil end
  for d = 1, #shape do
    local marked = getmetatable(shape[d]) == PartitionDim
    if marked and at then
      fault("leading_dimension_of_tensor_must_be_partition", func,
        ("axes %d and %d are both nl.par_dim; a tensor has one partition axis"):format(at - 1, d - 1))
    end
    if marked then at = d end
    sizes[d] = marked and shape[d].size or shape[d]
  end
  return sizes, at
end

local function block_name(b) return rawget(b, "name") end

local function whole(b)
  fault("failed_to_infer_tile_from_local_tensor", block_name(b),
    ("has %d block axes before its partition axis: index them "
    .. "with integers first, such as t[i]"):format(#rawget(b, "blocks")))
end

local function block_at(b, key)
  local blocks, linear = rawget(b, "blocks"), 0
  if type(key) ~= "table" or getmetatable(key) then key = {key} end
  for d = 1, #blocks do
    local i = math.type(key[d]) and math.tointeger(key[d])
    if not i then
      fault("leading_dimension_of_tensor_must_be_partition", block_name(b),
        ("index %d, of a block axis, is %s; block axes "
        .. "are indexed by integers, so that the partition axis comes first"):format(d - 1, lib.rename(key[d])))
    end
    if i < 0 then i = i + blocks[d] end
    if i < 0 or i >= blocks[d] then
      fail("tensor_access_out_of_bound",
        ("index %d of axis %d of '%s' is out of bounds: axis %d has %d elements"):format(
        key[d], d - 1, block_name(b), d - 1, blocks[d]))
    end
    linear = linear * blocks[d] + i
  end
  local rest = {}
  for d = #blocks + 1, math.max(#key, #blocks + rawget(b, "tile_rank")) do rest[d - #blocks] = key[d] end
  return rawget(b, "tiles")[linear + 1], next(rest) and rest or nil
end

Blocks.__index = function(b, key)
  if key == "shape" then return lib.shape(rawget(b, "sizes")) end
  if key == "dtype" or key == "buffer" then return rawget(b, "tiles")[1][key] end
  if key == "ndim" then return #rawget(b, "sizes") end
  if key == "name" then return block_name(b) end
  local t, rest = block_at(b, key)
  if rest then return t[rest] end
  return t
end
Blocks.__newindex = function(b, key, value)
  local t, rest = block_at(b, key)
  t[rest or "..."] = value
end
Blocks.__use, Blocks.__len = whole, whole
for _, event in ipairs(operators) do
  Blocks["__" .. event] = function(x, y) whole(M.is_blocks(x) and x or y) end
end
Blocks.__tostring = function(b)
  return ("block tensor '%s' of shape %s"):format(block_name(b), shape_text(rawget(b, "sizes")))
end

--- A tensor of `sizes` whose partition axis stands at `at` > 1: one tile for every block; make(shape, k) makes tile k.
function M.blocks(func, sizes, at, name, make)
  local blocks, shape, n = {}, {}, 1
  for d = 1, at - 1 do
    blocks[d] = lib.integer(sizes[d], func, "shape")
    if blocks[d] < 1 then
      fail("tensor_size", ("%s: axis %d of the tensor has size %d; sizes are at least 1"):format(func, d - 1,
        blocks[d]))
    end
    n = n * math.min(blocks[d], MOST_BLOCKS + 1)
    if n > MOST_BLOCKS then
      fail("bind_value", ("%s: parameter 'shape' has the block axes %s; they make at most %d tiles"):format(func,
        shape_text {table.unpack(blocks, 1, d)}, MOST_BLOCKS))
    end
  end
  for d = at, #sizes do shape[#shape + 1] = sizes[d] end
  if #shape == 1 then shape[2] = 1 end
  local tiles = {}
  for k = 1, n do tiles[k] = make(shape, k - 1) end
  return setmetatable({blocks = blocks, sizes = sizes, tiles = tiles, tile_rank = #shape, name = name or tiles[1].name},
    Blocks)
end

return M
