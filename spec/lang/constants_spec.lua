-- Limits, engines and constructors: the values that kernels read and no instruction tests.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

-- f's result inside a kernel for a target.
local function inside(target, f)
  local got
  nki.jit(function(a)
    got = f(a)
    local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
    nl.store(out, nl.load(a))
    return out
  end, {platform_target = target}):specialize(nki.decl({4, 4}, nl.float32))
  return got
end

describe("nl.tile_size", function()
  local fields = {"pmax", "psum_fmax", "psum_bank_fmax", "psum_bank_fmax_bytes", "gemm_stationary_fmax",
    "gemm_moving_fmax", "bn_stats_fmax", "psum_min_align", "sbuf_min_align", "psum_num_banks", "sbuf_size_bytes",
    "sbuf_fmax", "sbuf_fmax_bytes", "total_available_sbuf_size"}
  -- usable bytes of a partition are what a kernel may count on; the capacity is physical
  local bytes = {trn1 = {196608, 180224}, trn2 = {229376, 212984}, trn3 = {262144, 245752}}
  for target, b in pairs(bytes) do
    it("has the limits of " .. target, function()
      local got = inside(target, function()
        local t = {}
        for _, name in ipairs(fields) do
          t[name] = nl.tile_size[name]
          assert(nl._TileSize[name] == t[name])
        end
        return t
      end)
      assert.same({pmax = 128, psum_fmax = 512, psum_bank_fmax = 512, psum_bank_fmax_bytes = 2048,
        gemm_stationary_fmax = 128, gemm_moving_fmax = 512, bn_stats_fmax = 512, psum_min_align = 4,
        sbuf_min_align = 4, psum_num_banks = 8, sbuf_size_bytes = b[1] * 128, sbuf_fmax = b[2] // 4,
        sbuf_fmax_bytes = b[2], total_available_sbuf_size = b[2]}, got)
    end)
  end
end)

describe("nisa's values", function()
  it("name engines twice", function()
    for _, name in ipairs {"tensor", "vector", "scalar", "gpsimd", "unknown"} do
      assert.equal(nisa.engine[name], nisa[name .. "_engine"])
    end
    assert.equal(nisa.engine.tensor, nisa.tensor_engine)
    assert.equal(nisa.engine.scalar, nisa.scalar_engine)
    assert.equal(nisa.engine.gpsimd, nisa.gpsimd_engine)
    assert.equal(nisa.engine.unknown, nisa.unknown_engine)
    assert.not_equal(nisa.engine.unknown, nisa.dge_mode.unknown)
  end)

  it("have NKI's numbers", function()
    assert.same({0, 1, 2, 3, 4, 5, 6}, {nisa.engine.unknown.value, nisa.engine.tensor.value, nisa.engine.scalar.value,
      nisa.engine.gpsimd.value, nisa.engine.dma.value, nisa.engine.vector.value, nisa.engine.sync.value})
    assert.same({0, 1, 2, 3}, {nisa.dge_mode.unknown.value, nisa.dge_mode.swdge.value, nisa.dge_mode.hwdge.value,
      nisa.dge_mode.none.value})
    assert.same({2, 3, 4}, {nisa.nc_version.gen2.value, nisa.nc_version.gen3.value, nisa.nc_version.gen4.value})
  end)
end)

describe("a class's __init__", function()
  it("is what a call does", function()
    assert.same({4, 4}, inside("trn2", function()
      local t = nl.NkiTensor.__init__({4, 4}, nl.float32)
      return {t.shape:unpack()}
    end))
    local r = inside("trn2", function()
      return nisa.VirtualRegister.isinstance(nisa.VirtualRegister.__init__(3))
    end)
    assert.is_true(r)
    assert.is_true(inside("trn2", function(a)
      local ins = nisa.memset(nl.ndarray(a.shape, a.dtype), 0.0)
      return nisa.NkiInstruction.__init__(ins) == ins
    end))
  end)

  it("may be a class's own", function()
    local Point = nl.NKIObject:extend {x = 0}
    function Point.__init__(self, fields)
      nl.NKIObject.__init__(self, fields)
      rawset(self, "double", 2 * self.x)
      return self
    end
    assert.equal(6, Point({x = 3}).double)
  end)
end)
