-- What a file argument may be: every command says which file it cannot use and why, with status 2, before it has done
-- any work.
local build = require "spec.support.build"
local cli = require "spec.cli.support"

local dir
local function at(name)
  return dir .. "/" .. name
end

describe("a file argument", function()
  setup(function()
    dir = cli.folder()
    build.spit(at("add.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(a)
        local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
        nl.store(out, nl.load(a) + 1)
        nl.device_print("simulated", out)
        return out
      end, {platform_target = "trn2"})]])
    cli.ok {"config", at("add.lua"), "a=f32[2,2]", "-o", at("add.b64")}
    build.shell("mkdir " .. at("sub") .. " " .. at("sub.npy") .. " " .. at("sub.npz"))
  end)

  teardown(function() build.shell("rm -r " .. dir) end)

  local commands = {
    {"run", "@/add.lua", "a=%s"},
    {"trace", "@/add.lua", "a=%s"},
    {"exec", "@/add.b64", "a=%s"},
    {"run", "@/add.lua", "a=f32[2,2]", "--check", "%s"},
  }
  local function each_input(file, text)
    for _, command in ipairs(commands) do
      local words = {}
      for i, word in ipairs(command) do
        words[i] = word:gsub("@", dir):gsub("%%s", file)
      end
      cli.fails(2, words, text)
    end
  end

  it("that is a folder, a device or missing is refused as an input", function()
    each_input(at("sub.npy"), "cannot open '" .. at("sub.npy") .. "': it is a folder")
    each_input(at("sub.npz:x"), "cannot open '" .. at("sub.npz") .. "': it is a folder")
    each_input(at("none.npy"), "cannot open '" .. at("none.npy") .. "': No such file")
    build.shell("ln -s /dev/zero " .. at("zero.npy"))
    each_input(at("zero.npy"), "cannot open '" .. at("zero.npy") .. "': it is a device")
    cli.fails(2, {"run", at("add.lua"), "a=" .. at("none.npy")}, "a: cannot open '")
  end)

  it("that is no tensor file is refused by --check", function()
    for _, file in ipairs {at("sub"), "/dev/zero", "", "3"} do
      cli.fails(2, {"run", at("add.lua"), "a=f32[2,2]", "--check", file},
        file .. ": a tensor file ends in .npy, .npz or .safetensors")
    end
  end)

  it("that holds no tensor is refused as an input, named or not", function()
    build.spit(at("empty.npz"), "PK\5\6" .. ("\0"):rep(18))
    build.spit(at("empty.safetensors"), string.pack("<s8", "{}"))
    for _, member in ipairs {"", ":x"} do
      each_input(at("empty.npz" .. member), at("empty.npz") .. " has no arrays")
      each_input(at("empty.safetensors" .. member), at("empty.safetensors") .. " has no tensors")
    end
  end)

  it("that is no config is refused by exec", function()
    cli.fails(2, {"exec", at("sub"), "a=f32[2,2]"}, "cannot open '" .. at("sub") .. "': it is a folder")
    cli.fails(2, {"exec", "/dev/zero", "a=f32[2,2]"}, "cannot open '/dev/zero': it is a device")
    cli.fails(2, {"exec", at("none"), "a=f32[2,2]"}, "cannot open '" .. at("none") .. "'")
  end)

  it("may be a pipe", function()
    cli.ok {"run", at("add.lua"), "a=f32[2,2]:ones", "-o", at("one.npy")}
    local r = build.shell(("mkfifo %s; cat %s > %s & %s run %s a=%s"):format(at("pipe.npy"), at("one.npy"),
      at("pipe.npy"), build.program, at("add.lua"), at("pipe.npy")))
    assert.matches("output_0 float32%[2,2%] min 3.0", r.out)
  end)

  -- What `make` writes goes through a pipe to the program, which must not wait for its end nor keep all of it.
  local function piped(make, ...)
    local limit = build.sanitized and "" or "ulimit -v 4000000; "
    local words = {}
    for _, word in ipairs {...} do
      words[#words + 1] = build.quote(word)
    end
    return build.shell(("(%s) | (%stimeout 60 %s %s)"):format(make, limit, build.program, table.concat(words, " ")))
  end

  local function has(text, said)
    assert.is_truthy(said:find(text, 1, true), said)
  end

  local function stdin_as(name)
    build.shell("ln -sf /dev/stdin " .. at(name))
    return at(name)
  end

  it("may be a pipe for every kind of tensors, with a long header, too", function()
    for _, kind in ipairs {"npy", "npz", "safetensors"} do
      cli.ok {"run", at("add.lua"), "a=f32[128,300]:ones", "-o", at("in." .. kind)}
      local r = piped("cat " .. at("in." .. kind), "run", at("add.lua"), "a=" .. stdin_as("link." .. kind))
      assert.matches("output_0 float32%[128,300%] min 3.0", r.out, r.err)
    end
    local head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" .. (" "):rep(100000) .. "\n"
    build.spit(at("long.npy"), string.pack("<c6BBs4c16", "\x93NUMPY", 2, 0, head, ("\0\0\x80\x3f"):rep(4)))
    local r = piped("cat " .. at("long.npy"), "run", at("add.lua"), "a=" .. stdin_as("link.npy"))
    assert.matches("output_0 float32%[2,2%] min 2.0", r.out, r.err)
  end)

  it("that has no end is refused", function()
    local function refused(make, kind, why)
      local r = piped(make, "run", at("add.lua"), "a=" .. stdin_as("link." .. kind))
      assert.equal(why:find("pipe", 1, true) and 2 or 1, r.code, r.err)
      has(why, r.err)
      has("link." .. kind, r.err)
    end
    cli.ok {"run", at("add.lua"), "a=f32[2,2]", "-o", at("in.npy")}
    cli.ok {"run", at("add.lua"), "a=f32[2,2]", "-o", at("in.safetensors")}
    local most = "it has more than 1073741824 bytes, the most that a pipe may give"
    refused("cat /dev/zero", "npy", "not a .npy file (offset 0)")
    refused("cat /dev/zero", "npz", "not a zip archive (offset 0)")
    refused("cat /dev/zero", "safetensors", "the header does not begin with '{'")
    refused("cat " .. at("in.npy") .. " /dev/zero", "npy", "bytes after the data (offset 144)")
    refused("cat " .. at("in.safetensors") .. " /dev/zero", "safetensors", "the data is longer than the tensors say")
    local head = "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999,), }\n"
    build.spit(at("huge.npy"), string.pack("<c6BBs2", "\x93NUMPY", 1, 0, head))
    refused("cat " .. at("huge.npy") .. " /dev/zero", "npy", most)
    head = [[{"x":{"dtype":"F32","shape":[9999999999],"data_offsets":[0,39999999996]}}]]
    build.spit(at("huge.safetensors"), string.pack("<s8", head))
    refused("cat " .. at("huge.safetensors") .. " /dev/zero", "safetensors", most)
  end)

  it("that has no end is no config and no script", function()
    local make = "head -c 400 %s; yes AAAA | tr -d '\\n' | head -c 100000; cat /dev/zero"
    local r = piped(make:format(at("add.b64")), "exec", "-")
    assert.equal(2, r.code, r.err)
    has("standard input': it has more than 1073741824 bytes, the most that a pipe may give", r.err)
    local link = stdin_as("link.lua")
    for _, words in ipairs {{"-"}, {"run", link}} do
      r = piped("yes -- '-- nothing'", table.unpack(words))
      assert.is_true(r.code == 1 or r.code == 2, r.err)
      assert.matches("it has more than %d+ bytes, the most that ", r.err)
    end
  end)

  it("that is a script from a pipe has the lines it would have", function()
    local link = stdin_as("link.lua")
    local text = [[printf '\357\273\277#!/bin/nkilua\nlocal x = 1\nerror("here")']]
    has("link.lua:3: here", piped(text, link).err)
    has("stdin:3: here", piped(text, "-").err)
    has("link.lua:2: syntax error", piped([[printf '#!x\n x y']], link).err)
    assert.equal(0, piped("printf '#!only'", link).code)
  end)

  it("that is slow to come can be given up with Ctrl-C", function()
    local line = [[sleep 5 | sh -c 'echo $$ > %s; exec %s exec -' & sleep 0.5; kill -INT $(cat %s); wait $!; echo $?]]
    local pid = at("pid")
    local r = build.shell("bash -c " .. build.quote("set -m; trap '' INT; " .. line:format(pid, build.program, pid)))
    assert.equal("130\n", r.out, r.err)
  end)

  it("over the limit of a file's size cannot be written", function()
    local line = "out=$( (ulimit -f 0; %s config %s 'a=f32[2,2]' -o %s) 2>&1 ); echo $? \"$out\""
    local r = build.shell(line:format(build.quote(build.program), build.quote(at "add.lua"), build.quote(at "big.b64")))
    assert.matches("^1 .*cannot write '" .. at("big.b64"):gsub("%p", "%%%0"), r.out)
    assert.is_nil(io.open(at "big.b64"))
  end)

  it("that cannot be written is refused before the simulation, which would print", function()
    local function refused(file, why, ...)
      for _, command in ipairs {...} do
        cli.fails(2, {command[1], at(command[2]), "a=f32[2,2]", "-o", file}, why)
      end
    end
    local run, exec = {"run", "add.lua"}, {"exec", "add.b64"}
    local trace, config = {"trace", "add.lua"}, {"config", "add.lua"}
    refused(at("sub.npy"), "cannot write '" .. at("sub.npy") .. "': it is a folder", run, exec, trace, config)
    refused(at("no/x.npy"), "': there is no such folder", run, exec, trace, config)
    refused(at(("n"):rep(252) .. ".npy"), "': File name too long", run, exec, trace, config)
    build.shell("ln -s no/x.npy " .. at("astray.npy"))
    refused(at("astray.npy"), "astray.npy': there is no such folder", run, exec, trace, config)
    refused(at("x.txt"), "x.txt: a tensor file ends in .npy", run, exec)
    refused("", "cannot write '': it is no name", trace, config)
  end)

  it("that is read is never written by the same command", function()
    local source, text = at "add.lua", "is the file that is read; name another one"
    local before = build.slurp(source)
    build.shell(("ln -s %s %s"):format(source, at "other"))
    for _, file in ipairs {source, at "sub/../add.lua", at "other"} do
      for _, command in ipairs {"trace", "config", "hlo", "profile"} do
        cli.fails(2, {command, source, "a=f32[2,2]", "-o", file}, text)
      end
    end
    assert.equal(before, build.slurp(source))
  end)

  it("that cannot be written leaves nothing of the others", function()
    local first = at("first.out")
    for _, command in ipairs{"trace", "config", "hlo", "profile"} do
      for _, words in ipairs{{first, "/dev/full"}, {first, first}, {first, at("none/second.out")}} do
        local r = cli.run{command, at("add.lua"), "a=f32[2,2]", "-o", words[1], "-o", words[2]}
        assert.not_equal(0, r.code, command)
        assert.truthy(r.err:find(words[2], 1, true), r.err)
        assert.is_nil(io.open(first), command .. " " .. words[2])
      end
      local second = at("second.out")
      cli.ok{command, at("add.lua"), "a=f32[2,2]", "-o", first, "-o", second}
      assert.equal(build.slurp(first), build.slurp(second))
      os.remove(first)
      os.remove(second)
    end
  end)

  -- Four GiB that take no room on the disk. Reading them costs seconds of processor time, of which there are none.
  local function huge(name, begin)
    build.spit(at(name), begin or "")
    build.shell("truncate -s 4G " .. at(name))
    return at(name)
  end
  local function at_once(code, text, ...)
    local words = {}
    for i, word in ipairs {...} do
      words[i] = build.quote(word)
    end
    local r = build.shell(("ulimit -t 2; NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s %s"):format(build.quote(build.program),
      table.concat(words, " ")))
    assert.equal("nkilua: " .. text .. "\n", r.err)
    assert.equal(code, r.code)
  end

  it("whose header is wrong is refused before the rest is read", function()
    local function tensor(text, name, begin, member)
      local file = huge(name, begin)
      local code = text:find "64%-bit" and 2 or 1
      at_once(code, "a: " .. file .. text, "run", at("add.lua"), "a=" .. file .. (member or ""))
      at_once(code, "a: " .. file .. text, "exec", at("add.b64"), "a=" .. file .. (member or ""))
    end
    tensor(": not a .npy file (offset 0)", "nothing.npy")
    tensor(": header is not a dict (offset 12)", "dict.npy", "\x93NUMPY\2\0\0\0\1\0")
    tensor(": header is longer than 1 MiB (offset 8)", "long.npy", "\x93NUMPY\2\0\0\0\0\4")
    local head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"
    tensor(": bytes after the data (offset 83)", "more.npy", "\x93NUMPY\1\0" .. string.pack("<s2", head))
    tensor(" holds float64; the device has no 64-bit numbers: ask for a conversion, " .. at("wide.npy") .. ":f32",
      "wide.npy", "\x93NUMPY\1\0" .. string.pack("<s2",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 268435448)}" .. (" "):rep(53)))
    tensor(": not a zip archive, or cut off: no end record (offset 4294967296)", "nothing.npz", nil, ":x")
    tensor(": the header does not begin with '{' (offset 8)", "nothing.safetensors", string.pack("<I8", 1000), ":x")
    tensor(": the header is longer than the file or than 100 MB (offset 0)", "long.safetensors", ("\xff"):rep(8), ":x")
    tensor(": x has no dtype", "some.safetensors", string.pack("<s8", '{"x":{"dtype":1,"shape":[],"data_offsets":[]}}'),
      ":x")
  end)

  it("that is no text is refused before the rest is read", function()
    local config, comment = huge("huge.b64"), huge("comment.lua", "-- ")
    at_once(1, config .. ": err_base64: byte outside the alphabet at offset 0 of the base64 text", "exec", config,
      "a=f32[2,2]")
    build.spit(at("A.b64"), ("A"):rep(4 * 20000))
    at_once(1, at("A.b64") .. ": err_config_type: backend_config: 'backend_config' must be an object", "exec",
      at("A.b64"))
    local script = "cannot open '" .. comment .. "': it has more than 268435456 bytes, the most that a script may have"
    at_once(2, script, comment)
    at_once(2, script, "run", comment)
    at_once(2, "cannot open '" .. comment .. "': it has more than 8388608 bytes, the most that lint looks at", "lint",
      comment)
    build.spit(at("nul.lua"), "-- \0")
    at_once(2, "'" .. at("nul.lua") .. "' is no text: the byte at offset 3 is 0", "lint", at("nul.lua"))
  end)

  it("that never ends is refused at its first wrong byte, or where there are too many", function()
    local r = build.shell(("ulimit -t 2; yes | %s exec -"):format(build.program))
    assert.equal("nkilua: -: err_base64: byte outside the alphabet at offset 1 of the base64 text\n", r.err)
    r = build.shell(("ulimit -t 2; yes | %s lint -"):format(build.program))
    assert.equal("nkilua: cannot open 'standard input': it has more than 8388608 bytes, the most that lint looks at\n",
      r.err)
  end)

  it("of more than a megabyte is read as it was written", function()
    build.spit(at("pass.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(a)
        local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
        nl.store(out, nl.load(a))
        return out
      end, {platform_target = "trn2"})]])
    for _, ending in ipairs {"npy", "npz", "safetensors"} do
      local file = at("large." .. ending)
      cli.ok {"run", at("pass.lua"), "a=f32[128,4096]:normal(3)", "-o", file}
      local name = file .. (ending == "npy" and "" or ":output_0")
      cli.ok {"run", at("pass.lua"), "a=f32[128,4096]:normal(3)", "--check", name, "--rtol", "0", "--atol", "0"}
      cli.ok {"run", at("pass.lua"), "a=" .. name, "-o", at("again." .. ending)}
      assert.equal(build.slurp(file), build.slurp(at("again." .. ending)))
    end
  end)
end)
