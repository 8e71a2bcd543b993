-- Several faults in one call: the first is the message, in the order of the parameters, and the others are notes.
local nl, nisa = require "nki.language", require "nki.isa"
local kernel = require "spec.support.kernel"

local function lines(fn)
  local e = kernel.error_of(fn)
  local list = {e.message}
  for line in (e.notes or ""):gmatch "[^\n]+" do list[#list + 1] = line end
  return list, e
end

local function says(fn, ...)
  local got = lines(fn)
  local want = {...}
  assert.equal(#want, #got, table.concat(got, "\n"))
  for i, text in ipairs(want) do assert.truthy(got[i]:find(text, 1, true), got[i]) end
end

describe("all faults of one call are reported:", function()
  it("kinds, missing and unknown parameters of an instruction", function()
    says(function(t) nisa.tensor_tensor {dst = t, data1 = 3, op = "add", data3 = t, enginee = 1} end,
      "nisa.tensor_tensor: parameter 'data1' must be a tensor, got 3",
      "parameter 'op' must be an operator such as nl.add, got the string 'add'",
      "no parameter 'data3'; did you mean 'data1'?", "no parameter 'enginee'; did you mean 'engine'?",
      "data2 is required")
    says(function(t) nisa.activation(t, nl.exp, true, false, "x") end, "parameter 'data' must be a tensor, got true",
      "parameter 'bias' must be a number or a tensor", "parameter 'scale' must be a number or a tensor")
    says(function(t) nisa.nc_matmul {dst = t, stationary = t, moving = t, is_transpose = 1, perf_mode = nl.add} end,
      "'is_transpose' must be true or false, got 1", "'perf_mode' must be a member of nisa.matmul_perf_mode")
  end)

  it("unknown and missing parameters of an nl function", function()
    says(function(t) nl.add {x = t, z = t, dtyp = nl.float32} end, "no parameter 'dtyp'; did you mean 'dtype'?",
      "no parameter 'z'", "nl.add: parameter 'y' is required")
    says(function(t) nl.softmax(t, {axs = 1, dtyp = 2}) end, "no parameter 'axs'", "no parameter 'dtyp'")
  end)

  it("rules of an instruction", function()
    says(function(t)
      nisa.tensor_scalar {dst = t[{{0, 64}}], data = t, op0 = nl.bitwise_and, operand0 = 1.5, op1 = nl.add,
        operand1 = 1}
    end, "must have the same number of partitions", "cannot be combined", "bitwise operator")
  end)

  it("in one order, however Lua walks the keywords", function()
    local keywords, names = {dst = 1, data1 = 2, data2 = 3, op = 4}, {}
    for i = 1, 12 do
      names[i] = "extra_" .. string.char(96 + i)
      keywords[names[i]] = i
    end
    local got = lines(function() nisa.tensor_tensor(keywords) end)
    assert.equal(16, #got)
    for i, name in ipairs(names) do assert.truthy(got[4 + i]:find(name, 1, true), got[4 + i]) end
  end)
end)
