-- Functions that no library computes to the same bit, for every combination of dtypes: the float32 result is near
-- float64's (spec/oracles/near.py), and every other dtype is that result converted.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local testing = require "nki.testing"
local numbers = require "spec.support.numbers"

local instructions = numbers.instructions()
local wanted = nd.load "spec/oracles/data/numbers.near.npz"

-- issue(data, dst) issues the instruction; job: {targets =, data = dtypes, dst = dtypes, pool =, member =, shape =}
local function check(job, issue)
  for i, dtype in ipairs(job.data) do
    local kernel = nki.jit(function(x, column)
      local data, outs = nl.load(x), {}
      column = nl.load(column)
      for k, to in ipairs(job.dst) do
        local dst = nl.ndarray(job.shape or {8, 8}, to)
        dst = issue(data, dst, column) or dst
        outs[k] = nl.ndarray(dst.shape, to, {buffer = nl.shared_hbm})
        nl.store(outs[k], dst)
      end
      return table.unpack(outs)
    end, {platform_target = job.targets[i % #job.targets + 1], func_name = "near", enable_cache = false})
    local results = table.pack(kernel(numbers.arrays[job.pool .. " " .. dtype], numbers.arrays["c float32"]))
    local exact
    for k, to in ipairs(job.dst) do
      exact = to == "float32" and results[k] or exact
    end
    local want = wanted[job.member .. "_" .. dtype]:reshape(exact.shape)
    testing.assert_allclose(exact, want, {rtol = job.rtol or 3e-7, atol = job.atol or 3e-8, equal_nan = true})
    for k, to in ipairs(job.dst) do
      assert(results[k]:bytes() == exact:astype(to):bytes(),
             ("%s of %s: %s is not the float32 result converted"):format(job.member, dtype, to))
    end
  end
end

local function job_of(name, source, member, rest)
  local tiles = instructions[name].tiles
  local job = {targets = numbers.targets, data = tiles[source], dst = tiles.dst, pool = "e", member = member}
  for k, v in pairs(rest or {}) do
    job[k] = v
  end
  return job
end

describe("nisa.activation computes", function()
  for name in ("sigmoid tanh exp gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid gelu_apprx_sigmoid_dx silu silu_dx " ..
               "softplus mish erf erf_dx log sin arctan"):gmatch "%S+" do
    local ranged = name == "log" or name == "sin" or name == "arctan"
    it(name, function()
      check(job_of("activation", "data", "act_" .. name, {pool = ranged and "r" or "e"}), function(x, dst)
        nisa.activation {dst = dst, op = nl[name], data = x}
      end)
    end)
  end
end)

describe("what is near float64's", function()
  for _, name in ipairs {"sin", "cos", "tan"} do
    it("nl." .. name, function()
      check(job_of("sim_unary", "data", "unary_" .. name), function(x, dst) return nl[name](x, {dtype = dst.dtype}) end)
    end)
  end

  it("power", function()
    check(job_of("tensor_scalar", "data", "power", {rtol = 1e-6}), function(x, dst)
      nisa.tensor_scalar {dst = dst, data = x, op0 = nl.power, operand0 = 1.3}
    end)
    check(job_of("tensor_tensor", "data1", "power", {rtol = 1e-6}), function(x, dst)
      local y = nl.ndarray({8, 8}, nl.float32)
      nisa.memset(y, 1.3)
      nisa.tensor_tensor {dst = dst, data1 = x, data2 = y, op = nl.power}
    end)
  end)

  it("exponential", function()
    check(job_of("exponential", "src", "exponential", {targets = {"trn3"}}), function(x, dst, column)
      nisa.exponential {dst = dst, src = x, max_value = column}
    end)
  end)

  it("the sum of exponential", function()
    local job = job_of("exponential", "src", "expsum", {targets = {"trn3"}, pool = "r", shape = {8, 1}, rtol = 1e-6})
    job.dst = instructions.exponential.tiles.reduce_res
    check(job, function(x, sum, column)
      nisa.exponential {dst = nl.ndarray({8, 8}, nl.float32), src = x, reduce_res = sum, reduce_init = column,
                        reduce_cmd = nisa.reduce_cmd.load_reduce}
    end)
  end)
end)
