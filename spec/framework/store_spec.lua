-- store_spec: the persistent cache as users meet it: NKILUA_CACHE_DIR, --explain-cache, many processes, damage.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local example = require "spec.support.example"

local folder, store
before_each(function()
  folder = cli.folder()
  store = folder .. "/a/b" -- neither is there
end)
after_each(function()
  os.execute("rm -rf " .. build.quote(folder))
end)

local function script(name, text)
  local path = folder .. "/" .. name
  build.spit(path, [[local nki, nl = require "nki", require "nki.language"
local function out_of(a, value)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, value)
  return out
end
]] .. text)
  return path
end

local scaled = [[
local factor = tonumber(os.getenv("FACTOR") or 2)
return nki.jit(function(a)
  io.stderr:write("the body runs\n")
  return out_of(a, nl.load(a) * factor)
end)
]]

local function run(args)
  args.env = ("NKILUA_CACHE_DIR=%s %s"):format(build.quote(args.store or store), args.env or "")
  return cli.run(args)
end

-- Standard output and standard error of a call that must succeed.
local function ok(args)
  local r = run(args)
  assert.equal(0, r.code, r.err)
  return r.out, r.err
end

local function files(path)
  local names = {}
  for name in io.popen("ls -A " .. build.quote(path or store)):lines() do
    names[#names + 1] = name
  end
  return names
end

describe("a second process", function()
  it("finds what the first made and runs no body", function()
    local path = script("k.lua", scaled)
    local out, err = ok{"run", path, "a=f32[4,4]"}
    assert.equal("the body runs\n", err)
    local again, silent = ok{"run", path, "a=f32[4,4]"}
    assert.equal(out, again)
    assert.equal("", silent)
    assert.equal(1, #files())
    assert.matches("^%x+%.nkc$", files()[1])
  end)

  it("says and prints the same, whatever the command", function()
    for _, path in ipairs(example.paths()) do
      local words = example.usage(path)
      for _, command in ipairs{"run", "trace", "config --decode", "hlo"} do
        local line = ("NKILUA_CACHE_DIR=%s NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s %s %s"):format(
          build.quote(store), build.quote(build.program), command, words)
        local cold, warm = build.shell(line), build.shell(line)
        assert.same({code = 0, out = cold.out, err = cold.err}, warm, path)
      end
      local line = ("NKILUA_CACHE_DIR=%s NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s trace --explain-cache %s"):format(
        build.quote(store), build.quote(build.program), words)
      local r = build.shell(line)
      assert.matches("hit on disk\n$", r.err)
    end
  end)

  it("repeats the warnings of the trace, and a report of the run names the same iterations", function()
    local path = script("w.lua", [[
return nki.jit(function(a)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  local sum = nl.zeros(a.shape, a.dtype, {buffer = nl.sbuf})
  local never = nl.ndarray(a.shape, a.dtype, {buffer = nl.sbuf})
  for i in nl.affine_range(3) do
    sum[{}] = sum + nl.load(a)
    for j in nl.affine_range(2) do
      if i == 1 and j == 1 then
        sum[{}] = sum + never
      end
    end
  end
  nl.store(out, sum)
  return out
end)
]])
    local cold, warm = run{"run", path, "a=f32[4,4]"}, run{"run", path, "a=f32[4,4]"}
    assert.same(cold, warm)
    assert.truthy(cold.err:find("warning", 1, true), cold.err)
    local _, err = ok{"run", path, "a=f32[4,4]", "--explain-cache"}
    assert.truthy(err:find("cache: w: hit on disk\n", 1, true))
    cold = run{"run", path, "a=f32[4,4]", "--strict", store = folder .. "/other"}
    warm = run{"run", path, "a=f32[4,4]", "--strict", store = folder .. "/other"}
    assert.equal(1, cold.code)
    assert.same(cold, warm)
    assert.truthy(cold.err:find("in the iteration with value 1 of the loop at w.lua:", 1, true), cold.err)
  end)
end)

describe("what is another file", function()
  it("another captured value, also of the same text", function()
    local path = script("k.lua", scaled)
    ok{"run", path, "a=f32[4,4]:ones"}
    local out, err = ok{"run", path, "a=f32[4,4]:ones", "--explain-cache", env = "FACTOR=3"}
    assert.truthy(out:find("min 3.0 max 3.0", 1, true) or out:find("min 3 max 3", 1, true), out)
    assert.equal("the body runs\ncache: k: miss: first call in this process; on disk, nearest: " ..
                   "captured 'factor' is 3 (was 2); kept in memory and on disk\n", err)
    assert.equal(2, #files())
  end)

  it("other code of a script", function()
    local path = script("k.lua", scaled)
    ok{"run", path, "a=f32[4,4]:ones"}
    script("k.lua", (scaled:gsub("%* factor", "+ factor")))
    local out, err = ok{"run", path, "a=f32[4,4]:ones", "--explain-cache"}
    assert.truthy(out:find("min 3", 1, true))
    assert.truthy(err:find("on disk, nearest: the kernel's code differs;", 1, true), err)
  end)

  it("what nl.tile_size reads of the environment", function()
    local path = script("k.lua", [[
return nki.jit(function(a)
  return out_of(a, nl.load(a) * nl.tile_size.psum_num_banks)
end)
]])
    local one = ok{"run", path, "a=f32[4,4]:ones"}
    local two, err = ok{"run", path, "a=f32[4,4]:ones", "--explain-cache",
                        env = "NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE=true"}
    assert.not_equal(one, two)
    assert.truthy(err:find("NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE is true (was )", 1, true), err)
  end)

  it("the same file in another folder is not", function()
    local text = ([[
return nki.jit(function(a)
  io.stderr:write("the body runs\n")
  return out_of(a, nl.load(a))
end)
]])
    assert(os.execute(("mkdir %s/one %s/two"):format(folder, folder)))
    local one, two = script("one/k.lua", text), script("two/k.lua", text)
    ok{"run", one, "a=f32[4,4]"}
    local _, err = ok{"run", two, "a=f32[4,4]"}
    assert.equal("", err)
  end)
end)

describe("what is never kept", function()
  local function never(text, why)
    local path = script("k.lua", text)
    for _ = 1, 2 do
      local _, err = ok{"run", path, "a=f32[4,4]", "--explain-cache"}
      assert.equal("the body runs\ncache: k: " .. why .. "\n", err)
    end
    assert.same({"k.lua"}, files(folder))
  end

  it("an object without a value", function()
    never([[
local lfs = require "lfs"
return nki.jit(function(a)
  io.stderr:write("the body runs\n")
  return out_of(a, lfs.currentdir() and nl.load(a))
end)
]], "miss: first call; kept in memory, not on disk: captured 'lfs' has no value to tell it by")
  end)

  it("a kernel that changes what it captures", function()
    never([[
local n = 0
return nki.jit(function(a)
  n = n + 1
  io.stderr:write("the body runs\n")
  return out_of(a, nl.load(a))
end)
]], "miss: first call; not kept: the run changed captured state: n")
  end)

  it("with enable_cache = false", function()
    never([[
return nki.jit(function(a)
  io.stderr:write("the body runs\n")
  return out_of(a, nl.load(a))
end, {enable_cache = false})
]], "traced: enable_cache is false, nothing is kept")
  end)
end)

describe("one process", function()
  it("says where each specialization came from", function()
    local path = script("k.lua", [[
local k = nki.jit(function(a)
  return out_of(a, nl.load(a))
end)
k:specialize(nki.decl({4, 4}, nl.float32))
k:specialize(nki.decl({4, 4}, nl.float32))
k:specialize(nki.decl({8, 4}, nl.float32))
print(k:cache_info().disk_hits, k:cache_info().hits, k:cache_info().misses, k:cache_info().last)
]])
    local out, err = ok{"run", path, "--explain-cache"}
    local was = "argument 'a' is float32[8,4] (was float32[4,4])"
    assert.equal("0\t1\t2\tmiss: " .. was .. "; kept in memory and on disk\n", out)
    assert.equal("cache: k: miss: first call; kept in memory and on disk\ncache: k: hit in memory\ncache: k: miss: " ..
                   was .. "; kept in memory and on disk\n", err)
    out, err = ok{"run", path, "--explain-cache"}
    assert.equal("2\t3\t0\thit on disk\n", out)
    assert.equal("cache: k: hit on disk\ncache: k: hit in memory\ncache: k: hit on disk\n", err)
  end)

  it("has no store when the variable is empty or not set", function()
    local path = script("k.lua", scaled)
    for _ = 1, 2 do
      local _, err = ok{"run", path, "a=f32[4,4]", "--explain-cache", store = ""}
      assert.equal("the body runs\ncache: k: miss: first call; kept in memory\n", err)
    end
  end)

  it("of stock lua has the same store", function()
    local path = script("k.lua", scaled)
    ok{"run", path, "a=f32[4,4]"}
    local env = ("NEURON_PLATFORM_TARGET_OVERRIDE=trn2 NKILUA_CACHE_DIR=%s"):format(build.quote(store))
    local r = build.stock{env = env, "-e", ([[
      local k = dofile(%q)
      k:specialize(require "nki".decl({4, 4}, "float32"))
      print(k:cache_info().last)]]):format(path)}
    assert.same({code = 0, out = "hit on disk\n", err = ""}, r)
  end)
end)

describe("a folder that cannot be used", function()
  it("is one warning, and the run goes on", function()
    build.spit(folder .. "/file", "mine")
    local path = script("k.lua", [[
local k = nki.jit(function(a)
  return out_of(a, nl.load(a))
end)
for n = 1, 3 do
  k:specialize(nki.decl({n, 4}, nl.float32))
end
print(k:cache_info().misses, (k:cache_info().last:gsub("^.*; ", "")))
]])
    for _, bad in ipairs{folder .. "/file", folder .. "/file/x", "/proc/no/such", "/proc/tty"} do
      local out, err = ok{"run", path, store = bad}
      assert.equal("3\tkept in memory, not on disk: the folder cannot be written\n", out)
      assert.matches("^warning: persistent cache: cannot [^\n]*; what is not there yet is kept in memory only\n$", err)
    end
    assert.equal("mine", build.slurp(folder .. "/file"))
  end)

  -- As a user whom permissions bind: run.code, run.err
  local function as_nobody(cache, path, value)
    local nobody = io.popen("id -u"):read("n") == 0 and "setpriv --reuid=65534 --regid=65534 --clear-groups " or ""
    os.execute(("chmod a+rx %s && chmod a+r %s"):format(build.quote(folder), build.quote(path)))
    return build.shell(("NEURON_PLATFORM_TARGET_OVERRIDE=trn2 NKILUA_CACHE_DIR=%s %s%s run %s %s"):format(
      build.quote(cache), nobody, build.quote(cli.program), build.quote(path), build.quote(value)))
  end

  it("because of permissions says so, wherever on the way they are missing", function()
    local path, shut = script("k.lua", scaled), folder .. "/shut"
    for mode, faults in pairs{["a-rwx"] = {[""] = "write", ["/x"] = "make the folder", ["/x/y"] = "make the folder"},
      ["a=rx"] = {[""] = "write", ["/x/y"] = "make the folder"}} do
      os.execute(("mkdir -p %s && chmod %s %s"):format(build.quote(shut), mode, build.quote(shut)))
      for below, fault in pairs(faults) do
        local r = as_nobody(shut .. below, path, "a=f32[4,4]")
        assert.equal(0, r.code, r.err)
        assert.matches("^the body runs\nwarning: persistent cache: cannot " .. fault ..
          " '[^\n]*': Permission denied; what is not there yet is kept in memory only\n$", r.err)
      end
    end
  end)

  it("that others may only read still answers", function()
    local path = script("k.lua", scaled)
    ok{"run", path, "a=f32[4,4]"}
    os.execute(("chmod -R a-w %s"):format(build.quote(store)))
    local r = as_nobody(store, path, "a=f32[4,4]")
    assert.same({0, ""}, {r.code, r.err})
    r = as_nobody(store, path, "a=f32[8,4]")
    assert.equal(0, r.code)
    assert.matches("^the body runs\nwarning: persistent cache: cannot write '[^\n]*\n$", r.err)
    assert.equal(1, #files())
  end)
end)

describe("many processes", function()
  it("share a folder from its making on", function()
    local path = script("k.lua", scaled)
    local line = ("for i in 1 2 3 4 5 6 7 8; do NKILUA_CACHE_DIR=%s NEURON_PLATFORM_TARGET_OVERRIDE=trn2 " ..
                   "%s config %s 'a=f32[4,4]' >%s/out.$i 2>%s/err.$i & done; wait"):format(
      build.quote(store), build.quote(build.program), build.quote(path), folder, folder)
    build.shell(line)
    local want = build.slurp(folder .. "/out.1")
    assert.truthy(#want > 100)
    for i = 1, 8 do
      assert.equal(want, build.slurp(folder .. "/out." .. i))
      assert.truthy(("the body runs\n"):find(build.slurp(folder .. "/err." .. i), 1, true))
    end
    assert.equal(1, #files())
    assert.equal(want, (ok{"config", path, "a=f32[4,4]"}))
  end)

  it("killed at any moment leave nothing that is believed", function()
    local path = script("k.lua", scaled)
    local want = ok{"config", path, "a=f32[4,4]", store = folder .. "/other"}
    for i = 1, 24 do
      build.shell(("NKILUA_CACHE_DIR=%s NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s config %s 'a=f32[4,4]' & " ..
                    "sleep 0.0%02d; kill -9 $! 2>/dev/null; wait"):format(
        build.quote(store), build.quote(build.program), build.quote(path), i * 3))
      if i % 3 == 0 then -- as a writer that was stopped half-way leaves it
        os.execute(("mkdir -p %s; head -c %d %s/*.nkc > %s/.nk-1-%d.tmp"):format(
          build.quote(store), i * 50, folder .. "/other", build.quote(store), i))
        assert.equal(want, (ok{"config", path, "a=f32[4,4]"}))
        os.execute(("rm -f %s/*.nkc"):format(build.quote(store)))
      end
    end
  end)
end)

describe("what killed processes left", function()
  it("is removed by a write, an hour later, and nothing else is", function()
    local path = script("k.lua", scaled)
    ok{"run", path, "a=f32[4,4]"}
    local old = {".nk-77-0.tmp", ".nk-x-0.tmp", ".nk-77-.tmp", ".nk-77-0.tmpx", "nk-77-0.tmp", "mine.nkc"}
    for _, name in ipairs(old) do
      build.spit(store .. "/" .. name, "half")
    end
    build.spit(store .. "/.nk-78-0.tmp", "being written")
    os.execute(("cd %s && mkdir .nk-79-0.tmp && ln -s %s .nk-80-0.tmp && touch -h -d '2 hours ago' .nk-79* .nk-80* %s")
      :format(build.quote(store), build.quote(path), table.concat(old, " ")))
    local before = files()
    ok{"run", path, "a=f32[4,4]"} -- a hit
    assert.same(before, files())
    ok{"run", path, "a=f32[8,4]"}
    local after = {}
    for _, name in ipairs(files()) do
      after[name] = true
    end
    local gone = {}
    for _, name in ipairs(before) do
      if not after[name] then
        gone[#gone + 1] = name
      end
    end
    assert.same({".nk-77-0.tmp"}, gone)
  end)
end)

describe("a full disk", function()
  it("is one warning, leaves nothing, and the run goes on", function()
    local path = script("k.lua", scaled)
    local want = ok{"config", path, "a=f32[4,4]", store = ""}
    local line = "(ulimit -f 1; NKILUA_CACHE_DIR=%s NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s config %s 'a=f32[4,4]') " ..
      "| cat"
    local r = build.shell(line:format(build.quote(store), build.quote(build.program), build.quote(path)))
    assert.equal(want, r.out)
    assert.matches("^the body runs\nwarning: persistent cache: cannot write '[^\n]*': File too large; what is not " ..
      "there yet is kept in memory only\n$", r.err)
    assert.same({}, files())
  end)
end)

describe("damage", function()
  it("anywhere in a file gives the right answer and a good file", function()
    local path = script("k.lua", scaled)
    local want = ok{"config", path, "a=f32[4,4]"}
    local name = store .. "/" .. files()[1]
    local good = build.slurp(name)
    for i = 1, #good, #good // 15 do
      build.spit(name, good:sub(1, i - 1) .. string.char(good:byte(i) ~ 1) .. good:sub(i + 1))
      local out, err = ok{"config", path, "a=f32[4,4]", "--explain-cache"}
      assert.equal(want, out)
      assert.truthy(err:find("the body runs\ncache: k: miss: first call; file ", 1, true), err)
      assert.equal(good, build.slurp(name))
    end
  end)
end)
