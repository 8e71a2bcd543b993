-- nisa.nc_stream_shuffle
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb = case.sbuf

-- The identity, changed by f.
local function mask(f)
  local list = {}
  for i = 0, 31 do
    list[i + 1] = f and f(i) or i
  end
  return list
end

local refused = case.calls(nisa.nc_stream_shuffle, function()
  return {dst = sb {32, 4}, src = sb {32, 4}, shuffle_mask = mask()}
end)

-- Row p is {f(p), -f(p)}.
local function column(n, f)
  local rows = {}
  for p = 0, n - 1 do
    local v = f and f(p) or p
    rows[p + 1] = {v, -v}
  end
  return nd.array(rows)
end

return {
  accept = {
    {"rows that keep their place in a smaller tile", refused(function()
      return {dst = sb {4, 4}, src = sb {2, 4}, shuffle_mask = mask(function(i) return i < 2 and 1 - i or 255 end)}
    end)},
  },
  reject = {
    {"err_num_elements_mismatch", "dst has 4 elements per partition and src has 8", rule = "same_count",
     refused(function() return {src = sb {32, 8}} end)},
    {"err_dtype_mismatch", "dst and src must have the same dtype", rule = "same_dtype",
     refused(function() return {src = sb({32, 4}, nl.int32)} end)},
    {"err_instruction_invalid", "shuffle_mask has 4 entries; it needs 32",
     refused(function() return {shuffle_mask = {0, 1, 2, 3}} end)},
    {"err_instruction_invalid", "shuffle_mask[7] is 32; an entry is 0..31, or 255", refused(function()
      return {shuffle_mask = mask(function(i) return i == 7 and 32 or 0 end)}
    end)},
    {"err_instruction_invalid", "partition 3 of dst would come from partition 31 of src, which has 16",
     refused(function()
      return {dst = sb {4, 4}, src = sb {16, 4}, shuffle_mask = mask(function(i) return i == 3 and 31 or 0 end)}
    end)},
    {"err_start_partition", "src starts at partition 64; 96 partitions may start at 0 only", refused(function()
      return {dst = sb {96, 4}, src = sb {96, 4}[{{64, 96}}], shuffle_mask = mask(function() return 255 end)}
    end)},
    {"err_argument_range", "shuffle_mask is 256",
     refused(function() return {shuffle_mask = mask(function() return 256 end)} end)},
  },
  numeric = {
    {"a reversal in each of four quadrants", {column(128)}, function(x)
      local out = sb(x.shape)
      nisa.nc_stream_shuffle(out, x, mask(function(i) return 31 - i end))
      return out
    end, {column(128, function(p) return p - p % 32 + 31 - p % 32 end)}},
    {"a broadcast of partition 5, in place, but for what 255 keeps", {column(64)}, function(x)
      nisa.nc_stream_shuffle(x, x, mask(function(i) return i == 9 and 255 or 5 end))
      return x
    end, {column(64, function(p) return p % 32 == 9 and p or p - p % 32 + 5 end)}},
  },
}
