-- The same numbers on every vector width: plain C, AVX2 and AVX-512 give the same bytes, and those of the oracle.
local build = require "spec.support.build"

local widths = {"generic", "avx2", "avx512"} -- one that the processor lacks stands for the best it has

-- Prints the bytes of what it computes in hexadecimal: functions, sums of long rows, products, random numbers.
local script = [[
  local nki, nl, nisa, nd = require "nki", require "nki.language", require "nki.isa", require "nki.ndarray"
  local function out(t)
    local o = nl.ndarray(t.shape, t.dtype, {buffer = nl.shared_hbm})
    nl.store(o, t.buffer == nl.psum and nl.copy(t) or t)
    return o
  end
  local x = nd.random.normal({37, 1003}, {seed = 3, dtype = "float32"})
  local results = table.pack(nki.jit(function(x)
    local t, r = nl.load(x), {}
    for _, f in ipairs {"exp", "tanh", "sigmoid", "gelu", "silu", "softplus", "erf", "mish", "gelu_dx"} do
      r[#r + 1] = out(nl[f](t))
    end
    for _, f in ipairs {"sin", "cos", "tan", "floor"} do
      r[#r + 1] = out(nl[f](t * 40.0))
    end
    for _, op in ipairs {nl.add, nl.multiply, nl.maximum, nl.logical_xor} do
      local s = nl.ndarray({37, 1}, nl.float32)
      nisa.tensor_reduce(s, op, t, 1)
      r[#r + 1] = out(s)
    end
    local product = nl.ndarray({101, 301}, nl.float32, {buffer = nl.psum})
    nisa.nc_matmul {dst = product, stationary = t["0:37, 0:101"], moving = t["0:37, 101:402"]}
    r[#r + 1] = out(product)
    local bits, kept = nl.ndarray({37, 999}, nl.uint32), nl.ndarray({37, 1003}, nl.float32)
    nisa.rng(bits)
    nisa.dropout(kept, t, 0.3)
    r[#r + 1], r[#r + 2] = out(bits), out(kept)
    for _, dtype in ipairs {"bfloat16", "float16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn", "int8", "uint16"} do
      r[#r + 1] = out(nl.copy(t * 37.0, {dtype = dtype}))
    end
    return table.unpack(r)
  end, {platform_target = "trn2"})(x))
  for _, r in ipairs(results) do
    print((r:bytes():gsub(".", function(c) return ("%02x"):format(c:byte()) end)))
  end]]

describe("every vector width", function()
  it("gives the same bytes", function()
    local first
    for _, isa in ipairs(widths) do
      local r = build.run {"-e", script, env = "NKILUA_ISA=" .. isa}
      assert(r.code == 0, r.err)
      assert(#r.out > 1000000, "too little was computed")
      first = first or r.out
      assert(r.out == first, isa .. " computes other bytes than " .. widths[1])
    end
  end)

  for _, isa in ipairs(widths) do
    it("gives the oracle's numbers: " .. isa, function()
      local r = build.run {"test", "spec/numbers_spec.lua", "spec/numbers_near_spec.lua",
                           env = "NKILUA_NUMBERS=few NKILUA_ISA=" .. isa}
      assert(r.code == 0, r.out)
    end)
  end
end)
