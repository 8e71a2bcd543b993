-- Arguments: positions, keywords, and every way to get them wrong, for rows of nl, rows of nisa and the Lua half.
local kernel = require "spec.support.kernel"
local nl, nisa, ncc = require "nki.language", require "nki.isa", require "nki.collectives"
local nki, nd = require "nki", require "nki.ndarray"

local function same_ir(x, y) assert.equal(kernel.trace(x).ir:gsub("loc%b()", ""), kernel.trace(y).ir:gsub("loc%b()",
  "")) end

describe("arguments", function()
  it("may be positional, keywords, or both", function()
    same_ir(function(t) nl.max(t, 1, nil, true) end, function(t) nl.max(t, {axis = 1, keepdims = true}) end)
    same_ir(function(t) nl.max(t, 1, nil, true) end, function(t) nl.max {x = t, axis = 1, keepdims = true} end)
    same_ir(function(t) nisa.activation(t, nl.exp, t, nil, 2) end,
      function(t) nisa.activation {dst = t, op = nl.exp, data = t, scale = 2.0} end)
    same_ir(function(t) nisa.activation(t, nl.exp, t, nil, 2) end,
      function(t) nisa.activation(t, nl.exp, t, {scale = 2}) end)
    same_ir(function(t) nl.softmax(t, -1, nl.bfloat16) end, function(t) nl.softmax(t, {dtype = nl.bfloat16}) end)
  end)

  it("nil is not given; surplus nils are nothing", function()
    same_ir(function(t) nl.exp(t) end, function(t) nl.exp(t, nil, nil) end)
    same_ir(function(t) nisa.memset(t, 0) end, function(t) nisa.memset(t, 0, nil, nil) end)
  end)

  it("an empty table is a list where the parameter takes one, else no keywords", function()
    same_ir(function(t) nl.exp(t) end, function(t) nl.exp(t, {}) end)
    local e = kernel.error_of(function(t) nl.max(t, {}) end)
    assert.truthy(e:find("nl.max: axis [] of", 1, true))
    kernel.trace(function() -- tile_position and tile_size: () is the public default
      local p, s = nl.ndarray({64, 64}, nl.float32, nl.psum), nl.zeros({128, 64}, nl.float32)
      nisa.nc_matmul(p, s, s, false, false, false, nil, {}, {})
    end)
  end)

  it("a list has nothing but its entries", function()
    local function fails(text, body) assert.truthy(kernel.error_of(body):find(text, 1, true)) end
    local other = "must be a list of integers, got a table with other values"
    fails("nl.ndarray: parameter 'shape' " .. other, function() nl.ndarray({4, 8, rows = 3}, nl.float32) end)
    fails("nl.zeros: parameter 'shape' " .. other, function() nl.zeros({rows = 3}, nl.float32) end)
    fails("nl.sum: parameter 'axis' " .. other, function(t) nl.sum(t, {axis = {1, keepdims = true}}) end)
    fails("nisa.nc_matmul: parameter 'tile_size' " .. other, function(t)
      nisa.nc_matmul {dst = t, stationary = t, moving = t, tile_size = {rows = 64}}
    end)
    fails("nisa.iota: parameter 'pattern' must be a list of {step, num} pairs", function(t)
      nisa.iota {dst = t, pattern = {{1, 4}, step = 2}}
    end)
    fails("nisa.iota: parameter 'pattern' must be a list of {step, num} pairs", function(t)
      nisa.iota(t, {{1, 4, num = 2}})
    end)
    fails("nisa.dma_compute: parameter 'srcs' must be a list of tensors", function(t)
      nisa.dma_compute(t, {t, also = t}, nl.add)
    end)
    fails("nisa.nc_stream_shuffle: parameter 'shuffle_mask' must be a list of integers", function(t)
      local mask = {first = 0}
      for k = 1, 32 do mask[k] = 0 end
      nisa.nc_stream_shuffle {dst = t, src = t, shuffle_mask = mask}
    end)
    fails("NkiTensor.ap: parameter 'pattern' must be a list of {stride, count} pairs", function(t)
      t:ap {pattern = {{1, 4}, {1, 4}, step = 1}}
    end)
    fails("NkiTensor.ap: parameter 'pattern' must be a list of {stride, count} pairs", function(t)
      t:ap {pattern = {{1, 4, step = 1}, {1, 4}}}
    end)
    fails("nl.ndarray: parameter 'address' must be a list {partition, byte}", function()
      nl.ndarray({4, 8}, nl.float32, {address = {0, 64, byte = 1}})
    end)
    fails("nl.num_programs: parameter 'axes' must be an axis or a list of axes", function()
      nl.num_programs {axes = {0, also = 1}}
    end)
    local channels = "parameter 'srcs_by_channel' must be a list with a list of one tensor for each channel"
    for _, srcs in ipairs {"outer", "inner"} do
      fails(channels, function(t)
        ncc.collective_permute_implicit {dsts_by_channel = {{t}}, replica_group = {{0}}, channel_ids = {0},
          srcs_by_channel = srcs == "outer" and {{t}, also = {t}} or {{t, also = t}}}
      end)
    end
    fails("ncc.all_reduce: parameter 'replica_group' must be an ncc.ReplicaGroup or a list of lists of ranks",
      function(t) ncc.all_reduce {srcs = {t}, dsts = {t}, op = nl.add, replica_group = {{0, last = 1}}} end)
    local a = nd.ones {2, 3} -- a tuple is a kernel argument, no list of axes
    assert.error_matches(function() a:sum(nki.tuple {1}) end, "array:sum: parameter 'axis' must be an axis or a list",
      nil, true)
    fails("nl.num_programs: parameter 'axes' must be an axis or a list of axes", function()
      nl.num_programs(nki.tuple {0, 1})
    end)
    assert.error_matches(function() a:sum {axis = {0, also = 1}} end,
      "array:sum: parameter 'axis' must be an axis or a list of axes", nil, true)
    assert.error_matches(function() a:transpose {1, 0, also = 1} end,
      "array:transpose: parameter 'axes' must be a list of axes", nil, true)
    local grown = {}
    for k = 9, 1, -1 do grown[k] = k == 1 and 4 or nil end -- an entry that Lua keeps among the keys
    grown[2] = 8
    kernel.trace(function() nl.zeros(grown, nl.float32) end)
  end)

  it("floats with integral values are integers", function()
    same_ir(function(t) nl.max(t, 1) end, function(t) nl.max(t, 2 / 2) end)
    same_ir(function() nl.zeros({16, 4}, nl.int8) end, function() nl.zeros({32 / 2, 4.0}, nl.int8) end)
    assert.truthy(kernel.error_of(function(t) nl.max(t, 1.5) end):find("an integer, got the number 1.5", 1, true))
  end)

  -- {what, id, text, body}
  local faults = {
    {"an unknown keyword", "err_bind_unknown", "did you mean 'axis'?", function(t) nl.max(t, {axi = 1}) end},
    {"an unknown keyword of nisa", "err_bind_unknown", "did you mean 'data1'?",
      function(t) nisa.tensor_tensor {dst = t, data = t} end},
    {"an unknown keyword of the Lua half", "err_bind_unknown", "did you mean 'axis'?",
      function(t) nl.softmax(t, {axs = 1}) end},
    {"a surplus argument", "err_bind_surplus", "nl.exp: too many arguments: at most 2, got 3",
      function(t) nl.exp(t, nl.float32, 1) end},
    {"a surplus argument of nisa", "err_bind_surplus", "nisa.reciprocal: too many arguments: at most 3, got 4",
      function(t) nisa.reciprocal(t, t, "n", 1) end},
    {"a surplus argument of the Lua half", "err_bind_surplus", "at most 4",
      function(t) nl.softmax(t, 1, nl.float32, nl.float32, 1) end},
    {"a missing argument", "err_bind_missing", "nl.add: parameter 'y' is required", function(t) nl.add(t) end},
    {"a missing keyword", "err_bind_missing", "nl.add: parameter 'y' is required", function(t) nl.add {x = t} end},
    {"a missing argument of nisa", "err_argument_missing", "nisa.tensor_tensor: op is required",
      function(t) nisa.tensor_tensor(t, t, t) end},
    {"a missing argument of the Lua half", "err_bind_missing", "nl.rms_norm: parameter 'w'",
      function(t) nl.rms_norm(t) end},
    {"one given twice", "err_bind_twice", "'x' is given twice", function(t) nl.add(t, t, {x = t}) end},
    {"one given twice to nisa", "err_bind_twice", "'dst' is given twice",
      function(t) nisa.memset(t, {dst = t, value = 0}) end},
    {"a list part beside names", "err_bind_mixed", "both a list part and named",
      function(t) nl.max(t, {1, axis = 1}) end},
    {"a list part beside names in nisa", "err_bind_mixed", "both a list part and named",
      function(t) nisa.memset {t, value = 0} end},
    {"a key that is no name", "err_bind_key", "has a boolean as a key",
      function(t) nisa.memset {[true] = 1, dst = t, value = 0} end},
    {"a wrong kind", "err_bind_kind", "nl.exp: parameter 'x' must be a tile, got the string 'x'",
      function() nl.exp "x" end},
    {"a number for a tile of nisa", "err_bind_kind", "parameter 'src' must be a tensor, got 3",
      function(t) nisa.tensor_copy(t, 3) end},
    {"a tile for a number", "err_bind_kind", "parameter 'value' must be a number", function(t) nisa.memset(t, t) end},
    {"a string for an enum", "err_bind_kind", "must be a member of nisa.engine, got the string",
      function(t) nisa.memset(t, 0, "vector") end},
    {"a member of another enum", "err_bind_kind", "must be a member of nisa.engine, got nisa.dge_mode",
      function(t) nisa.memset(t, 0, nisa.dge_mode.none) end},
    {"an activation for an operator", "err_bind_kind", "must be an operator",
      function(t) nisa.tensor_tensor(t, t, t, nl.exp) end},
    {"an operator for an activation", "err_bind_kind", "must be an activation",
      function(t) nisa.activation(t, nl.add, t) end},
    {"a number for a flag", "err_bind_kind", "must be true or false, got 1",
      function(t) nisa.tensor_scalar(t, t, nl.add, 1, 1) end},
    {"a list for an integer", "err_bind_kind", "must be an integer", function(t) nisa.iota(t, {{1, 64}}, {1}) end},
    {"a wrong pattern", "err_bind_kind", "{step, num} pairs", function(t) nisa.iota(t, {1, 64}) end},
    {"a dtype that does not exist", "err_unknown_dtype", "did you mean 'float32'?",
      function(t) nl.exp(t, "flaot32") end},
    {"a table that is an object", "err_bind_kind", "parameter 'dtype' must be a dtype",
      function(t) nl.exp(t, setmetatable({dtype = "float32"}, {})) end},
    {"a name with a NUL", "err_bind_kind", "UTF-8 text without NUL",
      function(t) nisa.memset {dst = t, value = 0, name = "a\0b"} end},
  }
  for _, case in ipairs(faults) do
    it("refuses " .. case[1], function()
      local e = kernel.error_of(case[4])
      assert.equal(case[2], e.id, tostring(e))
      assert.truthy(e:find(case[3], 1, true), tostring(e))
      assert.truthy(e:find("binder_spec.lua:%d+"), "the line: " .. tostring(e))
    end)
  end

  it("label instructions with name=", function()
    local art = kernel.trace(function(t) nisa.memset {dst = t, value = 0, name = "clear"} end)
    assert.truthy(art.ir:find('name = "clear"', 1, true))
  end)

  it("leave nothing behind when refused", function()
    local clean = kernel.trace(function(t) nl.exp(t) end)
    local after = kernel.trace(function(t)
      assert.is_false(pcall(nisa.tensor_copy, t, nl.add))
      assert.is_false(pcall(nisa.tensor_tensor, t, t, t))
      nl.exp(t)
    end)
    assert.same(kernel.ops(clean), kernel.ops(after))
  end)
end)

describe("outside a kernel", function()
  it("nl and nisa functions say so and name themselves", function()
    local ok, e = pcall(nl.zeros, {1, 1}, nl.float32)
    assert.is_false(ok)
    assert.equal("err_nki_api_outside_of_nki_kernel", e.id)
    assert.truthy(e:find("nl.zeros", 1, true))
    ok, e = pcall(nisa.memset)
    assert.is_false(ok)
    assert.truthy(e:find("nisa.memset", 1, true))
    ok, e = pcall(nl.softmax)
    assert.is_false(ok)
    assert.equal("err_nki_api_outside_of_nki_kernel", e.id)
    assert.truthy(e:find("nl.softmax", 1, true))
    ok, e = pcall(function() nl.affine_range(3) end)
    assert.is_false(ok)
    assert.truthy(e:find("nl.affine_range", 1, true))
  end)
end)
