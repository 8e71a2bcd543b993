-- A helper adds tiles of different partitions, in the third trip of a loop: line, calls and trip are named.
-- given: x=f32[128,8]
-- also: called from partitions_differ.lua:15
-- also: in the iteration with value 2 of the loop at partitions_differ.lua:12
local nki, nl = require "nki", require "nki.language"

local function helper(t, rows)
  return nl.add(t, nl.zeros({rows, 8}, nl.float32)) -- error: err_num_partition_mismatch nl.add: x and y
end

return nki.jit(function(x)
  for i in nl.affine_range(4) do
    local t = nl.load(x)
    local rows = i == 2 and 64 or 128
    helper(t, rows)
  end
  return x
end)
