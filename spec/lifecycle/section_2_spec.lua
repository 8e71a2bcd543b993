-- section_2_spec: from nki.jit to the traced program: specialize_and_call, the grid, the nodes, the target.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local raises = require "spec.support.raises"

local d = nki.decl({2, 2}, "float32")

local function copy(a)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a))
  return out
end

describe("section 2.1: the decorator", function()
  it("trace is a decorator factory: what it returns binds and traces at every call", function()
    local k = nki.TraceKernel(copy, {func_name = "k"})
    local traced = k:trace()
    local kernel_return, has_collectives = traced(d)
    assert.equal("trace of k (1 operands, 1 outputs)", tostring(kernel_return))
    assert.is_false(has_collectives)
    assert.equal(kernel_return.ir, traced{a = d}.ir)
    assert.equal("trace of k (2 operands, 1 outputs)", tostring((k:trace(function(a, b)
      nl.store(b, nl.load(a))
      return b
    end)(d, d))))
  end)

  it("a kernel knows its function, name, grid, signature and options", function()
    local k = nki.jit(copy, {grid = 2, opts = {level = 1, name = "x"}, platform_target = "gen3"})
    assert.equal(copy, k.func)
    assert.same({level = 1, name = "x"}, k.opts)
    assert.same({level = 2, name = "x"}, k:with_opts{level = 2}.opts)
    assert.same({}, nki.jit(copy).opts)
    assert.same({"a"}, k.signature)
    assert.equal("section_2_spec", k.kernel_name)
    assert.same({"trn2", false, true}, {k.platform_target, k.platform_target_is_fallback, k.enable_cache})
    assert.is_false(nki.jit(copy, {enable_cache = false}).enable_cache)
    assert.equal("section_2_spec", k.func_name)
    assert.same({2}, k.grid)
    assert.same({"a"}, k.params)
    assert.equal("unnamed", nki.jit(load("return function() end")()).func_name)
  end)
end)

describe("section 2.2: specialize_and_call", function()
  it("runs the body under a trace and returns the trace and has_collectives", function()
    local k = nki.jit(copy)
    local kernel_return, has_collectives = k:specialize_and_call(k:bind_arguments(d))
    assert.same({"output_0"}, kernel_return.output_names)
    assert.same({"a"}, kernel_return.input_names)
    assert.equal(has_collectives, kernel_return.has_collectives)
  end)

  it("specialize copies the kernel and replaces options", function()
    local k = nki.jit(copy, {opts = {level = 1}})
    assert.equal(5, k:replace{opts = {level = 5}}:specialize(d).config.opts.level)
    assert.equal(1, k:copy_kernel():specialize(d).config.opts.level)
  end)

  it("an unchanged body is not traced again", function()
    local k = nki.jit(copy)
    k:specialize(d)
    assert.is_true(k.recompiled)
    k:specialize(d)
    assert.is_false(k.recompiled)
    local again = k:replace{func = copy}
    again:specialize(d)
    assert.is_false(again.recompiled)
  end)
end)

describe("section 2.3: expand_kernel_with_ctx", function()
  it("checks the grid, runs the body once per program, places tensors, checks the return, in this order", function()
    local log = {}
    local Logged = nki.class("Logged", nki.UnifiedKernel)
    for _, name in ipairs{"check_grid", "expand_kernel_with_ctx", "call_impl", "allocate_pending_tensors",
      "check_return"} do
      Logged[name] = function(self, ...)
        log[#log + 1] = name
        return nki.UnifiedKernel[name](self, ...)
      end
    end
    Logged(copy)[2]:specialize(d)
    assert.same({"check_grid", "expand_kernel_with_ctx", "call_impl", "call_impl", "allocate_pending_tensors",
      "check_return"}, log)
  end)

  it("has_collectives is true exactly when the body issues a collective", function()
    local ncc = require "nki.collectives"
    local function gathered(collective)
      local k = nki.jit(function(a)
        local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
        if collective then
          ncc.all_reduce({a}, {out}, ncc.ReplicaGroup{{0, 1}}, nl.add)
        else
          nl.store(out, nl.load(a))
        end
        return out
      end, {platform_target = "trn2"})
      local kernel_return, has_collectives = k:specialize_and_call(k:bind_arguments(d))
      assert.equal(has_collectives, kernel_return.has_collectives)
      assert.equal(has_collectives, k:specialize(d).has_collectives)
      assert.equal(has_collectives, k:specialize(d).config.has_collectives)
      return has_collectives
    end
    assert.is_true(gathered(true))
    assert.is_false(gathered(false))
  end)

  it("NKIFinalizeException ends the body from wherever it is raised", function()
    local function deep(out)
      error(nki.NKIFinalizeException(out))
    end
    local k = nki.jit(function(a)
      deep(copy(a))
      error("not reached")
    end)
    assert.equal(5.0, k[2](nd.array({{5}})):get(0, 0))
    local two = nki.jit(function(a)
      for _ in nl.affine_range(3) do
        error(nki.NKIFinalizeException(copy(a), copy(a)))
      end
    end)
    assert.is_true(two:specialize(d).result_is_sequence)
  end)

  it("NKIFinalizeException ends the body of the kernel that raises it, not of one that calls it", function()
    local inner = nki.jit(function(a)
      error(nki.NKIFinalizeException(copy(a)))
    end)
    local part = nki.trace(function(a)
      error(nki.NKIFinalizeException(copy(a)))
    end)
    assert.same({"output_0", "output_1"}, nki.jit(function(a)
      local x = inner(a)
      return x, copy(a)
    end):specialize(d).output_names)
    assert.same({"output_0"}, nki.jit(function(a)
      local x = part(a)
      return x, copy(a)
    end):specialize(d).output_names)
  end)

  it("an error that a body catches leaves the next one its own traceback", function()
    local failing = nki.jit(function()
      nl.load(1)
    end)
    local function second()
      nl.load(2)
    end
    local function outer(a)
      assert(not pcall(failing, a))
      second()
      return a
    end
    local ok, e = pcall(nki.jit(outer).specialize, nki.jit(outer), d)
    assert.is_false(ok)
    assert.truthy(e.traceback:find("in upvalue 'second'", 1, true), e.traceback)
  end)

  it("NKIFinalizeException says what it is where no body is running", function()
    local ok, e = pcall(error, nki.NKIFinalizeException())
    assert.is_false(ok)
    assert.equal("NKIFinalizeException: it ends the body of a kernel, and none is running below this", tostring(e))
  end)

  it("steps that are handed something else say what they need", function()
    local k = nki.jit(copy, {func_name = "k"})
    for _, step in ipairs{"matmul_mac_count", "translate_return_types"} do
      for _, wrong in ipairs{3, "x", k} do
        raises("err_bind_kind", step .. ": parameter 'kernel_return' must be what specialize_and_call returned",
          function()
            k[step](k, wrong)
          end)
      end
    end
    for _, wrong in ipairs{{"its grid is the string 'ab'", "ab"}, {"its grid is 0", 0}, {"its grid is true", true},
      {"axis 0 of its grid is 0", {0}}} do
      raises("err_kernel_grid", ("kernel k: %s; a grid is 1 to 8 positive integers"):format(wrong[1]), function()
        k:check_grid(wrong[2])
      end)
    end
    k:check_grid({})
    k:check_grid(4)
    raises("err_multi_cores_spmd_not_supported", "the target is trn1, which has 1", function()
      local spread = nki.jit(copy, {platform_target = "trn1", grid = nl.nc(2)})
      spread:check_grid()
    end)
  end)

  it("a kernel called inside a kernel is inlined", function()
    local inner = nki.jit(copy)
    local outer = nki.jit(function(a)
      return inner(a)
    end, {func_name = "k"})
    assert.equal(4.0, outer(nd.array({{4}})):get(0, 0))
    assert.equal(0, inner:cache_info().misses)
  end)

  it("a nested kernel has no grid of its own", function()
    local inner = nki.jit(copy)
    raises("err_nested_kernel_with_spmd_grid", "is called with a grid inside another kernel", function()
      nki.jit(function(a)
        return inner[2](a)
      end)(d)
    end)
  end)
end)

describe("section 2.4: insert_nki_kernel", function()
  it("makes an ExternalNativeNkiKernel of a kernel of the user's, with the IR in it", function()
    local k = nki.jit(copy, {func_name = "k"})
    local node = nki.insert_nki_kernel(k, d)
    assert.equal(nki.ExternalNativeNkiKernel, getmetatable(node))
    assert.equal("ExternalNativeNkiKernel k(a)", tostring(node))
    assert.equal(k:specialize(d).ir, node.serialize_ir_string)
    assert.equal(d, node.operands[1].value)
    assert.equal(d.shape, node.results[1].shape)
  end)

  it("makes an InternalMaterializedNkiKernel of one of the kernel library", function()
    local k = require "nki.kernels.rotary_embedding"
    assert.equal("nki.kernels.rotary_embedding", k.library)
    local half = nki.decl({4, 8}, "float32")
    local node = nki.insert_nki_kernel(k, nki.decl({4, 16}, "float32"), half, half)
    assert.equal(nki.InternalMaterializedNkiKernel, getmetatable(node))
    assert.equal("InternalMaterializedNkiKernel rotary_embedding(x, cos, sin)", tostring(node))
    assert.is_nil(nki.jit(copy).library)
  end)

  it("binds the operands of the running kernel, inside one", function()
    local inner, seen = nki.jit(copy, {func_name = "inner"}), nil
    local outer = nki.jit(function(a)
      local node = nki.insert_nki_kernel(inner, a)
      seen = tostring(node)
      return node.results[1]
    end)
    assert.equal(7.0, outer(nd.array({{7}})):get(0, 0))
    assert.equal("ExternalNativeNkiKernel inner(a)", seen)
  end)

  it("refuses operands and results elsewhere than in shared_hbm, in these words", function()
    local words = "The input and output tensor of a NKI kernel must be in shared_hbm address space"
    local inner = nki.jit(copy)
    raises("err_nested_kernel_memory", words, function()
      nki.jit(function(a)
        return nki.insert_nki_kernel(inner, nl.load(a)).results[1]
      end):specialize(d)
    end)
    raises("err_io_space", words, function()
      nki.jit(function(a)
        return nl.load(a)
      end):specialize(d)
    end)
    raises("err_bind_kind", "must be a kernel", function()
      nki.insert_nki_kernel(copy, d)
    end)
  end)
end)

describe("section 2.5: check_grid and the platform target", function()
  local script = [[
    local nki, nl = require "nki", require "nki.language"
    local k = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(a))
      return out
    end)
    for i = 1, 3 do
      local a = k:specialize(nki.decl({i, 2}, "float32"))
      print(a.platform_target, a.platform_target_is_fallback, a.config.platform_target_is_fallback, a.cache_key)
    end]]

  it("a grid over several physical cores is legal on trn2, trn2n, trn3, core_v4 and gen3 alone", function()
    local legal = {trn2 = true, trn2n = true, trn3 = true, core_v4 = true, gen3 = true}
    for _, target in ipairs{"trn1", "trn1n", "inf2", "gen2", "trn2", "trn2n", "trn3", "core_v4", "gen3"} do
      local k = nki.jit(copy, {platform_target = target, func_name = "k"})[nl.nc(2)]
      if legal[target] then
        assert.same({2}, k:specialize(d).config.grid)
      else
        raises("err_multi_cores_spmd_not_supported", "kernel k: a grid over several physical cores needs", function()
          k:specialize(d)
        end)
      end
    end
  end)

  it("a target comes from NEURON_PLATFORM_TARGET_OVERRIDE", function()
    local r = build.run{"-e", script, env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2n"}
    assert.equal("", r.err)
    assert.truthy(r.out:find("^trn2n\tfalse\tfalse\t"))
  end)

  it("a target that is guessed is trn1, with one warning per process", function()
    local r = build.run{"-e", script, env = "NEURON_PLATFORM_TARGET_OVERRIDE="}
    assert.equal("warning: Unable to read MLA target. Assuming cross compile to trn1.\n", r.err)
    local _, n = r.out:gsub("trn1\ttrue\ttrue\t", "")
    assert.equal(3, n)
  end)

  it("a guessed target is another key than the same target named", function()
    local guessed = build.run{"-e", script, env = "NEURON_PLATFORM_TARGET_OVERRIDE="}.out
    local named = build.run{"-e", script, env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn1"}.out
    assert.truthy(named:find("^trn1\tfalse\tfalse\t"))
    assert.not_equal(guessed:match "%x+\n", named:match "%x+\n")
  end)

  it("a name that is no target is an error, not a guess", function()
    local r = build.run{"-e", script, env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn9"}
    assert.equal(1, r.code)
    assert.truthy(r.err:find("no platform target 'trn9'", 1, true))
  end)
end)
