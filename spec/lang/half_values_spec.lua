-- half_values_spec: the functions of nki.language that are written in Lua, each parameter given a value of every other
-- kind. None of them may end in an error of Lua's own, which names a line of nkilua instead of the parameter.
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local build = require "spec.support.build"

local values = {
  "6", "a", "float32", "sbuf", {}, {1}, {1, x = 2}, {-1}, 0, -1, 2.5, 0 / 0, 1 / 0, 1e300, math.mininteger, true, false,
  nl.add, nl.exp, nl.sbuf, nl.shared_hbm, nl.ds(0, 2), print, coroutine.create(print), io.stdout, nd.ones {2, 2},
  nki.decl({2, 2}, nl.float32),
}

-- Arguments that are right, by function; made inside the kernel.
local right = {
  softmax = function(t) return {t, 1, nl.float32, nl.float32} end,
  rms_norm = function(t) return {t, t, 1, 6, 1e-6, nl.float32, nl.float32} end,
  rand = function() return {{4, 6}, nl.float32, nl.sbuf, "r"} end,
  random_seed = function() return {nl.zeros({1, 1}, nl.uint32)} end,
  dropout = function(t) return {t, 0.5, nl.float32} end,
  gather_flattened = function(t) return {t, nl.zeros({4, 6}, nl.uint32), 0, nl.float32} end,
  shared_identity_matrix = function() return {4, nl.float32, nl.ndarray({4, 4}, nl.float32)} end,
  shared_constant = function() return {{{1, 2}, {3, 4}}, nl.float32} end,
  arange = function() return {0, 4} end,
  mgrid = function() return {} end,
  par_dim = function() return {4} end,
  loop_reduce = function(t, i) return {t, nl.add, {i}, nl.float32} end,
  atomic_rmw = function(t, _, hbm) return {hbm, t, nl.add} end,
  finfo = function() return {nl.float32} end,
  static_cast = function() return {1, nl.float32} end,
  gemm_grid = function() return {} end,
  gemm_stationary_grid = function() return {} end,
}

-- name -> its parameters, from the rows.
local function rows()
  local list = {}
  for line in build.slurp("src/lang/nl_half.def"):gmatch "[^\n]+" do
    local name, rest = line:match "^NH%((%w[%w_]*), [^\"]-, ([^\"]*)\""
    if name then
      local params = {}
      for param in rest:gmatch "[AO]%((%w+)%)" do params[#params + 1] = param end
      list[#list + 1] = {name = name, params = params}
    end
  end
  return list
end

-- The error of calling name with its k-th argument replaced, nil when it takes the value.
local function outcome(name, k, value)
  local kernel = nki.jit(function(x)
    local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
    local t = nl.load(x)
    nl.store(out, t)
    for i in nl.sequential_range(2) do
      local args = right[name](t, i, out)
      args[k] = value
      nl[name](table.unpack(args, 1, math.max(k, #args)))
    end
    return out
  end, {enable_cache = false, platform_target = "trn2"})
  local ok, e = pcall(kernel.specialize, kernel, nki.decl({4, 6}, nl.float32))
  return not ok and e or nil
end

describe("a function of nl that is written in Lua", function()
  for _, row in ipairs(rows()) do
    it(row.name .. " answers every value of every parameter, or refuses it by name", function()
      assert.truthy(right[row.name], "no arguments here")
      if row.name == "mgrid" or row.name:find "_grid$" then return end
      local given = outcome(row.name, 99)
      assert.is_nil(given, tostring(given))
      for k = 1, #row.params do
        for _, value in ipairs(values) do
          local e = outcome(row.name, k, value)
          local said = ("%s, %s = %s: %s"):format(row.name, row.params[k], tostring(value), tostring(e))
          if e then
            assert.equal("table", type(e), said)
            assert.matches("^err_", e.id, said)
            assert.is_nil(e.message:find("nki/", 1, true), said)
          end
        end
      end
    end)
  end
end)
