-- measure_spec: nki.benchmark, nki.profile, nki.baremetal and the modes of nki.jit that they are.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local raises = require "spec.support.raises"
local build = require "spec.support.build"

local function doubled(a)
  nl.store(a, nl.load(a) * 2)
  return a
end

local function silent(a)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a))
  return out
end

local x = nd.array({{1, 2, 3}})

local function folder()
  local name = os.tmpname()
  os.remove(name)
  assert(os.execute("mkdir " .. name))
  finally(function()
    os.execute("rm -r " .. name)
  end)
  return name
end

describe("nki.benchmark", function()
  it("gives latency percentiles in microseconds, of the host", function()
    local k = nki.benchmark(doubled, {warmup = 1, iters = 12})
    assert.is_nil(k(x))
    local r = k.benchmark_result
    assert.equal("host time of the simulator", r.time)
    assert.equal(12, #r.nc_latency.samples)
    local last = 0
    for _, p in ipairs{0, 1, 10, 25, 50, 90, 99, 100} do
      local us = r.nc_latency.get_latency_percentile(p)
      assert.is_true(us >= last and us < 1e7)
      assert.equal(us, r.nc_latency:get_latency_percentile(p))
      last = us
    end
    assert.equal(r.nc_latency.samples[1], r.nc_latency.get_latency_percentile(0))
    assert.equal(r.nc_latency.samples[12], r.nc_latency.get_latency_percentile(100))
    assert.equal((r.nc_latency.samples[6] + r.nc_latency.samples[7]) / 2, r.nc_latency.get_latency_percentile(50))
    raises("err_bind_value", "'percentile' is 42", function()
      r.nc_latency.get_latency_percentile(42)
    end)
  end)

  it("runs on copies: what a kernel writes in place stays as it was", function()
    nki.benchmark(doubled, {warmup = 3, iters = 2})(x)
    assert.equal(1.0, x:get(0, 0))
  end)

  it("runs warmup + iters times and traces once", function()
    local lines = {}
    local k = nki.benchmark(function(a)
      lines[#lines + 1] = "traced"
      return silent(a)
    end, {warmup = 0, iters = 1})
    k(x)
    assert.equal(1, #lines)
    assert.equal(1, #k.benchmark_result.nc_latency.samples)
  end)

  it("is a decorator, a wrapper of a kernel, and a mode of nki.jit", function()
    local given = nki.jit(silent, {func_name = "mine", opts = {level = 3}})
    for _, k in ipairs{nki.benchmark{iters = 2}(silent), nki.benchmark(given), nki.jit(silent, {mode = "benchmark"})} do
      assert.is_true(k:is_a(nki.BenchmarkKernel))
      k(x)
      assert.is_true(k.benchmark_result.nc_latency.get_latency_percentile(99) > 0)
    end
    assert.equal("mine", nki.benchmark(given).func_name)
    assert.equal(3, nki.benchmark(given):specialize(x).config.opts.level)
  end)

  it("refuses what it cannot do", function()
    raises("err_no_device", "save_neff_name asks for something", function()
      nki.benchmark(silent, {save_neff_name = "file.neff"})
    end)
    raises("err_bind_value", "'iters' is 0", function()
      nki.benchmark(silent, {iters = 0})
    end)
    raises("err_bind_unknown", "iterations", function()
      nki.benchmark(silent, {iterations = 5})
    end)
    raises("err_bind_unknown", "no parameter 'optional'", function()
      nki.benchmark(silent, {optional = true})
    end)
    raises("err_kernel_option", "a table of options by name", function()
      nki.benchmark(silent, {5})
    end)
    raises("err_bind_value", "an integer from 1 to 16777216", function()
      nki.benchmark(silent, {iters = 1 << 40})
    end)
    local k = nki.benchmark(silent, {warmup = 0, iters = 1})
    k(x)
    raises("err_bind_kind", "'percentile' must be a number, got nil", function()
      k.benchmark_result.nc_latency.get_latency_percentile()
    end)
    raises("err_kernel_decl_run", "a measurement needs arrays", function()
      nki.benchmark(silent)(nki.decl({1, 1}, "float32"))
    end)
  end)

  it("says once what a run has to say, and later runs speak again", function()
    local r = build.run{"-e", [[
      local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"
      local function half(a)
        local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
        nl.store(out[nl.ds(0, 1)], nl.load(a[nl.ds(0, 1)]))
        return out
      end
      local x = nd.zeros({2, 2}, "float32")
      nki.benchmark(half, {warmup = 5, iters = 5})(x)
      nki.jit(half)(x)]]}
    assert.equal(0, r.code)
    local _, n = r.err:gsub("never written", "")
    assert.equal(2, n)
  end)
end)

describe("nki.profile", function()
  it("writes where the time went, by instruction", function()
    local dir = folder()
    local k = nki.profile(silent, {working_directory = dir, func_name = "k", profile_nth = 3})
    k(x)
    local r = k.profile_result
    assert.equal(dir .. "/k.profile.json", r.file)
    local file = assert(io.open(r.file, "rb"))
    assert.equal(r.json, file:read("a"))
    file:close()
    assert.truthy(r.json:find('"time":"host time of the simulator","runs":1,', 1, true))
    local row = '"instruction":"dma_copy","engine":"dma","file":"measure_spec.lua","line":14,"core":0,"calls":2'
    assert.truthy(r.json:find(row, 1, true))
    assert.truthy(r.text:find("dma      nisa.dma_copy  measure_spec.lua:14", 1, true))
  end)

  it("writes over a file only when it is told to", function()
    local dir = folder()
    nki.profile(silent, {working_directory = dir})(x)
    raises("err_profile_file", "exists; overwrite = true replaces it", function()
      nki.profile(silent, {working_directory = dir})(x)
    end)
    nki.profile(silent, {working_directory = dir, overwrite = true})(x)
    raises("err_profile_file", "cannot write", function()
      nki.profile(silent, {working_directory = dir .. "/none"})(x)
    end)
  end)

  it("needs an absolute folder and refuses what it cannot do", function()
    raises("err_bind_value", "an absolute path is required", function()
      nki.profile(silent, {working_directory = "here"})
    end)
    raises("err_bind_value", "it has a control character", function()
      nki.profile(silent, {working_directory = "/tmp\0/none"})
    end)
    raises("err_bind_unknown", "no parameter 'optional'", function()
      nki.profile(silent, {working_directory = "/tmp", optional = 1})
    end)
    raises("err_bind_value", "'profile_nth' is 0", function()
      nki.profile(silent, {working_directory = "/tmp", profile_nth = 0})
    end)
    raises("err_no_device", "save_trace_name asks for something", function()
      nki.profile(silent, {working_directory = "/tmp", save_trace_name = "profile.ntff"})
    end)
  end)
end)

describe("nki.baremetal", function()
  it("says what is missing on this machine", function()
    local e = raises("err_no_device", "neuronx-cc", function()
      nki.baremetal(silent)(x)
    end)
    assert.truthy(e.message:find("libnrt", 1, true))
    assert.is_false(pcall(nki.jit(silent, {mode = "baremetal"}), x))
  end)

  it("shows with dry_run what it would execute and write", function()
    local plan = nki.baremetal(silent, {func_name = "it's", platform_target = "trn2", dry_run = true,
      artifacts_dir = "out", save_neff_name = "file.neff", save_trace_name = "profile.ntff",
      additional_compile_opt = "-O1"})(x)
    assert.equal("neuronx-cc compile --framework XLA --target trn2 --output out/file.neff -O1 'out/it'\\''s.hlo.pb'",
      plan.command)
    assert.same({"'out/it'\\''s.hlo.pb'", "out/file.neff", "out/profile.ntff"}, plan.files)
    assert.truthy(plan.missing:find("neuronx-cc", 1, true))
  end)

  it("has rules for its options", function()
    raises("err_bind_value", "it needs save_neff_name", function()
      nki.baremetal(silent, {save_trace_name = "profile.ntff"})
    end)
    raises("err_bind_value", "which is not empty", function()
      nki.baremetal(silent, {artifacts_dir = "spec"})
    end)
    raises("err_bind_kind", "'save_neff_name' must be a string", function()
      nki.baremetal(silent, {save_neff_name = 1, artifacts_dir = 2, save_trace_name = 3})
    end)
    raises("err_bind_value", "it has a control character", function()
      nki.baremetal(silent, {save_neff_name = "a\nwrite b"})
    end)
    raises("err_bind_value", "'dry_run' is yes; it is true or false", function()
      nki.baremetal(silent, {dry_run = "yes"})
    end)
  end)
end)

describe("a measured kernel", function()
  local made = {
    benchmark = function(k) return nki.benchmark(k, {warmup = 0, iters = 1}) end,
    profile = function(k) return nki.profile(k, {working_directory = "/tmp/none"}) end,
    baremetal = function(k) return nki.baremetal(k, {dry_run = true}) end,
  }

  it("is no part of another kernel, and says so", function()
    for name, make in pairs(made) do
      local inner = make(silent)
      local outer = nki.jit(function(a) return inner(a) end, {func_name = "outer", platform_target = "trn2"})
      raises("err_kernel_measured", ("'a' is a tensor of the kernel that is being traced, and nki.%s made this one, "
        .. "which only runs on arrays; inside a kernel call nki.jit's kernel"):format(name), function() outer(x) end)
    end
    local inner = made.baremetal(silent)
    raises("err_kernel_measured", "nki.baremetal made this one", function()
      nki.jit(function(a) return inner:plan(a) end)(x)
    end)
  end)

  it("is traced as its kernel is, also one of mode legacy", function()
    local function plus_one(a, out) nl.store(out, nl.load(a) + 1) end
    local counting = nki.class("Counting", nki.LegacyFrameworkKernel)
    function counting.matmul_mac_count() return 77 end
    for _, k in ipairs{nki.jit(plus_one, {mode = "legacy"}), counting(plus_one)} do
      local out = nd.zeros({1, 3}, "float32")
      local timed = made.benchmark(k)
      timed(x, out)
      assert.equal(1, #timed.benchmark_result.nc_latency.samples)
      assert.equal(0, out:get(0, 0)) -- it runs on copies
      assert.same({"out"}, timed:specialize(x, out).output_names)
      assert.equal(k:specialize(x, out).matmul_mac_count, timed:specialize(x, out).matmul_mac_count)
      assert.matches("neuronx%-cc", made.baremetal(k)(x, out).text)
    end
    raises("err_tensor_output_not_written_to", "returns no tensor", function()
      made.benchmark(plus_one)(x, x:copy())
    end)
  end)

  it("of nki.jit blames nki.jit", function()
    for _, mode in ipairs{"benchmark", "baremetal"} do
      raises("err_kernel_option", "nki.jit: func_name must be a string, got 3", function()
        nki.jit(silent, {mode = mode, func_name = 3})
      end)
    end
  end)

  it("may run on arrays while another kernel is traced", function()
    local inner = made.benchmark(silent)
    nki.jit(function(a)
      inner(x)
      return silent(a)
    end)(x)
    assert.equal(1, #inner.benchmark_result.nc_latency.samples)
  end)

  it("keeps the steps of the class of its kernel, and those of the kernel alone", function()
    local seen = {}
    local Mine = nki.class("Mine", nki.UnifiedKernel)
    function Mine:call_impl(...)
      seen[#seen + 1] = "class"
      return nki.UnifiedKernel.call_impl(self, ...)
    end
    function Mine.helper() return "helped" end
    local given = Mine(silent, {func_name = "mine"})
    function given:bind_arguments(...)
      seen[#seen + 1] = "instance"
      return nki.UnifiedKernel.bind_arguments(self, ...)
    end
    for name, make in pairs(made) do
      seen = {}
      local k = make(given)
      k:specialize(x)
      assert.same({"instance", "class"}, seen, name)
      assert.equal("helped", k:helper())
      assert.equal("mine", k.func_name)
      assert.is_true(k:is_a(nki.NumpyKernel))
    end
    seen = {}
    local k = made.benchmark(given)
    k(x)
    assert.truthy(table.concat(seen, " "):find "class")
    assert.equal(1, #k.benchmark_result.nc_latency.samples)
    assert.is_true(k:is_a(nki.BenchmarkKernel))
    given.call = function() error("not what measures") end
    made.benchmark(given)(x)
  end)

  it("is made of a kernel or a function", function()
    for name, make in pairs(made) do
      for _, wrong in ipairs{3, "x", true, io.stdout, nl.sbuf} do
        raises("err_bind_kind", ("nki.%s: parameter 'kernel' must be a kernel or a Lua function, got"):format(name),
          function() make(wrong) end)
      end
    end
  end)
end)
