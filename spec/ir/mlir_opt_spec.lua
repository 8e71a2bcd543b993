-- mlir_opt_spec.lua: an independent reader accepts the IR that `nkilua trace` prints: syntax, SSA, types, regions.
local build = require "spec.support.build"
local example = require "spec.support.example"

local function find_mlir_opt()
  for _, name in ipairs {"mlir-opt-19", "mlir-opt-20", "mlir-opt", "mlir-opt-18", "mlir-opt-17", "mlir-opt-14"} do
    local found = build.shell("command -v " .. name)
    if found.code == 0 then
      return name
    end
  end
end

local mlir_opt = find_mlir_opt()

local function read(text)
  return build.shell(mlir_opt .. " --allow-unregistered-dialect --mlir-print-op-generic -", {stdin = text})
end

local function trace(command)
  local result = build.shell(build.quote(build.program) .. " trace " .. command)
  assert.same(0, result.code, result.err)
  return result.out
end

local function assert_accepted(text)
  local result = read(text)
  assert.same({code = 0, err = ""}, {code = result.code, err = result.err})
  return result.out
end

-- What one reader makes of each operation: the names in order, without those of the wrapper.
local function operations(text)
  local names = {}
  for name in text:gmatch('"([%w_]+%.[%w_]+)"%(') do
    if name ~= "builtin.module" then
      names[#names + 1] = name
    end
  end
  return names
end

local function check(text)
  local again = assert_accepted(text)
  local names = operations(text)
  assert.is_true(#names > 3)
  assert.same(names, operations(again))
end

local kernels = {
  {"a loop with a run-time bound, views and registers", "x=f32[256,64] n=i32[1,1]", [[
    return nki.jit(function(x, n)
      local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm, name = "i1 \"out\""})
      local count = nisa.register_alloc()
      nisa.register_load(count, nl.load(n))
      nl.fori_loop(0, count, function(i)
        local rows = nl.ds(i * 128, 128)
        nl.store(out[rows], nl.exp(nl.load(x[rows])))
      end)
      return out
    end)]]},
  {"one function per program of a grid", "-g 2,2 x=bf16[512,32]", [[
    return nki.jit(function(x)
      local out = nl.ndarray(x.shape, nl.float32, {buffer = nl.shared_hbm})
      local row = nl.program_id(0) * 2 + nl.program_id(1)
      local part = nl.ds(row * 128, 128)
      nl.store(out[part], nl.load(x[part]))
      return out
    end)]]},
  {"an alias, two outputs and a scalar", "x=f32[128,8] s=-0.25", [[
    return nki.jit(function(x, s)
      local t = nl.load(x)
      local out = nl.ndarray({128, 1}, nl.float32, {buffer = nl.shared_hbm})
      nl.store(out, nl.sum(t, {axis = 1, keepdims = true}))
      nl.store(x, t * s)
      return x, out
    end)]]},
}

describe("printed IR, read by mlir-opt: #mlir", function()
  local function needs_mlir_opt(name, body)
    it(name, function()
      if not mlir_opt then
        pending("no mlir-opt here: ./dev setup installs mlir-19-tools")
        return
      end
      body()
    end)
  end

  for _, path in ipairs(example.paths()) do
    needs_mlir_opt(path, function()
      check(trace(example.usage(path)))
    end)
  end

  for _, kernel in ipairs(kernels) do
    local name, arguments, body = table.unpack(kernel)
    needs_mlir_opt(name, function()
      local script = os.tmpname() .. ".lua"
      build.spit(script, 'local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"\n'
        .. "local _ = nisa\n" .. body)
      local text = trace(build.quote(script) .. " " .. arguments)
      os.remove(script)
      os.remove((script:gsub("%.lua$", "")))
      check(text)
    end)
  end

  needs_mlir_opt("damage is noticed", function()
    local text = trace(example.usage("examples/tensor_add.lua"))
    local broken, count = text:gsub('("nisa%.tensor_tensor"%()%%', "%1%%no", 1)
    assert.same(1, count)
    assert.is_truthy(read(broken).err:find("undeclared SSA value", 1, true))
    local other, changed = text:gsub("%-> memref<300x512xf32", "-> memref<301x512xf32", 1)
    assert.same(1, changed)
    assert.is_truthy(read(other).err:find("expects different type than prior uses", 1, true))
  end)
end)
