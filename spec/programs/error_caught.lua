-- What pcall catches inside the kernel changes nothing: the second fault is the one that counts.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local t = nl.load(x)
  local ok, e = pcall(nl.add, t, nl.zeros({64, 8}, nl.float32))
  assert(not ok and e.id == "err_num_partition_mismatch")
  nl.store(x[{{0, 64}}], t) -- error: err_store_dst_shape_smaller_than_other_shape value has 1024
  return x
end)
