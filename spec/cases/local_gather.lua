-- nisa.local_gather
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb = case.sbuf

local refused = case.calls(nisa.local_gather, function()
  return {dst = sb {16, 32}, src_buffer = sb {16, 64}, index = sb({16, 2}, nl.uint16)}
end)

-- Partition p of src is 1000 p + 0, 1 ...; index holds f(partition in its core, column, core).
local function source(parts, n)
  local rows = {}
  for p = 0, parts - 1 do
    rows[p + 1] = {}
    for i = 0, n - 1 do
      rows[p + 1][i + 1] = 1000 * p + i
    end
  end
  return nd.array(rows)
end

local function indices(parts, n, f)
  local rows = {}
  for p = 0, parts - 1 do
    rows[p + 1] = {}
    for j = 0, n - 1 do
      rows[p + 1][j + 1] = f(p % 16, j, p // 16)
    end
  end
  return nd.array(rows, "uint16")
end

-- want(parts, n, pick): element i of partition p is 1000 p + pick(i, core).
local function want(parts, n, pick)
  local rows = {}
  for p = 0, parts - 1 do
    rows[p + 1] = {}
    for i = 0, n - 1 do
      rows[p + 1][i + 1] = 1000 * p + pick(i, p // 16)
    end
  end
  return nd.array(rows)
end

return {
  accept = {{"fewer indices than there are",
    refused(function() return {dst = sb {16, 24}, num_valid_indices = 24} end)}},
  reject = {
    {"err_num_partition_mismatch", "dst and index", rule = "same_partitions",
     refused(function() return {index = sb({32, 2}, nl.uint16)} end)},
    {"err_dtype_mismatch", "dst and src_buffer", rule = "same_dtype",
     refused(function() return {src_buffer = sb({16, 64}, nl.int32)} end)},
    {"err_shape_required", "index must have shape (P,n) with P a multiple of 16", refused(function()
      return {dst = sb {8, 32}, src_buffer = sb {8, 64}, index = sb({8, 2}, nl.uint16)}
    end)},
    {"err_instruction_invalid", "num_elem_per_idx is 3",
     refused(function() return {num_elem_per_idx = 3, dst = sb {16, 96}} end)},
    {"err_size_of_dimension_exceed_arch_limit", "indices per 16 partitions is 4112", refused(function()
      return {index = sb({16, 257}, nl.uint16), dst = sb {16, 4112}}
    end)},
    {"err_instruction_invalid", "num_valid_indices is 40, but index has 32",
     refused(function() return {num_valid_indices = 40, dst = sb {16, 40}} end)},
    {"err_shape_required", "dst (num_valid_indices * num_elem_per_idx) must have shape [16,64]",
     refused(function() return {num_elem_per_idx = 2} end)},
    {"err_unsupported_dtype", "index is", refused(function() return {index = sb({16, 2}, nl.uint32)} end)},
  },
  numeric = {
    {"indices go down the partitions of a core, then to the next column",
     {source(32, 64), indices(32, 2, function(p, j, core) return p + 16 * j + core end)},
     function(x, index)
      local out = sb {32, 32}
      nisa.local_gather(out, x, index)
      return out
    end, {want(32, 32, function(i, core) return i + core end)}},
    {"runs of four, the first eight indices",
     {source(16, 64), indices(16, 1, function(p) return 60 - 4 * p >= 0 and 60 - 4 * p or 0 end)}, function(x, index)
      local out = sb {16, 32}
      nisa.local_gather {dst = out, src_buffer = x, index = index, num_elem_per_idx = 4, num_valid_indices = 8}
      return out
    end, {want(16, 32, function(i) return 60 - 4 * (i // 4) + i % 4 end)}},
  },
}
