-- The test tools themselves: a run that cannot fail would make every other spec worthless.
local build = require "spec.support.build"

-- Runs the text as a spec file of its own under the program, with our helper and report.
local function run_spec(text, flags)
  local path = os.tmpname()
  local spec = path .. "_spec.lua"
  build.spit(spec, text)
  local result = build.shell(("%s test %s %s"):format(build.quote(build.program), flags or "", build.quote(spec)))
  os.remove(path)
  os.remove(spec)
  return result
end

describe("a spec run", function()
  it("ends with the closing line and exit code 0 when all pass", function()
    local result = run_spec('it("a", function() end) it("b", function() end) pending("c")')
    assert.matches("\n2 passed, 0 failed, 1 skipped\n$", result.out)
    assert.equal(0, result.code)
  end)

  it("counts failures and errors as failed", function()
    local result = run_spec('it("a", function() assert.equal(1, 2) end) it("b", function() error("x") end)')
    assert.matches("\n0 passed, 2 failed, 0 skipped\n$", result.out)
    assert.equal(1, result.code)
  end)

  it("fails when a spec calls os.exit, and goes on with the next test", function()
    local result = run_spec('it("a", function() os.exit(0) end) it("b", function() end)')
    assert.matches("a spec called os.exit", result.out, 1, true)
    assert.matches("\n1 passed, 1 failed, 0 skipped\n$", result.out)
    assert.equal(1, result.code)
  end)

  it("fails when nothing ran", function()
    local result = run_spec('it("a", function() end)', "--filter=nothing-has-this-name")
    assert.matches("no test ran", result.out, 1, true)
    assert.equal(1, result.code)
  end)

  it("fails on a spec file that does not compile", function()
    local result = run_spec("it(")
    assert.matches("\n0 passed, 1 failed, 0 skipped\n$", result.out)
    assert.equal(1, result.code)
  end)
end)

describe("golden files", function()
  local path, golden

  before_each(function()
    path = os.tmpname()
    golden = dofile("spec/support/golden.lua")
  end)

  after_each(function()
    os.remove(path)
  end)

  it("accept the same text", function()
    golden.blessing = false
    build.spit(path, "a\nb\n")
    golden.check(path, "a\nb\n")
  end)

  it("name file, line and both texts when they differ", function()
    golden.blessing = false
    build.spit(path, "a\nb\nc\n")
    local ok, message = pcall(golden.check, path, "a\nB\nc\n")
    assert.is_false(ok)
    assert.is_truthy(message:find(path .. ":2 is stale", 1, true))
    assert.matches("file:    b\\n\n  program: B\\n", message, 1, true)
  end)

  it("differ when only the last line end is missing", function()
    golden.blessing = false
    build.spit(path, "a\n")
    assert.has_error(function() golden.check(path, "a") end)
  end)

  it("say how to make a file that is not there", function()
    golden.blessing = false
    os.remove(path)
    local ok, message = pcall(golden.check, path, "a")
    assert.is_false(ok)
    assert.matches("./dev bless", message, 1, true)
  end)

  it("are rewritten when blessing", function()
    golden.blessing = true
    build.spit(path, "old")
    golden.check(path, "new\0text")
    assert.equal("new\0text", build.slurp(path))
  end)
end)

describe("the program runner", function()
  it("tells exit codes from signals and keeps both streams apart", function()
    local result = build.shell("echo out; echo err >&2; exit 3")
    assert.same({out = "out\n", err = "err\n", code = 3}, result)
    assert.equal(6, build.shell("sh -c 'kill -6 $$'").signal)
    assert.equal("x y", build.shell("cat", {stdin = "x y"}).out)
  end)
end)

describe("the embedding of Lua sources", function()
  it("keeps every byte and makes module names of paths", function()
    local dir, out = os.tmpname(), os.tmpname()
    os.remove(dir)
    local bytes = {}
    for i = 0, 255 do
      bytes[#bytes + 1] = string.char(i)
    end
    local text = table.concat(bytes):rep(3)
    assert(os.execute(("mkdir -p %s/lua/nki/a %s/kernels"):format(dir, dir)))
    build.spit(dir .. "/lua/nki/a/b.lua", text)
    build.spit(dir .. "/lua/nki/init.lua", "")
    build.spit(dir .. "/kernels/k.lua", "return 1")
    local files = "lua/nki/a/b.lua|lua/nki/init.lua|kernels/k.lua"
    local command = "cmake -DROOT=%s '-DFILES=%s' -DOUT=%s -P cmake/embed_lua.cmake"
    local result = build.shell(command:format(dir, files, out))
    assert.equal(0, result.code, result.err)
    local c, arrays, modules = build.slurp(out), {}, {}
    for index, hex in c:gmatch("src_(%d+)%[%] = {([^}]*)}") do
      arrays[index] = hex:gsub("0x(%x%x),?%s*", function(h) return string.char(tonumber(h, 16)) end):gsub("^%s+", "")
    end
    for name, index, length in c:gmatch('{"([%w_.]+)", %(const char %*%)src_(%d+), (%d+)}') do
      modules[name] = arrays[index]:sub(1, tonumber(length))
      assert.equal("\0", arrays[index]:sub(tonumber(length) + 1), "one 0 follows the text")
    end
    assert.same({["nki.a.b"] = text, nki = "", ["nki.kernels.k"] = "return 1"}, modules)
    os.execute(("rm -rf %s %s"):format(dir, out))
  end)
end)
