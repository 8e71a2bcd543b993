-- process_spec.lua: the config and its module are the same bytes in every process: folder, locale, time zone,
-- addresses, environment.
local build = require "spec.support.build"
local example = require "spec.support.example"
local lfs = require "lfs"

local root = lfs.currentdir()

local function absolute(path)
  return path:sub(1, 1) == "/" and path or root .. "/" .. path
end

-- Twenty ways to start a process.
local places = {"/", "/tmp", root, root .. "/spec"}
local locales = {"C", "C.UTF-8", "POSIX", "de_DE.UTF-8", "tr_TR.UTF-8"}
local zones = {"UTC", "Asia/Kathmandu", "America/St_Johns"}
local ways = {}
for i = 1, 20 do
  ways[i] = ("cd %s && LC_ALL=%s TZ=%s PADDING=%s COLUMNS=%d NEURON_PLATFORM_TARGET_OVERRIDE=trn2 %s"):format(
    build.quote(places[i % #places + 1]), locales[i % #locales + 1], zones[i % #zones + 1], ("x"):rep(i * i * 37),
    20 + i, i % 4 == 0 and "setarch -R " or "")
end

describe("twenty processes", function()
  for _, path in ipairs(example.paths()) do
    it("write one config of " .. path, function()
      local words = example.usage(path):gsub("examples/", absolute("examples/"))
      local program, seen = build.quote(absolute(build.program)), {}
      for i, way in ipairs(ways) do
        for _, form in ipairs(i % 5 == 0 and {"config", "hlo --as proto"} or {"config"}) do
          local result = build.shell(("%s%s %s %s"):format(way, program, form, words))
          assert.same({code = 0, err = ""}, {code = result.code, err = result.err})
          seen[form] = seen[form] or result.out
          assert.is_true(seen[form] == result.out, way)
        end
      end
      assert.is_truthy(seen["hlo --as proto"]:find(seen.config:sub(1, -2), 1, true))
      assert.is_nil(seen["hlo --as proto"]:find(root, 1, true))
    end)
  end
end)
