-- The kernel library in stock lua5.4, from the installed files and from inside the C module: the same numbers, and
-- errors on the caller's line whichever was loaded.
local build = require "spec.support.build"

local SCRIPT = [[
%s
local topk, nd = require "nki.kernels.topk", require "nki.ndarray"
print(topk(nd.array({{3, 1, 2}}, "float32"), 2))
local ok, e = pcall(topk, nd.zeros{4, 20}, 30)
print(e.file:match "[^/]+$", e.line, e.id)]]

local function run(first)
  local name = os.tmpname()
  build.spit(name, SCRIPT:format(first))
  local r = build.stock{name, env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn1"}
  os.remove(name)
  return r, name:match "[^/]+$"
end

describe("nki.kernels in stock lua5.4", function()
  for what, first in pairs{["the files"] = "-- nothing before", ["inside the module"] = "require 'nki'"} do
    it("are found in " .. what, function()
      local r, name = run(first)
      assert.equal("", r.err)
      assert.equal(("float32[1,2] {{3.0, 2.0}}\tuint32[1,2] {{0, 2}}\n%s\t4\terr_bind_value\n"):format(name), r.out)
    end)
  end

  it("are found with nothing but the C module, and nothing loaded before", function()
    local name = os.tmpname()
    build.spit(name, SCRIPT:format("package.path = ''"))
    for _, kernel in ipairs{"attention", "interpolate_bilinear_2x", "transpose2d"} do
      local r = build.stock{"-e", ("package.path = '' print(require 'nki.kernels.%s')"):format(kernel)}
      assert.equal("", r.err)
      assert.truthy(r.out:find("^kernel ") or r.out:find("^table"), r.out)
    end
    local r = build.stock{name, env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn1"}
    os.remove(name)
    assert.equal("", r.err)
    assert.truthy(r.out:find("float32[1,2] {{3.0, 2.0}}", 1, true))
  end)
end)
