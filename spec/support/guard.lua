-- guard.lua: busted's helper. A spec that calls os.exit would end the whole run green; here it fails instead.
if _VERSION ~= "Lua 5.4" then
  error("specs need Lua 5.4: run `./dev test` or `build/bin/nkilua test`, never bare `busted`", 0)
end

local busted = require "busted"
local exit = os.exit

os.exit = function() -- luacheck: ignore 122
  error("a spec called os.exit", 2)
end

-- busted itself leaves through os.exit once everything has been reported.
busted.subscribe({"exit"}, function()
  os.exit = exit -- luacheck: ignore 122
  return nil, true
end)
