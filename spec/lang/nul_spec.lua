-- A name with a NUL byte is no name: C, files and messages would see what stands before it.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local kernel = require "spec.support.kernel"
local raises = require "spec.support.raises"

local function same(a, _) return a end

describe("a name with a NUL byte is refused", function()
  local k = nki.jit(same, {platform_target = "trn2"})
  local d, a = nki.decl({4, 4}, nl.float32), nd.ones {2, 2}

  it("as a keyword", function()
    local keywords = {
      function() nki.jit(same, {["mode\0"] = "jax"}) end, function() k:replace {["mode\0x"] = "jax"} end,
      function() nki.decl {shape = {4, 4}, dtype = nl.int8, ["dtype\0x"] = nl.float32} end,
      function() nd.random.normal({2}, {["seed\0"] = 2}) end,
    }
    for _, call in ipairs(keywords) do raises("err_bind_key", "a string with a NUL byte as a key", call) end
    for _, call in ipairs {
      function(t) nl.max(t, {["axis\0q"] = 1}) end, function(t) nisa.memset(t, 0, {["name\0q"] = "x"}) end,
      function(t) nisa.memset(t, 0, {["value\0q"] = 1}) end, function(t) t:slice(0, {["start\0"] = 0, stop = 2}) end,
    } do
      assert.equal("err_bind_key", kernel.error_of(call).id)
    end
    raises("err_kernel_keyword", "no parameter '_\\x00'", function() k:specialize {a = d, ["_\0"] = 3} end)
  end)

  it("as a field", function()
    local artifact = k:specialize(d)
    raises("err_kernel_no_field", "'grid\\x00'", function() return k["grid\0"] end)
    raises("err_kernel_no_field", "'ir\\x00'", function() return artifact["ir\0"] end)
    raises("err_kernel_no_field", "'dtype\\x00'", function() return d["dtype\0"] end)
    raises("err_no_such_name", "array.shape\\x00", function() return a["shape\0"] end)
    raises("err_bind_kind", "'unpack\\x00'", function() return a.shape["unpack\0"] end)
    raises("err_no_such_name", "name\\x00", function() return nl.sbuf["name\0"] end)
  end)

  it("as a mode or a target", function()
    raises("err_kernel_option", "no mode 'auto\\x00'", function() nki.jit(same, {mode = "auto\0"}) end)
    raises("err_unknown_platform_target", "'trn2\\x00'", function() nki.jit(same, {platform_target = "trn2\0"}) end)
  end)

  it("in files and of files", function()
    local path = os.tmpname()
    nd.save(path .. ".npz", {w = a})
    for _, call in ipairs {
      function() nd.save(path .. ".npz\0.txt", {w = a}) end, function() nd.load(path .. ".npz\0.txt") end,
      function() nd.save(path .. ".npz", {["w\0x"] = a}) end, function() nd.load(path .. ".npz", "w\0") end,
      function() nd.load(path .. ".npz", {dtype = {["w\0"] = nl.bfloat16}}) end,
    } do
      raises("err_bind_kind", "must be text without NUL bytes", call)
    end
    os.remove(path)
    os.remove(path .. ".npz")
  end)
end)
