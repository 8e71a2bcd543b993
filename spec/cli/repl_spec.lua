-- Interactive sessions, fed through standard input.
local build = require "spec.support.build"
local cli = require "spec.cli.support"

local function session(...)
  return cli.run {"repl", stdin = table.concat({...}, "\n") .. "\n"}
end

-- Everything a session prints, errors included, in order.
local function transcript(...)
  local name = build.quote(build.program)
  return build.shell(name .. " repl 2>&1", {stdin = table.concat({...}, "\n") .. "\n"}).out
end

describe("nkilua repl", function()
  -- A bare name, a loop over three lines, and a string that is never closed.
  it("knows when a chunk is complete", function()
    local r = session("t", "for i = 1, 3 do", "print(i)", "end", 'x = "hello', 'world"', "1+1")
    assert.equal("nil\n1\n2\n3\n2\n", r.out)
    assert.equal("stdin:1: unfinished string near '\"hello'\n", r.err)
    assert.equal(0, r.code)
  end)

  it("shows values so that they can be read", function()
    local r = session("1, nil, 'a'", "{3, {x = 'y'}}", "= 7", "x = 5", "x", "", "(function() end)()", '"a\\tb"')
    assert.equal("1\tnil\ta\n{3, {x = \"y\"}}\n7\n5\na\tb\n", r.out)
    assert.equal("", r.err)
  end)

  it("has the modules at hand, which a session of plain Lua has not", function()
    local r = session("nki.jit and nl.add", "nisa.memset and nd.zeros({2}, nl.float32):get(0)", "help(nl.load)")
    assert.equal("", r.err)
    assert.matches("^nl%.add\n0%.0\n.*nl%.load%(", r.out)
    r = cli.run {"-i", stdin = "nki, nl, nisa, nd\n"}
    assert.matches("nil\tnil\tnil\tnil\n$", r.out)
  end)

  it("cuts long texts and tells their length", function()
    local r = session("('x'):rep(10000)", "('x'):rep(2^27)", "('x'):rep(9999) .. 'äöü'", "{('\\n'):rep(1001), 1}",
      "{[('k'):rep(1001)] = ('x'):rep(1000)}",
      "setmetatable({}, {__tostring = function() return ('t'):rep(20000) end})")
    assert.equal("", r.err)
    assert.equal(table.concat({
      ("x"):rep(10000), ("x"):rep(10000) .. "... (10000 of 134217728 bytes)",
      ("x"):rep(9999) .. "... (9999 of 10005 bytes)",
      '{\n  "' .. ("\\n"):rep(1000) .. '"... (1000 of 1001 bytes),\n  1\n}',
      '{\n  ["' .. ("k"):rep(1000) .. '"... (1000 of 1001 bytes)] = "' .. ("x"):rep(1000) .. '"\n}',
      ("t"):rep(10000) .. "... (10000 of 20000 bytes)\n"}, "\n"), r.out)
  end)

  it("goes on after an error", function()
    local traceback = "stack traceback:\n\t[C]: in function 'error'\n\tstdin:1: in main chunk\n\t[C]: in ?\n"
    assert.equal("stdin:1: boom\n" .. traceback .. "2\n", transcript("error('boom')", "1 + 1"))
    assert.equal("stdin:1: syntax error near 'x'\n2\n", transcript("x x", "1 + 1"))
    assert.matches("^stdin:1: no nl.laod; did you mean nl.load%?\n",
      transcript("nl = require 'nki.language'", "nl.laod"))
    assert.matches("err_nki_api_outside_of_nki_kernel: nl.load", transcript("require('nki.language').load(1)"))
  end)

  it("has the modules, kernels and help", function()
    local r = session(
      "nki, nl = require 'nki', require 'nki.language'",
      "k = nki.jit(function(a)",
      "  local o = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})",
      "  nl.store(o, nl.load(a))",
      "  return o",
      "end)",
      "k",
      "k:specialize(nki.decl({4, 4}, nl.float32)).matmul_mac_count",
      "help('nl.load')", "help(nl.add)", "help(nl.store)")
    assert.equal("", r.err)
    assert.matches("^kernel unnamed%(a%)\n0\nnl.load%(src, %[dtype%]%)\n", r.out)
    assert.matches("nl.add%(x, y, %[dtype%]%)\n.*nl.store%(dst, value%)\n", r.out)
  end)

  it("gives help on any public value", function()
    local function help(value) return session("help(" .. value .. ")") end
    for value, text in pairs {["require 'nki'.jit"] = "nki.jit(", ["require 'nki.isa'.iota"] = "nisa.iota(",
      ["require 'nki.language'.softmax"] = "nl.softmax(x", ["require 'nki.language'.tile_size"] = "nl.tile_size\n",
      ["require 'nki.isa'.engine"] = "nisa.engine\n", ["require 'nki.isa'.engine.sync"] = "nisa.engine.sync\n",
      ["require 'nki.language'.bfloat16"] = "nl.bfloat16 (dtype)\n",
      ["require 'nki.language'.NkiTensor"] = "nl.NkiTensor(",
      ["require 'nki'.JAXKernel"] = "nki.JAXKernel(", ["require 'nki.ndarray'.load"] = "nd.load(path",
      ["require 'nki.language'"] = "nl, the module nki.language:\n"} do
      assert.equal(text, help(value).out:sub(1, #text))
    end
    assert.matches("^stdin:1: no help on 'a function'\n", help("print").err)
    assert.matches("no help on '3'", help("3").err)
  end)

  it("ends with the input, with os.exit, and says when a chunk was cut", function()
    assert.equal(0, session("1").code)
    assert.equal(4, session("os.exit(4)", "print('no')").code)
    local r = session("f(")
    assert.equal(0, r.code)
    assert.matches("^stdin:%d: unexpected symbol near <eof>\n$", r.err)
  end)

  it("follows -i and a script", function()
    local r = build.run {"-i", "-e", "x = 41", stdin = "x + 1\n"}
    assert.matches("^nkilua [%d.]+, Lua 5.4\n42\n$", r.out)
    assert.equal(0, r.code)
  end)
end)

describe("Ctrl-C", function()
  -- Starts the program, lets it run for a moment, sends SIGINT and waits.
  local function interrupted(code)
    local r = build.shell(([[
      %s -e %s & pid=$!
      sleep 0.3
      kill -INT $pid
      wait $pid
      echo "status $?"]]):format(build.quote(build.program), build.quote(code)))
    assert.matches("status 130\n$", r.out, code .. r.err)
    assert.matches("^nkilua: .*interrupted", r.err)
  end

  it("ends loops, coroutines and loops of pcall with status 130", function()
    interrupted("while true do end")
    interrupted("coroutine.wrap(function() while true do end end)()")
    interrupted("while true do pcall(function() while true do end end) end")
    interrupted("while true do coroutine.resume(coroutine.create(function() while true do end end)) end")
  end)
end)
