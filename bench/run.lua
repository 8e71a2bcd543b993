-- run.lua [NAME...]: what nkilua costs next to its peers, as median ratios of interleaved rounds. ./dev bench runs it.
-- Figures of one line were taken in the same rounds; absolute times drift, ratios are what to compare. Nothing here
-- passes or fails.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"

local ROUNDS = tonumber(os.getenv "NKILUA_BENCH_ROUNDS") or 5
local bin = arg[-1]:match("^(.*)/[^/]*$") or "."
local python = os.getenv "NKILUA_PYTHON" or "python3"

local function median(list)
  table.sort(list)
  return list[#list // 2 + 1]
end

-- Seconds of processor time per call of f, best of a few batches so that one round is robust.
local function seconds(f, n)
  local best = math.huge
  for _ = 1, 3 do
    local start = os.clock()
    for _ = 1, n do f() end
    best = math.min(best, (os.clock() - start) / n)
  end
  return best
end

local function output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  if not pipe:close() then error("failed: " .. command, 0) end
  return text
end

-- Seconds per instruction of a kernel that issues COUNT of them in a loop of its own, at call depth 1: the time inside
-- the loop, or with `whole` that of the whole specialization (also verification, placement, IR text, config) divided by
-- the instructions; best of a few, as above.
local COUNT = 20000
local x = nki.decl({128, 512}, nl.float32)
local clock, start, inside = os.clock, nil, nil
local function trace_cost(body, whole)
  local k, best = nki.jit(body, {enable_cache = false}), math.huge
  for _ = 1, 3 do
    collectgarbage()
    local begin = clock()
    k:specialize(x)
    best = math.min(best, whole and clock() - begin or inside)
  end
  return best / COUNT
end

local function operands(a)
  local s, t, d = nl.load(a), nl.load(a), nl.ndarray({128, 512}, nl.float32)
  nisa.tensor_copy(d, s)
  return d, s, t
end
local function result(d)
  local out = nl.ndarray({128, 512}, nl.float32, {buffer = nl.shared_hbm})
  nl.store(out, d)
  return out
end

local steps = {
  positional = function(a)
    local tensor_tensor, add, d, s, t = nisa.tensor_tensor, nl.add, operands(a)
    start = clock()
    for _ = 1, COUNT do tensor_tensor(d, s, t, add) end
    inside = clock() - start
    return result(d)
  end,
  keywords = function(a)
    local tensor_tensor, add, d, s, t = nisa.tensor_tensor, nl.add, operands(a)
    start = clock()
    for _ = 1, COUNT do tensor_tensor{dst = d, data1 = s, data2 = t, op = add} end
    inside = clock() - start
    return result(d)
  end,
  lines = function(a)
    local tensor_tensor, add, d, s, t = nisa.tensor_tensor, nl.add, operands(a)
    start = clock()
    for _ = 1, COUNT // 4 do
      tensor_tensor(d, s, t, add)
      tensor_tensor(d, s, t, add)
      tensor_tensor(d, s, t, add)
      tensor_tensor(d, s, t, add)
    end
    inside = clock() - start
    return result(d)
  end,
  helper = function(a)
    local tensor_tensor, add, d, s, t = nisa.tensor_tensor, nl.add, operands(a)
    local function issue() tensor_tensor(d, s, t, add) end
    start = clock()
    for _ = 1, COUNT do issue() end
    inside = clock() - start
    return result(d)
  end,
  views = function(a)
    local tensor_tensor, add, half, d, s, t = nisa.tensor_tensor, nl.add, nl.ds(0, 64), operands(a)
    start = clock()
    for _ = 1, COUNT do tensor_tensor(d[half], s[half], t[half], add) end
    inside = clock() - start
    return result(d)
  end,
}

-- Lua's own floor: the same loop around a C function, and around a C function that is handed a fresh table.
local function floor_positional()
  local f = math.type
  return seconds(function() for _ = 1, COUNT do f(1, 2, 3, 4) end end, 1) / COUNT
end
local function floor_keywords()
  local f = rawlen
  return seconds(function() for _ = 1, COUNT do f{dst = 1, data1 = 2, data2 = 3, op = 4} end end, 1) / COUNT
end

local function normal(seed, ...) return nd.random.normal({...}, {seed = seed, dtype = nl.float32}) end

-- Seconds of simulating a script's kernel on host arrays, measured as its peers are: once to warm up, then the median
-- of what fits in a quarter of a second.
local function simulate_cost(file, ...)
  local artifact, inputs = dofile(file):specialize(...), {...}
  return function()
    local times = {}
    artifact:simulate(table.unpack(inputs))
    local stop = clock() + 0.25
    while #times < 5 or clock() < stop do
      local begin = clock()
      artifact:simulate(table.unpack(inputs))
      times[#times + 1] = clock() - begin
    end
    return median(times)
  end
end

local lines = {}
local function bench(name, unit, ours, peer, peer_name, aim)
  lines[#lines + 1] = {
    name = name, unit = unit, aim = aim,
    ours = ours, peer = peer, peer_name = peer_name,
    a = {}, b = {}, r = {}, -- per round: our seconds, the peer's, their ratio
  }
end
local function numpy(name)
  return function() return tonumber(output(python .. " bench/numpy_peer.py " .. name):match "%S+%s+(%S+)") end
end
-- The number that a command prints.
local function printed(command)
  return function() return tonumber(output(command)) end
end
local function traced(step, whole)
  return function() return trace_cost(step, whole) end
end

-- The aims in ns suppose a machine whose peer takes 60 and 160 ns.
bench("trace, positional", 1e9, traced(steps.positional), floor_positional, "Lua C call", "<= 250 ns")
bench("trace, keywords", 1e9, traced(steps.keywords), floor_keywords, "Lua C call, table", "<= 400 ns, 2.50 x")
bench("specialize, positional", 1e9, traced(steps.positional, true), floor_positional, "Lua C call", "")
bench("trace, four lines", 1e9, traced(steps.lines), floor_positional, "Lua C call", "")
bench("trace, in a helper", 1e9, traced(steps.helper), floor_positional, "Lua C call", "")
bench("trace, three views", 1e9, traced(steps.views), floor_positional, "Lua C call", "")
do
  local k = dofile "examples/tensor_add.lua"
  -- lint: ignore lint_parameter_stored
  local three = nki.jit(function(a, b, c) nl.store(c, nl.load(a) + nl.load(b)) return c end)
  local a = nki.decl({128, 512}, nl.float32)
  assert(k and three:specialize(a, a, nki.decl({128, 512}, nl.float32)))
  local b, c = nki.decl({128, 512}, nl.float32), nki.decl({128, 512}, nl.float32)
  local function hit() three:specialize(a, b, c) end
  bench("cache hit, three tensors", 1e9, function() return seconds(hit, 100000) end, floor_positional, "Lua C call",
    "<= 1000 ns")
end
do
  local folder = os.tmpname()
  os.remove(folder)
  local stored = "NKILUA_CACHE_DIR=" .. folder .. " " .. bin .. "/nkilua bench/stored.lua"
  local function read()
    local s = tonumber(output(stored))
    os.execute("rm -rf " .. folder)
    return s
  end
  bench("cache hit on disk", 1e3, read, printed("NKILUA_CACHE_DIR= " .. bin .. "/nkilua bench/stored.lua"),
    "tracing it", "< 1.00 x")
end
bench("start: nkilua -e ''", 1e3, printed(bin .. "/bench_peer start 40 " .. bin .. "/nkilua -e ''"),
  printed(bin .. "/bench_peer start 40 lua5.4 -e ''"), "lua5.4 -e ''", "<= 2.00 x")
bench("add 4096x512 f32", 1e6,
  simulate_cost("examples/tensor_add.lua", normal(1, 4096, 512), normal(2, 4096, 512)),
  numpy "add", "NumPy", "<= 3.00 x")
bench("softmax 4096x512 f32", 1e6,
  simulate_cost("examples/softmax.lua", normal(1, 4096, 512)), numpy "softmax", "NumPy", "< 1.00 x")
bench("rmsnorm 4096x512 f32", 1e6,
  simulate_cost("examples/rmsnorm.lua", normal(1, 4096, 512), normal(3, 1, 512)), numpy "rmsnorm", "NumPy", "< 1.00 x")
bench("matmul 1024^3 f32", 1e6,
  simulate_cost("bench/matmul_tiles.lua", normal(4, 1024, 1024), normal(5, 1024, 1024)),
  printed(bin .. "/bench_peer sgemm"), "dnnl_sgemm on the tiles", "<= 1.25 x")
bench("matmul 1024^3 f32", 1e6, lines[#lines].ours, numpy "matmul", "NumPy", "")

local function named(line, word) return line.name:find(word, 1, true) end
local function chosen(line)
  for _, word in ipairs(arg) do
    if named(line, word) then return true end
  end
  return #arg == 0
end

for _, word in ipairs(arg) do
  local known, names = false, {}
  for i, line in ipairs(lines) do known, names[i] = known or named(line, word), line.name end
  if not known then
    io.stderr:write(("run.lua: no line is called '%s'; there are\n  %s\n"):format(word, table.concat(names, "\n  ")))
    os.exit(2)
  end
end

for _ = 1, ROUNDS do
  for _, line in ipairs(lines) do
    if chosen(line) then
      local a, b = line.ours(), line.peer()
      line.a[#line.a + 1], line.b[#line.b + 1], line.r[#line.r + 1] = a, b, a / b
    end
  end
end

local units = {[1e9] = "ns", [1e6] = "us", [1e3] = "ms"}
print(("%-26s %12s %12s %9s  %s"):format("median of " .. ROUNDS .. " rounds", "nkilua", "peer", "ratio", "peer; aim"))
for _, line in ipairs(lines) do
  if chosen(line) then
    local unit = units[line.unit]
    print(("%-26s %9.1f %s %9.1f %s %8.2fx  %s%s"):format(line.name, median(line.a) * line.unit, unit,
      median(line.b) * line.unit, unit, median(line.r), line.peer_name, line.aim ~= "" and "; " .. line.aim or ""))
  end
end
