-- nisa.dma_transpose
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

-- 0, 1, 2 ... in a shape, and the same with its axes in another order.
local function counted(shape, dtype)
  local n = 1
  for _, size in ipairs(shape) do
    n = n * size
  end
  return nd.arange(n, nil, nil, dtype):reshape(shape)
end

local function transposed(shape)
  return function(h)
    local out = sb(shape, h.dtype)
    nisa.dma_transpose(out, h)
    local result = nl.ndarray(shape, h.dtype, {buffer = nl.shared_hbm})
    nl.store(result, out)
    return result
  end
end

local two, three, four = counted {3, 5}, counted {2, 3, 4}, counted({2, 3, 4, 5}, "int32")
return {
  accept = {
    {"sbuf to sbuf", function() nisa.dma_transpose(sb {8, 4}, sb {4, 8}) end},
    {"the axes spelt out", function() nisa.dma_transpose {dst = sb {8, 4}, src = hbm {4, 8}, axes = {1, 0}} end},
    {"16 rows of two bytes in hwdge", target = "trn2", function()
      nisa.dma_transpose {dst = sb({64, 16}, nl.bfloat16), src = hbm({16, 64}, nl.bfloat16),
        dge_mode = nisa.dge_mode.hwdge}
    end},
  },
  reject = {
    {"err_dtype_mismatch", "dst and src must have the same dtype", rule = "same_dtype",
     function() nisa.dma_transpose(sb({8, 4}, nl.bfloat16), hbm {4, 8}) end},
    {"err_shape_required", "src must have shape of 2 to 4 dimensions",
     function() nisa.dma_transpose(sb {8, 1}, hbm {8}) end},
    {"err_shape_required", "dst must have shape [8,4]", function() nisa.dma_transpose(sb {4, 8}, hbm {4, 8}) end},
    {"err_shape_required", "axes must have shape [1,0]",
     function() nisa.dma_transpose {dst = sb {8, 4}, src = hbm {4, 8}, axes = {0, 1}} end},
    {"err_unsupported_memory", "dst must be in sbuf", function() nisa.dma_transpose(ps {8, 4}, hbm {4, 8}) end},
    {"err_argument_value", "oob_mode is skip; it needs a src view with a run-time offset",
     function() nisa.dma_transpose {dst = sb {8, 4}, src = hbm {4, 8}, oob_mode = nisa.oob_mode.skip} end},
    {"err_shape_required", "src (dge_mode hwdge) must have shape", target = "trn2", function()
      nisa.dma_transpose {dst = sb({64, 8}, nl.bfloat16), src = hbm({8, 64}, nl.bfloat16),
        dge_mode = nisa.dge_mode.hwdge}
    end},
    {"err_argument_range", "axes is 4; legal is 0..3",
     function() nisa.dma_transpose {dst = sb {8, 4}, src = hbm {4, 8}, axes = {4, 0}} end},
  },
  numeric = {
    {"two axes of unequal sizes", {two}, hbm = true, transposed {5, 3}, {two:transpose()}},
    {"three axes, reversed", {three}, hbm = true, transposed {4, 3, 2}, {three:transpose()}},
    {"four axes: 3, 1, 2, 0", {four}, hbm = true, transposed {5, 3, 4, 2}, {four:transpose {3, 1, 2, 0}}},
    {"bits as they are", {nd.array({{0 / 0, -0.0}, {math.huge, 1}}, "float16")}, hbm = true, transposed {2, 2},
     {nd.array({{0 / 0, math.huge}, {-0.0, 1}}, "float16")}},
  },
}
