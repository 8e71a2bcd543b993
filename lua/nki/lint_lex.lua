-- lint_lex.lua: Lua 5.4 source as tokens. Returns a function: text -> tokens, comments. tokens has three lists of one
-- length: kind ("name", "number", "string", "eof"; of keywords and operators the word itself), text (of a string the
-- inside, escapes as written) and pos. comments is a list of {text =, pos =}. The text has been compiled by Lua, so
-- it is well formed.
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

-- Of every token its place, what it is and its text.
local function token_of(what, text) return Cp() * Cc(what) * text end

local WORD, SYMBOL, COMMENT = 1, 2, 3
local token = token_of(WORD, C(letter * (letter + digit) ^ 0))
  + token_of(COMMENT, P "--" * (long + C((1 - P "\n") ^ 0)))
  + token_of("string", quoted '"' + quoted "'" + long)
  + token_of("number", C(hexadecimal + decimal))
  + token_of(SYMBOL, C(operator))
local space = S " \t\r\n\f\v" ^ 0
local all = Ct((P "#" * (1 - P "\n") ^ 0) ^ -1 * space * (token * space) ^ 0) * Cp()

return function(text)
  local list, stop = all:match(text)
  assert(stop == #text + 1, "a token that Lua reads is unknown here")
  local kinds, texts, places, comments, n = {}, {}, {}, {}, 0
  for i = 1, #list, 3 do
    local what, word = list[i + 1], list[i + 2]
    if what == COMMENT then
      comments[#comments + 1] = {text = word, pos = list[i]}
    else
      n = n + 1
      if what == SYMBOL or what == WORD and keywords[word] then
        what = word
      elseif what == WORD then
        what = "name"
      end
      kinds[n], texts[n], places[n] = what, word, list[i]
    end
  end
  n = n + 1
  kinds[n], texts[n], places[n] = "eof", "", #text + 1
  return {kind = kinds, text = texts, pos = places}, comments
end
