-- Without a command nkilua is lua: the same words give the same output, the same errors and the same exit status as
-- lua5.4.
local build = require "spec.support.build"
local cli = require "spec.cli.support"

local function stock(args)
  local line = {args.env or "", "lua5.4"}
  for _, word in ipairs(args) do
    line[#line + 1] = build.quote(word)
  end
  return build.shell(table.concat(line, " "), args)
end

-- Both programs on the same words; the name of the program is the only difference allowed.
local function same(args)
  local mine, theirs = build.run(args), stock(args)
  local what = table.concat(args, " ")
  assert.equal(theirs.out, mine.out, what)
  assert.equal((theirs.err:gsub("^lua5.4: ", "nkilua: "):gsub("\nlua5.4: ", "\nnkilua: ")), mine.err, what)
  assert.equal(theirs.code, mine.code, what)
  return mine
end

describe("nkilua as lua", function()
  local folder
  setup(function()
    folder = cli.folder()
    build.spit(folder .. "/s.lua",
      "#!/usr/bin/env lua\nprint(#arg, arg[1], arg[2], ...)\nio.stderr:write('err\\n')\nreturn 3\n")
    build.spit(folder .. "/bad.lua", "print('before')\nlocal function f() error('boom') end\nf()\n")
    build.spit(folder .. "/syntax.lua", "x x\n")
    build.spit(folder .. "/mod.lua", "return {v = 42}\n")
  end)
  teardown(function()
    cli.drop(folder)
  end)

  it("executes -e, -l, -W, -E, -- and -", function()
    same {"-e", "print(1)"}
    same {"-eprint(1)", "-e", "print(2)"}
    same {"-l", "string", "-e", "print(string.rep('x', 3))"}
    same {"-l", "m=math", "-e", "print(m.pi)"}
    same {"-lmod", "-e", "print(mod.v)", env = ("LUA_PATH='%s/?.lua'"):format(folder)}
    same {"-W", "-e", "warn('a', 'b')"}
    same {"-e", "warn('silent')"}
    same {"-E", "-e", "print(package.path)", env = "LUA_PATH=/nowhere/?.lua"}
    same {"-e", "print(package.path)", env = "LUA_PATH='/nowhere/?.lua;;'"}
    same {"-e", "print(...)", "-e", "print(#arg, arg[1])"}
    same {"-e", "print(collectgarbage 'incremental')"}
    same {"-e", "print(string.format('%q', 1/3), 10 // 3, 2^53 | 0)"}
    same {"-", "a", "b", stdin = "print(#arg, arg[0], arg[1], ...)"}
    same {stdin = "print(#arg, ...)"}
    same {"--", folder .. "/s.lua", "x"}
    local long = ("g"):rep(300)
    same {"-l", long .. "=math", "-e", ("print(%s.pi)"):format(long)}
  end)

  it("ends a finalizer that does not return with Ctrl-C", function()
    local code = "setmetatable({}, {__gc = function() io.stdout:write('up\\n'):flush() while true do end end})"
    local line = "set -m; %s -e %s > %s & for i in $(seq 100); do [ -s %s ] && break; sleep 0.05; done; " ..
      "kill -INT $!; for i in $(seq 100); do kill -0 $! || break; sleep 0.05; done; kill -KILL $!; wait $!; echo $?"
    local out = folder .. "/up"
    local r = build.shell("bash -c " .. build.quote(line:format(build.program, build.quote(code), out, out)))
    assert.equal("130\n", r.out, r.err)
  end)

  it("lets no file have the number of a stream that is closed", function()
    local file = folder .. "/mine"
    local code = "local f = io.open('%s', 'w') print('out') io.stderr:write('err') io.stdout:flush() f:close()"
    code = code:format(file)
    for _, closed in ipairs {"1>&-", "2>&-", "0<&- 1>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"} do
      build.shell(("%s -e %s %s"):format(build.program, build.quote(code), closed))
      assert.equal("", build.slurp(file), closed)
    end
  end)

  it("runs scripts with their arguments", function()
    same {folder .. "/s.lua"}
    same {folder .. "/s.lua", "one", "-e", "three"}
    same {"-e", "x = 1", folder .. "/s.lua", "run"}
  end)

  it("says what lua says when something fails", function()
    same {"-e", "error('boom')"}
    same {"-e", "error({})"}
    local bodies = {"return 'an object'", "return 5", "return {}", "error('again')", "error {}", "", "return ''"}
    for _, body in ipairs(bodies) do
      same {"-e", ("error(setmetatable({}, {__tostring = function() %s end}))"):format(body)}
    end
    same {"-e", "error()"}
    same {"-e", "error('two\\nlines')"}
    same {"-e", "error('a: 3: b', 0)"}
    same {"-e", "error(42)"}
    same {"-e", "local t; t.x = 1"}
    same {"-e", "x x"}
    same {"-e", "for"}
    same {"-e", "string.rep()"}
    same {"-e", "local a <close> = setmetatable({}, {__close = function() print('closed') end}) error('q')"}
    same {"-l", "no.such.module"}
    same {folder .. "/bad.lua"}
    same {folder .. "/syntax.lua"}
    same {"-", stdin = "error('x')"}
    same {"-e", "coroutine.wrap(function() error('in a coroutine') end)()"}
    same {"-e", "print(pcall(error)) print(select('#', pcall(error, nil)))"}
  end)

  it("leaves with the status the script asks for", function()
    for _, words in ipairs {"7", "false", "true", "0, true", "io.stdout:write('x') and 3"} do
      same {"-e", "os.exit(" .. words .. ")"}
    end
  end)

  it("reads LUA_INIT", function()
    same {"-e", "print(1)", env = "LUA_INIT='print(0)'"}
    same {"-e", "print(1)", env = ("LUA_INIT='@%s/s.lua'"):format(folder)}
    same {"-e", "print(1)", env = "LUA_INIT_5_4='print(54)' LUA_INIT='print(0)'"}
    same {"-e", "print(1)", env = "LUA_INIT='error(3)'"}
    same {"-e", "print(1)", env = "LUA_INIT=@/no/such/file"}
    same {"-E", "-e", "print(1)", env = "LUA_INIT='print(0)'"}
  end)

  it("refuses unknown flags as lua does, status 1", function()
    for _, words in ipairs {{"-z"}, {"-e"}, {"-l"}, {"-vx"}, {"--nonsense"}} do
      local mine, theirs = build.run(words), stock(words)
      assert.equal(theirs.code, mine.code)
      assert.equal((theirs.err:match("^lua5.4: ([^\n]*)\n")), (mine.err:match("^nkilua: ([^\n]*)\n")))
      assert.matches("\nAvailable options are:\n  %-e stat", mine.err)
    end
  end)

  it("is a script's interpreter", function()
    local path = folder .. "/exe"
    build.spit(path, "#!" .. cli.program .. "\nprint('hi', ...)\n")
    local r = build.shell(("chmod +x %s && %s a b"):format(path, path))
    assert.equal("hi\ta\tb\n", r.out .. r.err)
  end)

  it("names its commands when a word is neither file nor command", function()
    for _, word in ipairs {"benchmark", "frobnicate"} do
      local text = cli.fails(2, {word, "x.lua"}, "cannot ", "there is no command '" .. word .. "'")
      assert.matches("\nrun, bench, profile, trace, config, hlo, exec, test, lint, ops, repl, doc, help, version\n$",
        text)
    end
    cli.fails(2, {"tarce", "x.lua"}, "there is no command 'tarce'", "did you mean 'trace'?")
    cli.fails(2, {"./none.lua"}, "cannot open ./none.lua")
    local r = build.shell(("mkdir -p %s/sub && cd %s && %s sub"):format(folder, folder, cli.program))
    assert.equal("nkilua: cannot read sub: Is a directory\n", r.err)
  end)

  it("takes no precompiled chunks, and names the file", function()
    build.spit(folder .. "/chunk", string.dump(load "return 1"))
    for _, words in ipairs {{folder .. "/chunk"}, {"run", folder .. "/chunk"}} do
      cli.fails(1, words, folder .. "/chunk is a precompiled chunk of Lua; a script is text")
    end
    assert.equal("nkilua: standard input is a precompiled chunk of Lua; a script is text\n",
      build.run {"-", stdin = build.slurp(folder .. "/chunk")}.err)
  end)
end)
