-- NKI_PRECISE_FP=0 keeps narrow floats as float32 between instructions; 1, like nothing, rounds at every one.
local build = require "spec.support.build"

-- For each narrow type: z = x * 1.1 + x in two steps, and the sum of z, as values.
local chain = [[
  local nki, nl, nisa, nd = require "nki", require "nki.language", require "nki.isa", require "nki.ndarray"
  local oracle, mode = nd.load "spec/oracles/data/precise_fp.npz", os.getenv "NKI_PRECISE_FP"
  for _, dtype in ipairs {"bfloat16", "float16", "tfloat32", "float8_e4m3", "float8_e5m2", "float8_e4m3fn"} do
    local z, s = nki.jit(function(a)
      local x = nl.load(a)
      local function tile(n) return nl.ndarray({4, n}, dtype) end
      local y, z, s = tile(32), tile(32), tile(1)
      nisa.tensor_scalar {dst = y, data = x, op0 = nl.multiply, operand0 = 1.1}
      nisa.tensor_tensor {dst = z, data1 = y, data2 = x, op = nl.add}
      nisa.tensor_reduce(s, nl.add, z, 1)
      local out = {}
      for i, t in ipairs {z, s} do
        out[i] = nl.ndarray(t.shape, dtype, {buffer = nl.shared_hbm})
        nl.store(out[i], t)
      end
      return out[1], out[2]
    end, {platform_target = "trn2"})(oracle[dtype .. "_x"]:astype(dtype))
    local same = z:astype "float32" == oracle[dtype .. "_z" .. mode] and
       s:astype "float32" == oracle[dtype .. "_s" .. mode]
    print(dtype, same)
  end]]

-- Every instruction by itself, on inputs whose NaN have no payload: "instruction variant dtypes checksum" lines.
local single = [[
  local numbers = require "spec.support.numbers"
  numbers.no_payloads = true
  local instructions, wanted = numbers.instructions(), numbers.wanted()
  for _, file in ipairs {"elementwise", "others"} do
    for name, row in pairs(require("spec.numbers." .. file)) do
      for turn, variant in ipairs(row.variants) do
        local job = {op = instructions[name], row = row, variant = variant, target = "trn3", turn = turn}
        for key, sum in pairs((numbers.compute(job, wanted[name .. " " .. variant .. " trn3"] or {}))) do
          if sum then
            print(name, variant, key, sum)
          end
        end
      end
    end
  end]]

local function lines(mode)
  local r = build.run {"-e", single, env = "NKILUA_NUMBERS=few NKI_PRECISE_FP=" .. mode}
  assert(r.code == 0, r.err)
  local set = {}
  for line in r.out:gmatch "[^\n]+" do
    set[line] = true
  end
  return set
end

describe("NKI_PRECISE_FP", function()
  for _, mode in ipairs {"0", "1"} do
    it("rounds where the oracle does: " .. mode, function()
      local r = build.run {"-e", chain, env = "NKI_PRECISE_FP=" .. mode}
      assert(r.code == 0, r.err)
      assert.equal(6, select(2, r.out:gsub("true", "")), r.out)
    end)
  end

  it("changes no single instruction but the movement of 8-bit floats to 16-bit ones", function()
    local precise, imprecise, count = lines "1", lines "0", 0
    for line in pairs(precise) do
      count = count + 1
      assert(imprecise[line] or line:find "^nc_matmul\tturned\tfloat8", line)
    end
    assert(count > 400, count)
  end)
end)
