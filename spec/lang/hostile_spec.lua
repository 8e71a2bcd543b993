-- hostile_spec: kernels whose surroundings move under them: freed operands, state that no key can hold, absurd sizes.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local raises = require "spec.support.raises"

local x = nd.ones {4, 4}

local function copied(input, plus)
  local out = nl.ndarray(input.shape, input.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(input) + (plus or 0))
  return out
end

describe("an array that is freed", function()
  it("by the kernel that reads it is an error, not a read of freed memory", function()
    local a = nd.ones {4, 4}
    local k = nki.jit(function(input)
      a:free()
      return copied(input)
    end)
    raises("err_array_freed", "parameter 'input'", function() k(a) end)
  end)

  it("may be captured", function()
    local a = nd.ones {4, 4}
    local k = nki.jit(function(input)
      return copied(input, a and 1)
    end)
    k(x)
    a:free()
    assert.equal(2.0, k(x):get(0, 0))
    assert.equal(2, k:cache_info().misses)
  end)
end)

describe("an array without axes", function()
  it("can be made", function()
    assert.equal(3.5, nd.array(3.5, nl.float32):get())
  end)
end)

describe("a tensor that no machine can hold", function()
  local function huge(dtype, count, ...)
    local shape = {...}
    return nki.jit(function(input)
      local h = {}
      for i = 1, count do
        h[i] = nl.ndarray(shape, dtype, {buffer = nl.private_hbm})
        nl.store(h[i]["0:4, 0:4"], nl.load(input))
      end
      return copied(h[1]["0:4, 0:4"]), copied(h[count]["0:4, 0:4"])
    end)
  end

  it("is refused with the memory it needs", function()
    raises("err_sim_memory", "the tensors of the program need some", function()
      huge(nl.float32, 1, 1000000, 1000000)(x)
    end)
  end)

  it("is refused when the sum leaves 64 bits", function()
    raises("err_sim_memory", "more than", function()
      huge(nl.bfloat16, 40, 1 << 28, 1 << 29)(x)
    end)
  end)
end)

describe("captured state", function()
  it("has the methods of strings", function()
    local up = 1
    string.hostile = function() return up end -- luacheck: ignore
    local k = nki.jit(function(input) return copied(input, ("x"):hostile()) end)
    assert.equal(2.0, k(x):get(0, 0))
    assert.equal(2.0, k(x):get(0, 0))
    assert.equal(1, k:cache_info().hits)
    up = 2
    assert.equal(3.0, k(x):get(0, 0))
    string.hostile = function() return 3 end -- luacheck: ignore
    assert.equal(4.0, k(x):get(0, 0))
    string.hostile = nil -- luacheck: ignore
  end)

  it("has globals by name however many constants the function has", function()
    local many = {}
    for i = 1, 300 do many[i] = ("'c%d'"):format(i) end
    local source = ("local copied = ... return function(input) local t = {%s} return copied(input, hostile_far) end")
    local k = nki.jit(load(source:format(table.concat(many, ",")))(copied))
    for _, v in ipairs {1, 2, 1} do
      _G.hostile_far = v
      assert.equal(v + 1.0, k(x):get(0, 0))
    end
    assert.equal(1, k:cache_info().hits)
    _G.hostile_far = nil
  end)
end)

describe("a kernel that calls itself", function()
  local options = {platform_target = "trn2", func_name = "again"}
  local function refused(again, where)
    local e = raises("err_kernel_nesting", "kernel again is called 48 deep inside itself or other kernels", function()
      again(x)
    end)
    assert.equal(where, e.where)
    assert.matches("hostile_spec.lua$", e.file)
    return e
  end

  it("is stopped, with one line for all its calls", function()
    local again
    again = nki.jit(function(input)
      local out = again(input)
      return out
    end, options)
    local line = debug.getinfo(1, "l").currentline - 3
    local e = refused(again, ("hostile_spec.lua:%d\ncalled from hostile_spec.lua:%d (repeatedly)"):format(line, line))
    assert.equal(line, e.line)
  end)

  it("by running itself on arrays", function()
    local again
    again = nki.jit(function(input)
      again(x:copy())
      return input
    end, options)
    local line = debug.getinfo(1, "l").currentline - 3
    assert.equal(line, refused(again, "hostile_spec.lua:" .. line).line)
  end)

  it("may do so when it comes to an end", function()
    local halves
    halves = nki.trace(function(t, n)
      if n > 0 then
        halves(t, n - 1)
        nl.store(t, nl.load(t) + 1)
      end
    end)
    local k = nki.jit(function(input)
      halves(input, 40)
      return input
    end, options)
    assert.equal(x:get(0, 0) + 40, k(x:copy()):get(0, 0))
  end)
end)

describe("what a kernel returns", function()
  it("is blamed on the line where the kernel begins", function()
    local k = nki.jit(function(input)
      local out = copied(input)
      return out, 3
    end)
    local line = debug.getinfo(1, "l").currentline - 4
    local e = raises("err_kernel_return", "return value 2 is 3", function()
      return k(x)
    end)
    assert.equal(line, e.line)
    e = raises("err_kernel_return_field", "its key is the string 'x'", function()
      return nki.jit(load("return function(t) return {t, x = 1} end", "@else.lua")())(x)
    end)
    assert.equal("else.lua", e.file)
  end)

  it("is a list without other fields", function()
    raises("err_kernel_return_field", "its key is the string 'x'", function()
      nki.jit(function(input)
        local out = copied(input)
        return {out, x = out}
      end)(x)
    end)
  end)

  it("that is a view is called one once", function()
    raises("err_output_view", "output 0 is the view [2,4] of", function()
      nki.jit(function(input) return copied(input)["0:2"] end)(x)
    end)
  end)
end)

describe("the programs of a grid", function()
  local function uneven(more_in)
    return nki.jit(function(input)
      local out = copied(input)
      if nl.program_id(0) == more_in then nl.ndarray({4, 4}, nl.float32, {buffer = nl.shared_hbm}) end
      return out
    end)
  end

  it("make the same tensors in shared_hbm", function()
    raises("err_spmd_allocation_more", "program 1 makes 'shared_hbm_2'", function() uneven(1)[2](x) end)
    raises("err_spmd_allocation_fewer", "program 0 makes 'shared_hbm_2' in shared_hbm, program 1 ends after 1 of its 2",
      function() uneven(0)[2](x) end)
  end)
end)

describe("functions of integer tiles", function()
  it("whose values are no integers give float32 unless a dtype is asked for", function()
    local seen = {}
    nki.jit(function(input)
      local t = nl.copy(nl.load(input), nl.int32)
      for _, name in ipairs {"exp", "rsqrt", "gelu", "sin", "reciprocal", "abs", "square", "floor", "negative"} do
        seen[name] = tostring(nl[name](t).dtype)
      end
      seen.softmax = tostring(nl.softmax(t, 1).dtype)
      seen.asked = tostring(nl.exp(t, nl.int32).dtype)
      return copied(input)
    end)(x)
    assert.same({exp = "float32", rsqrt = "float32", gelu = "float32", sin = "float32", reciprocal = "float32",
      softmax = "float32", asked = "int32", abs = "int32", square = "int32", floor = "int32", negative = "int32"}, seen)
  end)
end)

describe("an answer that captured state does not settle", function()
  local function counted(k, ...)
    local got = {}
    for i = 1, 3 do
      got[i] = k(x, ...):get(0, 0)
    end
    assert.equal(3, k:cache_info().impure)
    return got, k:cache_info().reason
  end

  it("comes from a coroutine", function()
    local step = coroutine.wrap(function()
      for i = 1, 3 do
        coroutine.yield(i)
      end
    end)
    assert.same({2.0, 3.0, 4.0}, (counted(nki.jit(function(input)
      return copied(input, step())
    end))))
  end)

  it("comes from an iterator over a file", function()
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write("1\n2\n3\n")
    file:close()
    local lines = io.lines(name)
    assert.same({2.0, 3.0, 4.0}, (counted(nki.jit(function(input)
      return copied(input, tonumber(lines()))
    end))))
    os.remove(name)
  end)

  it("comes from code that is compiled in the kernel", function()
    _G.hostile_count = 0
    assert.same({2.0, 3.0, 4.0}, (counted(nki.jit(function(input)
      return copied(input, load "hostile_count = hostile_count + 1 return hostile_count"())
    end))))
    _G.hostile_count = nil
  end)

  it("comes from the clock, the environment or a generator of random numbers, and is named", function()
    for _, f in ipairs {"math.random", "os.time", "os.clock", "os.date", "os.getenv", "os.tmpname"} do
      local make = load("local copied = ... return function(input) return copied(input, " .. f .. " and 1) end")
      local _, reason = counted(nki.jit(make(copied)))
      assert.equal("what it computes is not settled by captured state: " .. f, reason)
    end
  end)

  it("comes from a global whose name is computed, and from the table of globals", function()
    local name, G, held = "hostile_" .. "value", _G, {g = _G}
    local bodies = {
      function(input) return copied(input, _G[name]) end,
      function(input) return copied(input, _ENV[name]) end,
      function(input) return copied(input, G[name]) end,
      function(input) return copied(input, held.g.hostile_value) end,
    }
    for i, body in ipairs(bodies) do
      local k = nki.jit(body)
      for v = 1, 3 do
        _G.hostile_value = v
        assert.equal(v + 1.0, k(x):get(0, 0), "body " .. i)
      end
      assert.equal("what it computes is not settled by captured state: the table of globals", k:cache_info().reason)
    end
    _G.hostile_value = nil
  end)

  it("comes from an iterator of string.gmatch, and from a file", function()
    local digits = ("1 2 3"):gmatch("%d")
    assert.same({2.0, 3.0, 4.0}, (counted(nki.jit(function(input) return copied(input, tonumber(digits())) end))))
    local file = assert(io.tmpfile())
    file:write("1\n2\n3\n")
    file:seek("set")
    local _, reason = counted(nki.jit(function(input) return copied(input, file:read("n")) end))
    assert.equal("what it computes is not settled by captured state: a file", reason)
    file:close()
  end)

  it("comes from a library that is handed on", function()
    local held, call = {m = math}, function(lib, name) return lib[name] end
    local inherits = setmetatable({}, {__index = math})
    local random = "ran" .. "dom"
    local bodies = {
      function(input) return copied(input, held.m.random and 1) end,
      function(input) return copied(input, held.m[random] and 1) end,
      function(input) return copied(input, call(math, random) and 1) end,
      function(input) return copied(input, inherits.random and 1) end,
      function(input)
        for _, f in pairs(math) do
          assert(f)
        end
        return copied(input, 1)
      end,
      function(input)
        local m = math
        return copied(input, m.random and 1)
      end,
    }
    for i, body in ipairs(bodies) do
      local _, reason = counted(nki.jit(body))
      assert.equal("what it computes is not settled by captured state: math.random", reason, "body " .. i)
    end
  end)

  it("comes from a function that was put into a library, wherever that is kept", function()
    local held = {t = table}
    local k = nki.jit(function(input) return copied(input, held.t.hostile()) end)
    for _, v in ipairs {1, 2, 1} do
      table.hostile = function() return v end -- luacheck: ignore
      assert.equal(v + 1.0, k(x):get(0, 0))
    end
    table.hostile = nil -- luacheck: ignore
    assert.equal(1, k:cache_info().hits)
  end)

  it("is no suspicion against libraries of which only fields are used", function()
    local m, held = math, {m = table}
    local k = nki.jit(function(input)
      local floor = m.floor
      return copied(input, floor(math.max(1.5, 1)) + #held.m.concat {"a"} + #("x"):rep(2))
    end)
    k(x)
    k(x)
    assert.equal(1, k:cache_info().hits)
  end)

  it("is no suspicion against the rest of the libraries", function()
    local k = nki.jit(function(input)
      return copied(input, math.floor(math.max(1.5, 1)) + #tostring(os.rename and "" or print))
    end)
    k(x)
    k(x)
    assert.equal(1, k:cache_info().hits)
  end)
end)

describe("a run of its own", function()
  local plain = "local nki = require [[nki]] nki.jit(function(x) return x end)(require [[nki.ndarray]].ones {4, 4})"
  local unset = [[local nki, nl = require "nki", require "nki.language"
    nki.jit(function(x)
      local out, t = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm}), nl.load(x)
      for _ in nl.dynamic_range(0, require "nki.isa".register_alloc()) do nl.store(out, t) end
      return out
    end)(require "nki.ndarray".ones {4, 4})]]
  local function says(value, body, variable)
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write(body or plain)
    file:close()
    local command = ("%s=%s %s %s 2>&1"):format(variable or "NKI_PRECISE_FP", value, build.program, name)
    local pipe = assert(io.popen(command))
    local text = pipe:read("a")
    pipe:close()
    os.remove(name)
    return text
  end

  it("takes NKI_PRECISE_FP as 0 or 1, or nothing", function()
    for _, value in ipairs {"abc", "2", "00"} do
      assert.truthy(says(value):find("NKI_PRECISE_FP: '" .. value .. "' is not 0 or 1", 1, true), value)
    end
    for _, value in ipairs {"0", "1", ""} do
      assert.falsy(says(value):find("NKI_PRECISE_FP", 1, true), value)
    end
  end)

  it("takes NKILUA_ISA and NKILUA_GEMM as documented, or nothing", function()
    local known = {{"NKILUA_ISA", "generic, avx2 or avx512", "generic", "avx2", "avx512", ""},
                   {"NKILUA_GEMM", "plain", "plain", ""}}
    for _, row in ipairs(known) do
      local text = ("%s: 'sse' is not %s"):format(row[1], row[2])
      assert.truthy(says("sse", plain, row[1]):find(text, 1, true), text)
      for i = 3, #row do assert.falsy(says(row[i], plain, row[1]):find(row[1], 1, true), row[i]) end
    end
  end)

  it("says once that a register is read before it is written", function()
    assert.truthy(says("1", unset):find("register 'reg_0' is read, which was never written", 1, true))
  end)
end)
