-- kernel_spec: calling kernels: errors that pass unchanged, nesting, grids, modes, the artifact.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"

local x = nd.array({{1, 2, 3}})

local function doubled(input)
  local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(input) * 2)
  return out
end

local function failure(f, ...)
  local ok, e = pcall(f, ...)
  assert.is_false(ok)
  return e
end

describe("a value raised by the body", function()
  local k = nki.jit(function(_, raise)
    raise()
  end)
  local function raised(...)
    local values = table.pack(...)
    return table.pack(pcall(k, x, function()
      error(table.unpack(values, 1, values.n))
    end))
  end

  it("reaches pcall unchanged, whatever it is", function()
    local t = {}
    for _, v in ipairs{"text", 42, 1.5, true, false, t, print, io.stdout} do
      local got = raised(v, 0)
      assert.equal(2, got.n)
      assert.is_false(got[1])
      assert.is_true(rawequal(v, got[2]))
    end
    local got = raised(nil)
    assert.equal(2, got.n)
    assert.is_nil(got[2])
  end)

  it("leaves nothing behind", function()
    for _ = 1, 3 do
      raised("x", 0)
      assert.equal("err_nki_api_outside_of_nki_kernel", failure(nl.load, x).id)
      assert.equal(2.0, nki.jit(doubled)(x):get(0, 0))
    end
  end)

  it("also from inside traced loops, device loops and nested kernels", function()
    local inner = nki.jit(function(_)
      error("deep", 0)
    end)
    local bodies = {
      function()
        for _ in nl.affine_range(3) do
          error("deep", 0)
        end
      end,
      function()
        nl.fori_loop(0, 3, function()
          error("deep", 0)
        end)
      end,
      function(input)
        inner(input)
      end,
    }
    for _, body in ipairs(bodies) do
      local kernel = nki.jit(function(input)
        body(input)
      end)
      assert.equal("deep", failure(kernel, x))
      assert.equal(2.0, nki.jit(doubled)(x):get(0, 0))
    end
  end)

  it("may be caught inside the body", function()
    local kernel = nki.jit(function(input)
      local ok, e = pcall(nl.load, 3)
      assert(not ok and e.id == "err_bind_kind", e)
      return doubled(input)
    end)
    assert.equal(2.0, kernel(x):get(0, 0))
  end)

  it("a stack overflow is an ordinary error", function()
    local function loop()
      return 1 + loop()
    end
    assert.truthy(failure(nki.jit(function()
      loop()
    end)):find("stack overflow", 1, true))
    assert.equal(2.0, nki.jit(doubled)(x):get(0, 0))
  end)
end)

describe("an error object", function()
  local e = failure(nki.jit(function(input)
    nl.load(input, {dtyp = nl.float32})
  end), x)

  it("has fields, the text, and the string methods", function()
    assert.equal("err_bind_unknown", e.id)
    assert.equal("kernel_spec.lua", e.file)
    assert.equal("number", type(e.line))
    local start = "kernel_spec.lua:" .. e.line .. ": err_bind_unknown: nl.load: no parameter 'dtyp'"
    assert.equal(1, (tostring(e):find(start, 1, true)))
    assert.truthy(e:find("dtyp"))
    assert.equal("dtyp", e:match("'(dtyp)'"))
    assert.equal(#tostring(e), #e)
    assert.equal("> " .. tostring(e), "> " .. e)
    assert.equal(tostring(e) .. " <", e .. " <")
    assert.truthy(e.traceback:find("stack traceback", 1, true))
    assert.is_nil(e.nonsense)
  end)

  it("has the lines of the kernel as traceback in the body, and Lua's own once it leaves it", function()
    local inside
    local k = nki.jit(function(a)
      inside = select(2, pcall(nl.load, a, {dtyp = 1}))
      nl.load(a, {dtyp = 1})
    end, {platform_target = "trn1"})
    local outside = select(2, pcall(k.specialize, k, nki.decl({128, 4}, nl.float32)))
    assert.matches("^kernel_spec.lua:%d+", inside.traceback)
    assert.matches("^stack traceback:", outside.traceback)
  end)

  it("names the line of the kernel, then its callers", function()
    local function helper(input)
      nl.load(input, {nonsense = 1})
    end
    local here = debug.getinfo(1, "l").currentline
    local err = failure(nki.jit(function(input)
      helper(input)
    end), x)
    assert.equal(here - 2, err.line)
    assert.truthy(tostring(err):find("\n  called from kernel_spec.lua:" .. here + 2, 1, true), tostring(err))
  end)
end)

describe("yielding out of a body", function()
  local k = nki.jit(function(_)
    coroutine.yield(1)
  end)
  local here = debug.getinfo(1, "l").currentline - 2

  it("is a clear error, in and out of a coroutine", function()
    local err = failure(k, x)
    assert.equal("err_yield_in_kernel", err.id)
    assert.same({here, "kernel_spec.lua"}, {err.line, err.file})
    local co = coroutine.wrap(function()
      return pcall(k, x)
    end)
    local ok, e = co()
    assert.is_false(ok)
    assert.equal("err_yield_in_kernel", e.id)
    assert.equal(2.0, nki.jit(doubled)(x):get(0, 0))
  end)

  it("but coroutines inside a body are fine", function()
    local kernel = nki.jit(function(input)
      local factors = coroutine.wrap(function()
        coroutine.yield(nl.load(input))
        coroutine.yield(2)
      end)
      local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
      nl.store(out, factors() * factors())
      return out
    end)
    assert.same({{2, 4, 6}}, kernel(x):totable())
  end)
end)

describe("a tile", function()
  it("of another run is refused, with its name, kernel and line", function()
    local kept
    local first = nki.jit(function(input)
      kept = nl.load(input)
      return doubled(input)
    end, {func_name = "first"})
    first(x)
    local e = failure(nki.jit(function(input)
      nl.store(input, kept)
      return input
    end), x)
    assert.truthy(e.message:find("first", 1, true), e.message)
    assert.truthy(e.message:find("kernel_spec.lua:", 1, true), e.message)
    e = failure(first, kept)
    assert.equal("err_kernel_tile_outside", e.id)
    assert.truthy(e.message:find("kernel first: 'input' is a tensor of a kernel's body", 1, true), e.message)
  end)

  it("of the running kernel is no argument of a step, nor beside an array", function()
    local inner = nki.jit(function(a, b)
      nl.store(a, nl.load(b))
      return a
    end, {func_name = "inner"})
    local function within(use)
      local e = failure(nki.jit(function(input)
        use(input)
        return input
      end), x)
      assert.equal("err_kernel_tile_outside", e.id)
      assert.truthy(e.message:find("plain call inside that body, with no array or declaration beside it", 1, true))
    end
    within(function(t) inner:specialize(t, t) end)
    within(function(t) inner(t, x) end)
  end)
end)

describe("a kernel inside a kernel", function()
  local scale = nki.jit(function(input, out, factor)
    nl.store(out, nl.load(input) * factor)
    return out
  end, {func_name = "scale"})

  it("becomes part of it", function()
    local k = nki.jit(function(input)
      local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
      return scale(input, {factor = 10, out = out})
    end)
    assert.same({{10, 20, 30}}, k(x):totable())
    assert.equal(0, scale:cache_info().misses)
  end)

  it("takes operands from shared_hbm only, and no grid", function()
    local e = failure(nki.jit(function(input)
      return scale(nl.load(input), input, 2)
    end), x)
    assert.equal("err_nested_kernel_memory", e.id)
    assert.truthy(e:find("The input and output tensor of a NKI kernel must be in shared_hbm address space", 1, true))
    assert.equal("err_nested_kernel_with_spmd_grid", failure(nki.jit(function(input)
      return scale[2](input, input, 2)
    end), x).id)
    assert.equal("err_nested_kernel_memory", failure(nki.jit(function(input)
      return nki.jit(function(t)
        return nl.load(t)
      end)(input)
    end), x).id)
  end)

  it("on arrays is a run of its own", function()
    local inner = nki.jit(doubled)
    local k = nki.jit(function(input)
      local factor = inner(x):get(0, 2)
      local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(input) * factor)
      return out
    end)
    assert.same({{6, 12, 18}}, k(x):totable())
  end)

  it("nki.trace makes helpers that take tiles and are called in kernels only", function()
    local twice = nki.trace(function(tile)
      return tile + tile
    end)
    local k = nki.jit(function(input)
      local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
      nl.store(out, twice(nl.load(input)))
      return out
    end)
    assert.same({{2, 4, 6}}, k(x):totable())
    assert.equal("err_kernel_outside", failure(twice, x).id)
  end)
end)

describe("a grid", function()
  local k = nki.jit(function(input)
    local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
    local row = nl.ds(nl.program_id(0), 1)
    nl.store(out[row], nl.load(input[row]) + nl.program_id(0) * 10)
    return out
  end)
  local rows = nd.array({{1, 1}, {2, 2}})

  it("runs the body once per program", function()
    assert.same({{1, 1}, {12, 12}}, k[2](rows):totable())
    assert.same({{1, 1}, {12, 12}}, k[{2}](rows):totable())
    assert.same({2, 1}, k[{2, 1}].grid)
    assert.same({2, 1}, k[{2, 1}]:specialize(rows).grid)
    assert.same({}, k.grid)
  end)

  it("is positive integers", function()
    for _, grid in ipairs{0, -1, 1.5, {}, {2, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {"2"}, true} do
      assert.equal("err_kernel_grid", failure(function()
        return k[grid]
      end).id)
    end
    assert.equal("err_grid", failure(k[{1 << 40, 1 << 40}], rows).id)
  end)
end)

describe("modes", function()
  local function body(input)
    return input
  end

  it("jax and torchxla give the record, arrays count as shapes", function()
    local jax, torch = nki.jit(body, {mode = "jax"}), nki.jit(body, {mode = "torchxla"})
    assert.equal("AwsNeuronCustomNativeKernel", jax(x).custom_call_target)
    assert.equal("AwsNeuronNkiKernel", torch(x).custom_call_target)
    assert.truthy(torch(x):hlo():find('custom_call_target="AwsNeuronNkiKernel"', 1, true))
    assert.same({{1, 2, 3}}, nki.simulate(jax)(x):totable())
    assert.same({{1, 2, 3}}, nki.simulate_kernel(torch, x):totable())
  end)

  it("simulation needs data, auto takes declarations for a specialization", function()
    local decl = nki.decl({1, 3}, nl.float32)
    assert.equal("err_kernel_decl_run", failure(nki.jit(body, {mode = "simulation"}), decl).id)
    assert.equal("err_kernel_decl_run", failure(nki.simulate(nki.jit(body)), decl).id)
    local auto = nki.jit(body)
    assert.equal(auto:specialize(x), auto(decl))
  end)

  it("a declaration says what it is", function()
    local decl = nki.decl({1, 3}, nl.float32)
    assert.equal("float32[1,3]", tostring(decl))
    assert.equal(3, decl.shape[1])
    assert.equal("float32", decl.dtype)
    for _, size in ipairs{0, -3} do
      local e = failure(nki.decl, {1, size}, "float32")
      assert.equal("err_bind_value", e.id)
      assert.truthy(e:find(("nki.decl: parameter 'shape' is {1, %d}; sizes are at least 1"):format(size), 1, true))
    end
    assert.equal(decl, nki.decl({1, 3}, "float32"))
    assert.not_equal(decl, nki.decl({3, 1}, "float32"))
    assert.equal("err_kernel_no_field", failure(function()
      return decl.data
    end).id)
  end)
end)

describe("the artifact", function()
  local k = nki.jit(function(a, b, n)
    assert(n == 4)
    local out = nl.ndarray({3, 5}, nl.float32, {buffer = nl.shared_hbm, name = "product"})
    nl.store(out, nl.copy(nl.matmul(nl.load(a), nl.load(b), {transpose_x = true})))
    return out
  end, {func_name = "mm", platform_target = "trn2", opts = {level = 2}})
  local a, b = nki.decl({7, 3}, nl.bfloat16), nki.decl({7, 5}, nl.bfloat16)
  local art = k:specialize(a, b, 4)

  it("has every field of the record", function()
    assert.equal("mm", art.func_name)
    assert.same({"a", "b"}, art.input_names)
    assert.same({"product"}, art.output_names)
    assert.equal(7 * 3 * 5, art.matmul_mac_count)
    assert.equal("trn2", art.platform_target)
    assert.is_false(art.platform_target_is_fallback)
    assert.is_false(art.has_collectives)
    assert.is_false(art.result_is_sequence)
    assert.same({level = 2}, art.opts)
    assert.same({{name = "n", kind = "int", value = 4}}, art.constant_values)
    assert.equal("product", art.return_types[1].name)
    assert.equal("float32", art.return_types[1].dtype)
    assert.equal(5, art.return_types[1].shape[1])
    assert.truthy(art.cache_key:match("^%x+$"))
    assert.equal(art.ir, art.config.serialize_ir_string)
    assert.equal(105, art.config.mac_count)
    assert.truthy(art.config_json:find('^{"kernel_version":1,"func_name":"mm","grid":%[%],'))
  end)

  it("is the same object at every hit, and its text the same in every trace", function()
    assert.is_true(rawequal(art, k:specialize(a, b, 4)))
    local config = art.backend_config
    k:clear_cache()
    local again = k:specialize(a, b, 4)
    assert.is_false(rawequal(art, again))
    assert.equal(config, again.backend_config)
    assert.equal(art.cache_key, again.cache_key)
    assert.equal(config, art.backend_config)
  end)

  it("dump_config gives the config and the names", function()
    local config, inputs, outputs = k:dump_config(a, b, 4)
    assert.equal(art.backend_config, config)
    assert.same({"a", "b"}, inputs)
    assert.same({"product"}, outputs)
  end)

  it("refuses unknown fields and wrong operands", function()
    local e = failure(function()
      return art.backendconfig
    end)
    assert.truthy(e:find("did you mean 'backend_config'", 1, true))
    e = failure(art.simulate, art, x)
    assert.truthy(e:find("2 operands are needed, got 1", 1, true))
    e = failure(art.simulate, art, x, x)
    assert.truthy(e:find("operand 'a' must be an array bfloat16[7,3], got", 1, true), tostring(e))
    e = failure(art.simulate, art, {a = x, b = x, c = x})
    assert.truthy(e:find("not the name of an operand", 1, true))
  end)

  it("prints HLO, StableHLO and the binary HLO", function()
    local layout = "{(bf16[7,3]{1,0}, bf16[7,5]{1,0})->f32[3,5]{1,0}}"
    assert.equal(1, (art:hlo():find("HloModule jit_mm, entry_computation_layout=" .. layout, 1, true)))
    assert.truthy(art:hlo():find(art.backend_config, 1, true))
    assert.truthy(art:stablehlo():find("stablehlo.custom_call @AwsNeuronCustomNativeKernel(%arg0, %arg1)", 1, true))
    assert.equal("\10\6jit_mm\18\4main\26", art:hlo_proto():sub(1, 15))
    assert.truthy(art:hlo_proto():find(art.backend_config, 1, true))
  end)

  it("outlives its kernel", function()
    local function make()
      return nki.jit(doubled):specialize(x)
    end
    local kept = make()
    collectgarbage()
    collectgarbage()
    assert.same({{2, 4, 6}}, kept:simulate(x):totable())
  end)
end)

describe("file names", function()
  it("are relative to the kernel's script, also in the key", function()
    local source = "local nl = require 'nki.language' return function(t) nl.load(t, {nonsense = 1}) end"
    local e = failure(nki.jit(load(source, "@/somewhere/else/deep/kernel.lua")()), x)
    assert.equal("kernel.lua", e.file)
    local good = "local nki = require 'nki' return nki.jit(function(t) return t end, {func_name = 'same'})"
    local one, two = load(good, "@/one/k.lua")(), load(good, "@two/three/k.lua")()
    assert.equal(one:specialize(x).cache_key, two:specialize(x).cache_key)
    assert.not_equal(one:specialize(x).cache_key, load(good, "@/one/other.lua")():specialize(x).cache_key)
  end)

  it("of helpers in other folders show the way", function()
    local source = "local nl = require 'nki.language' return function(t) nl.load(t, {nonsense = 1}) end"
    local helper = load(source, "@/a/lib/h.lua")()
    local make = load("local nki, helper = require 'nki', ... return nki.jit(function(t) helper(t) end)", "@/a/b/k.lua")
    local e = failure(make(helper), x)
    assert.equal("../lib/h.lua", e.file)
    assert.truthy(tostring(e):find("\n  called from k.lua:1", 1, true), tostring(e))
  end)
end)

describe("module nki", function()
  it("is strict", function()
    assert.truthy(tostring(failure(function()
      return nki.jitt
    end)):find("jit", 1, true))
  end)
end)
