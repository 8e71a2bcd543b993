-- Operators on tiles: which instruction each one is, the dtype of its result, broadcasting, and what has no meaning.
local kernel = require "spec.support.kernel"
local nl = require "nki.language"

local function one(body) return kernel.body_ops(function(t) body(t) end)[1] end

describe("operators", function()
  local cases = {
    {"t + t", "tensor_tensor", function(t) return t + t end},
    {"t - t", "tensor_tensor", function(t) return t - t end},
    {"t * t", "tensor_tensor", function(t) return t * t end},
    {"t ^ t", "tensor_tensor", function(t) return t ^ t end},
    {"t + 1", "tensor_scalar", function(t) return t + 1 end},
    {"1 + t", "tensor_scalar", function(t) return 1 + t end},
    {"2 - t", "tensor_scalar", function(t) return 2 - t end},
    {"t ^ 2", "tensor_scalar", function(t) return t ^ 2 end},
    {"t / t", "sim_binary", function(t) return t / t end},
    {"1 / t", "sim_binary", function(t) return 1 / t end},
    {"t % 3", "sim_binary", function(t) return t % 3 end},
    {"-t", "tensor_scalar", function(t) return -t end},
  }
  for _, case in ipairs(cases) do
    it(case[1] .. " is a " .. case[2], function() assert.equal(case[2], one(case[3])) end)
  end

  it("on integers are bitwise", function()
    local art = kernel.trace(function()
      local i = nl.zeros({16, 8}, nl.int32)
      local r = (i & i) | (i ~ 3)
      r = (~r << 2) >> i
      assert.equal("int32", r.dtype)
    end)
    for _, op in ipairs {"bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"} do
      assert.truthy(art.ir:find('"' .. op .. '"', 1, true), op)
    end
  end)

  it("swap their operands when the number is on the left", function()
    local art = kernel.trace(function(t) return 2 - t end)
    assert.truthy(art.ir:find("reverse0 = true", 1, true))
    assert.falsy(kernel.trace(function(t) return t - 2 end).ir:find("reverse0", 1, true))
  end)

  it("give the promoted dtype", function()
    kernel.trace(function(t)
      local bf, f16 = nl.zeros(t.shape, nl.bfloat16), nl.zeros(t.shape, nl.float16)
      local i8, u8, i32 = nl.zeros(t.shape, nl.int8), nl.zeros(t.shape, nl.uint8), nl.zeros(t.shape, nl.int32)
      assert.equal("float32", (bf + t).dtype)
      assert.equal("float32", (bf + f16).dtype)
      assert.equal("int16", (i8 + u8).dtype)
      assert.equal("bfloat16", (bf + i32).dtype)
      -- a number counts as int32 or float32
      assert.equal("int32", (i8 + 2).dtype)
      assert.equal("bfloat16", (bf * 2).dtype)
      assert.equal("float32", (bf * 2.5).dtype)
      assert.equal("float32", (2.5 * f16).dtype)
      -- comparisons, logic and bits keep the tile's type
      assert.equal("int8", nl.less(i8, 2).dtype)
      assert.equal("bfloat16", nl.logical_and(bf, 1.0).dtype)
      assert.equal("uint8", (u8 & 3).dtype)
      assert.equal("bfloat16", nl.add(t, t, nl.bfloat16).dtype)
      assert.equal("bfloat16", nl.add(t, t, {dtype = nl.bfloat16}).dtype)
    end)
  end)

  it("repeat free axes of size 1 but never partitions", function()
    kernel.trace(function(t)
      local col = nl.max(t, 1)
      assert.equal("{128, 64}", tostring((t - col).shape))
      assert.equal("{128, 64}", tostring((col - t).shape))
      local x, y = nl.zeros({128, 4, 1}, nl.float32), nl.zeros({128, 1, 5}, nl.float32)
      assert.equal("{128, 4, 5}", tostring((x * y).shape))
    end)
    local e = kernel.error_of(function(t) return t + nl.zeros({1, 64}, nl.float32) end)
    assert.equal("err_num_partition_mismatch", e.id)
    assert.truthy(e:find("nl.add", 1, true))
    e = kernel.error_of(function(t) return t + nl.zeros({128, 32}, nl.float32) end)
    assert.equal("err_elementwise_shape", e.id)
    assert.truthy(e:find("axis 1 has 64 and 32 elements", 1, true))
    assert.equal("err_elementwise_rank", kernel.error_of(function(t) return t + t:expand_dim(1) end).id)
  end)

  it("copy what an engine cannot reach out of psum", function()
    local list = kernel.body_ops(function(t)
      local p = nl.matmul(t, t, true)
      local _ = p + p
    end, {64, 64})
    assert.same({"nc_matmul", "tensor_copy", "tensor_tensor"}, list)
    list = kernel.body_ops(function(t) local _ = nl.matmul(t, t, true) ^ 2 end, {64, 64})
    assert.same({"nc_matmul", "tensor_copy", "tensor_scalar"}, list)
  end)

  local undefined = {
    {"t < 0", "err_dynamic_control_flow_not_supported", "nl.less", function(t) return t < 0 end},
    {"0 <= t", "err_dynamic_control_flow_not_supported", "nl.less", function(t) return 0 <= t end},
    {"t > t", "err_dynamic_control_flow_not_supported", "nl.less", function(t) return t > t end},
    {"t // 2", "err_operator_undefined", "//", function(t) return t // 2 end},
    {"t .. 's'", "err_operator_undefined", "..", function(t) return t .. "s" end},
    {"#t", "err_operator_undefined", "t.shape[0]", function(t) return #t end},
    {"t + 's'", "err_bind_kind", "the string 's'", function(t) return t + "s" end},
    {"t + true", "err_bind_kind", "true", function(t) return t + true end},
    {"a + t", "err_unsupported_memory", "nl.load", function(t, a) return a + t end},
    {"nl.add(1, 2)", "err_elementwise_numbers", "both operands are numbers", function() return nl.add(1, 2) end},
  }
  for _, case in ipairs(undefined) do
    it("refuse " .. case[1], function()
      local e = kernel.error_of(case[4])
      assert.equal(case[2], e.id)
      assert.truthy(e:find(case[3], 1, true), tostring(e))
    end)
  end
end)
