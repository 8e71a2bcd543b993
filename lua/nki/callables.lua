-- callables.lua: what the public functions of the Lua half refuse before they begin, as the rows in C do: surplus
-- arguments, and a `self` of another kind. Surplus nil is no argument.
local fail, _, lib = ...

local M = {}

local function at_most(who, most, n, ...)
  while n > most and select(n, ...) == nil do n = n - 1 end
  if n > most then fail("bind_surplus", ("%s: too many arguments: at most %d, got %d"):format(who, most, n)) end
end

-- f with at most so many arguments.
function M.fixed(who, most, f)
  return function(...)
    local n = select("#", ...)
    if n > most then at_most(who, most, n, ...) end
    return f(...)
  end
end

function M.kind_error(who, name, want, value)
  fail("bind_kind", ("%s: parameter '%s' must be %s, got %s"):format(who, name, want, lib.rename(value)))
end

-- A method f of what is(value) is true of; most: arguments behind self, nil for any number.
function M.method(who, most, f, is, want)
  return function(self, ...)
    if not is(self) then M.kind_error(who, "self", want, self) end
    local n = select("#", ...)
    if most and n > most then at_most(who, most, n, ...) end
    return f(self, ...)
  end
end

return M
