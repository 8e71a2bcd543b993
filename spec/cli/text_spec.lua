-- `nkilua trace`, `config` and `hlo`: shapes suffice, texts go to standard output or to a file.
local build = require "spec.support.build"
local cli = require "spec.cli.support"

local folder
local function at(name)
  return folder .. "/" .. name
end

describe("the text commands", function()
  before_each(function()
    folder = cli.folder()
    build.spit(at("k.lua"), [[
local nki, nl = require "nki", require "nki.language"
return nki.jit(function(x, w)
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(x) * w)
  return out
end)
]])
  end)
  after_each(function()
    cli.drop(folder)
  end)

  it("print the IR, the configuration and the HLO", function()
    local ir = cli.ok {"trace", at("k.lua"), "x=bf16[4,8]", "w=2"}
    assert.matches('"nisa.tensor_scalar"', ir)
    assert.matches('loc%("k.lua":4:0%)', ir)
    assert.matches("nki.target = \"trn2\"", ir)
    local config = cli.ok {"config", at("k.lua"), "x=bf16[4,8]", "w=2"}
    assert.matches("^[%w+/]+=*\n$", config)
    local json = cli.ok {"config", "--decode", at("k.lua"), "x=bf16[4,8]", "w=2"}
    assert.matches('^{\n  "kernel_version": 1,\n  "func_name": "k",', json)
    assert.matches('"platform_target": "trn2"', json)
    assert.matches("^HloModule jit_k, ", cli.ok {"hlo", at("k.lua"), "x=bf16[4,8]", "w=2"})
    assert.matches("AwsNeuronCustomNativeKernel", cli.ok {"hlo", "--as", "hlo", at("k.lua"), "x=bf16[4,8]", "w=2"})
    assert.matches("^module @jit_k", cli.ok {"hlo", "--as=stablehlo", at("k.lua"), "x=bf16[4,8]", "w=2"})
  end)

  it("give the binary HLO as it is, but not to a terminal", function()
    local proto = cli.ok {"hlo", "--as", "proto", at("k.lua"), "x=bf16[4,8]", "w=2"}
    assert.equal("\10\5jit_k\18\4main\26", proto:sub(1, 14)) -- module name, entry name, then the computation
    assert.equal("", cli.ok {"hlo", "--as", "proto", at("k.lua"), "x=bf16[4,8]", "w=2", "-o", at("k.pb")})
    assert.equal(proto, build.slurp(at("k.pb")))
    local words = ("%s hlo --as proto %s x=bf16[4,8] w=2"):format(cli.program, at("k.lua"))
    local r = build.shell("script -qec " .. build.quote(words) .. " /dev/null")
    assert.equal(2, r.code)
    assert.truthy(r.out:find("standard output is a terminal: name a file with --output", 1, true), r.out)
  end)

  it("need no data: a huge shape costs nothing", function()
    build.spit(at("big.lua"), [[
local nki, nl = require "nki", require "nki.language"
return nki.jit(function(x)
  local out = nl.ndarray({4, 8}, x.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(x[{{}, {0, 8}}]))
  return out
end)
]])
    assert.matches("memref<4x1000000000xui8", cli.ok {"trace", at("big.lua"), "x=u8[4,1000000000]"})
  end)

  it("are the same from run to run, by name or by position", function()
    local function config(...)
      return cli.ok {"config", at("k.lua"), ...}
    end
    local first = config("bf16[4,8]", "2")
    assert.equal(first, config("w=2", "x=bf16[4,8]:normal(3)"))
    assert.not_equal(first, config("bf16[4,8]", "2.0"))
    assert.not_equal(first, config("bf16[4,8]", "2", "-t", "trn1"))
  end)

  it("write to a file, completely or not at all", function()
    local text = cli.ok {"trace", at("k.lua"), "x=f32[4,8]", "w=2"}
    assert.equal("", cli.ok {"trace", at("k.lua"), "x=f32[4,8]", "w=2", "-o", at("k.mlir")})
    assert.equal(text, build.slurp(at("k.mlir")))
    cli.fails(1, {"trace", at("k.lua"), "x=f32[400,8]", "w=2", "-o", at("k.mlir")}, "k.lua:4")
    assert.equal(text, build.slurp(at("k.mlir")))
    cli.fails(2, {"config", at("k.lua"), "x=f32[4,8]", "w=2", "-o", at("no/such")}, "cannot write")
    assert.same({"k.lua", "k.mlir"}, cli.list(folder))
  end)

  it("demand a kernel", function()
    build.spit(at("plain.lua"), "return 3")
    for _, command in ipairs {"trace", "config", "hlo"} do
      cli.fails(2, {command, at("plain.lua")}, "must return a kernel")
      cli.fails(2, {command}, "usage: nkilua " .. command .. " FILE")
      cli.fails(2, {command, at("none.lua")}, "cannot open", "none.lua")
      cli.fails(2, {command, at("k.lua"), "--json"}, "no option '--json'", "these have it: run, bench, ")
    end
    cli.fails(2, {"hlo", "--as", "json", at("k.lua")}, "--as 'json'", "it is hlo, stablehlo or proto")
    build.spit(at("bad.lua"), "x x")
    cli.fails(1, {"trace", at("bad.lua")}, "bad.lua:1: syntax error near 'x'")
  end)

  it("show the call chain of a fault", function()
    build.spit(at("deep.lua"), [[
local nki, nl = require "nki", require "nki.language"
local function helper(x)
  local t = nl.load(x)
  return t
end
return nki.jit(function(x)
  local t = helper(x)
  return t
end)
]])
    cli.fails(1, {"trace", at("deep.lua"), "x=f32[300,8]"}, "deep.lua:3:", "\n  called from deep.lua:7\n", "300")
  end)
end)
