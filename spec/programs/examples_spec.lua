-- The examples, each on its oracle's inputs (unequal sizes, partial last tiles): in this process, and through the
-- program, where `run` and `config | exec` must write the same bytes.
local nki, nd = require "nki", require "nki.ndarray"
local testing = require "nki.testing"
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local tree = require "spec.support.tree"
local trip = require "spec.support.trip"

local DATA = "spec/oracles/data/"

-- The parameters in order: a name (of an array in the file) or {name = constant}. bf16: arrays stored raw. tolerance
-- nil: the same bytes. ranks: it runs on so many, each of them with the file's x0, x1 ... for its first parameter.
local examples = {
  {"tensor_add", file = "tensor_add.npz", "a", "b"},
  {"matmul", file = "matmul_exact.npz", "lhsT", "rhs"},
  {"matmul", file = "matmul.near.npz", "lhsT", "rhs", bf16 = {lhsT = true, rhs = true},
   tolerance = {rtol = 2e-6, atol = 1e-5}},
  {"softmax", file = "softmax.near.npz", "x", tolerance = {rtol = 2e-6, atol = 1e-9}},
  {"rmsnorm", file = "rmsnorm.near.npz", "x", "w", tolerance = {rtol = 1e-6, atol = 1e-9}},
  {"layernorm", file = "layernorm.near.npz", "x", "gamma", "beta", tolerance = {rtol = 1e-6, atol = 1e-6}},
  {"avgpool", file = "avgpool.npz", "x", {k = 2}},
  {"embedding", file = "embedding.npz", "table", "idx", bf16 = {table = true, out = true}},
  {"attention", file = "attention.near.npz", "q", "k", "v", tolerance = {rtol = 1e-5, atol = 1e-6}},
  {"inplace_update", file = "inplace_update.npz", "weights", "grad", {rate = 0.5}},
  {"spmd_scale", file = "spmd_scale.npz", "x", {factor = 0.5}, grid = 3},
  {"two_cores", file = "two_cores.npz", "x"},
  {"dynamic_sum", file = "dynamic_sum.npz", "x", "n"},
  {"all_reduce", file = "all_reduce.npz", "x", {ranks = 4}, ranks = 4},
}

local function load(example, name)
  return nd.load(DATA .. example.file, name, example.bf16 and example.bf16[name] and "bfloat16" or nil)
end

-- What a run on ranks takes for its first parameter: a list by rank.
local function of_ranks(example, name)
  local list = {}
  for r = 1, example.ranks do
    list[r] = load(example, name .. r - 1)
  end
  return list
end

local function kernel_of(example)
  local k = dofile("examples/" .. example[1] .. ".lua")
  return example.grid and k[example.grid] or k
end

-- The i-th parameter: its name, and its value when it is a constant.
local function parameter(example, i)
  if type(example[i + 1]) == "table" then
    return next(example[i + 1])
  end
  return example[i + 1]
end

local function arguments(example)
  local args = {}
  for i = 1, #example - 1 do
    local name, constant = parameter(example, i)
    args[i] = constant or (example.ranks and of_ranks or load)(example, name)
  end
  return args
end

local function check(example, out)
  local want = load(example, "out")
  if example.tolerance then
    testing.assert_allclose(out, want, example.tolerance)
  else
    testing.assert_equal(out, want)
  end
end

-- The parameters as words of a command line, behind those given.
local function words(example, ...)
  local list = {...}
  for i = 1, #example - 1 do
    local name, constant = parameter(example, i)
    for r = 0, not constant and example.ranks and example.ranks - 1 or -1 do
      list[#list + 1] = ("%s[%d]=%s:%s%d"):format(name, r, DATA .. example.file, name, r)
    end
    local raw = example.bf16 and example.bf16[name] and ":bf16" or ""
    if constant or not example.ranks then
      list[#list + 1] = name .. "=" .. (constant or DATA .. example.file .. ":" .. name .. raw)
    end
  end
  return list
end

local function program(list)
  local r = build.run(list)
  assert.equal(0, r.code, r.err)
  return r.out
end

-- files: what run wrote, the config, what exec wrote.
local function run_and_exec(example, files)
  local path = "examples/" .. example[1] .. ".lua"
  local run, config = words(example, "run", path, "-o", files[1]), words(example, "config", path, "-o", files[2])
  if example.grid then
    for _, list in ipairs {run, config} do
      list[#list + 1] = "-g" .. example.grid
    end
  end
  local exec = words(example, "exec", files[2], "-o", files[3])
  if example.ranks then
    for _, list in ipairs {run, exec} do
      list[#list + 1] = "--ranks=" .. example.ranks
    end
    run[4], exec[4] = "output_0[3]=" .. files[1], "output_0[3]=" .. files[3]
    config = {"config", path, "-o", files[2], "x=f32[12,20]", "ranks=4"}
  end
  local printed = program(run)
  program(config)
  assert.equal(printed, program(exec))
  assert.equal(build.slurp(files[1]), build.slurp(files[3]))
  check(example, nd.load(files[1], {dtype = example.bf16 and example.bf16.out and "bfloat16" or nil}))
end

for _, example in ipairs(examples) do
  describe("examples/" .. example[1] .. ".lua on " .. example.file, function()
    it("computes what NumPy computes, also without its source", function()
      if example.ranks then
        local run = nki.simulate(kernel_of(example), {ranks = example.ranks})
        for _, out in ipairs(run(table.unpack(arguments(example)))) do
          check(example, out)
        end
        return
      end
      check(example, trip.run(kernel_of(example), table.unpack(arguments(example))))
    end)

    it("writes the same file from run and from exec", function()
      local names = {os.tmpname(), os.tmpname(), os.tmpname()}
      local files = {names[1] .. ".npy", names[2], names[3] .. ".npy"}
      local ok, e = pcall(run_and_exec, example, files)
      for _, name in ipairs {names[1], names[2], names[3], files[1], files[3]} do
        os.remove(name)
      end
      if not ok then
        error(e, 0)
      end
    end)
  end)
end

describe("the folder examples", function()
  it("has no kernel that is not run here", function()
    local lfs = require "lfs"
    local known = {}
    for _, example in ipairs(examples) do
      known[example[1] .. ".lua"] = true
    end
    for name in lfs.dir "examples" do
      assert.is_true(known[name] or not name:find "%.lua$", name)
    end
  end)
end)

local function named(name)
  for _, example in ipairs(examples) do
    if example[1] == name then
      return example
    end
  end
end

describe("examples/inplace_update.lua", function()
  it("updates the array it was given and returns it", function()
    local example = named "inplace_update"
    local weights, grad, rate = table.unpack(arguments(example))
    local k = kernel_of(example)
    assert.is_true(rawequal(k(weights, grad, rate), weights))
    check(example, weights)
    assert.same({{0, 0}}, k:specialize(weights, grad, rate).operand_output_aliases)
  end)
end)

describe("examples/dynamic_sum.lua", function()
  it("takes its bound at run time: one trace for all", function()
    local example = named "dynamic_sum"
    local x, k = load(example, "x"), kernel_of(example)
    for _, n in ipairs {0, 1, 7, 50} do
      local want = nd.zeros {1, x.shape[1]}
      for i = 0, n - 1 do
        for j = 0, x.shape[1] - 1 do
          want:set(0, j, want:get(0, j) + x:get(i, j))
        end
      end
      testing.assert_equal(k(x, nd.array({{n}}, "int32")), want)
    end
    assert.equal(1, k:cache_info().entries)
  end)
end)

describe("the commands at the head of the examples", function()
  local seen = {}
  for _, path in ipairs(tree.files "^examples/[^/]+%.lua$") do
    for command in tree.read(path):gmatch "%-%-   nkilua (run [^\n]*)" do
      seen[#seen + 1] = path
      it("run: nkilua " .. command, function()
        assert.truthy(command:find(path, 1, true))
        local r = build.shell(("NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s %s"):format(build.quote(cli.program), command))
        assert.equal(0, r.code, r.err)
        assert.equal("", r.err)
      end)
    end
  end

  it("are in each of them", function()
    for _, path in ipairs(tree.files "^examples/[^/]+%.lua$") do
      assert.truthy(tree.read(path):find("nkilua run", 1, true), path)
    end
    assert.is_true(#seen > 10)
  end)
end)
