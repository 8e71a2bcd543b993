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

-- The rows of h that `index` (a tensor of HBM) names, turned; `pattern`: for an index of several columns.
local function picked(shape, pattern, skip)
  return function(h, index)
    local out, rows = sb(shape, h.dtype), nl.load(index)
    if skip then nisa.memset(out, 7) end
    nisa.dma_transpose {dst = out, oob_mode = skip and nisa.oob_mode.skip or nil,
      src = pattern and h:ap {pattern = pattern, vector_offset = rows} or h:vector_select(0, rows)}
    local result = nl.ndarray(shape, h.dtype, {buffer = nl.shared_hbm})
    nl.store(result, out)
    return result
  end
end

local function column(n, f)
  local list = {}
  for i = 1, n do list[i] = {f(i - 1)} end
  return nd.array(list, "uint32")
end

-- What a picked transpose must give: want[j][k] = value of (index[k], j).
local function turned(rows, columns, index)
  local want = {}
  for j = 1, columns do
    want[j] = {}
    for k = 1, rows do want[j][k] = index(k - 1) * columns + j - 1 end
  end
  return nd.array(want, "uint16")
end

local function backwards(k) return 19 - k end
-- Number k of a (128,2) list is in row k mod 128, column k div 128.
local function in_two_columns(k) return (k * 5) % 300 end

-- The index rows and the src of a transpose that must be refused.
local function rows_of(index, src, dst)
  return function()
    nisa.dma_transpose {dst = dst or sb({4, 16}, nl.uint16),
      src = (src or hbm({32, 4}, nl.uint16)):vector_select(0, index or sb({16, 1}, nl.uint32))}
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
    {"err_argument_generation", "a run-time offset needs gen3", function()
      nisa.dma_transpose(sb {3, 4}, hbm {2, 4, 3}:select(0, nisa.register_alloc(1)))
    end},
    {"err_argument_generation", "a run-time offset needs gen3", function() rows_of()() end},
    {"err_unsupported_dtype", "the index of src is", target = "trn2",
     function() rows_of(sb({16, 1}, nl.int32))() end},
    {"err_shape_required", "the index of src must have shape (P,1) with P a multiple of 16, or (128,K)",
     target = "trn2", function() rows_of(sb({24, 1}, nl.uint32), nil, sb({4, 24}, nl.uint16))() end},
    {"err_shape_required", "the index of src must have shape (P,1) with P a multiple of 16, or (128,K)",
     target = "trn2", function()
      nisa.dma_transpose(sb({4, 16}, nl.uint16),
        hbm({32, 4}, nl.uint16):ap {pattern = {{4, 16}, {1, 4}}, vector_offset = sb({16, 2}, nl.uint32)})
    end},
    {"err_shape_required", "src (picked rows) must have shape [16*n,...,m<=128]", target = "trn2",
     function()
      nisa.dma_transpose(sb({4, 200}, nl.uint16),
        hbm({32, 4}, nl.uint16):ap {pattern = {{4, 200}, {1, 4}}, vector_offset = sb({128, 2}, nl.uint32)})
    end},
    {"err_shape_required", "src (picked rows) must have shape [16*n,...,m<=128]", target = "trn2",
     function() rows_of(nil, hbm({32, 4}, nl.float32), sb({4, 16}, nl.float32))() end},
    {"err_shape_required", "in 4-D with 1 as second or third size", target = "trn2",
     function() rows_of(nil, hbm({32, 2, 2, 4}, nl.uint16), sb({4, 2, 2, 16}, nl.uint16))() end},
    {"err_argument_value", "dge_mode is hwdge; a vector offset needs swdge", target = "trn2", function()
      nisa.dma_transpose {dst = sb({4, 16}, nl.uint16), dge_mode = nisa.dge_mode.hwdge,
        src = hbm({32, 4}, nl.uint16):vector_select(0, sb({16, 1}, nl.uint32))}
    end},
    {"err_view_ap_vector", "the vector offset has 256 rows and the pattern's first count is 272", target = "trn2",
     function()
      return hbm({32, 4}, nl.uint16):ap {pattern = {{4, 272}, {1, 4}}, vector_offset = sb({128, 2}, nl.uint32)}
    end},
    {"err_view_vector_column", "must be integers of shape (P,1)", target = "trn2", function()
      nisa.dma_copy(sb({128, 8}, nl.uint16),
        hbm({32, 4}, nl.uint16):ap {pattern = {{4, 256}, {1, 4}}, vector_offset = sb({128, 2}, nl.uint32)})
    end},
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
    {"rows that a list picks", target = "trn2", hbm = true, {counted({20, 3}, "uint16"), column(16, backwards)},
     picked {3, 16}, {turned(16, 3, backwards)}},
    {"a list of two columns, the second not whole", target = "trn2", hbm = true,
     {counted({300, 4}, "uint16"), (function()
      local list = {}
      for p = 0, 127 do list[p + 1] = {in_two_columns(p), in_two_columns(p + 128)} end
      return nd.array(list, "uint32")
    end)()}, picked({4, 208}, {{4, 208}, {1, 4}}), {turned(208, 4, in_two_columns)}},
    {"picked rows of four axes", target = "trn2", hbm = true,
     {counted({20, 1, 2, 3}, "uint16"), column(16, backwards)}, picked {3, 1, 2, 16},
     {turned(16, 6, backwards):reshape {2, 3, 16}:transpose {1, 0, 2}:reshape {3, 1, 2, 16}}},
    {"rows outside leave dst as it was", target = "trn2", hbm = true,
     {counted({20, 1}, "uint16"), column(16, function(k) return k == 5 and 20 or k end)},
     picked({1, 16}, nil, true), {nd.array({{0, 1, 2, 3, 4, 7, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}, "uint16")}},
    {"a part chosen at run time", target = "trn2", hbm = true, {three}, function(h)
      local out, result = sb {4, 3}, nl.ndarray({4, 3}, nl.float32, {buffer = nl.shared_hbm})
      nisa.dma_transpose(out, h:select(0, nisa.register_alloc(1)))
      nl.store(result, out)
      return result
    end, {nd.arange(12, 24, nil, "float32"):reshape({3, 4}):transpose()}},
    {"bits as they are", {nd.array({{0 / 0, -0.0}, {math.huge, 1}}, "float16")}, hbm = true, transposed {2, 2},
     {nd.array({{0 / 0, math.huge}, {-0.0, 1}}, "float16")}},
  },
}
