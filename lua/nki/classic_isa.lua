-- The classic forms of nki.isa: a call without `dst` that returns a new tile, with dtype= and mask=. Each form says the
-- classic order of its parameters and which tile it makes; the instruction itself is the current one.
local fail, _, lib = ...
local kind = lib.kind
local classic, view = lib.half "nki.classic", lib.half "nki.classic_view"
local nl = require "nki.language"

local M = {}

local made = {} -- name -> the instruction in its current form only
local function isa(name)
  made[name] = made[name] or lib.isa(name)
  return made[name]
end

local function shape_of(t) return {t.shape:unpack()} end
local function free(t) return t.size // t.shape[0] end

-- What dst is: a function of the arguments by name to shape, dtype, buffer. dtype= overrides the dtype.
local function like(name)
  return function(a)
    local x = a[name]
    return view.shape_of(x), view.dtype_of(x)
  end
end

local function columns(name, n, dtype)
  return function(a) return {a[name].shape[0], n}, dtype or a[name].dtype end
end

local function transposed(name)
  return function(a)
    local x = a[name]
    local small = x.shape[0] <= 32 and free(x) <= 32
    local vector = a.engine and a.engine.name == "vector"
    return {free(x), x.shape[0]}, x.dtype, name == "data" and not (vector or not a.engine and small) and nl.psum or nil
  end
end

local function product(a) return {free(a.stationary), free(a.moving)}, "float32", nl.psum end

local function over_axes(a)
  local axis, gone, shape = a.axis, {}, {}
  for _, d in ipairs(type(axis) == "table" and axis or {axis}) do
    d = math.type(d) and math.tointeger(d) or -1 -- what is none, the instruction refuses
    gone[d < 0 and d + a.data.ndim or d] = true
  end
  for d = 0, a.data.ndim - 1 do
    if not gone[d] then shape[#shape + 1] = a.data.shape[d] elseif a.keepdims then shape[#shape + 1] = 1 end
  end
  if #shape == 1 then shape[2] = 1 end
  return shape, a.data.dtype
end

local function one_partition(a)
  local shape = shape_of(a.data)
  shape[1] = 1
  return shape, a.data.dtype
end

local function two_tiles(a)
  return view.shape_of(a.data1), lib.promote(view.dtype_of(a.data1), view.dtype_of(a.data2))
end

local function gathered(a)
  local function count(v, default) return math.type(v) and math.tointeger(v) or default end
  local n = count(a.num_valid_indices, free(a.index) * 16)
  return {a.src_buffer.shape[0], math.max(n * count(a.num_elem_per_idx, 1), 1)}, a.src_buffer.dtype
end

local function bounds(a) return {1, 2, free(a.segment_ids)}, "int32" end

local function reversed(a)
  local shape, out = shape_of(a.src), {}
  for d = 1, #shape do out[d] = shape[#shape + 1 - d] end
  if #shape == 4 then out = {shape[4], shape[2], shape[3], shape[1]} end
  return out, a.src.dtype
end

-- order: the classic positional parameters. dst: nil where classic kernels give one. whole: a mask cannot narrow it.
-- rows: the columns of dst are other than those of the data, so a mask narrows it in partitions only.
local forms = {
  activation = {"op data", like "data"},
  activation_reduce = {"op data", like "data"},
  bn_aggr = {"data", columns("data", 2), rows = true},
  bn_stats = {"data", columns("data", 6), rows = true},
  dma_copy = {""},
  dma_transpose = {"src", reversed, whole = true},
  dropout = {"data prob", like "data"},
  local_gather = {"src_buffer index num_elem_per_idx num_valid_indices", gathered, whole = true},
  max8 = {"src", columns("src", 8), rows = true},
  nc_find_index8 = {"data vals", columns("data", 8, "uint32"), rows = true},
  nc_match_replace8 = {"data vals imm dst_idx", like "data"},
  nc_matmul = {"stationary moving", product, whole = true},
  nc_stream_shuffle = {"src dst shuffle_mask"},
  nc_transpose = {"data", transposed "data", whole = true},
  range_select = {"", like "on_true_tile", needs = "on_true_tile"},
  reciprocal = {"data", like "data"},
  scalar_tensor_tensor = {"data op0 operand0 op1 operand1 reverse0 reverse1", like "data"},
  select_reduce = {""},
  sequence_bounds = {"segment_ids", bounds, whole = true},
  tensor_copy = {"src", like "src"},
  tensor_copy_dynamic_dst = {"", op = "tensor_copy"},
  tensor_copy_dynamic_src = {"src", like "src", op = "tensor_copy"},
  tensor_copy_predicated = {"src dst predicate"},
  tensor_partition_reduce = {"op data", one_partition, whole = true},
  tensor_reduce = {"op data axis", over_axes, whole = true},
  tensor_scalar = {"data op0 operand0 reverse0 op1 operand1 reverse1", like "data"},
  tensor_scalar_reduce = {"data op0 operand0 reduce_op reduce_res reverse0", like "data"},
  tensor_tensor = {"data1 data2 op", two_tiles},
  tensor_tensor_scan = {"data0 data1 initial op0 op1 reverse0 reverse1", like "data0"},
}

local function is_operand(v) return kind(v) == "tile" or view.is_pending(v) end

-- The arguments by name, nil when they are no classic form.
local function bound(order, ...)
  local n, args, given = select("#", ...), {}, {...}
  local keywords = given[n]
  if type(keywords) == "table" and not getmetatable(keywords) and (type(next(keywords)) == "string") then n = n - 1
  else keywords = {} end
  local at = 0
  for name in order:gmatch "%S+" do
    at = at + 1
    if at <= n then args[name] = given[at] end
  end
  if n > at then return nil end
  for name, v in pairs(keywords) do
    if type(name) ~= "string" or args[name] ~= nil then return nil end
    args[name] = v
  end
  return args
end

local eight = {vals = true, dst_idx = true} -- operands with eight columns of their own

local function rows_of(box, shape)
  local rows = {lo = {box.lo[1]}, hi = {box.hi[1]}}
  for d = 2, #shape do rows.lo[d], rows.hi[d] = 0, shape[d] end
  return rows
end

local function narrowed(args, box)
  for name, v in pairs(args) do
    local shape = is_operand(v) and view.shape_of(v)
    if shape and #shape == #box.lo then args[name] = view.resolve(v, eight[name] and rows_of(box, shape) or box) end
  end
end

-- The first operand that is data: its shape is what a mask is about.
local function subject(form, args)
  for name in (form[1] .. " dst on_true_tile on_true data"):gmatch "%S+" do
    if is_operand(args[name]) then return view.shape_of(args[name]) end
  end
end

-- The box of dst, where it has the axes of the subject; elsewhere whole.
local function part_of(dst, box, shape, rows)
  local part = {lo = {}, hi = {}, full = true}
  for d = 1, dst.ndim do
    local n = dst.shape[d - 1]
    local cut = n == shape[d] and dst.ndim == #shape and not rows or d == 1
    part.lo[d], part.hi[d] = cut and box.lo[d] or 0, cut and box.hi[d] or n
    part.full = part.full and part.hi[d] - part.lo[d] == n
  end
  return part
end

-- Narrows the operands to where the mask holds; the box that is written of dst (a new tile).
local function masked(name, form, args, mask, dst)
  if form.whole then
    fail("bind_value", ("nisa.%s: parameter 'mask' is given; mask the operands instead: t[mask]"):format(name))
  end
  local shape = subject(form, args)
  local box = classic.box(mask, shape)
  if box.empty then return box end
  if dst then args.dst = nil end
  narrowed(args, box)
  if not dst then return box end
  local part = part_of(dst, box, shape, form.rows)
  args.dst = view.boxed(dst, part)
  return part
end

-- A call with dst of which something is nil, so that the others stand where the classic form has other kinds.
local function shifted(args)
  return is_operand(args.op0) or kind(args.operand0) == "token" or is_operand(args.imm)
    or type(args.dst_idx) == "number" or kind(args.reverse0) == "token"
    or is_operand(args.initial) and type(args.op0) == "number"
end

-- Is every operand of the classic order, as far as it is required, there?
local function fits(form, args)
  if shifted(args) then return false end
  if not form[2] then return args.dst ~= nil and (args.src ~= nil or not form[1]:find "src ") end
  local order = (" %s %s "):format(form[1], form.needs or "")
  for name in ("data data0 data1 data2 src op stationary moving src_buffer index segment_ids "
    .. "on_true_tile"):gmatch "%S+" do
    local wanted = order:find(" " .. name .. " ", 1, true)
    local v = args[name]
    if wanted and not (name == "op" and kind(v) == "token" or name ~= "op" and is_operand(v)) then return false end
  end
  return true
end

local special = {}

-- The arguments of a special form by name; those that it does not have are refused.
local function bound_to(name, order, ...)
  local a, unknown = bound(order, ...), {}
  for key in pairs(a or {}) do
    if not (" " .. order .. " mask name "):find(" " .. key .. " ", 1, true) then unknown[#unknown + 1] = key end
  end
  table.sort(unknown)
  return a, function()
    if unknown[1] then
      fail("bind_unknown", ("nisa.%s: no parameter '%s' (parameters: %s, mask, name)"):format(name, unknown[1],
        order:gsub(" ", ", ")))
    end
  end
end

-- dst of a special form, written in the box of the mask by write(the box of dst, the box).
local function written(a, dst, write)
  local box = classic.box(a.mask == nil and true or a.mask, shape_of(dst))
  if not box.empty then write(view.boxed(dst, box), box) end
  return true, lib.half "nki.classic_language".partial(dst, box)
end

function special.memset(name, ...)
  local a, check = bound_to(name, "shape value dtype engine", ...)
  if not a or a.dst or type(a.shape) ~= "table" and kind(a.shape) ~= "shape" then return false end
  check()
  local dst = nl.ndarray(a.shape, a.dtype)
  return written(a, dst, function(part)
    isa(name) {dst = part, value = a.value, engine = a.engine, name = a.name}
  end)
end

-- An affine expression as pattern, channel_multiplier and offset over the box of a tile of `shape`.
local function pattern_of(e, shape, box, func)
  local pattern, front = {}, #shape - e.rank
  if front < 0 or e.register or e.tile then
    fail("bind_value", ("%s: the index expression %s has no place in a tile of %d dimensions"):format(func,
      classic.text_of(e), #shape))
  end
  local base = e.base
  for d = 1, #shape do
    local coef = e.coef[d - front] or 0
    base = base + coef * box.lo[d]
    if d > 1 then pattern[d - 1] = {coef, box.hi[d] - box.lo[d]} end
  end
  return pattern, e.coef[1 - front] or 0, base
end

function special.iota(name, ...)
  local a, check = bound_to(name, "expr dtype", ...)
  if not a or not classic.is_expr(a.expr) then return false end
  check()
  local e = a.expr
  if e.flat then lib.fault("1d_arange_not_supported", "nisa.iota: parameter 'expr'") end
  return written(a, nl.ndarray(e.size, a.dtype), function(dst, box)
    local pattern, multiplier, offset = pattern_of(e, e.size, box, "nisa.iota")
    isa(name) {dst = dst, pattern = pattern, channel_multiplier = multiplier, offset = offset, name = a.name}
  end)
end

function special.affine_select(name, ...)
  local a, check = bound_to(name, "pred on_true_tile on_false_value dtype", ...)
  if not a or not classic.is_mask(a.pred) or kind(a.on_true_tile) ~= "tile" then return false end
  check()
  local term = a.pred.terms[1]
  if #a.pred.terms ~= 1 then
    lib.fault("unsupported_expression_in_mask",
      "nisa.affine_select: parameter 'pred' is one comparison, and this joins several")
  end
  local x = a.on_true_tile
  return written(a, nl.ndarray(shape_of(x), a.dtype or x.dtype), function(dst, box)
    local pattern, multiplier, offset = pattern_of(term.expr, shape_of(x), box, "nisa.affine_select")
    isa(name) {dst = dst, pattern = pattern, channel_multiplier = multiplier, offset = offset,
      on_true_tile = view.boxed(x, box), on_false_value = a.on_false_value, cmp_op = nl[term.op], name = a.name}
  end)
end

-- dma_copy with dst_rmw_op adds what is there.
local function accumulating(name, args)
  if name ~= "dma_copy" or args.dst_rmw_op == nil then return false end
  args.srcs, args.reduce_op = {args.src, args.dst}, args.dst_rmw_op
  args.src, args.dst_rmw_op = nil, nil
  isa "dma_compute"(args)
  return true
end

--- A call that the current form refused: true and the tile when it is a classic one, else false.
function M.call(name, ...)
  if special[name] then return special[name](name, ...) end
  local form = forms[name]
  local args = form and bound(form[1], ...)
  if not args or not fits(form, args) then return false end
  local makes, dtype, mask, dst = form[2] and not args.dst, args.dtype, args.mask, nil
  args.dtype, args.mask = nil, nil
  if makes then
    local shape, own, buffer = form[2](args)
    dst = nl.ndarray(shape, dtype or own, buffer)
    args.dst = dst
  elseif dtype then
    return false
  end
  local box = mask ~= nil and masked(name, form, args, mask, dst) or nil
  if not (box and box.empty) and not accumulating(name, args) then isa(form.op or name)(args) end
  if box and dst then lib.half "nki.classic_language".partial(dst, box) end
  return true, dst
end

return M
