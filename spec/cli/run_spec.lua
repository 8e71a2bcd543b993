-- `nkilua run` and `exec`: values in, results out, files all or none, exit status.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local json = require "spec.support.json"

local folder
local function at(name)
  return folder .. "/" .. name
end

local add = [[
local nki, nl = require "nki", require "nki.language"
return nki.jit(function(a, b, scale)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a) + nl.load(b) * (scale or 1))
  return out
end)
]]
local two = [[
local nki, nl = require "nki", require "nki.language"
local function copy(factor, name)
  return nki.jit(function(x)
    local half = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm, name = "half"})
    local all = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
    nl.store(half, nl.load(x) * 0.5)
    nl.store(all, nl.load(x) * factor)
    return half, all
  end, {func_name = name})
end
return {one = copy(1.0, "one"), ten = copy(10.0, "ten")}
]]

describe("nkilua run", function()
  before_each(function()
    folder = cli.folder()
    build.spit(at("add.lua"), add)
    build.spit(at("two.lua"), two)
  end)
  after_each(function()
    cli.drop(folder)
  end)

  it("prints one line per output", function()
    assert.equal("output_0 float32[2,3] min 2.0 max 7.0 mean 4.5 values 2.0 3.0 4.0 5.0 6.0 7.0\n",
      cli.ok {"run", at("add.lua"), "a=f32[2,3]:iota", "b=f32[2,3]:full(2)"})
    assert.equal("half float32[3,4] min 0.0 max 5.5 mean 2.75 corners 0.0 1.5 4.0 5.5\n"
      .. "output_1 float32[3,4] min 0.0 max 110.0 mean 55 corners 0.0 30.0 80.0 110.0\n",
      cli.ok {"run", at("two.lua"), "-k", "ten", "x=f32[3,4]:iota"})
  end)

  it("binds by position, by name, and constants of every kind", function()
    local want = "output_0 float32[1,2] min 10.0 max 11.0 mean 10.5 values 10.0 11.0\n"
    assert.equal(want, cli.ok {"run", at("add.lua"), "f32[1,2]:iota", "f32[1,2]:ones", "10"})
    assert.equal(want, cli.ok {"run", at("add.lua"), "scale=1e1", "b=f32[1,2]:ones", "a=f32[1,2]:iota"})
    assert.equal(want, cli.ok {"run", at("add.lua"), "f32[1,2]:iota", "scale=0xA", "b=float32[1, 2]:full(1)"})
    build.spit(at("c.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(x, t, s, b, n)
        print(t[1], t[2][1], #t, s, b, n)
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        nl.store(out, nl.load(x))
        return out
      end)]])
    assert.matches("^2\t%-0%.5\t2\ta=b\tfalse\tnil\n",
      cli.ok {"run", at("c.lua"), "bf16[1,2]", "{2, {-0.5}}", '"a=b"', "false", "nil"})
  end)

  it("reads files, and says which conversion to ask for", function()
    cli.npy(at("a.npy"), "<f4", {1, 2}, "f", {1.5, 2})
    cli.npy(at("wide.npy"), "<f8", {1, 2}, "d", {0.25, 4})
    cli.npy(at("raw.npy"), "|V2", {1, 2}, "I2", {0x3f80, 0x4000})
    assert.matches("values 1.75 6.0\n", cli.ok {"run", at("add.lua"), "a=" .. at("a.npy"), "b=" .. at("wide.npy:f32")})
    assert.matches("values 2.0 4.0\n", cli.ok {"run", at("add.lua"), at("raw.npy:bf16"), at("raw.npy:bf16")})
    cli.npy(at("bits.npy"), "<u2", {1, 2}, "I2", {0x3f80, 0x4000})
    assert.matches("values 2.0 4.0\n", cli.ok {"run", at("add.lua"), at("bits.npy:bf16"), at("raw.npy:bf16")})
    assert.matches("values 32512.0 32768.0\n", cli.ok {"run", at("add.lua"), at("bits.npy:f32"), at("bits.npy:f32")})
    cli.fails(2, {"run", at("add.lua"), at("a.npy"), at("wide.npy")}, "float64", "wide.npy:f32")
    cli.fails(2, {"run", at("add.lua"), at("a.npy"), at("raw.npy")}, "2-byte elements", "raw.npy:bf16")
    cli.fails(2, {"run", at("add.lua"), at("a.npy"), at("none.npy")}, "cannot open", "none.npy")
    build.spit(at("empty.npy"), "")
    assert.matches("^nkilua: a: [^:]*empty.npy: not a .npy file", cli.run({"run", at("add.lua"), at("empty.npy")}).err)
    cli.fails(1, {"run", at("add.lua"), at("a.npy"), at("empty.npy")}, "not a .npy file")
    cli.fails(2, {"run", at("add.lua"), "f32[9999999999999999999999,2]"}, "a size does not fit")
    cli.fails(2, {"run", at("add.lua"), "f32[0,2]"}, "sizes are at least 1")
  end)

  it("fills with the same bytes whatever the machine: seed and name decide", function()
    local function bytes(...)
      cli.ok {"run", at("two.lua"), "-k", "one", "-o", "output_1=" .. at("x.npy"), ...}
      return build.slurp(at("x.npy"))
    end
    local first = bytes("x=f32[4,4]")
    assert.equal(first, bytes("x=f32[4,4]:normal"))
    assert.equal(first, bytes("f32[4,4]:normal(0)", "--seed", "5"))
    assert.not_equal(first, bytes("x=f32[4,4]", "--seed", "5"))
    assert.equal(bytes("x=f32[4,4]:normal(5)"), bytes("x=f32[4,4]", "--seed=5"))
    local numbers = cli.numbers(at("x.npy"), "f")
    assert.equal(16, #numbers)
  end)

  it("writes .npy, .npz and .safetensors, and reads them back", function()
    cli.ok {"run", at("two.lua"), "-kone", "x=f32[2,2]:iota", "-o", "half=" .. at("h.npy"), "-o", at("all.npz"),
            "--output=" .. at("all.safetensors")}
    assert.same({0, 0.5, 1, 1.5}, cli.numbers(at("h.npy"), "f"))
    for _, name in ipairs {"all.npz:half", "all.safetensors:half", "h.npy"} do
      assert.matches("half float32%[2,2%] min 0.0 max 0.75 ",
        cli.ok {"run", at("two.lua"), "-k", "one", "x=" .. at(name)})
    end
    cli.fails(2, {"run", at("two.lua"), "-k", "one", "x=" .. at("all.npz")}, "half, output_1")
    local r = cli.run {"run", at("two.lua"), "-k", "one", "x=f32[2,2]:iota", "-o", "half=-"}
    assert.equal("\x93NUMPY", r.out:sub(1, 6))
    assert.matches("^half float32", r.err)
  end)

  it("writes nothing when anything fails", function()
    local before = cli.list(folder)
    local function writes_nothing(code, ...)
      cli.fails(code, {"run", ...})
      assert.same(before, cli.list(folder))
    end
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", at("ok.npz"), "-o", "nope=" .. at("n.npy"))
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", at("ok.npz"), "-o", at("two.npy"))
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", at("ok.npz"), "-o", at("x.txt"))
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", at("ok.npz"), "-o", at("no/such/x.npz"))
    writes_nothing(1, at("two.lua"), "-k", "one", "x=f32[200,2]", "-o", at("ok.npz"))
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", "half=" .. at("n.npy"), "-o",
      "output_1=" .. at("./n.npy"))
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", "half=-", "-o", "output_1=-")
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", at("ok.npz"), "-o", "=x.npz")
    cli.fails(2, {"run", at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", at("a.npz"), "-o", at("a.npz")},
      "' is to be written twice: each file holds one result")
    writes_nothing(2, at("two.lua"), "-k", "one", "x=f32[2,2]", "-o", at("ok.npz"), "--check",
      "half=" .. at("none.npy"))
  end)

  it("takes raw bytes for what an output or a program's input is", function()
    local words = {"a=bf16[1,2]:ones", "b=bf16[1,2]:full(0.5)"}
    local function run(...) return cli.run {"run", at("add.lua"), words[1], words[2], ...} end
    assert.equal(0, run("-o", at("sum.npz")).code)
    assert.equal(0, run("--check", at("sum.npz")).code)
    cli.npy(at("raw2.npy"), "|V2", {1, 2}, "I2", {0x3fc0, 0x4000})
    local r = run("--check", at("raw2.npy"))
    assert.equal(3, r.code)
    assert.matches("output_0: 1 of 2", r.err)
    cli.npy(at("raw1.npy"), "|V1", {1, 2}, "I1", {0x3f, 0x3f})
    cli.fails(2, {"run", at("add.lua"), words[1], words[2], "--check", at("raw1.npy")}, "raw 1-byte elements")
    build.spit(at("add_bf16.b64"), cli.ok {"config", at("add.lua"), words[1], words[2]})
    assert.matches("values 3.0 3.5\n",
      cli.ok {"exec", at("add_bf16.b64"), "a=" .. at("raw2.npy"), "b=" .. at("sum.npz:output_0")})
  end)

  it("checks outputs against files: status 3 when they differ", function()
    cli.ok {"run", at("two.lua"), "-k", "one", "x=f32[2,2]:iota", "-o", at("want.npz")}
    cli.npy(at("off.npy"), "<f4", {2, 2}, "f", {0, 0.5, 1, 1.6})
    cli.npy(at("shape.npy"), "<f4", {4}, "f", {0, 0.5, 1, 1.5})
    cli.npy(at("wide.npy"), "<f8", {2, 2}, "d", {0, 0.5, 1, 1.5})
    local run = {"run", at("two.lua"), "-k", "one", "x=f32[2,2]:iota"}
    local function with(...)
      return table.move({...}, 1, select("#", ...), #run + 1, table.move(run, 1, #run, 1, {}))
    end
    cli.ok(with("--check", "half=" .. at("want.npz:half"), "--check", "output_1=" .. at("want.npz:output_1")))
    cli.ok(with("--check", "half=" .. at("wide.npy:f32")))
    cli.ok(with("--check", "half=" .. at("off.npy"), "--rtol", "0.1"))
    cli.ok(with("--check", "half=" .. at("off.npy"), "--atol=0.2"))
    local r = cli.run(with("--check", "half=" .. at("off.npy"), "-o", at("new.npz")))
    assert.equal(3, r.code)
    assert.matches("1 of 4 elements differ.*first at %[1,1%]: 1.5 is not 1.6", r.err)
    assert.matches("^half float32", r.out)
    assert.is_nil(io.open(at("new.npz")))
    r = cli.run(with("--check", "half=" .. at("shape.npy")))
    assert.equal(3, r.code)
    assert.matches("%-%-check half=[^:]*shape.npy: half: float32%[2,2%] and float32%[4%] cannot be compared", r.err)
    cli.fails(2, with("--check", "half=" .. at("wide.npy")), "wide.npy:f32")
    cli.fails(2, with("--check", at("off.npy")), "2 outputs")
    cli.fails(2, with("--check", "quarter=" .. at("off.npy")), "no output 'quarter'")
    cli.fails(2, with("--rtol", "1"), "--check")
    assert.equal(3, cli.run(with("--check", "half=" .. at("off.npy"), "--rtol", "0")).code)
    for _, bad in ipairs {"-1", "nan", "x", "1e999", ""} do
      cli.fails(2, with("--check", "half=" .. at("off.npy"), "--rtol", bad), "--rtol '" .. bad .. "'")
    end
  end)

  it("takes a grid, a target and --strict", function()
    build.spit(at("grid.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(x)
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        local n = x.shape[0] // (nl.num_programs(0) * nl.num_programs(1))
        local part = nl.ds((nl.program_id(0) * nl.num_programs(1) + nl.program_id(1)) * n, n)
        nl.store(out[part], nl.load(x[part]))
        return out
      end)]])
    assert.matches("^output_0 float32%[8,2%] min 0.0 max 15.0 ",
      cli.ok {"run", at("grid.lua"), "-g", "4,2", "x=f32[8,2]:iota"})
    for _, bad in ipairs {"0", "-1", "4,", "x", "nc", "nc0", "2nc", "nc2x", "nc2x0", "0xnc2", "2xnc2x2", "nc2,,1",
      "nc2*4", "9223372036854775807xnc2", "1,1,1,1,1,1,1,1,1", "99999999999999999999", ""} do
      cli.fails(2, {"run", at("grid.lua"), "--grid=" .. bad, "x=f32[8,2]"}, "--grid '" .. bad .. "'")
    end
    -- Physical cores: the program is the one that kernel[GRID] makes.
    build.spit(at("cores.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      local k = dofile(arg[1])
      local x = nki.decl({24, 2}, "float32")
      for _, grid in ipairs{{nl.nc(2), 2}, {3, nl.nc(2) * 4}, {4 * nl.nc(2), 1}, {nl.nc(1), 1}} do
        local a = k[grid]:specialize(x)
        print(a.backend_config)
      end]])
    local wanted = cli.ok {"-e", "", at("cores.lua"), at("grid.lua"), env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2"}
    local got = {}
    for i, grid in ipairs {"nc2,2", "3,nc2x4", "4xnc2,1", "nc1,1"} do
      got[i] = cli.ok {"config", at("grid.lua"), "-t", "trn2", "-g", grid, "x=f32[24,2]"}
    end
    assert.equal(wanted, table.concat(got))
    cli.fails(1, {"trace", at("grid.lua"), "-t", "trn1", "-g", "nc2,2", "x=f32[8,2]"},
      "err_multi_cores_spmd_not_supported")
    cli.fails(2, {"run", at("grid.lua"), "-t", "trn9", "x=f32[8,2]"}, "no platform target 'trn9'", "trn2n")
    build.spit(at("half.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(x)
        local t = nl.ndarray({2, 2}, x.dtype)
        t[{{0, 1}, {0, 2}}] = 7
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        nl.store(out, t)
        return out
      end)]])
    local r = cli.run {"run", at("half.lua"), "x=f32[2,2]"}
    assert.equal(0, r.code)
    assert.matches("half.lua:6", r.err)
    assert.matches("values 7.0 7.0 nan nan\n", r.out)
    cli.fails(1, {"run", "--strict", at("half.lua"), "x=f32[2,2]"}, "half.lua:6", "err_unwritten")
  end)

  it("prints JSON", function()
    assert.equal('{"outputs":[{"name":"output_0","dtype":"float32","shape":[1,2],"min":1.0,"max":2.0,"mean":1.5,'
      .. '"nan":0,"values":[1.0,2.0]}]}\n', cli.ok {"run", "--json", at("add.lua"), "f32[1,2]:iota", "f32[1,2]:ones"})
  end)

  it("shows with --dry-run what a device would run, and runs and writes nothing", function()
    local before = cli.list(folder)
    local run = {"run", at("two.lua"), "-k", "ten", "x=f32[2,2]", "--dry-run"}
    local plan = cli.ok(run)
    assert.matches("^run neuronx%-cc compile %-%-framework XLA %-%-target trn2 %-%-output file%.neff ten%.hlo%.pb\n"
      .. "write ten%.hlo%.pb\nwrite file%.neff\nmissing [^\n]*neuronx%-cc[^\n]*\n$", plan)
    local other = cli.ok {"run", at("two.lua"), "-kten", "x=f32[2,2]", "--dry-run", "-t", "trn1"}
    assert.equal((plan:gsub("trn2", "trn1")), other)
    local r = json.parse(cli.ok {"run", at("two.lua"), "-k", "ten", "x=f32[2,2]", "--dry-run", "--json"})
    assert.same({"run", "write", "missing"}, json.keys(r))
    local writes = table.concat(r.write, "\nwrite ")
    assert.equal(("run %s\nwrite %s\nmissing %s\n"):format(r.run, writes, r.missing), plan)
    assert.same(before, cli.list(folder))
    cli.fails(2, {"run", at("two.lua"), "--dry-run", "-o", at("x.npz")}, "run: --dry-run", "--output")
    cli.fails(2, {"run", at("two.lua"), "--dry-run", "--check", at("x.npz")}, "run: --dry-run", "--check")
    cli.fails(2, {"run", at("two.lua"), "--dry-run", "--seed", "1"}, "run: --dry-run", "--seed")
    cli.fails(1, {"run", at("two.lua"), "-k", "ten", "x=f32[200,2]", "--dry-run"}, "two.lua")
    cli.fails(2, {"run", at("two.lua"), "--dry-ruin"}, "did you mean '--dry-run'?")
    cli.fails(2, {"exec", at("two.lua"), "--dry-run"}, "exec: no option '--dry-run'; these have it: run")
    build.spit(at("plain.lua"), "return 3")
    cli.fails(2, {"run", at("plain.lua"), "--dry-run"}, "the script returns 3; it must return a kernel")
  end)

  it("runs a script that returns no kernel, unless something is asked of one", function()
    build.spit(at("plain.lua"), 'print("hello", ...) return 3')
    assert.equal("hello\n", cli.ok {"run", at("plain.lua")})
    local r = cli.run {"run", at("plain.lua"), "x=3"}
    assert.equal(2, r.code)
    assert.matches("must return a kernel", r.err)
    assert.equal(2, cli.run {"run", at("plain.lua"), "-o", at("x.npy")}.code)
    cli.fails(2, {"run", at("two.lua"), "x=f32[2,2]"}, "one, ten")
    cli.fails(2, {"run", at("two.lua"), "-k", "six", "x=f32[2,2]"}, "no kernel 'six'", "one, ten")
    cli.fails(2, {"run", at("add.lua"), "-k", "one"}, "no kernel 'one'")
  end)

  it("names what is wrong with a value in one message", function()
    local cases = {
      {"c=3", "no parameter 'c'", "a, b, scale"}, {"a=hello", "a: 'hello' is not a value"},
      {"a={1,{true,nil}}", "a: '{1,{true,nil}}' is not a value: a tuple does not end with nil"},
      {"a=q32[2]", "no dtype 'q32'"}, {"a=f32[2", "is not a value"}, {"a=f32[2]:foo", "a fill is :zeros"},
      {"a=i32[2]:normal(1)", "only floats can be random"}, {"a=i8[200]:iota", "does not fit"}, {"a=x.bin", "a.npy"},
      {"a=f32[2]:normal(99999999999999999999)", "64-bit integer"}, {"=3", "'=3' is not a value"},
      {"a=" .. ("{"):rep(51) .. "1" .. ("}"):rep(51), "a: ", "tuples nest at most 50 deep"},
      {"a=" .. ("{"):rep(100000), "a: ", "tuples nest at most 50 deep"},
      {"a=f32[2]:full(1e400)", "the number is too large"}, {"a=f32[2]:full(-1e999)", "an infinite one is written inf"},
      {"scale=1e400", "the number is too large"}, {"a={1,{-1e400}}", "the number is too large"},
      {"scale=0x10000000000000001", "the number is too large"},
      {"a=f32[2]:normal(0x10000000000000001)", "64-bit integer"},
      {"a=" .. ("{"):rep(50) .. '"{{"' .. ("}"):rep(49), "is not a value"},
    }
    for _, case in ipairs(cases) do
      cli.fails(2, {"run", at("add.lua"), case[1]}, table.unpack(case, 2))
    end
    cli.fails(2, {"run", at("add.lua"), "a=f32[2]", "a=f32[3]"}, "a is given twice")
    cli.fails(2, {"run", at("add.lua"), "a=f32[2]", "f32[3]"}, "words by position come first")
    cli.fails(2, {"run", at("add.lua"), "1", "2", "3", "4"}, "'4' is one word too many")
    cli.fails(1, {"run", at("add.lua"), "a=f32[2,2]"}, "no value was given for parameter 'b'")
  end)

  it("names the tensor for which there is no memory", function()
    build.spit(at("huge.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(x)
        local out = nl.ndarray({1 << 30, 1 << 16}, nl.float32, {buffer = nl.shared_hbm, name = "big"})
        nl.store(out[{nl.ds(0, 2), nl.ds(0, 2)}], nl.load(x))
        return out
      end)]])
    local function fails(name, words) -- the address sanitizer has its say as well
      local r = cli.run(words)
      assert.equal(1, r.code)
      assert.equal("", r.out)
      assert.truthy(r.err:find("nkilua: " .. name .. ": out of memory\n", 1, true), r.err)
    end
    fails("b", {"run", at("add.lua"), "a=f32[2]", "b=f32[1073741824,65536]"})
    fails("big", {"run", at("huge.lua"), "x=f32[2,2]"})
    fails("big", {"bench", at("huge.lua"), "x=f32[2,2]"})
  end)

  it("notes parameters without a value where the error may come from one", function()
    build.spit(at("optional.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(x, y, eps)
        assert(y or x.shape[0] > 1, "one row")
        if x.shape[0] == 2 then return nl.store(nil, x) end
        nl.store(y, nl.load(x) * (eps or 1))
        return y
      end)]])
    local function err(...) return cli.run({"run", at("optional.lua"), ...}).err end
    assert.is_nil(err("x=f32[1,2]"):find("no value was given", 1, true))
    assert.is_nil(err("x=f32[4,2]", "y=f32[4,3]"):find("no value was given", 1, true))
    local missing = err("x=f32[2,2]")
    assert.matches("parameter 'dst' is required\nnote: no value was given for parameter 'y'", missing, 1, true)
    assert.matches("no value was given for parameter 'y'", err("x=f32[4,2]"), 1, true)
  end)

  -- A removed entry point, a kernel error that is raised again, a check that fails: never exit 0, never zeros.
  it("never passes a failure by", function()
    build.spit(at("gone.lua"), [[
      local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
      return nki.jit(function(x)
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        nisa.tensor_teleport(out, x)
        return out
      end)]])
    cli.fails(1, {"run", at("gone.lua"), "x=f32[2,2]"}, "gone.lua:4", "tensor_teleport")
    build.spit(at("again.lua"), [[
      local nki, nl = require "nki", require "nki.language"
      return nki.jit(function(x)
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        local ok, e = pcall(nl.store, out, nl.ndarray({3, 3}, x.dtype))
        if not ok then error(e, 0) end
        return out
      end)]])
    cli.fails(1, {"run", at("again.lua"), "x=f32[2,2]"}, "again.lua:4", "nl.store")
    build.spit(at("check.lua"), [[
      assert(1 == 2, "the sums differ")
      return require "nki".jit(function(a) return a end)]])
    cli.fails(1, {"run", at("check.lua"), "x=f32[2,2]"}, "the sums differ")
  end)
end)

describe("a traceback", function()
  it("ends in one frame of C, as lua's does", function()
    folder = cli.folder()
    build.spit(at("nil.lua"), 'return require "nki".jit(function(x) local y; return y.foo end)')
    local r = cli.run {"run", at("nil.lua"), "f32[2,2]"}
    cli.drop(folder)
    assert.equal(1, r.code)
    assert.matches("stack traceback:\n\t[^\n]*nil.lua:1: [^\n]*\n\t%[C%]: in %?\n$", r.err)
  end)
end)

describe("nkilua exec", function()
  before_each(function()
    folder = cli.folder()
    build.spit(at("add.lua"), add)
    build.spit(at("add.b64"), cli.ok {"config", at("add.lua"), "f32[2,3]", "f32[2,3]", "2.5"})
  end)
  after_each(function()
    cli.drop(folder)
  end)

  it("gives the bytes of run, with no source", function()
    local words = {"a=f32[2,3]:normal(1)", "b=f32[2,3]:normal(2)", "scale=2.5"}
    cli.ok {"run", at("add.lua"), words[1], words[2], words[3], "-o", at("run.npy")}
    os.remove(at("add.lua"))
    local line = cli.ok {"exec", at("add.b64"), words[1], words[2], words[3], "-o", at("exec.npy")}
    assert.matches("^output_0 float32%[2,3%]", line)
    assert.equal(build.slurp(at("run.npy")), build.slurp(at("exec.npy")))
    assert.equal(line, cli.ok {"exec", at("add.b64"), "f32[2,3]:normal(1)", "f32[2,3]:normal(2)"})
    assert.equal(line, cli.ok {"exec", "-", words[1], words[2], stdin = build.slurp(at("add.b64"))})
    assert.equal(line, cli.ok {"exec", at("add.b64"), words[1], words[2], "--check", at("exec.npy")})
  end)

  it("refuses what does not fit the program", function()
    cli.fails(2, {"exec", at("add.b64"), "a=f32[2,3]"}, "needs a value for 'b'")
    cli.fails(1, {"exec", at("add.b64"), "a=f32[2,3]", "b=f32[2,4]"}, "'b' is float32[2,4]; it must be float32[2,3]")
    cli.fails(2, {"exec", at("add.b64"), "a=f32[2,3]", "b=f32[2,3]", "scale=3"}, "another value of 'scale'")
    cli.fails(2, {"exec", at("add.b64"), "c=f32[2,3]"}, "no parameter 'c'")
    cli.fails(2, {"exec", at("none.b64")}, "cannot open", "none.b64")
    cli.fails(1, {"exec", at("add.lua")}, "add.lua", "err_base64")
    build.spit(at("cut.b64"), build.slurp(at("add.b64")):sub(1, 400))
    cli.fails(1, {"exec", at("cut.b64")}, "cut.b64")
    cli.fails(2, {"exec", at("add.b64"), "-t", "trn1"}, "no option '--target'")
  end)
end)
