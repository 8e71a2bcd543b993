-- `nkilua profile`: sums by line, instruction and engine, and the timeline. How long anything took is no pass mark.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local json = require "spec.support.json"

local folder
local function at(name)
  return folder .. "/" .. name
end

-- Line 7 runs 3 times, line 8 runs 3 times in each of them.
local loops = [[
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
return nki.jit(function(x)
  local sum = nl.zeros({4, 8}, x.dtype)
  local r = nisa.register_alloc()
  nisa.register_load(r, nl.zeros({1, 1}, nl.int32))
  for _ in nl.dynamic_range(3) do
    nisa.tensor_copy(sum, sum)
    for _ in nl.dynamic_range(3) do nisa.tensor_tensor(sum, sum, sum, nl.add) end
  end
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  for i in nl.affine_range(5) do
    nl.store(out, sum)
  end
  return out
end)
]]

-- A stretch of the timeline, in nanoseconds.
local function stretch(e)
  local from = math.floor(e.ts * 1000 + 0.5)
  return from, from + math.floor(e.dur * 1000 + 0.5)
end

-- Checks the form of a timeline; returns its events by name, each with the number of events that it lies in.
local function check_timeline(text)
  local trace = json.parse(text)
  assert.same({"displayTimeUnit", "otherData", "traceEvents"}, json.keys(trace))
  assert.equal("host time of the simulator", trace.otherData.time)
  local open, last, named, threads = {}, 0, {}, {}
  for _, e in ipairs(trace.traceEvents) do
    assert.equal(1, e.pid)
    if e.ph == "M" then
      assert.truthy(e.name == "process_name" or e.name == "thread_name")
      assert.equal("string", type(e.args.name))
      threads[e.tid] = true
    else
      assert.same({"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}, json.keys(e))
      assert.equal("X", e.ph)
      assert.is_true(threads[e.tid])
      local from, to = stretch(e)
      assert.is_true(from >= last and to >= from)
      last = from
      local around = open[e.tid] or {}
      open[e.tid] = around
      while around[1] and select(2, stretch(around[#around])) <= from do
        around[#around] = nil
      end
      if around[1] then
        assert.is_true(to <= select(2, stretch(around[#around])))
      end
      e.depth = #around
      around[#around + 1] = e
      named[e.name] = named[e.name] or {}
      table.insert(named[e.name], e)
    end
  end
  return named, trace
end

describe("nkilua profile", function()
  before_each(function()
    folder = cli.folder()
    build.spit(at("k.lua"), loops)
  end)
  after_each(function()
    cli.drop(folder)
  end)

  it("sums by line, by instruction and by engine", function()
    local text = cli.ok {"profile", at("k.lua"), "x=f32[4,8]"}
    assert.matches("^host time of the simulator, not of a device: %d+%.%d%d%d us in 1 run\n", text)
    for _, row in ipairs {
      "3 +96 +384  %a+ +nisa%.tensor_copy  k%.lua:7\n", "9 +288 +1152  vector   nisa%.tensor_tensor  k%.lua:8\n",
      "5 +160 +640  dma      nisa%.dma_copy  k%.lua:12\n", "9 +288 +1152  vector   nisa%.tensor_tensor\n",
      "5 +160 +640  dma\n", "%%  instructions\n", "%%  the rest: loops, set%-up, outputs\n$",
    } do
      assert.matches(row, text)
    end
  end)

  it("prints the same as JSON: shares of the whole run, slowest first", function()
    local r = json.parse(cli.ok {"profile", at("k.lua"), "x=f32[4,8]", "--json", "--warmup", "0"})
    assert.same({"time", "runs", "total_us", "lines", "operations", "engines", "cores"}, json.keys(r))
    assert.equal("host time of the simulator", r.time)
    for _, key in ipairs {"lines", "operations", "engines"} do
      local sum, share = 0, 0
      for i, row in ipairs(r[key]) do
        sum, share = sum + row.us, share + row.share
        assert.is_true(i == 1 or row.us <= r[key][i - 1].us)
      end
      assert.near(r.cores[1].us, sum, 0.001)
      assert.is_true(share > 0 and share <= 1)
    end
    assert.equal(1, #r.cores)
    assert.near(r.total_us, r.cores[1].us + r.cores[1].rest_us, 0.001)
    local seen = {}
    for _, row in ipairs(r.lines) do
      seen[row.instruction .. ":" .. row.line] = row
      assert.same({"k.lua", 0}, {row.file, row.core})
    end
    assert.same({9, 288, 1152, "vector"}, {seen["tensor_tensor:8"].calls, seen["tensor_tensor:8"].elements,
      seen["tensor_tensor:8"].bytes, seen["tensor_tensor:8"].engine})
  end)

  it("writes a timeline that tools for trace events read", function()
    local told = cli.ok {"profile", at("k.lua"), "x=f32[4,8]", "-o", at("t.json"), "-o", at("u.json")}
    assert.matches("^host time", told)
    local text = build.slurp(at("t.json"))
    assert.equal(text, build.slurp(at("u.json")))
    local named, trace = check_timeline(text)
    assert.same({"k", 1, 0}, {trace.otherData.kernel, trace.otherData.runs, trace.otherData.events_left_out})
    assert.same({1, 4, 3, 9, 5}, {#named["program 0"], #named["for"], #named["nisa.tensor_copy"],
      #named["nisa.tensor_tensor"], #named["nisa.dma_copy"]})
    assert.same({"program", "loop", "vector", "dma"}, {named["program 0"][1].cat, named["for"][1].cat,
      named["nisa.tensor_tensor"][1].cat, named["nisa.dma_copy"][1].cat})
    assert.same({0, 1, 2, 2, 3, 1}, {named["program 0"][1].depth, named["for"][1].depth, named["for"][2].depth,
      named["nisa.tensor_copy"][1].depth, named["nisa.tensor_tensor"][1].depth, named["nisa.dma_copy"][1].depth})
    assert.same({file = "k.lua", line = 8, program = 0}, {file = named["nisa.tensor_tensor"][9].args.file,
      line = named["nisa.tensor_tensor"][9].args.line, program = named["nisa.tensor_tensor"][9].args.program})
  end)

  it("puts the timeline on standard output, and the tables then beside it", function()
    local r = cli.run {"profile", at("k.lua"), "x=f32[4,8]", "-o", "-"}
    assert.equal(0, r.code)
    assert.truthy(check_timeline(r.out)["program 0"])
    assert.matches("^host time of the simulator", r.err)
  end)

  it("closes a while loop where it ends", function()
    build.spit(at("while.lua"), [[
      local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
      return nki.jit(function(x)
        local n, left = nisa.register_alloc(), nl.load(x)
        nisa.register_load(n, left)
        nl.while_loop(n, function()
          nisa.tensor_scalar(left, left, nl.subtract, 1)
          nisa.register_load(n, left)
          return n
        end)
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        nl.store(out, nl.load(x))
        return out
      end)]])
    for trips = 0, 3 do
      cli.ok {"profile", at("while.lua"), "x=i32[1,1]:full(" .. trips .. ")", "-o", at("t.json")}
      local named = check_timeline(build.slurp(at("t.json")))
      assert.equal(math.min(trips, 1), #(named["while"] or {}))
      assert.equal(1 + trips, #named["nisa.register_load"])
      assert.equal(trips > 0 and 2 or 1, named["nisa.register_load"][1 + trips].depth)
      assert.equal(1, named["nisa.dma_copy"][#named["nisa.dma_copy"]].depth)
    end
  end)

  it("keeps physical cores apart", function()
    local r = cli.run {"profile", "examples/two_cores.lua", "x=f32[128,24]:iota", "--json", "-o", at("t.json")}
    assert.equal("", r.err)
    local seen, profile = {}, json.parse(r.out)
    for _, row in ipairs(profile.operations) do
      if row.instruction == "sendrecv" then
        seen[row.core] = row.calls
      end
    end
    assert.same({[0] = 1, [1] = 1}, seen)
    assert.same({0, 1}, {profile.cores[1].core, profile.cores[2].core})
    for _, core in ipairs(profile.cores) do
      assert.is_true(core.us > 0 and core.rest_us >= 0)
    end
    local named = check_timeline(build.slurp(at("t.json")))
    assert.same({0, 1}, {named["program 0"][1].tid, named["program 1"][1].tid})
    assert.matches("core  engine", cli.ok {"profile", "examples/two_cores.lua", "x=f32[128,24]:iota"})
  end)

  it("writes and prints nothing when anything fails", function()
    build.spit(at("half.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(x)
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        nl.store(out, nl.ndarray(x.shape, x.dtype))
        return out
      end)]])
    local before = cli.list(folder)
    cli.fails(2, {"profile", at("k.lua"), "x=f32[4,8]", "-o", at("ok.json"), "-o", at("no/such/t.json")}, "no/such")
    cli.fails(1, {"profile", at("half.lua"), "x=f32[4,8]", "-o", at("ok.json"), "--strict"}, "err_unwritten")
    assert.same(before, cli.list(folder))
    cli.fails(2, {"profile", at("k.lua"), "x=f32[4,8]", "--warmup", "x"}, "profile: --warmup 'x'")
    cli.fails(2, {"profile", at("k.lua"), "x=f32[4,8]", "--iters", "3"}, "profile: no option '--iters'")
  end)
end)
