-- nisa.nc_transpose
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local x = nd.arange(15):reshape {3, 5}
local big = nd.arange(128 * 100, nil, nil, "float16"):reshape {128, 100}
return {
  accept = {
    {"sbuf to psum on the Tensor engine", function() nisa.nc_transpose(ps {128, 64}, sb {64, 128}) end},
    {"sbuf to sbuf on the Vector engine", function() nisa.nc_transpose(sb {32, 16}, sb {16, 32}) end},
    {"psum to psum on the Vector engine", function()
      nisa.nc_transpose {dst = ps({32, 16}, nl.int32), data = ps({16, 32}, nl.int32), engine = nisa.engine.vector}
    end},
  },
  reject = {
    {"err_dtype_mismatch", "dst and data must have the same dtype", rule = "same_dtype",
     function() nisa.nc_transpose(ps({8, 4}, nl.bfloat16), sb {4, 8}) end},
    {"err_shape_required", "dst must have shape [8,4]", function() nisa.nc_transpose(ps {4, 8}, sb {4, 8}) end},
    {"err_size_of_dimension_exceed_arch_limit", "free size of data (engine tensor) is 129",
     function() nisa.nc_transpose(ps {128, 8}, sb {8, 129}) end},
    {"err_size_of_dimension_exceed_arch_limit", "partitions of data (engine vector) is 33; the limit is 32", function()
      nisa.nc_transpose {dst = sb {8, 33}, data = sb {33, 8}, engine = nisa.engine.vector}
    end},
    {"err_size_of_dimension_exceed_arch_limit", "free size of data (engine vector) is 33", function()
      nisa.nc_transpose {dst = sb {33, 8}, data = sb {8, 33}, engine = nisa.engine.vector}
    end},
    {"err_unsupported_memory", "dst (engine tensor) must be in psum",
     function() nisa.nc_transpose {dst = sb {8, 4}, data = sb {4, 8}, engine = nisa.engine.tensor} end},
    {"err_unsupported_memory", "data (engine tensor) must be in sbuf",
     function() nisa.nc_transpose {dst = ps {8, 4}, data = ps {4, 8}, engine = nisa.engine.tensor} end},
    {"err_unsupported_dtype", "data (engine tensor) is int8", function()
      nisa.nc_transpose {dst = ps({8, 4}, nl.int8), data = sb({4, 8}, nl.int8), engine = nisa.engine.tensor}
    end},
  },
  numeric = {
    {"partitions and free elements swapped, Tensor engine", {x}, function(t)
      local out = ps {5, 3}
      nisa.nc_transpose(out, t)
      return out
    end, {x:transpose()}},
    {"the same on the Vector engine", {x}, function(t)
      local out = sb {5, 3}
      nisa.nc_transpose(out, t)
      return out
    end, {x:transpose()}},
    {"free axes flattened", {nd.arange(24):reshape {2, 3, 4}}, function(t)
      local out = ps {12, 2}
      nisa.nc_transpose(out, t)
      return out
    end, {nd.arange(24):reshape({2, 12}):transpose()}},
    {"a full partition axis of 16-bit floats", {big}, function(t)
      local out = ps({100, 128}, nl.float16)
      nisa.nc_transpose(out, t)
      return out
    end, {big:transpose()}},
    {"bits exactly on the Vector engine", {nd.array {{0 / 0, 1}, {-math.huge, -0.0}}}, function(t)
      local out = sb {2, 2}
      nisa.nc_transpose(out, t)
      return out
    end, {{{0 / 0, -math.huge}, {1, -0.0}}}},
    {"infinities on the Tensor engine of gen3", {nd.array {{math.huge, 1}, {-math.huge, 2}}}, target = "trn2",
     function(t)
      local out = ps {2, 2}
      nisa.nc_transpose(out, t)
      return out
    end, {{{math.huge, -math.huge}, {1, 2}}}},
  },
}
