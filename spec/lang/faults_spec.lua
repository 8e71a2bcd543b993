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

  it("of values outside their sets, beside what the rules say", function()
    local hbm = {buffer = nl.private_hbm}
    says(function(t) nisa.memset(nl.ndarray(t.shape, nl.int8), 1.5, {engine = nisa.engine.scalar}) end,
      "engine scalar is not one of", "value is 1.5; int8 takes integers")
    says(function(t)
      nisa.local_gather(t, nl.ndarray({120, 64}, nl.int32), nl.ndarray({120, 2}, nl.uint16),
        {num_elem_per_idx = 3, num_valid_indices = 5000})
    end, "num_valid_indices is 5000; legal is 1..4096", "dst and src_buffer must have the same number of partitions",
      "dst and index must have the same number of partitions", "dst and src_buffer must have the same dtype",
      "index must have shape (P,n) with P a multiple of 16", "num_elem_per_idx is 3", "but index has 32 per 16")
    says(function(t)
      nisa.nc_matmul {dst = t, stationary = t[{{0, 32}}], moving = t:view(nl.int32), is_transpose = true,
        perf_mode = nisa.matmul_perf_mode.double_row}
    end, "dst must be in psum", "moving is", "stationary and moving must have the same number of partitions",
      "stationary (double_row) must have shape [k,2,n]", "moving (double_row) must have shape [k,2,n]",
      "double_row does not transpose", "double_row takes 8-bit floats")
    says(function(t)
      nisa.iota(nl.ndarray(t.shape, nl.float32, {buffer = nl.psum}), {{1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}, 2 ^ 36)
    end, "dst must be in sbuf", "offset is 68719476736; legal is", "pattern has 5 [step, num] pairs",
      "dst must have shape with the pattern's 32 elements", "the pattern's values leave int32")
    says(function(t)
      nisa.tensor_scalar_reduce {dst = t, data = t[{{}, {0, 8}}], op0 = nl.bitwise_and, operand0 = t,
        reduce_op = nl.subtract, reverse0 = true, reduce_init = 1.0, reduce_res_negate = true}
    end, "op0 cannot be bitwise_and", "operand0 must be one value per partition", "reduce_op cannot be subtract",
      "dst has 64 elements per partition and data has 8", "reduce_init is read with reduce_cmd load_reduce only",
      "reverse0 is true", "reduce_res_negate needs reduce_res")
    says(function(t)
      nisa.range_select {dst = t, on_true_tile = t:view(nl.int32), comp_op0 = nl.add, comp_op1 = nl.less, bound0 = t,
        bound1 = nl.ndarray({128, 1}, nl.float32), range_start = 1.5, on_false_value = 0}
    end, "on_true_tile is", "comp_op0 cannot be add", "bound0 must be one value per partition",
      "on_false_value is 0", "range_start is 1.5")
    says(function(t)
      nisa.dma_copy(t, nl.ndarray({128, 65}, nl.bfloat16, hbm), {priority = 9, oob_mode = nisa.oob_mode.skip,
        dge_mode = nisa.dge_mode.hwdge, engine = nisa.engine.vector})
    end, "priority needs gen4", "dst has 8192 elements and src has 8320",
      "oob_mode is skip; it needs a view with a run-time offset",
      "dst and src (dge_mode hwdge) must have the same dtype",
      "engine vector is not one of scalar, sync, gpsimd")
    says(function(t)
      nisa.nc_transpose(nl.ndarray({60, 128}, nl.int8), t, {engine = nisa.engine.tensor})
    end, "dst and data must have the same dtype", "dst must have shape [64,128]", "dst (engine tensor) must be in psum")
    says(function(t)
      nisa.dma_compute {dst = t, srcs = {t[{{}, {0, 8}}], t}, reduce_op = nl.maximum, scales = {1, 2, 3}}
    end, "reduce_op cannot be maximum", "scales has 3 numbers and srcs 2 tensors",
      "scales[1] is 2; every number must be 1", "dst has 8192 elements and srcs has 1024")
    says(function(t)
      nisa.select_reduce {dst = t, predicate = t, on_true = t:view(nl.int32), on_false = t, reduce_op = nl.add,
        reduce_cmd = nisa.reduce_cmd.load_reduce}
    end, "predicate is", "on_true is", "on_false must be one value per partition", "reduce_op cannot be add",
      "reduce_cmd is load_reduce")
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
