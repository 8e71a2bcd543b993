-- `nkilua run --ranks N` and `exec --ranks N`: a value for all ranks or for one, outputs by rank.
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local cli = require "spec.cli.support"

local script = [[
local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
return nki.jit(function(x, y)
  local sum = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm, name = "sum"})
  local ring = nl.ndarray(y.shape, y.dtype, {buffer = nl.shared_hbm, name = "ring"})
  ncc.all_reduce({x}, {sum}, {{0, 1, 2}}, nl.add)
  ncc.collective_permute_implicit({{y}}, {{ring}}, {{0, 1, 2}})
  return sum, ring
end, {func_name = "k", platform_target = "trn1"})
]]

describe("--ranks", function()
  local folder
  local function at(name) return folder .. "/" .. name end
  before_each(function()
    folder = cli.folder()
    build.spit(at "k.lua", script)
  end)
  after_each(function() cli.drop(folder) end)

  local values = {"x=f32[1,2]:full(1)", "x[2]=f32[1,2]:full(5)", "y[0]=f32[1,1]:full(7)", "y[1]=f32[1,1]:full(8)",
                  "y[2]=f32[1,1]:full(9)"}
  local function command(...)
    local list = {...}
    table.move(values, 1, #values, #list + 1, list)
    return list
  end
  local lines = [[
sum[0] float32[1,2] min 7.0 max 7.0 mean 7 values 7.0 7.0
ring[0] float32[1,1] min 9.0 max 9.0 mean 9 values 9.0
sum[1] float32[1,2] min 7.0 max 7.0 mean 7 values 7.0 7.0
ring[1] float32[1,1] min 7.0 max 7.0 mean 7 values 7.0
sum[2] float32[1,2] min 7.0 max 7.0 mean 7 values 7.0 7.0
ring[2] float32[1,1] min 8.0 max 8.0 mean 8 values 8.0
]]

  it("gives a value to all or to one, and names outputs by rank", function()
    local r = build.run(command("run", at "k.lua", "--ranks", "3"))
    assert.same({0, lines, ""}, {r.code, r.out, r.err})
  end)

  it("refuses a config that hides its collectives", function()
    assert.equal(0, build.run({"config", at "k.lua", "x=f32[1,2]", "y=f32[1,1]", "-o", at "k.b64"}).code)
    local edit = "base64 -d '%s' | sed 's/\"has_collectives\":true/\"has_collectives\":false/' | base64 -w0 > '%s'"
    assert(os.execute(edit:format(at "k.b64", at "lie.b64")))
    local r = build.run(command("exec", at "lie.b64", "--ranks=3"))
    assert.equal(1, r.code)
    assert.matches("'has_collectives' is not what the program in serialize_ir_string says", r.err, 1, true)
  end)

  it("runs a config alike", function()
    local c = build.run {"config", at "k.lua", "x=f32[1,2]", "y=f32[1,1]", "-o", at "k.b64"}
    assert.equal(0, c.code, c.err)
    assert.equal(lines, build.run(command("exec", at "k.b64", "--ranks=3")).out)
  end)

  it("measures: bench all ranks, profile the first one", function()
    assert.matches("^host time of the simulator", build.run(command("bench", at "k.lua", "--ranks=3", "--iters=2")).out)
    local r = build.run(command("profile", at "k.lua", "--ranks=3", "-o", at "t.json"))
    assert.equal("note: these are the times of rank 0 of 3\n", r.err)
    for _, name in ipairs {"all_reduce", "collective_permute_implicit"} do
      assert.matches("%." .. name .. "  k%.lua:%d+\n", r.out)
    end
    assert.truthy(build.slurp(at "t.json"):find('"events_left_out":0', 1, true))
  end)

  it("writes and checks them under these names", function()
    local r = build.run(command("run", at "k.lua", "--ranks=3", "-o", at "all.npz", "-o", "ring[1]=" .. at "one.npy"))
    assert.equal(0, r.code, r.err)
    assert.equal(8.0, nd.load(at "all.npz", "ring[2]"):get(0, 0))
    assert.equal(7.0, nd.load(at "one.npy"):get(0, 0))
    local ok = build.run(command("run", at "k.lua", "--ranks=3", "--check", "ring[1]=" .. at "one.npy"))
    assert.equal(0, ok.code, ok.err)
    local bad = build.run(command("run", at "k.lua", "--ranks=3", "--check", "ring[0]=" .. at "one.npy"))
    assert.equal(3, bad.code)
    assert.truthy(bad.err:find("ring[0]: 1 of 1 elements differ", 1, true), bad.err)
  end)

  -- {status, text, words}
  local faults = {
    {2, "--ranks '0': it must be an integer of 1 to 256", {"--ranks=0"}},
    {2, "--ranks '257': it must be an integer of 1 to 256", {"--ranks=257"}},
    {2, "--ranks '2x'", {"--ranks=2x"}},
    {2, "'x[3]=1': there are 3 ranks, 0..2", {"--ranks=3", "x[3]=1"}},
    {2, "'x[0]=f32[1,2]' is a value for one rank; --ranks N says how many there are", {"x[0]=f32[1,2]"}},
    {2, "the kernel has no parameter 'z'", {"--ranks=3", "z[0]=1"}},
    {2, "that is among the values of rank 2", {"--ranks=3", "x=f32[1,2]", "x[2]=f32[1,2]:none"}},
    {1, "'x' is float32[1,3] on rank 1; it must be float32[1,2]",
     {"--ranks=3", "x=f32[1,2]", "y=f32[1,1]", "x[1]=f32[1,3]"}},
    {1, "replica_group names rank 2, and the run has 2: rank 0..1", {"--ranks=2", "x=f32[1,2]", "y=f32[1,1]"}},
  }
  it("makes one program for all ranks", function()
    for _, word in ipairs {"trace", "config", "hlo"} do
      local r = build.run {word, at "k.lua", "x=f32[1,2]", "y=f32[1,1]", "x[1]=f32[1,2]"}
      assert.equal(2, r.code)
      assert.truthy(r.err:find("'x[1]=f32[1,2]' is a value for one rank; all ranks have one program", 1, true), r.err)
    end
  end)

  for _, fault in ipairs(faults) do
    it("refuses " .. table.concat(fault[3], " "), function()
      local r = build.run {"run", at "k.lua", table.unpack(fault[3])}
      assert.equal(fault[1], r.code, r.err)
      assert.truthy(r.err:find(fault[2], 1, true), r.err)
      assert.equal("", r.out)
    end)
  end
end)
