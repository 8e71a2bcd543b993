-- kernel_class_faults_spec: what classes of kernels written in Lua may get wrong, and compile options.
local nki, nl = require "nki", require "nki.language"
local raises = require "spec.support.raises"

local function doubled(a)
  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(a) * 2)
  return out
end

local d = nki.decl({4, 8}, "float32")
local options = {func_name = "k", platform_target = "trn2"}
local base = nki.UnifiedKernel

local function subclass(methods)
  local c = nki.class("Mine", base)
  for name, f in pairs(methods) do c[name] = f end
  return c
end

describe("compile options", function()
  it("are what pop_compile_opts takes out of the options of a copy", function()
    local c = subclass{pop_compile_opts = function(self, given)
      local opts = base.pop_compile_opts(self, given) or self.opts
      opts.level, given.level = given.level or opts.level, nil
      return opts
    end}
    local k = c(doubled, {func_name = "k", opts = {level = 1, fast = true}})
    local asked = {level = 3, grid = 2}
    local copy = k:replace(asked)
    assert.same({level = 3, fast = true}, copy:specialize(d).opts)
    assert.same({2}, copy:specialize(d).grid)
    assert.same({level = 3, grid = 2}, asked)
    assert.same({level = 1, fast = true}, k:specialize(d).opts)
    assert.same({level = 5}, k:replace{opts = {level = 5}}:specialize(d).opts)
    assert.same({level = 1, fast = true}, k:copy_kernel():specialize(d).opts)
    local given = {opts = {a = 1}, grid = 4}
    assert.same({a = 1}, base.pop_compile_opts(k, given))
    assert.same({grid = 4}, given)
    raises("err_kernel_option", "replace takes a table", function() k:replace(3) end)
  end)

  it("have no names of their own otherwise; who was called is named", function()
    raises("err_bind_unknown", "replace: ", function() nki.jit(doubled):replace{levle = 1} end)
    raises("err_bind_unknown", "Mine: ", function() subclass{}(doubled, {levle = 1}) end)
    raises("err_bind_unknown", "JAXKernel: ", function() nki.JAXKernel(doubled, {levle = 1}) end)
    raises("err_bind_unknown", "nki.benchmark: ", function() nki.benchmark(nki.jit(doubled), {itres = 1}) end)
    raises("err_bind_unknown", "nki.profile: ", function()
      nki.profile(doubled, {levle = 1, working_directory = "/tmp"})
    end)
    raises("err_bind_unknown", "nki.baremetal: ", function() nki.baremetal(doubled, {levle = 1}) end)
  end)
end)

describe("a class that is damaged", function()
  it("is told so when super leads back to it", function()
    local c = subclass{}
    local k = c(doubled, options)
    c.super = c
    raises("err_kernel_option", "super of class Mine must be its base class", function() k:is_a(nki.JAXKernel) end)
    assert.is_true(k:is_a(c))
    c.super = "no class"
    raises("err_kernel_option", "super of class Mine", function() k:is_a(nki.JAXKernel) end)
  end)

  it("is told so when it spoils BoundArguments", function()
    local spoil = {
      function(b) b.arguments = nil end,
      function(b) b.arguments = 4 end,
      function(b) b.arguments.more = d end,
      function(b) b.arguments[1] = d end,
      function(b) return setmetatable(b, nil) end,
      function() return false end,
    }
    for _, f in ipairs(spoil) do
      local function spoiled(k)
        local b = k:bind_arguments(d)
        local got = f(b)
        if got == nil then got = b end
        return got
      end
      local k = subclass{}(doubled, options)
      for _, step in ipairs{"_map_args", "_generate_hash_key", "specialize_and_call", "dump_config_with_boundargs"} do
        local e = raises("err_kernel_step", "BoundArguments", function() k[step](k, spoiled(k)) end)
        assert.truthy(e.message:find "BoundArguments")
      end
      local own = subclass{bind_arguments = function(self, ...)
        local b = base.bind_arguments(self, ...)
        local got = f(b)
        if got == nil then return b end
        return got
      end}(doubled, options)
      raises("err_kernel_step", "BoundArguments", function() own:specialize(d) end)
      raises("err_kernel_step", "BoundArguments", function() nki.insert_nki_kernel(own, d) end)
      local plain = nki.class("Plain", nki.Kernel)
      plain.bind_arguments = own.bind_arguments
      raises("err_kernel_step", "BoundArguments", function() plain(doubled):call(d) end)
    end
    local k = subclass{}(doubled, options)
    local b = k:bind_arguments(d)
    b.names = nil
    assert.equal("BoundArguments(damaged)", tostring(b))
    assert.equal(k:dump_config(d), (k:dump_config_with_boundargs(k:_map_args(b))))
  end)

  it("is told so when a step yields", function()
    for _, step in ipairs{"call", "bind_arguments", "_map_args", "dump_config_with_boundargs", "specialize_and_call",
      "check_grid", "call_impl", "expand_kernel_with_ctx", "translate_return_types", "encode_backend_config",
      "assemble_result", "_generate_hash_key"} do
      local k = subclass{[step] = function() coroutine.yield(1) end}(doubled, options)
      local ok, e = coroutine.resume(coroutine.create(function() k[2](d) end))
      assert.is_false(ok, step)
      assert.equal("err_yield_in_kernel", type(e) == "table" and e.id or e, step)
    end
    local k = subclass{}(function() coroutine.yield(1) end, options)
    local _, e = coroutine.resume(coroutine.create(function() k:specialize_and_call(k:bind_arguments()) end))
    assert.equal("err_yield_in_kernel", type(e) == "table" and e.id or e)
    assert.truthy(e:find("its body or a step of its class yielded", 1, true))
  end)
end)
