-- `nkilua bench`: host times of repeated runs. How long they are is never a pass mark.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local json = require "spec.support.json"

local percents = {0, 1, 10, 25, 50, 90, 99, 100}
local folder
local function at(name)
  return folder .. "/" .. name
end

describe("nkilua bench", function()
  before_each(function()
    folder = cli.folder()
    build.spit(at("k.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      local function kernel(says)
        return nki.jit(function(x, factor)
          local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
          local t = nl.ndarray({2, 2}, x.dtype)
          t[{{0, 1}, {0, 2}}] = factor or 1
          if says == true then nl.device_print("said ", t[{{0, 1}, {0, 2}}]) end
          local rows = nl.ds(nl.program_id(0) * 2, 2)
          nl.store(out[rows], says == "half" and t or nl.load(x[rows]))
          return out
        end)
      end
      return {quiet = kernel(), loud = kernel(true), half = kernel("half")}]])
  end)
  after_each(function()
    cli.drop(folder)
  end)

  it("prints percentiles that never fall, and their mean lies between", function()
    local text = cli.ok {"bench", at("k.lua"), "-k", "quiet", "x=f32[2,2]", "--warmup", "2", "--iters=7"}
    assert.matches("^host time of the simulator, not of a device: 7 runs after 2 of warm%-up, in microseconds\n", text)
    local last, first = -1, nil
    for _, p in ipairs(percents) do
      local us = tonumber(text:match("\np" .. p .. " +(%d+%.%d%d%d)\n"))
      assert.is_true(us >= last and us > 0, text)
      last, first = us, first or us
    end
    local mean = tonumber(text:match "\nmean +(%d+%.%d%d%d)\n$")
    assert.is_true(mean >= first and mean <= last, text)
  end)

  it("prints the same as JSON, in whatever locale the script leaves", function()
    build.spit(at("locale.lua"), 'os.setlocale("de_DE.UTF-8")\n' .. build.slurp(at("k.lua")))
    local r = json.parse(cli.ok {"bench", at("locale.lua"), "-k", "quiet", "x=f32[2,2]", "--json", "--iters", "3",
                                 "--warmup", "0"})
    assert.same({"time", "unit", "warmup", "iters", "mean", "percentiles"}, json.keys(r))
    assert.equal("host time of the simulator", r.time)
    assert.same({0, 3, "us"}, {r.warmup, r.iters, r.unit})
    for i, p in ipairs(percents) do
      assert.equal(tostring(p), json.keys(r.percentiles)[i])
    end
    assert.is_true(r.percentiles["0"] <= r.percentiles["50"] and r.percentiles["50"] <= r.percentiles["100"])
    assert.equal(100, json.parse(cli.ok {"bench", at("k.lua"), "-kquiet", "x=f32[2,2]", "--json"}).iters)
  end)

  it("lets one run speak", function()
    local text = cli.ok {"bench", at("k.lua"), "-k", "loud", "x=f32[2,2]", "--warmup", "2", "--iters", "3"}
    assert.equal(1, select(2, text:gsub("said ", "")))
    local r = cli.run {"bench", at("k.lua"), "-k", "half", "x=f32[2,2]", "--iters", "5"}
    assert.equal(0, r.code)
    assert.equal(1, select(2, r.err:gsub("never written", "")))
  end)

  it("takes the options of run", function()
    cli.ok {"bench", at("k.lua"), "-k", "quiet", "-g", "4", "-t", "trn1", "f32[8,2]", "2", "--seed=4", "--iters=1"}
    cli.fails(1, {"bench", at("k.lua"), "-k", "half", "--strict", "x=f32[2,2]"}, "err_unwritten")
    cli.fails(1, {"bench", at("k.lua"), "-k", "quiet", "-g", "4", "x=f32[2,2]"}, "k.lua:")
    cli.fails(2, {"bench", at("k.lua"), "-k", "quiet", "-g", "0", "x=f32[2,2]"}, "--grid '0'")
    cli.fails(2, {"bench", at("k.lua"), "-k", "quiet", "-t", "trn9", "x=f32[2,2]"}, "no platform target 'trn9'")
    cli.fails(2, {"bench", at("k.lua"), "-k", "nope", "x=f32[2,2]"}, "no kernel 'nope'")
    cli.fails(2, {"bench", at("k.lua"), "-k", "quiet", "x=f32[2,2]", "y=1"}, "no parameter 'y'")
  end)

  it("refuses counts that are none, naming the option", function()
    for _, bad in ipairs {"0", "-1", "x", "1.5", "", "1000000001", "99999999999999999999"} do
      cli.fails(2, {"bench", at("k.lua"), "--iters=" .. bad}, "bench: --iters '" .. bad .. "'", "from 1 to")
    end
    for _, bad in ipairs {"-1", "x", "", "1000000001"} do
      cli.fails(2, {"bench", at("k.lua"), "--warmup=" .. bad}, "bench: --warmup '" .. bad .. "'", "from 0 to")
    end
    cli.fails(2, {"bench", at("k.lua"), "-o", "x.npy"}, "bench: no option '--output'")
    cli.fails(2, {"run", at("k.lua"), "--iters", "3"}, "run: no option '--iters'; these have it: bench")
  end)

  it("needs a kernel", function()
    build.spit(at("plain.lua"), "return 3")
    cli.fails(2, {"bench", at("plain.lua")}, "must return a kernel")
    cli.fails(2, {"profile", at("plain.lua")}, "must return a kernel")
    cli.fails(2, {"bench", at("none.lua")}, "cannot open")
    cli.fails(2, {"bench"}, "usage: nkilua bench FILE")
  end)
end)

describe("bench/run.lua", function()
  it("refuses a name that no line has", function()
    local r = build.run {"bench/run.lua", "matmul", "mathmul", env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2"}
    assert.equal(2, r.code)
    assert.equal("", r.out)
    assert.matches("^run.lua: no line is called 'mathmul'; there are\n  trace, positional\n", r.err)
  end)
end)
