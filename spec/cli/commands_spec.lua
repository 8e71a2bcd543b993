-- The other commands, options, and their usage.
local build = require "spec.support.build"
local cli = require "spec.cli.support"

local commands = {"run", "bench", "profile", "trace", "config", "hlo", "exec", "test", "lint", "ops", "repl", "doc",
                  "help", "version"}

describe("nkilua", function()
  it("tells its version", function()
    local version = build.slurp("include/nkilua.h"):match('NKL_VERSION_STRING "([^"]+)"')
    assert.equal("nkilua " .. version .. "\n", cli.ok {"version"})
    assert.equal("nkilua " .. version .. "\n", cli.ok {"--version"})
    assert.matches("^nkilua " .. version:gsub("%.", "%%.") .. ", Lua 5.4\n$", cli.ok {"-v"})
    cli.fails(2, {"version", "x"}, "one word too many")
  end)

  it("explains every command", function()
    local all = cli.ok {"help"}
    assert.equal(all, cli.ok {"--help"})
    for _, name in ipairs(commands) do
      assert.matches("\n  " .. name .. " +%l", all)
      assert.matches("^usage: nkilua " .. name, cli.ok {"help", name})
    end
    assert.equal(cli.ok {"help", "run"}, cli.ok {"run", "--help"})
    assert.matches("\n  %-g, %-%-grid N%[,N...%] +the SPMD grid; an axis", cli.ok {"help", "trace"})
    assert.is_nil(cli.ok({"help", "exec"}):find("--grid", 1, true))
  end)

  it("refuses what a command does not have, naming the nearest", function()
    cli.fails(2, {"run", "x.lua", "--stict"}, "run: no option '--stict'; did you mean '--strict'?")
    cli.fails(2, {"trace", "x.lua", "--check", "y"}, "trace: no option '--check'; these have it: run, exec")
    cli.fails(2, {"run", "x.lua", "-q"}, "run: no option '-q'")
    cli.fails(2, {"run", "x.lua", "-o"}, "run: --output needs a value")
    cli.fails(2, {"run", "x.lua", "--strict=yes"}, "--strict takes no value")
    cli.fails(2, {"run", "x.lua", "-g", "1", "--grid=2"}, "--grid is given twice, '1' and '2'")
    cli.fails(2, {"run", "x.lua", "--seed", "x"}, "--seed 'x'")
    cli.fails(2, {"run", "x.lua", "--seed", "18446744073709551616"}, "--seed")
    cli.fails(2, {"run", "x.lua", "--color", "pink"}, "--color 'pink'")
    cli.fails(2, {"run"}, "usage: nkilua run FILE")
    cli.fails(2, {"exec"}, "usage: nkilua exec CONFIG")
    cli.fails(2, {"repl", "x"}, "one word too many")
    cli.fails(2, {"run", "--", "--strict"}, "cannot open --strict")
  end)

  it("colours messages when asked to", function()
    local red = "\27[1;31mnkilua:\27[0m "
    local function starts(args)
      return (build.run(args).err:sub(1, #red))
    end
    assert.equal(red, starts {"run", "none.lua", "--color", "always"})
    assert.equal(red, starts {"run", "none.lua", env = "NO_COLOR= FORCE_COLOR=1"})
    assert.equal(red, starts {"run", "none.lua", "--color=always", env = "NO_COLOR=1"})
    assert.not_equal(red, starts {"run", "none.lua"})
    assert.not_equal(red, starts {"run", "none.lua", env = "NO_COLOR=1 FORCE_COLOR=1"})
    assert.not_equal(red, starts {"run", "none.lua", "--color=never", env = "NO_COLOR= FORCE_COLOR=1"})
  end)
end)

describe("nkilua ops and doc", function()
  it("print the table of instructions", function()
    local text = cli.ok {"ops"}
    local ops = 0
    for name in build.slurp("src/ir/ops.def"):gmatch("\nOP%(([%l%d_]+),") do
      assert.truthy(text:find("%f[%w]" .. name .. "\n"), name)
      ops = ops + 1
    end
    assert.is_true(ops >= 27)
    assert.matches('^%[{"name":"dma_copy","module":"nisa"', cli.ok {"ops", "--json"})
    assert.matches("| trn2 | NeuronCore%-v3 | 3 |", cli.ok {"ops", "--table", "targets"})
    assert.matches("| err_nomem | nomem | out of memory |", cli.ok {"ops", "--table=errors"})
    assert.matches('"name":"bfloat16"', cli.ok {"ops", "--table=dtypes", "--json"})
    cli.fails(2, {"ops", "--table", "x"}, "--table 'x'")
    cli.fails(2, {"ops", "memset", "--json"}, "--json is for the whole table")
  end)

  it("explain a topic", function()
    assert.matches("^nisa.memset%(dst, value, engine = unknown, name = nil%)\n", cli.ok {"ops", "memset"})
    assert.matches("^nisa.memset%(.*nisa.iota%(", cli.ok {"ops", "memset", "iota"})
    assert.matches("^nisa.memset%(", cli.ok {"doc", "nisa.memset"})
    assert.matches("^nl.load%(src, %[dtype%]%)\n", cli.ok {"help", "nl.load"})
    assert.matches("^tensor:permute%(dims%)\n", cli.ok {"doc", "tensor.permute"})
    assert.matches("^tensor.shape\n", cli.ok {"doc", "tensor.shape"})
    assert.matches("^err_nomem\n", cli.ok {"doc", "err_nomem"})
    assert.matches("nisa: dma_copy ", cli.ok {"doc"})
    assert.matches("^nl, the module nki.language:\n .* softmax .* tile_size ", cli.ok {"doc", "nl"})
    assert.matches("^nki, the module nki:\n  jit simulate .*decode ", cli.ok {"doc", "nki"})
    assert.matches("^ncc, the module nki.collectives:\n  .*all_reduce .*Group\n", cli.ok {"doc", "nki.collectives"})
    assert.matches("^nd.zeros%(shape, %[dtype%]%)\n", cli.ok {"doc", "nki.ndarray.zeros"})
    cli.fails(2, {"doc", "nl.tile_sze"}, "did you mean 'nl.tile_size'?")
    cli.fails(2, {"doc", "nl.laod"}, "no help on 'nl.laod'; did you mean 'nl.load'?")
    cli.fails(2, {"doc", "nisa.laod"}, "no help on 'nisa.laod'; did you mean 'load'?") -- nisa has none
    cli.fails(2, {"doc", "tensor.slcie"}, "did you mean 'tensor.slice'?")
    cli.fails(2, {"doc", "a", "b"}, "'b' is one word too many")
  end)
end)

describe("nkilua test", function()
  local folder
  before_each(function()
    folder = cli.folder()
  end)
  after_each(function()
    cli.drop(folder)
  end)

  local function spec(body)
    build.spit(folder .. "/x_spec.lua", ("describe('x', function()\n%s\nend)\n"):format(body))
    return build.shell(("cd %s && %s test x_spec.lua"):format(build.quote(folder), build.quote(cli.program)))
  end

  it("runs busted in the process: status 0 when all pass, 1 otherwise", function()
    local r = spec("it('passes', function() local nki = require 'nki' assert.is_function(nki.jit) end)")
    assert.equal(0, r.code, r.out .. r.err)
    assert.matches("1 success / 0 failures / 0 errors", r.out)
    assert.equal(1, spec("it('fails', function() assert.equal(1, 2) end)").code)
    assert.equal(1, spec("it('raises', function() error('x') end)").code)
    assert.equal(1, spec("it('does not compile' function() end)").code)
    assert.equal(1, build.run({"test", folder .. "/none_spec.lua"}).code)
  end)

  it("passes busted's own options on", function()
    build.spit(folder .. "/y_spec.lua", [[
      describe("y", function()
        it("one #a", function() end)
        it("two #b", function() error() end)
      end)]])
    local r = build.shell(("cd %s && %s test --tags=a -o TAP y_spec.lua"):format(build.quote(folder),
      build.quote(cli.program)))
    assert.equal(0, r.code, r.out .. r.err)
    assert.matches("^ok 1 %- y one #a\n1%.%.1\n$", r.out)
  end)
end)

describe("the generated pages", function()
  local golden = require "spec.support.golden"
  it("are what the program prints #docs", function()
    golden.check("docs/ops.md", cli.ok {"ops"})
    golden.check("docs/errors.md", cli.ok {"ops", "--table", "errors"})
  end)
end)
