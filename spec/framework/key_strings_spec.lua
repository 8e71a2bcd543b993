-- key_strings_spec: the methods of strings are captured state wherever a kernel may have a string. Whoever replaces one
-- between two calls gets another specialization.
local nki, nd = require "nki", require "nki.ndarray"
local scaled = require "spec.support.scaled"

local x = nd.array({{1, 2, 3}})

-- The kernel multiplies by what string.spec_factor() says, and says so after each change of it.
local function check(kernel, ...)
  for _, factor in ipairs {2, 3, 2} do
    rawset(string, "spec_factor", function()
      return factor
    end)
    assert.equal(factor, kernel(x, ...):get(0, 0))
  end
  assert.same({2, 1}, {kernel:cache_info().misses, kernel:cache_info().hits})
end

describe("a string method that is replaced", function()
  after_each(function()
    rawset(string, "spec_factor", nil)
  end)

  it("counts when an argument is the string", function()
    check(nki.jit(function(input, s)
      return scaled(input, s:spec_factor())
    end), "a")
    check(nki.jit(function(input, s)
      local f = s.spec_factor
      return scaled(input, f())
    end), "a")
  end)

  it("counts when a captured variable is", function()
    local s = "a"
    check(nki.jit(function(input)
      return scaled(input, s.spec_factor())
    end))
    check(nki.jit(function(input)
      local function inner()
        return s.spec_factor()
      end
      return scaled(input, inner())
    end))
  end)

  it("counts when a variable of the body that a function inside captures is", function()
    check(nki.jit(function(input)
      local s = "a"
      local function inner()
        return s.spec_factor()
      end
      return scaled(input, inner())
    end))
  end)

  it("counts when a variable holds a string only while the kernel runs", function()
    local s
    local function set(v)
      s = v
    end
    check(nki.jit(function(input)
      set("a")
      local factor = s.spec_factor()
      set(nil)
      return scaled(input, factor)
    end))
  end)

  it("counts when the code has more names than one instruction can tell apart", function()
    local names = {}
    for i = 1, 300 do
      names[i] = ("t.n%d"):format(i)
    end
    for _, call in ipairs {"s:spec_factor()", "s.spec_factor()"} do
      local code = [[local scaled = ...
        return function(input, s)
          local t, n = {}
          n = {%s}
          return scaled(input, %s)
        end]]
      check(nki.jit(assert(load(code:format(table.concat(names, ", "), call)))(scaled)), "a")
    end
  end)

  it("does not count when only fields of captured tables are read", function()
    local t = {spec_factor = function()
      return 5
    end}
    local kernel = nki.jit(function(input)
      return scaled(input, t.spec_factor())
    end)
    kernel(x)
    rawset(string, "spec_factor", print)
    assert.equal(5.0, kernel(x):get(0, 0))
    assert.same({1, 1}, {kernel:cache_info().misses, kernel:cache_info().hits})
  end)
end)
