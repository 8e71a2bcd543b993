-- Index strings, t["0:64, ..., ::2"]: returns the list {{0, 64}, "...", {false, false, 2}} (false: left out), or nil
-- and a reason.
local lpeg = require "lpeg"
local P, R, S, C, Cc, Ct, Cp = lpeg.P, lpeg.R, lpeg.S, lpeg.C, lpeg.Cc, lpeg.Ct, lpeg.Cp

local space = S " \t" ^ 0
local int = C(P "-" ^ -1 * space * R "09" ^ 1) / function(s) return math.tointeger(tonumber((s:gsub("%s",
  "")))) or false end
local part = int * space + Cc(false)
local colon = P ":" * space
local slice = Ct(part * colon * part * (colon * part + Cc(1)))
local item = (C "..." + slice + int) * space
local keys = space * Ct(item * (P "," * space * item) ^ 0) * Cp()

return function(text)
  local list, at = keys:match(text)
  if not list then return nil, "expected an integer, start:stop:step or ..." end
  if at <= #text then
    local last = (utf8.offset(text:sub(at, at + 4), 2) or 2) - 1 -- of the whole character
    local character = text:sub(at, at + last - 1):gsub("\0", "\\x00")
    return nil, ("unexpected '%s' at character %d"):format(character, at)
  end
  for _, k in ipairs(list) do
    if k == false then return nil, "an integer does not fit 64 bits" end
    if type(k) == "table" and k[3] == false then k[3] = 1 end
  end
  return list
end
