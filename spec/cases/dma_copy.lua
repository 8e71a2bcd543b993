-- nisa.dma_copy
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local function shared(shape, dtype) return nl.ndarray(shape, dtype or nl.float32, {buffer = nl.shared_hbm}) end
local function rows(n) return nl.ndarray({n, 1}, nl.int32) end

local x = nd.array {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
local inf = math.huge
return {
  accept = {
    {"hbm to sbuf, sbuf to hbm, hbm to hbm, sbuf to sbuf", function()
      local h, s = hbm {4, 8}, sb {4, 8}
      nisa.dma_copy(s, h)
      nisa.dma_copy(h, s)
      nisa.dma_copy(hbm {4, 8}, h)
      nisa.dma_copy(sb {4, 8}, s)
    end},
    {"another order of axes and another shape of the same size", function()
      nisa.dma_copy(sb {8, 4}, hbm {4, 8}:permute {1, 0})
      nisa.dma_copy(sb {2, 16}, hbm {4, 8})
    end},
    {"a broadcast source", function() nisa.dma_copy(sb {128, 8}, hbm {1, 8}:broadcast(0, 128)) end},
    {"packed elements as they are", target = "trn3", function()
      nisa.dma_copy(sb({4, 8}, nl.float8_e4m3fn_x4), hbm({4, 8}, nl.float8_e4m3fn_x4))
    end},
    {"queues and priorities of later chips", target = "trn3", function()
      nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, priority = 3, engine = nisa.engine.scalar,
        dge_mode = nisa.dge_mode.hwdge}
      nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, engine = nisa.engine.gpsimd, dge_mode = nisa.dge_mode.swdge}
    end},
    {"skipping rows that do not exist", function()
      nisa.dma_copy {dst = sb {4, 8}, src = hbm {9, 8}:vector_select(0, rows(4)), oob_mode = nisa.oob_mode.skip}
    end},
  },
  reject = {
    {"err_store_dst_shape_smaller_than_other_shape", "dst has 24 elements and src has 32", rule = "total_count",
     function() nisa.dma_copy(sb {4, 6}, hbm {4, 8}) end},
    {"err_num_elements_mismatch", "dst has 32 elements and src has 24", rule = "total_count",
     function() nisa.dma_copy(sb {4, 8}, hbm {4, 6}) end},
    {"err_unsupported_memory", "dst must be in sbuf", function() nisa.dma_copy(ps {4, 8}, hbm {4, 8}) end},
    {"err_unsupported_memory", "src must be in sbuf", function() nisa.dma_copy(hbm {4, 8}, ps {4, 8}) end},
    {"err_dtype_mismatch", "packed and scale types do not convert", target = "trn3",
     function() nisa.dma_copy(sb {4, 8}, hbm({4, 8}, nl.float8_e4m3fn_x4)) end},
    {"err_instruction_invalid", "only one of dst and src may have a vector offset", function()
      nisa.dma_copy(hbm {9, 8}:vector_select(0, rows(4)), hbm {9, 8}:vector_select(0, rows(4)))
    end},
    {"err_argument_value", "oob_mode is skip; it needs a view with a run-time offset",
     function() nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, oob_mode = nisa.oob_mode.skip} end},
    {"err_argument_value", "dge_mode is none; a view with a run-time offset needs swdge or hwdge", function()
      nisa.dma_copy {dst = sb {4, 8}, src = hbm {9, 8}:vector_select(0, rows(4)), dge_mode = nisa.dge_mode.none}
    end},
    {"err_argument_value", "dge_mode is hwdge; a vector offset needs swdge", target = "trn2", function()
      nisa.dma_copy {dst = sb {4, 8}, src = hbm {9, 8}:vector_select(0, rows(4)), dge_mode = nisa.dge_mode.hwdge}
    end},
    {"err_dtype_mismatch", "dge_mode hwdge", target = "trn2",
     function() nisa.dma_copy {dst = sb({4, 8}, nl.bfloat16), src = hbm {4, 8}, dge_mode = nisa.dge_mode.hwdge} end},
    {"err_argument_generation", "dge_mode hwdge needs gen3",
     function() nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, dge_mode = nisa.dge_mode.hwdge} end},
    {"err_argument_generation", "priority needs gen4",
     function() nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, priority = 1} end},
    {"err_argument_range", "priority is 4; legal is 0..3", target = "trn3",
     function() nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, priority = 4} end},
    {"err_engine_set", "engine vector is not one of scalar, sync, gpsimd",
     function() nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, engine = nisa.engine.vector} end},
    {"err_argument_value", "engine is gpsimd; it issues transfers with dge_mode swdge only", target = "trn2", function()
      nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, engine = nisa.engine.gpsimd, dge_mode = nisa.dge_mode.hwdge}
    end},
    {"err_argument_value", "engine is scalar; it issues transfers with dge_mode hwdge only", target = "trn2", function()
      nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, engine = nisa.engine.scalar, dge_mode = nisa.dge_mode.swdge}
    end},
    {"err_argument_generation", "engine scalar or sync needs gen3",
     function() nisa.dma_copy {dst = sb {4, 8}, src = hbm {4, 8}, engine = nisa.engine.sync} end},
    {"err_view_vector_memory", "a vector offset needs a tensor in hbm",
     function() nisa.dma_copy(hbm {4, 8}, sb {9, 8}:vector_select(0, rows(4))) end},
    {"err_view_vector_column", "must be integers of shape (P,1) in sbuf",
     function() nisa.dma_copy(sb {4, 8}, hbm {9, 8}:vector_select(0, sb {4, 1})) end},
  },
  numeric = {
    {"row-major order of each view", {x}, hbm = true, function(h)
      local out, columns = shared {9}, shared {3, 3}
      nisa.dma_copy(out, h)
      nisa.dma_copy(columns, h:permute {1, 0})
      return out, columns
    end, {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}}},
    {"conversions through f32", {nd.array {{0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 300, -129, inf, -inf, 0 / 0}}},
     hbm = true, function(h)
      local ints, bytes, halves = shared(h.shape, nl.int8), shared(h.shape, nl.uint8), shared(h.shape, nl.bfloat16)
      nisa.dma_copy(ints, h)
      nisa.dma_copy(bytes, h)
      nisa.dma_copy(halves, h)
      return ints, bytes, halves
    end, {nd.array({{0, 2, 2, 0, -2, 127, 127, -128, 127, -128, 0}}, "int8"),
      nd.array({{0, 2, 2, 0, 0, 128, 255, 0, 255, 0, 0}}, "uint8"),
          nd.array({{0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 300, -129, inf, -inf, 0 / 0}}, "bfloat16")}},
    {"int32 to int32 exactly", {nd.array({{16777217, -2147483647}}, "int32")}, hbm = true, function(h)
      local out = shared(h.shape, nl.int32)
      nisa.dma_copy(out, h)
      return out
    end, {nd.array({{16777217, -2147483647}}, "int32")}},
    {"a broadcast row", {nd.array {{1, 2}}}, hbm = true, function(h)
      local out = shared {3, 2}
      nisa.dma_copy(out, h:broadcast(0, 3))
      return out
    end, {{{1, 2}, {1, 2}, {1, 2}}}},
    {"gathered rows, in any order, twice too", {x, nd.array({{2}, {0}, {2}, {1}}, "int32")}, hbm = true,
     function(h, idx)
      local out, s = shared {4, 3}, sb {4, 3}
      nisa.dma_copy(s, h:vector_select(0, nl.load(idx)))
      nl.store(out, s)
      return out
    end, {{{7, 8, 9}, {1, 2, 3}, {7, 8, 9}, {4, 5, 6}}}},
    {"scattered rows; the others keep their values", {x, nd.array({{4}, {0}, {2}}, "int32")}, hbm = true,
     function(h, idx)
      local out = shared {5, 3}
      nl.store(out, nl.zeros({5, 3}, nl.float32))
      nisa.dma_copy(out:vector_select(0, nl.load(idx)), nl.load(h))
      return out
    end, {{{4, 5, 6}, {0, 0, 0}, {7, 8, 9}, {0, 0, 0}, {1, 2, 3}}}},
    {"only rows that exist, when told to skip the others", {x, nd.array({{1}, {3}, {-1}, {0}}, "int32")}, hbm = true,
     function(h, idx)
      local out, s = shared {4, 3}, nl.zeros({4, 3}, nl.float32)
      nisa.dma_copy {dst = s, src = h:vector_select(0, nl.load(idx)), oob_mode = nisa.oob_mode.skip}
      nl.store(out, s)
      return out
    end, {{{4, 5, 6}, {0, 0, 0}, {0, 0, 0}, {1, 2, 3}}}},
    {"in place, all reads before the writes", {nd.array {1, 2, 3, 4}}, hbm = true, function(h)
      local out = shared {4}
      nisa.dma_copy(out, h)
      nisa.dma_copy(out[{{1, 4}}], out[{{0, 3}}])
      return out
    end, {{1, 1, 2, 3}}},
  },
}
