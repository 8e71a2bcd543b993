-- random_plan.lua: calls of instructions drawn at random: their operands as views, their other arguments.
local nl, nisa = require "nki.language", require "nki.isa"
local build = require "spec.support.build"
local json = require "spec.support.json"
local views = require "spec.support.random_views"

local M = {}

local generation = {trn1 = 2, trn2 = 3, trn3 = 4}
local sizes, copy = views.sizes, views.copy

local function words(text)
  local list = {}
  for w in text:gmatch "[%w_]+" do list[#list + 1] = w end
  return list
end

-- "in sbuf, psum; bool_, uint8; from gen3: float32; from gen4 also an indirect view" for a generation
local function domain(takes, gen)
  local memories, dtypes = {}, {}
  for m in (takes:match "^in ([^;]*)" or ""):gmatch "[%w_]+" do memories[#memories + 1] = m end
  for part in takes:gmatch ";%s*([^;]*)" do
    local since, rest = part:match "^from gen(%d): (.*)"
    if not part:find "indirect" and not part:find "or later" and (not since or tonumber(since) <= gen) then
      dtypes = words(rest or part)
    end
  end
  local able = {}
  for _, d in ipairs((#dtypes == 0 or dtypes[1] == "any") and views.dtypes or dtypes) do
    if gen >= 4 or not views.gen4_only[d] then able[#able + 1] = d end
  end
  return memories, able, gen >= 4 and takes:find("indirect view", 1, true)
end

local enums = {engine = nisa.engine, dma_engine = nisa.dma_engine, oob_mode = nisa.oob_mode, dge_mode = nisa.dge_mode,
  reduce_cmd = nisa.reduce_cmd, perf_mode = nisa.matmul_perf_mode}

local numbers = {0, 1, -1, 2, 3, 0.5, -2.25, 7, 255, -0.0, 1e-3, 1e30, -65504}

-- Shapes that an instruction wants where they are not the shape of the call: f(P, free shape, r) -> {role = shape}.
local function same(p, free) return table.move(free, 1, #free, 2, {p}) end
function M.count(free)
  local n = 1
  for _, d in ipairs(free) do n = n * d end
  return n
end
local hints = {
  nc_matmul = function(p, _, r)
    local m, n = r:pick {1, 8, 32, 64, 128}, r:int(1, 40)
    return {dst = {m, n}, stationary = {p, m}, moving = {p, n}}
  end,
  nc_transpose = function(p, _, r)
    local f = r:pick {1, 8, 31, 32, 64, 128}
    return {dst = {f, p}, data = {p, f}}
  end,
  tensor_reduce = function(p, free)
    return {dst = #free == 1 and {p, 1} or same(p, table.move(free, 1, #free - 1, 1, {}))}
  end,
  tensor_partition_reduce = function(_, free) return {dst = same(1, free)} end,
  bn_stats = function(p) return {dst = {p, 6}} end,
  bn_aggr = function(p, _, r) return {dst = {p, 2}, data = {p, 3 * r:int(1, 8)}} end,
  max8 = function(p, _, r) return {dst = {p, 8}, src = {p, r:int(8, 40)}} end,
  nc_find_index8 = function(p, _, r) return {dst = {p, 8}, vals = {p, 8}, data = {p, r:int(8, 40)}} end,
  nc_match_replace8 = function(p, _, r)
    local n = r:int(8, 40)
    return {dst = {p, n}, vals = {p, 8}, data = {p, n}, dst_idx = {p, 8}}
  end,
  nc_n_gather = function(p, free, r)
    return {data = {p, 8 + r:int(0, 9)}, dst = same(p, free), indices = same(p, free)}
  end,
  local_gather = function(_, _, r)
    local p, k = 16 * r:int(1, 4), r:int(1, 3)
    return {dst = {p, 16 * k}, src_buffer = {p, 8 + r:int(0, 9)}, index = {p, k}}
  end,
  quantize_mx = function(_, _, r)
    local p, f = 32 * r:int(1, 4), r:int(1, 9)
    return {dst = {p, f}, src = {p, 4 * f}, dst_scale = {p, f}}
  end,
  nc_matmul_mx = function(_, _, r)
    local p, m, n = 32 * r:int(1, 4), 2 * r:int(1, 9), r:int(1, 20)
    return {dst = {m, n}, stationary = {p, m}, moving = {p, n}, stationary_scale = {p, m}, moving_scale = {p, n}}
  end,
  nc_stream_shuffle = function(_, free, r)
    local p = 32 * r:int(1, 4)
    return {dst = same(p, free), src = same(p, free)}
  end,
  nonzero_with_count = function(p, _, r)
    local n = r:int(1, 20)
    return {dst = {p, n + 1}, src = {p, n}}
  end,
  sequence_bounds = function(_, _, r)
    local n = r:int(1, 20)
    return {dst = {1, 2, n}, segment_ids = {1, n}}
  end,
  topk = function(_, _, r) return {val_dst = {16, 8}, idx_dst = {16, 8}, src = {16, r:int(1, 9)}} end,
  dma_transpose = function(p, _, r)
    local f = r:int(1, 60)
    return {dst = {f, p}, src = {p, f}}
  end,
  rand_set_state = function(p, _, r) return {src_seeds = {p, r:pick {6, 24}}} end,
  rand_get_state = function(p, _, r) return {dst = {p, r:pick {6, 24}}} end,
  register_load = function() return {src = {1, 1}} end,
  register_store = function() return {dst = {1, 1}} end,
}

local special = {} -- attributes whose value the shape of the call decides: name -> f(call)
function special.pattern(c)
  local list = {}
  for k, n in ipairs(c.free) do list[k] = {c.r:int(-4, 4), n} end
  return list
end
function special.axis(c)
  return c.r:chance(80) and #c.free or c.r:int(-3, 3)
end
function special.axes(c) return c.r:pick {{1, 0}, {0, 1}} end
function special.shuffle_mask(c)
  local list = {}
  for k = 1, 32 do list[k] = c.r:chance(10) and 255 or c.r:int(0, 31) end
  return list
end
function special.scales(c) return c.r:pick {{1}, {1, 1}} end
function special.n(c) return 16 * c.r:int(1, 9) end
function special.on_false_value(c)
  return c.row.name == "range_select" and -3.4028234663852886e38 or c.r:pick(numbers)
end
function special.num_valid_indices(c) return c.r:int(1, 48) end

local function attribute(c, p)
  local r = c.r
  if special[p.name] then return special[p.name](c) end
  if c.row.name == "activate2" and p.kind == "operator" then return p.name == "op0" and nl.multiply or nl.add end
  if p.kind == "operator" then return nl[r:pick(words(p.takes))] end
  if p.kind == "activation" then return nl[r:pick(c.activations)] end
  if p.kind == "flag" or p.kind == "true, false or absent" then return r:chance(50) end
  if p.kind == "number" then return r:pick(numbers) end
  if p.kind == "enum" then
    local set = p.name == "engine" and enums.engine or enums[p.name]
    local name = r:pick(words(p.takes))
    return set and set[name] or name
  end
  if p.kind:find "integer" and not p.kind:find "list" then
    local low, high = p.takes:match "^(%-?%d+)%.%.(%-?%d+)"
    low, high = math.max(tonumber(low or 0), -5), math.min(tonumber(high or 9), 40)
    return r:int(low, math.max(low, high))
  end
  return nil
end

-- A view by an access pattern of what the call's first operand is a view of: both may share elements.
local function overlapping(r, v, shape)
  local width = M.count(v.shape) // v.shape[1]
  local offset = r:int(0, width - 1)
  local pairs_, left = {{width, shape[1]}}, width - 1 - offset
  for k = 2, #shape do
    local stride = r:int(0, 3)
    if stride * (shape[k] - 1) > left then stride = 0 end
    left = left - stride * (shape[k] - 1)
    pairs_[k] = {stride, shape[k]}
  end
  return {shared = v, shape = v.shape, dtype = v.dtype, names = "overlapping", of = function(t)
    return t:ap(pairs_, offset)
  end}
end

-- Rows of HBM that numbers pick, and elements of partitions (gen4).
local function picked_rows(r, shape, dtype)
  local base = copy(shape)
  base[1] = r:int(8, 20)
  return {shape = base, dtype = dtype, names = "vector_select", ids = {shape[1], 1, "int32"}, of = function(t, _, ids)
    return t:vector_select(0, ids)
  end}
end

local function picked_elements(r, shape, dtype)
  return {shape = {shape[1], r:int(8, 30)}, dtype = dtype, names = "indirect",
    ids = {shape[1], (shape[2] + 15) // 16, "uint16"}, of = function(t, _, ids) return t:indirect(ids, shape[2]) end}
end

-- One operand: what it is a view of, and of which memory.
local function operand(c, p, shape, read)
  local r = c.r
  local memories, dtypes, indirect = domain(p.takes, c.gen)
  local dtype = r:pick(dtypes)
  if c.dtype and r:chance(85) then -- mostly all of a call's operands have one type
    for _, d in ipairs(dtypes) do
      if d == c.dtype then dtype = d end
    end
  end
  if c.row.name == "nc_matmul" and p.name == "dst" and r:chance(80) then dtype = "float32" end
  c.dtype = c.dtype or dtype ~= "float32" and dtype or r:chance(50) and dtype
  local memory = memories[1] and (r:chance(50) and memories[1] or r:pick(memories)) or "sbuf"
  if memory == "psum" and sizes[dtype] * M.count(shape) // shape[1] > 4096 then memory = "sbuf" end
  local env = {read = read, trips = c.trips, gen = c.gen}
  local first, v = c.first
  local hbm = memory:find "hbm"
  if read and first and not first.ids and first.dtype == dtype and first.memory == memory and not c.trips and
    shape[1] == first.shape[1] and r:chance(40) then
    v = overlapping(r, first, shape)
  elseif hbm and c.row.name == "dma_copy" and not c.picked and shape[1] <= 128 and r:chance(25) then
    v = picked_rows(r, shape, dtype)
    c.picked = true
  elseif indirect and c.row.engines ~= "tensor" and
    c.row.name ~= "tensor_copy_predicated" and #shape == 2 and shape[1] % 16 == 0 and r:chance(40) then
    v = picked_elements(r, shape, dtype)
  else
    v = views.draw(r, shape, dtype, env)
  end
  c.first = c.first or v
  v.memory, v.read, v.want, v.as, v.partition = memory, read, shape, dtype, c.start
  v.index = p.name:find "ind" and not p.name:find "kind" and true or false
  v.tame = r:chance(60)
  return v
end

local function shape_of(c, p)
  local shape = c.shapes[p.name]
  if not shape then
    shape = p.kind:find "%(P,1%)" and {c.partitions, 1} or same(c.partitions, c.free)
  end
  return shape
end

local function draw_call(r, rows, gen, activations)
  local row = r:pick(rows)
  local c = {r = r, row = row, gen = gen, args = {}, activations = activations}
  c.partitions, c.free = r:pick {1, 2, 5, 16, 32, 64, 128}, {}
  for k = 1, r:pick {1, 1, 2, 2, 3} do c.free[k] = r:int(1, k == 1 and 20 or 5) end
  c.start = c.partitions <= 32 and r:pick {0, 0, 32, 64, 96} or c.partitions <= 64 and r:pick {0, 64} or 0
  c.trips = r:chance(30) and r:int(1, 3) or nil
  c.shapes = hints[row.name] and hints[row.name](c.partitions, c.free, r) or {}
  for _, p in ipairs(row.parameters) do
    local given = p.required or r:chance(35) or p.name == "accumulate" and c.trips
    given = given or p.name:find "^operand" and r:chance(p.name == "operand0" and 95 or 60)
    given = given and p.name ~= "oob_mode" -- only run-time offsets may be skipped
    given = given and (p.name ~= "perf_mode" and p.name ~= "relu_param" or r:chance(10))
    local read = p.role:find "^read" and not p.role:find "written"
    if given and p.kind:find "tile" then
      local number = p.kind:find "number" and r:chance(40)
      if number then
        c.args[p.name] = r:pick(numbers)
      elseif p.kind == "list of tiles" then
        c.args[p.name] = {tiles = {operand(c, p, shape_of(c, p), read), operand(c, p, shape_of(c, p), read)}}
      else
        c.args[p.name] = operand(c, p, shape_of(c, p), read)
      end
    elseif given then
      c.args[p.name] = attribute(c, p)
    end
  end
  if row.name == "tensor_scalar" and not (c.args.op1 and c.args.operand1) then -- both or neither
    c.args.op1, c.args.operand1, c.args.reverse1 = nil, nil, nil
  end
  return c
end

local left_out = {core_barrier = true, sendrecv = true, register_move = true, register_load = true,
  register_store = true, set_rng_seed = true, rand_set_state = true}

-- The instructions to draw from; name: that one.
function M.rows(name)
  local r, rows = build.run {"ops", "--json"}, {}
  assert(r.code == 0, r.err)
  for _, row in ipairs(json.parse(r.out)) do
    if row.module == "nisa" and not left_out[row.name] and (not name or row.name == name) then rows[#rows + 1] = row end
  end
  return rows
end

local activations = words [[abs arctan copy erf erf_dx exp gelu gelu_apprx_tanh log mish relu reciprocal rsqrt sigmoid
  sign silu softplus sqrt square tanh]]

-- The plan of a seed: calls for a target.
function M.draw(rows, seed)
  local r = views.random(seed)
  local target = r:pick {"trn1", "trn2", "trn3"}
  local able = {}
  for _, row in ipairs(rows) do
    if row.generation <= generation[target] then able[#able + 1] = row end
  end
  return {seed = seed, target = target, call = draw_call(r, able, generation[target], activations)}
end

return M
