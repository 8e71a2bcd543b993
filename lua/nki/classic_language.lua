-- The classic forms of nki.language: mask= on every function that classic kernels give it to, nl.par_dim shapes,
-- nl.loop_reduce, nl.atomic_rmw and the small helpers. All of it calls nl and nisa, which see plain tiles only.
local fail, _, lib = ...
local kind = lib.kind
local classic, view = lib.half "nki.classic", lib.half "nki.classic_view"
local nl = require "nki.language"

local M = {arange = classic.arange, par_dim = view.par_dim}

function M.mgrid(_, key) return classic.mgrid(key) end

-- ---- tiles that hold something in a box only: assignments and stores of them move that box, until more of them is
-- written. box.from: the number of the next instruction when the tile was made.

local boxes = setmetatable({}, {__mode = "k"})

local function partial(t, box)
  if not box.full then
    boxes[t], box.from = box, lib.partial() -- from now on assignments ask
  end
  return t
end
M.partial = partial

-- The box of value over the axes of dst: shapes are compared without axes of size 1. Nil when they differ.
local function over(dst, value, box)
  local part, k, full = {lo = {}, hi = {}}, 0, true
  local function next_axis()
    repeat k = k + 1 until k > value.ndim or value.shape[k - 1] ~= 1
    return k <= value.ndim and k or nil
  end
  for d = 1, dst.ndim do
    local n = dst.shape[d - 1]
    local from = n ~= 1 and next_axis()
    if from == nil or from and value.shape[from - 1] ~= n then return nil end
    part.lo[d], part.hi[d] = from and box.lo[from] or 0, from and box.hi[from] or 1
    full = full and part.hi[d] - part.lo[d] == n
  end
  part.full = full
  return not next_axis() and part or nil
end

--- dst[key] = value, and nl.store, where some masked result exists; dst is the view that the key selects.
function M.assign(dst, value)
  local box = boxes[value]
  if not box then return false end
  if lib.wrote_beyond(value, not box.empty and view.boxed(value, box) or nil, box.from) then
    boxes[value] = nil -- more was written later: an ordinary tile
    return false
  end
  local part = over(dst, value, box)
  if not part then return false end -- refused as any other
  if not box.empty then view.boxed(dst, part)["..."] = view.boxed(value, box) end
  return true
end

-- ---- masked calls

local function is_operand(v) return kind(v) == "tile" or view.is_pending(v) end

-- Shape of what a call works on: of its operands, size-1 axes repeated.
local function common_shape(args)
  local shape
  for _, v in ipairs(args) do
    if is_operand(v) then
      local s = view.shape_of(v)
      for d = 1, shape and #s == #shape and #s or 0 do s[d] = math.max(s[d], shape[d]) end
      shape = shape and #s ~= #shape and shape or s
    end
  end
  return shape
end

local dtype_of = view.dtype_of

-- A tile of the whole shape, written in the box only. r: what the box holds, nil when it is empty.
local function placed(shape, box, dtype, r)
  local out = nl.ndarray(shape, dtype)
  if r then view.boxed(out, box)["..."] = r end
  return partial(out, box)
end

local function call(name, names, values)
  local keywords = {}
  for i, v in pairs(values) do keywords[names[i]] = v end
  return nl[name](keywords)
end

local function dtype_given(names, args)
  for i, name in ipairs(names) do
    if name == "dtype" then return args[i] end
  end
end

local function elementwise(name, names, n, args, mask)
  local list = {}
  for i = 1, n do list[#list + 1] = args[i] end
  local shape = common_shape(list)
  if not shape then return call(name, names, args) end
  local box = classic.box(mask, shape)
  local first
  for i = 1, n do
    if is_operand(args[i]) then
      first = first or args[i]
      args[i] = not box.empty and view.resolve(args[i], box) or args[i]
    end
  end
  if box.full then return call(name, names, args) end
  local r = not box.empty and call(name, names, args) or nil
  return placed(shape, box, r and r.dtype or dtype_given(names, args) or dtype_of(first), r)
end

local reductions = {sum = true, prod = true, max = true, min = true, mean = true, var = true, all = true}

local function reduced(name, names, _, args, mask)
  local x = args[1]
  local shape = view.shape_of(x)
  local box = classic.box(mask, shape)
  if box.empty then
    fail("bind_value", ("nl.%s: parameter 'mask' is true nowhere; nothing is left to reduce"):format(name))
  end
  args[1] = view.resolve(x, box)
  local r = call(name, names, args)
  if box.full then return r end
  -- reduced axes have gone (or are 1): what is left of the box
  local axis, gone, keeps = args[2], {}, r.ndim == #shape
  for _, a in ipairs(type(axis) == "table" and {table.unpack(axis)} or {axis}) do
    gone[a < 0 and a + #shape + 1 or a + 1] = true
  end
  local rest, size = {lo = {}, hi = {}, full = true}, {}
  for d = 1, #shape do
    if not gone[d] or keeps then
      local n = #size + 1
      size[n], rest.lo[n], rest.hi[n] = gone[d] and 1 or shape[d], gone[d] and 0 or box.lo[d], gone[d] and 1
        or box.hi[d]
      rest.full = rest.full and rest.lo[n] == 0 and rest.hi[n] == size[n]
    end
  end
  if #size < r.ndim then size[#size + 1], rest.lo[#size + 1], rest.hi[#size + 1] = 1, 0, 1 end
  if rest.full then return r end
  return placed(size, rest, r.dtype, r)
end

local function load(_, _, _, args, mask)
  local src, dtype = args[1], args[2]
  local shape = view.shape_of(src)
  local box = classic.box(mask, shape)
  if box.full then return nl.load(view.resolve(src, box), dtype) end
  local out = nl.ndarray(shape, dtype or dtype_of(src))
  if not box.empty then
    require "nki.isa".dma_copy(view.boxed(out, box), view.resolve(src, box))
  end
  return partial(out, box)
end

local function store(_, _, _, args, mask)
  local dst, value = args[1], args[2]
  local box = classic.box(mask, common_shape {dst})
  if not box.empty then nl.store(view.resolve(dst, box), view.resolve(value, box)) end
end

local function turned(name, names, _, args, mask)
  local shape = view.shape_of(args[1])
  local box = classic.box(mask, shape)
  args[1] = not box.empty and view.resolve(args[1], box) or args[1]
  local r = not box.empty and call(name, names, args) or nil
  if box.full then return r end
  local back = {lo = {box.lo[2], box.lo[1]}, hi = {box.hi[2], box.hi[1]}, empty = box.empty}
  return placed({shape[2], shape[1]}, back, r and r.dtype or args[2] or dtype_of(args[1]), r)
end

local function matmul()
  fail("bind_value", "nl.matmul: parameter 'mask' is given; mask the operands instead: x[mask], y[mask]")
end

local function statement(name, names, n, args, mask) -- nothing is returned
  local x = args[n]
  local box = classic.box(mask, view.shape_of(x))
  args[n] = not box.empty and view.resolve(x, box) or x
  if not box.empty then call(name, names, args) end
end

local function gather(name, names, _, args, mask)
  local data, indices = args[1], args[2]
  local shape = view.shape_of(indices)
  local box = classic.box(mask, shape)
  if box.full then return call(name, names, args) end
  local rows = {lo = {box.lo[1]}, hi = {box.hi[1]}}
  for d = 2, data.ndim do rows.lo[d], rows.hi[d] = 0, data.shape[d - 1] end
  if box.empty then return placed(shape, box, args[4] or data.dtype) end
  args[1], args[2] = view.boxed(data, rows), view.boxed(indices, box)
  local r = call(name, names, args)
  return placed(shape, box, r.dtype, r)
end

-- How a function meets a mask; the number: how many leading parameters are operands of the box.
local special = {load = load, store = store, transpose = turned, load_transpose2d = turned, matmul = matmul,
  device_print = statement, random_seed = statement, gather_flattened = gather}
local operands = {where = 3, softmax = 1, dropout = 2, rms_norm = 2, copy = 1}

--- func(..., mask = m): the arguments are bound to names in order (nil: not given).
function M.masked(func, mask, names, ...)
  local name = func:match "^nl%.(.*)$"
  local args = {}
  for i = 1, #names do args[i] = (select(i, ...)) end
  local run = special[name] or reductions[name] and reduced
  local data = name == "device_print" and 2 or 1
  if run then
    local other = name == "store" or name == "gather_flattened" -- what no tile is, the function itself refuses
    if not is_operand(args[data]) or other and not is_operand(args[2]) then return call(name, names, args) end
    return run(name, names, data, args, mask)
  end
  local n = operands[name] or names[2] == "y" and 2 or names[1] == "x" and names[2] == "dtype" and 1
  if not n then
    fail("bind_unknown", ("%s: no parameter 'mask'; it works on whole tensors"):format(func))
  end
  return elementwise(name, names, n, args, mask)
end

-- ---- functions that know index expressions

--- A two-operand nl function with an expression or mask among its operands.
function M.binary(name, x, y)
  if classic.is_mask(x) or classic.is_mask(y) then
    if name == "logical_and" or name == "bitwise_and" then return classic.both(x, y) end
    lib.fault("unsupported_expression_in_mask", ("nl.%s of masks: only & and nl.logical_and join them"):format(name))
  end
  if name == "add" then return classic.add(x, y) end
  local e, other = classic.lift(x), classic.lift(y)
  if name == "subtract" and e and other then return e - other end
  if name == "multiply" and e and other then return e * (math.type(y) and y or x) end
  return classic.compare(name, x, y)
end

--- nl.ndarray and its kin with nl.par_dim in the shape. names: those of the row; the shape is first.
function M.shaped(func, names, shape, ...)
  local sizes, at = view.read_shape(shape, func)
  local args, make = {}, nl[func:match "^nl%.(.*)$"]
  for i = 2, #names do args[names[i]] = (select(i - 1, ...)) end
  local name = args.name ~= "" and args.name or nil
  if at == 1 or args.buffer ~= nil and nl.is_hbm(args.buffer) then
    if at ~= 1 then
      lib.fault("leading_dimension_of_tensor_must_be_partition", func,
        ("nl.par_dim stands at axis %d of a tensor in %s; HBM has no partition axis"):format(at - 1,
          tostring(args.buffer)))
    end
    args.shape = sizes
    return make(args)
  end
  return view.blocks(func, sizes, at, name, function(tile, k)
    args.shape, args.name = tile, name and name .. "_" .. k
    return make(args)
  end)
end

-- ---- loop_reduce, atomic_rmw

local running = {} -- of one trace: key -> accumulator
local serial

--- dst = op(dst, x) over the iterations of the innermost #loop_indices loops.
function M.loop_reduce(x, op, loop_indices, dtype)
  local loops, trace = lib.loops()
  local n = type(loop_indices) == "table" and #loop_indices or 1
  if serial ~= trace then running, serial = {}, trace end
  local want, have = {}, {}
  for k = 1, n do
    want[k] = type(loop_indices) == "table" and loop_indices[k] or loop_indices
    have[k] = loops[k] and loops[k][2]
  end
  local function list(values)
    table.sort(values, function(a, b) return a < b end)
    return table.concat(values, ", ")
  end
  local ok, want_text = pcall(list, want)
  if not ok or n < 1 or #have < n or want_text ~= list(have) then
    fail("bind_value", ("nl.loop_reduce: parameter 'loop_indices' is not the indices of the %d innermost loops, {%s}")
      :format(n, list(have)))
  end
  local key = ("%d:%d"):format(loops[n][1], lib.line())
  local out = running[key]
  if not out then
    out = nl.copy(x, dtype or x.dtype)
    running[key] = out
    return out
  end
  lib.fold(out, x, op)
  return out
end

--- dst = dst op value in HBM, rows picked by a tile of indices: op is nl.add.
function M.atomic_rmw(dst, value, op, mask)
  if op ~= nl.add then fail("bind_value", "nl.atomic_rmw: parameter 'op' is " .. lib.rename(op) .. "; it is nl.add") end
  for k, name in ipairs {"dst", "value"} do
    local v = k == 1 and dst or k == 2 and value
    if not is_operand(v) then
      fail("bind_kind", ("nl.atomic_rmw: parameter '%s' must be a tensor, got %s"):format(name, lib.rename(v)))
    end
  end
  local box = classic.box(mask == nil and true or mask, view.shape_of(value))
  if box.empty then return end
  dst, value = view.resolve(dst, box), view.boxed(value, box)
  if dst:is_indirect() then
    require "nki.isa".dma_compute(dst, {value, dst}, nl.add)
  else
    nl.store(dst, nl.add(nl.load(dst), value, dst.dtype))
  end
end

-- ---- numbers

local limits = { -- largest, smallest normal, distance from 1 to the next
  float32 = {(2 - 2.0 ^ -23) * 2.0 ^ 127, 2.0 ^ -126, 2.0 ^ -23},
  tfloat32 = {(2 - 2.0 ^ -10) * 2.0 ^ 127, 2.0 ^ -126, 2.0 ^ -10},
  bfloat16 = {(2 - 2.0 ^ -7) * 2.0 ^ 127, 2.0 ^ -126, 2.0 ^ -7},
  float16 = {65504.0, 2.0 ^ -14, 2.0 ^ -10},
  float8_e4m3 = {240.0, 2.0 ^ -6, 2.0 ^ -3},
  float8_e4m3fn = {448.0, 2.0 ^ -6, 2.0 ^ -3},
  float8_e5m2 = {57344.0, 2.0 ^ -14, 2.0 ^ -2},
}

function M.finfo(dtype)
  local f = limits[lib.dtype(dtype, "nl.finfo")]
  if not f then fail("bind_value", ("nl.finfo: parameter 'dtype' is %s; it is a float type"):format(dtype)) end
  return setmetatable({}, {__index = {max = f[1], min = -f[1], tiny = f[2], smallest_normal = f[2], eps = f[3],
    dtype = lib.dtype(dtype, "nl.finfo")}, __newindex = function() fail("read_only", "nl.finfo is read-only") end})
end

--- A number as dtype holds it, an array converted.
function M.static_cast(input_data, dtype)
  local nd = require "nki.ndarray"
  dtype = lib.dtype(dtype, "nl.static_cast")
  if type(input_data) == "number" then return nd.array({input_data}, "float32"):astype(dtype):get(0) end
  if kind(input_data) ~= "array" then
    fail("bind_kind", "nl.static_cast: parameter 'input_data' must be a number or an array, got "
      .. lib.rename(input_data))
  end
  return input_data:astype(dtype)
end

function M.gemm_stationary_grid()
  return classic.grid {{0, nl.tile_size.pmax}, {0, nl.tile_size.gemm_stationary_fmax}}
end
function M.gemm_grid() return classic.grid {{0, nl.tile_size.pmax}, {0, nl.tile_size.gemm_moving_fmax}} end

return M
