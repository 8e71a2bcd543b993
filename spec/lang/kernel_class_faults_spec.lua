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
    raises("err_kernel_option", "kernel:replace: it takes a table", function() k:replace(3) end)
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

describe("a message on options names the function that was called", function()
  local k = nki.jit(doubled, options)
  local faults = {
    {"opts must be a table of names and values, got 3", 3},
    {"a key of opts must be a name, which is UTF-8 text without NUL bytes", {1}},
    {"a key of opts must be a name, which is UTF-8 text without NUL bytes", {["a\xff"] = 1}},
    {"a key of opts must be a name, which is UTF-8 text without NUL bytes", {["a\0"] = 1}},
    {"opts.a must be a boolean, a number or a string, got a table", {a = {}}},
    {"opts.a is the string 'a\\xff'; the config holds", {a = "a\xff"}, "err_opt_value"},
    {"opts.a is the string 'a\\x00'; the config holds", {a = "a\0"}, "err_opt_value"},
    {"opts.a is the number inf; the config holds", {a = 1 / 0}, "err_opt_value"},
  }
  local callers = {
    ["nki.jit"] = function(opts) return nki.jit(doubled, {opts = opts}) end,
    ["kernel:with_opts"] = function(opts) return k:with_opts(opts) end,
    ["kernel:replace"] = function(opts) return k:replace{opts = opts} end,
    JAXKernel = function(opts) return nki.JAXKernel(doubled, {opts = opts}) end,
    Mine = function(opts) return subclass{}(doubled, {opts = opts}) end,
    ["nki.benchmark"] = function(opts) return nki.benchmark(doubled, {opts = opts}) end,
    ["nki.GenericKernel"] = function(opts) return nki.GenericKernel(doubled, {opts = opts}) end,
  }

  for who, f in pairs(callers) do
    it(who, function()
      for _, fault in ipairs(faults) do
        raises(fault[3] or "err_kernel_option", who .. ": " .. fault[1], function() f(fault[2]) end)
      end
    end)
  end

  it("also of the other options, and of the function", function()
    raises("err_kernel_option", "kernel:replace: no mode 'x'", function() k:replace{mode = "x"} end)
    raises("err_kernel_option", "JAXKernel: enable_cache must be", function()
      nki.JAXKernel(doubled, {enable_cache = 3})
    end)
    raises("err_kernel_option", "kernel:replace: cache_size must be", function() k:replace{cache_size = 0} end)
    raises("err_kernel_option", "kernel:replace: func_name must be a string, got 3", function()
      k:replace{func_name = 3}
    end)
    raises("err_kernel_option", "nki.GenericKernel: no mode 'x'; modes are auto", function()
      nki.GenericKernel(doubled, {mode = "x"})
    end)
    raises("err_kernel_function", "Mine: a kernel is a Lua function", function() subclass{}(print) end)
    raises("err_kernel_function", "kernel:replace: a kernel cannot take '...'", function()
      k:replace{func = function(...) return ... end}
    end)
  end)
end)

describe("a grid that is refused is named, axis and value", function()
  local k = nki.jit(doubled, options)
  local allowed = "; a grid is 1 to 8 positive integers, k[4] or k[{4, 2}] (nl.nc(n) for physical cores)"
  local faults = {
    {"its grid is 0", 0}, {"its grid is the number 1.5", 1.5}, {"its grid is true", true},
    {"axis 1 of its grid is 0", {4, 0}}, {"axis 0 of its grid is the string 'x'", {"x", 2}},
    {"axis 2 of its grid is -1", nki.tuple{1, 2, -1}}, {"its grid has 0 axes", {}},
    {"its grid has 9 axes", {1, 1, 1, 1, 1, 1, 1, 1, 1}}, {"its grid is nl.sbuf", nl.sbuf},
    {"axis 0 of its grid is a table", {{4}}}, {"its grid is a table", {4, also = 2}},
  }
  local callers = {
    function(grid) return k[grid] end,
    function(grid) return nki.jit(doubled, {func_name = "k", grid = grid}) end,
    function(grid) return k:replace{grid = grid} end,
    function(grid) return k:check_grid(grid) end,
  }

  for _, fault in ipairs(faults) do
    it(fault[1], function()
      for i, f in ipairs(callers) do
        if not (i == 4 and fault[1]:find "0 axes") then -- there {} is no grid
          raises("err_kernel_grid", "kernel k: " .. fault[1] .. allowed, function() f(fault[2]) end)
        end
      end
    end)
  end
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
    local inner = subclass{inline_function = function() coroutine.yield(1) end}(doubled, {func_name = "inner"})
    local fault
    local outer = nki.jit(function(a)
      fault = select(2, pcall(inner, a)) -- the body, too, is told by nkilua and not by Lua
      return doubled(a)
    end, {func_name = "outer", platform_target = "trn2"})
    coroutine.wrap(function() outer:specialize(d) end)()
    assert.equal("err_yield_in_kernel", type(fault) == "table" and fault.id or fault)
    local k = subclass{}(function() coroutine.yield(1) end, options)
    local _, e = coroutine.resume(coroutine.create(function() k:specialize_and_call(k:bind_arguments()) end))
    assert.equal("err_yield_in_kernel", type(e) == "table" and e.id or e)
    assert.truthy(e:find("its body or a step of its class yielded", 1, true))
  end)
end)
