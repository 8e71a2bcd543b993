-- indirect_refusals.lua: what no indirect view may be: {id, text, f, target (trn3 when absent)}, as case.reject takes
-- them.
local nl, nisa = require "nki.language", require "nki.isa"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function at(P, K) return sb({P, K}, nl.uint16) end
local function written(P, K)
  local t = at(P, K)
  nisa.memset(t, 0)
  return t
end
local function index(P_, K_) return written(P_ or 32, K_ or 1) end
local function copy(t) nisa.tensor_copy(sb {t.shape[0], t.shape[1]}, t) end
return {
  {"err_op_generation", "NkiTensor.indirect needs gen4 or later; trn2 is gen3",
   function() return sb {32, 8}:indirect(index()) end, "trn2"},
  {"err_op_generation", "trn1 is gen2", function() return sb {32, 8}:indirect(index()) end, "trn1"},
  {"err_unsupported_memory", "self must be in sbuf or psum", function() return hbm {32, 8}:indirect(index()) end},
  {"err_unsupported_memory", "index must be in sbuf", function()
    return sb {32, 8}:indirect(ps({32, 1}, nl.uint16))
  end},
  {"err_unsupported_dtype", "index is", function() return sb {32, 8}:indirect(sb({32, 1}, nl.int32)) end},
  {"err_indirect_index", "must have the 32 partitions", function() return sb {32, 8}:indirect(index(64)) end},
  {"err_indirect_index", "be 1 to 32, not 33", function() return sb {32, 8}:indirect(index(), 33) end},
  {"err_bind_value", "num_elem", function() return sb {32, 8}:indirect(index(), 0) end},
  {"err_view_indirect_run", "must follow each other", function()
    return sb {32, 8}[{{}, {0, 8, 2}}]:indirect(index(), 4)
  end},
  {"err_bind_kind", "index", function() return sb {32, 8}:indirect(3) end},
  -- 32 numbers, groups of 16: 16 to a column
  {"err_indirect_count", "src picks 32 elements; engine vector takes number i from row i mod 16",
   function() copy(sb {32, 8}:indirect(index())) end},
  {"err_indirect_count", "has 8 there", function() copy(sb {40, 8}:indirect(index(40), 9)) end},
  {"err_indirect_operand", "data2 is an indirect view: this parameter takes none", function()
    nisa.tensor_tensor(sb {32, 4}, sb {32, 4}, sb {32, 8}:indirect(index(), 4), nl.add)
  end},
  {"err_indirect_operand", "this parameter takes none", function()
    nisa.reciprocal(sb {32, 4}, sb {32, 8}:indirect(index(), 4))
  end},
  {"err_indirect_operand", "engine must be vector or scalar", function()
    nisa.tensor_copy {dst = sb {32, 4}, src = sb {32, 8}:indirect(index(), 4), engine = nisa.engine.gpsimd}
  end},
  {"err_indirect_operand", "not with int32 or uint32 on both sides", function()
    nisa.tensor_scalar(sb({32, 4}, nl.int32), sb({32, 8}, nl.int32):indirect(index(), 4), nl.add, 1)
  end},
  {"err_indirect_operand", "the Scalar engine scatters into sbuf only", function()
    nisa.activation {dst = ps {32, 8}:indirect(index(), 4), op = nl.exp, data = sb {32, 4}}
  end},
  {"err_indirect_operand", "moving is an indirect view: not with is_transpose", function()
    local eye = sb({32, 32}, nl.bfloat16)
    nisa.nc_matmul {dst = ps({32, 4}, nl.bfloat16), stationary = eye, is_transpose = true,
                    moving = sb({32, 8}, nl.bfloat16):indirect(index(), 4)}
  end},
  {"err_indirect_operand", "tile_position must be (0, 0)", function()
    nisa.nc_matmul {dst = ps {32, 4}, stationary = sb({32, 32}, nl.bfloat16), tile_position = {32, 0},
                    tile_size = {32, 128}, moving = sb({32, 8}, nl.bfloat16):indirect(index(), 4)}
  end},
  {"err_indirect_operand", "it must be float16, bfloat16 or an 8-bit float", function()
    nisa.nc_matmul(ps {32, 4}, sb {32, 32}, sb {32, 8}:indirect(index(), 4))
  end},
  {"err_indirect_operand", "moving or its scale is an indirect view: both are", function()
    local q = sb({32, 8}, nl.float8_e4m3fn_x4)
    nisa.nc_matmul_mx {dst = ps {8, 4}, stationary = q, stationary_scale = sb({32, 8}, nl.uint8),
                       moving = q:indirect(index(), 4), moving_scale = sb({32, 4}, nl.uint8)}
  end},
  {"err_indirect_operand", "stationary or its scale", function()
    local q, sc = sb({32, 8}, nl.float8_e4m3fn_x4), sb({32, 8}, nl.uint8)
    nisa.nc_matmul_mx {dst = ps {4, 8}, stationary = q:indirect(index(), 4), moving = q, moving_scale = sc,
                       stationary_scale = sc:indirect(index(), 4)}
  end},
  {"err_indirect_start", "src begins at partition 32 and must begin at partition 0, as its index", function()
    copy(sb {64, 8}[{{32, 64}}]:indirect(index(), 4))
  end},
  {"err_indirect_start", "the index of src begins at partition 4 and must begin at a multiple of 32", function()
    copy(sb {64, 8}[{{0, 32}}]:indirect(written(64, 1)[{{4, 36}}], 4))
  end},
  {"err_indirect_start", "the index of dst begins at partition 0 and must begin at partition 32, as the input",
   function() nisa.tensor_copy(sb {32, 8}:indirect(index(), 4), sb {64, 4}[{{32, 64}}]) end},
  {"err_indirect_start", "the index of dst begins at partition 32 and must begin at partition 0, as the input",
   function()
    local big = written(64, 1)
    nisa.tensor_copy(sb {32, 8}:indirect(big[{{32, 64}}], 4), ps {32, 8}:indirect(big[{{0, 32}}], 4))
  end},
}
