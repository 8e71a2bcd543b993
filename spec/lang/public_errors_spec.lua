-- The error ids that NKI's documents list: each is raised by the situation it describes, or docs/lua-hazards.md names
-- it with the lint rule that stands in for it.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local kernel = require "spec.support.kernel"
local raises = require "spec.support.raises"

local trn2 = {platform_target = "trn2", func_name = "k"}

local function hbm(shape, name) return nl.ndarray(shape, nl.float32, {buffer = nl.private_hbm, name = name}) end
local function p(n) return nl.arange(n)[":, None"] end
local function f(n) return nl.arange(n)["None, :"] end

-- A whole kernel, traced.
local function kernel_of(body, opts)
  return function() nki.jit(body, opts or trn2):specialize(nki.decl({128, 64}, nl.float32)) end
end

-- The body of a kernel that has a 128 x 64 tile and the output.
local function body(fn, dims)
  return function() kernel.trace(fn, dims) end
end

local function out_of(a) return nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm}) end

-- id -> {text, f} of what must raise it
local raised = {
  err_1d_arange_not_supported = {"give it axes", body(function(t) return t[{nl.arange(128), f(4)}] end)},
  err_annotation_shape_mismatch = {"does not have the shape {128, 65}", body(function(t) t:assert_shape {128, 65} end)},
  err_activation_bias_invalid_type = {"bias is", body(function(t)
    nisa.activation {dst = t, op = nl.exp, data = t, bias = nl.ndarray({128, 1}, nl.tfloat32)}
  end)},
  err_activation_scale_invalid_type = {"scale is", body(function(t)
    nisa.activation {dst = t, op = nl.exp, data = t, scale = nl.zeros({128, 1}, nl.bfloat16)}
  end)},
  err_activation_scale_scalar_or_vector = {"one value per partition", body(function(t)
    nisa.activation {dst = t, op = nl.exp, data = t, scale = t}
  end)},
  err_cannot_assign_to_index = {"nisa.iota makes", body(function() p(4)[0] = 1 end)},
  err_control_flow_condition_depending_on_arange = {"nl.less(i, n)", body(function(t) return f(4) < 2 and t end)},
  err_copy_dynamic_indirect_indices_not_natively_supported = {"tensor_copy_dynamic_src", body(function(t)
    return t[{nl.zeros({128, 1}, nl.int32), f(4)}]
  end)},
  err_dynamic_control_flow_not_supported = {"a tile cannot be compared by Lua", body(function(t)
    return t < t and t
  end)},
  err_exceed_max_supported_dimension = {"nl.transpose: parameter 'x', tile", body(function(t)
    return nl.transpose(t:reshape {128, 8, 8})
  end)},
  err_failed_to_infer_tile_from_local_tensor = {"dimension 0 of the result", body(function(t)
    return t[{f(64), p(64)}]
  end)},
  err_hbm_tensor_with_init_value_not_supported = {"nl.full", body(function()
    nl.full({4, 4}, 1.0, nl.float32, {buffer = nl.hbm})
  end)},
  err_indirect_indices_are_not_supported_with_nki_api = {"nl.load_transpose2d: src is", body(function()
    nl.load_transpose2d(hbm({64, 32}):vector_select(0, nl.zeros({16, 1}, nl.int32)))
  end)},
  err_indirect_indices_free_dim = {"only axis 0", body(function()
    return nl.load(hbm({64, 32})[{p(16), nl.zeros({16, 1}, nl.int32)}])
  end)},
  err_leading_dimension_of_tensor_must_be_partition = {"of a block axis", body(function()
    return nl.ndarray({2, nl.par_dim(128), 8}, nl.float32)[{{0, 2}}]
  end)},
  err_local_variable_used_out_of_scope = {"is used outside the device loop", kernel_of(function(a)
    local inner
    nl.fori_loop(0, 4, function() inner = nl.load(a) end)
    local out = out_of(a)
    nl.store(out, inner)
    return out
  end)},
  err_mutable_parameter_not_returned = {"parameter 'a' is written but not returned", kernel_of(function(a)
    local out = out_of(a)
    nl.store(out, nl.load(a))
    nl.store(a, nl.load(a))
    return out
  end)},
  err_nested_kernel_with_spmd_grid = {"is called with a grid inside", kernel_of(function(a)
    return nki.jit(function(x) return x end)[2](a)
  end)},
  err_nki_api_outside_of_nki_kernel = {"nl.load is only available inside a kernel", function() nl.load(1) end},
  err_num_partition_exceed_arch_limit = {"129", body(function() nl.ndarray({129, 4}, nl.float32) end)},
  err_num_partition_mismatch = {"the same number of partitions", body(function(t)
    return t + nl.zeros({64, 64}, nl.float32)
  end)},
  err_shared_hbm_must_in_kernel_level = {"inside a device loop", body(function(t)
    nl.fori_loop(0, 4, function() out_of(t) end)
  end)},
  err_size_of_dimension_exceed_arch_limit = {"the limit is", body(function(t)
    nisa.nc_matmul(nl.ndarray({128, 128}, nl.float32, {buffer = nl.psum}), nl.zeros({128, 129}, nl.float32), t)
  end)},
  err_store_dst_shape_smaller_than_other_shape = {"dst has 256 elements and value has 8192", body(function(t)
    t[{{}, {0, 2}}] = t
  end)},
  err_tensor_access_out_of_bound = {"a mask can bound it", body(function(t) return nl.copy(t[{p(128), f(65)}]) end)},
  err_tensor_creation_on_scratchpad_with_init_value_not_supported = {"nl.zeros: a tensor placed by address=",
    body(function()
    nl.zeros({4, 4}, nl.float32, {address = {0, 0}})
  end)},
  err_tensor_output_not_written_to = {"is never stored to", kernel_of(function(a) return out_of(a) end)},
  err_unsupported_expression_in_mask = {"operator %", body(function(t)
    return nl.exp(t, {mask = nl.less(p(128) % 4, 2)})
  end)},
  err_unsupported_memory = {"nl.load: src must be in hbm", body(function(t) return nl.load(t) end)},
  err_unsupported_mixing_basic_advanced_tensor_indexing = {"a slice", body(function(t) return t[{p(128), ":"}] end)},
}

-- Named in docs/lua-hazards.md with their rules.
local linted = {"err_ambiguous_tensor_truth_value", "err_bias_tensor_must_be_specified_in_allocation",
  "err_cannot_update_immutable_parameter", "err_read_modify_write_on_kernel_parameter",
  "err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel", "err_unexpected_output_dependencies",
  "err_while_loop_requires_unconditional_entry"}

describe("NKI's error", function()
  local ids = {}
  for id in pairs(raised) do ids[#ids + 1] = id end
  table.sort(ids)
  for _, id in ipairs(ids) do
    it(id .. " is raised by what it describes", function() raises(id, raised[id][1], raised[id][2]) end)
  end

  local file <close> = assert(io.open("docs/lua-hazards.md"))
  local page = file:read "a"
  for _, id in ipairs(linted) do
    it(id .. " has a lint rule instead", function()
      assert.truthy(page:find("| `" .. id .. "` | [^|]+ | `lint_[%w_]+` |"))
    end)
  end

  it("list has its 37 names and the one of 2.20", function() assert.equal(38, #ids + #linted + 1) end)
end)
