-- numbers.lua: what an instruction computes for every legal combination of dtypes, as checksums. spec/oracles/combos.py
-- makes the same text from the same inputs with NumPy and ml_dtypes.
--
-- A row says how to issue an instruction: {sources = {{parameter, pool, dtypes = {...}} ...}, outs = {{parameter,
-- shape} ...}, variants = {...}, f = function(variant, s, d, target), ranks = n}. s and d are the tiles of sources and
-- outs. The dtypes of each are those that the instruction's row lists for the parameter. grid: what the kernel runs on;
-- on two cores without ranks the one source is pool a on the first core and pool b on the other.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local json = require "spec.support.json"
local stored = require "spec.support.kernel".stored

local M = {}

-- M.no_payloads: NaN inputs have none that a way through float32 loses.
M.targets = {"trn1", "trn2", "trn3"}
M.dtypes = {"bool_", "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bfloat16", "float16",
            "tfloat32", "float8_e4m3", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "float8_e5m2_x4",
            "float8_e4m3fn_x4", "float4_e2m1fn_x4"}

-- The pools of inputs and the shapes they are used in: {member prefix, shape}.
M.pools = {
  a = {"a", {8, 64}}, b = {"b", {8, 64}}, c = {"c", {8, 1}}, s = {"s", {8, 64}}, a32 = {"a", {32, 16}},
  b32 = {"b", {32, 16}}, a16 = {"a", {16, 32}}, row = {"a", {1, 512}}, v = {"v", {8, 8}}, m = {"m", {8, 16}},
  n = {"n", {8, 32}}, id = {"id", {8, 8}}, x = {"x", {32, 8}}, y = {"y", {32, 16}}, xs = {"xs", {4, 8}},
  ys = {"ys", {4, 16}}, q = {"q", {32, 16}}, ix = {"ix", {8, 64}}, lg = {"lg", {16, 2}}, ids = {"ids", {1, 64}},
  ct = {"ct", {16, 4}}, seed = {"seed", {1, 1}}, st6 = {"st6", {8, 6}}, st24 = {"st24", {8, 24}}, one = {"c", {8, 1}},
  p = {"p", {8, 1}}, e1 = {"one", {1, 1}}, e = {"e", {8, 8}}, r = {"r", {8, 8}}, bn = {"bn", {8, 63}},
}

-- "shapes; bool_, uint8; from gen4: ..." -> the set of names; any: all.
local function listed(takes)
  local set, list = {}, takes:match ";%s*(.*)$" or ""
  for name in list:gmatch "[%w_]+" do
    set[name] = true
  end
  local out = {}
  for _, name in ipairs(M.dtypes) do
    if set.any or set[name] then
      out[#out + 1] = name
    end
  end
  return out
end

-- The instructions by name: {tiles = {parameter name = dtypes}}.
function M.instructions()
  local all = {}
  local r = build.run {"ops", "--json"}
  assert(r.code == 0, r.err)
  for _, op in ipairs(json.parse(r.out)) do
    local tiles = {}
    for _, p in ipairs(op.parameters) do
      if p.kind:find "tile" or p.kind:find "channel" then
        tiles[p.name] = listed(p.takes)
      end
    end
    all[op.name] = {tiles = tiles, module = op.module}
  end
  return all
end

local G = 0x9E3779B97F4A7C15
-- The first word counts like the others: no factor is 1.
local function term(word, index) return (word + 1) * ((index + 1) * G | 1) end

-- 32 bits of a sum over the 64-bit words of bytes.
local function checksum(bytes)
  local sum, unpack = 0, string.unpack
  bytes = bytes .. ("\0"):rep(-#bytes % 32)
  for i = 1, #bytes, 32 do
    local a, b, c, d = unpack("<i8i8i8i8", bytes, i)
    local k = i // 8
    sum = sum + term(a, k) + term(b, k + 1) + term(c, k + 2) + term(d, k + 3)
  end
  return ("%08x"):format(sum >> 32)
end

local members = nd.load "spec/oracles/data/numbers_pool.npz"
M.arrays = setmetatable({}, {__index = function(t, key)
  local pool, dtype = key:match "(%w+) ([%w_]+)"
  local p = M.pools[pool]
  local raw = members[p[1] .. "_" .. dtype] or error("no pool for " .. key)
  t[key] = nd.from_bytes(raw:bytes(), p[2], dtype)
  if M.no_payloads and dtype:find "^[bt]?float[%d_]*[em%df]*n?$" and not dtype:find "e8m0" then
    t[key] = t[key]:astype("float32"):astype(dtype)
  end
  return t[key]
end})

-- Calls f with every way of taking one of each list.
local function product(lists, f, at, picked)
  at, picked = at or 1, picked or {}
  if at > #lists then
    return f(picked)
  end
  for _, v in ipairs(lists[at]) do
    picked[at] = v
    product(lists, f, at + 1, picked)
  end
end

-- What a combination that is not legal may be refused with.
local refusals = {}
for name in ("unsupported_dtype dtype_mismatch bitvec_dtype argument_value argument_generation op_generation " ..
             "tensor_dtype_gen instruction_invalid operator_set multi_cores_spmd_not_supported"):gmatch "%S+" do
  refusals["err_" .. name] = true
end
local function attempt(f, ...)
  local ok, e = pcall(f, ...)
  if not ok and not (type(e) == "table" and refusals[e.id]) then
    error(e, 0)
  end
  return ok
end

local function lists_of(op, parameters)
  local lists = {}
  for i, p in ipairs(parameters) do
    lists[i] = p.dtypes or op.tiles[p[1]] or error("no parameter " .. p[1])
  end
  return lists
end

-- The results of a kernel; of a row for several ranks, whose first source is pool a on the first and last rank and pool
-- b on the others, those of the ranks one behind the other. Of a second source each rank has its rows.
local function run(kernel, row, inputs, dtypes)
  kernel = row.grid and kernel[row.grid] or kernel
  local other = (row.ranks or row.grid) and dtypes[1] and M.arrays["b " .. dtypes[1]]
  if not row.ranks then
    return table.pack(kernel(table.unpack(other and {inputs[1], other} or inputs)))
  end
  local lists, results = {}, {}
  if inputs[1] then
    lists[1] = {inputs[1], other, other, inputs[1]}
  end
  for r = 1, inputs[2] and row.ranks or 0 do
    lists[2] = lists[2] or {}
    local n = inputs[2].shape[0] // row.ranks
    lists[2][r] = nd.from_bytes(inputs[2]:bytes():sub((r - 1) * n * 16 + 1, r * n * 16), {n, 4}, "uint32")
  end
  for _, by_rank in ipairs(table.pack(nki.simulate(kernel, {ranks = row.ranks})(table.unpack(lists)))) do
    table.move(by_rank, 1, #by_rank, #results + 1, results)
  end
  return results
end

-- After so many refusals in a row nothing else is expected of the sources.
local GIVE_UP = 20

-- One kernel: a combination of the sources' dtypes with all of the outs'. Returns the checksums, "----" where refused;
-- nil when all are.
local function group(job, dtypes)
  local row, sources, marks, any = job.row, job.sources, {}, false
  local kernel = nki.jit(function(a, b, c, d, e)
    local inputs, outputs, s = {a, b, c, d, e}, {}, {}
    marks = {}
    for i = 1, #sources do
      s[i] = row.ranks and inputs[i] or nl.load(inputs[row.grid and nl.program_id(0) + 1 or i])
    end
    product(job.outs, function(out)
      if not job.all and out[2] and out[1] ~= job.outs[1][1] and out[2] ~= job.outs[2][1] then
        return
      end
      local tiles = {}
      local ok = not (#outputs == 0 and #marks >= GIVE_UP) and attempt(function()
        for i, o in ipairs(row.outs) do
          local shape, psum = o.shape and o.shape(job.variant) or o[2] or {8, 64}, o.psum
          if type(psum) == "function" then
            psum = psum(job.variant)
          end
          tiles[i] = nl.ndarray(shape, out[i], {buffer = row.ranks and nl.shared_hbm or psum and nl.psum or nl.sbuf})
        end
        tiles = row.f(job.variant, s, tiles, job.target) or tiles
      end)
      marks[#marks + 1] = ok and #tiles or 0
      for i = 1, ok and #tiles or 0 do
        outputs[#outputs + 1] = stored(tiles[i])
      end
    end)
    any = #outputs > 0
    if not any then
      outputs[1] = nl.ndarray({1, 1}, nl.float32, {buffer = nl.shared_hbm})
      if not row.grid or nl.program_id(0) == 0 then
        nl.store(outputs[1], nl.zeros({1, 1}, nl.float32))
      end
    end
    return table.unpack(outputs)
  end, {platform_target = job.target, func_name = "numbers", enable_cache = false})
  local inputs = {}
  for i, s in ipairs(sources) do
    inputs[i] = M.arrays[s[2] .. " " .. dtypes[i]]
  end
  local results, at, text = nil, 0, {}
  if not attempt(function() results = run(kernel, row, inputs, dtypes) end) or not any then
    return nil
  end
  for i, n in ipairs(marks) do
    local bytes = {}
    for k = 1, n * (row.ranks or 1) do
      bytes[k] = results[at + k]:bytes()
    end
    at = at + n * (row.ranks or 1)
    text[i] = n == 0 and "----" or checksum(table.concat(bytes)):sub(1, 4)
  end
  return table.concat(text)
end

-- NKILUA_NUMBERS=all: nothing is left out. Else of the groups of a variant every seventh or fifth is taken when there
-- are many, and of those that the oracle refuses altogether every seventh. NKILUA_NUMBERS=few: one in 50.
M.all = os.getenv "NKILUA_NUMBERS" == "all"
local few = os.getenv "NKILUA_NUMBERS" == "few" or build.sanitized

local function left_out(job, count, expected)
  if M.all or job.groups < 50 and not few then
    return false
  end
  local every = few and math.min(50, job.groups) or (not expected or job.groups > 1000) and 7 or job.all and 1 or 5
  return (count + job.turn) % every ~= 0
end

-- job: {op =, row =, variant =, target =, turn =}. All combinations: {"float32,int8" = checksum of its marks}, false
-- for those left out; and the marks.
function M.compute(job, wanted)
  local found, marks, count = {}, {}, 0
  local row, variant = job.row, job.variant
  job.sources = type(row.sources) == "function" and row.sources(variant) or row.sources
  job.outs, job.all = lists_of(job.op, row.outs), variant == row.variants[1]
  local lists = lists_of(job.op, job.sources)
  job.groups = 1
  for _, list in ipairs(lists) do
    job.groups = job.groups * #list
  end
  product(lists, function(dtypes)
    count = count + 1
    local key = table.concat(dtypes, ",")
    if left_out(job, count, wanted[key]) then
      found[key] = false
    else
      marks[key] = group(job, dtypes)
      found[key] = marks[key] and checksum(marks[key])
    end
  end)
  return found, marks
end

-- The oracle's text: {"tensor_tensor add trn1" = {"float32,int8" = checksums}}.
function M.wanted()
  local all, now = {}, {}
  for line in io.lines "spec/oracles/data/numbers.txt" do
    local name, variant, targets = line:match "^= (%S+) (.-) | (.*)$"
    if name then
      now = {}
      for target in targets:gmatch "%S+" do
        all[name .. " " .. variant .. " " .. target] = now
      end
    else
      local key, sums = line:match "^(%S*) (%S+)$"
      rawset(now, key, sums)
    end
  end
  return all
end

return M
