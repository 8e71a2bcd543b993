-- lint_lex.lua: Lua 5.4 source as tokens. Returns a function: text -> tokens, comments; each is a list of
-- {kind =, text =, pos =}. kind: "name", "number", "string" (text without its quotes, escapes as written), "comment",
-- "eof"; of keywords and operators the word itself. The text has been compiled by Lua, so it is well formed.
local lpeg = require "lpeg"

local P, R, S, C, Cb, Cc, Cg, Cmt, Cp, Ct = lpeg.P, lpeg.R, lpeg.S, lpeg.C, lpeg.Cb, lpeg.Cc, lpeg.Cg, lpeg.Cmt,
  lpeg.Cp, lpeg.Ct

local digit, hex, letter = R "09", R("09", "af", "AF"), R("az", "AZ", "__")

-- [==[ ... ]==]
local equals = P "=" ^ 0
local close = Cmt("]" * C(equals) * "]" * Cb "level", function(_, _, a, b) return a == b end)
local long = "[" * Cg(equals, "level") * "[" * P "\n" ^ -1 * C((1 - close) ^ 0) * close / function(s) return s end

local function quoted(q)
  return P(q) * C((P "\\" * 1 + (1 - S(q .. "\\"))) ^ 0) * P(q)
end

local hexadecimal = P "0" * S "xX" * (hex + ".") ^ 1 * (S "pP" * S "+-" ^ -1 * digit ^ 1) ^ -1
local decimal = (digit ^ 1 * (P "." * -P "." * digit ^ 0) ^ -1 + P "." * digit ^ 1)
  * (S "eE" * S "+-" ^ -1 * digit ^ 1) ^ -1

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true until
    while]]):gmatch "%a+" do
  keywords[word] = true
end

local operator = P "..." + ".." + "==" + "~=" + "<=" + ">=" + "<<" + ">>" + "//" + "::" + S "+-*/%^#&~|<>=(){}[];:,."

local function node(kind, pattern)
  return Ct(Cg(Cp(), "pos") * Cg(kind, "kind") * Cg(pattern, "text"))
end

local word = Ct(Cg(Cp(), "pos") * Cg(C(letter * (letter + digit) ^ 0), "text")) / function(t)
  t.kind = keywords[t.text] and t.text or "name"
  return t
end
local symbol = Ct(Cg(Cp(), "pos") * Cg(C(operator), "text")) / function(t)
  t.kind = t.text
  return t
end
local comment = node(Cc "comment", P "--" * (long + C((1 - P "\n") ^ 0)))
local token = comment + word + node(Cc "string", quoted '"' + quoted "'" + long)
  + node(Cc "number", C(hexadecimal + decimal)) + symbol
local space = S " \t\r\n\f\v" ^ 0
local all = Ct((P "#" * (1 - P "\n") ^ 0) ^ -1 * space * (token * space) ^ 0) * Cp()

return function(text)
  local list, stop = all:match(text)
  assert(stop == #text + 1, "a token that Lua reads is unknown here")
  local tokens, comments = {}, {}
  for _, t in ipairs(list) do
    local into = t.kind == "comment" and comments or tokens
    into[#into + 1] = t
  end
  tokens[#tokens + 1] = {kind = "eof", text = "", pos = #text + 1}
  return tokens, comments
end
