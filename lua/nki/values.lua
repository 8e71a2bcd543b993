-- values.lua: the VALUE of a command line. Returns a function: text -> description, or nil and what is wrong with it.
--   {kind = "constant", value = v}                    v: nil, boolean, number, string, or {tuple = n, ...}
--   {kind = "array", dtype =, shape = {...}, fill =, number =, seed =}
--   {kind = "file", path =, member =, dtype =}
local lpeg = require "lpeg"

local P, R, S, V, C, Cc, Cg, Ct, Cs = lpeg.P, lpeg.R, lpeg.S, lpeg.V, lpeg.C, lpeg.Cc, lpeg.Cg, lpeg.Ct, lpeg.Cs

local blank = S " \t" ^ 0
local digit, hex = R "09", R("09", "af", "AF")
local word = R("az", "AZ", "__") * R("az", "AZ", "09", "__") ^ 0
local word_end = -R("az", "AZ", "09", "__")

-- Numbers as Lua reads them, and the two that it only prints.
local exponent = S "eE" * S "+-" ^ -1 * digit ^ 1
local decimal = (digit ^ 1 * (P "." * digit ^ 0) ^ -1 + P "." * digit ^ 1) * exponent ^ -1
local hexadecimal = P "0" * S "xX" * hex ^ 1
local special = {inf = math.huge, ["-inf"] = -math.huge, nan = string.unpack("<d", "\0\0\0\0\0\0\xf8\x7f")}
local number_fault = "the number is too large; an infinite one is written inf"
local too_large -- the number of the text at hand that no float or 64 bits hold; Lua would read inf, or fewer digits

local function read_number(text)
  local n = tonumber(text)
  if n == math.huge or n == -math.huge or #(text:match "^[+-]?0[xX]0*(%x*)$" or "") > 16 then
    too_large = text
  end
  return n
end

local number = C(S "+-" ^ -1 * (hexadecimal + decimal) * word_end) / read_number
  + C(P "-" ^ -1 * "inf" + "nan") * word_end / special

local escapes = {n = "\n", t = "\t", r = "\r", ["0"] = "\0"}
local escape = P "\\" * C(1) / function(c)
  return escapes[c] or c
end
local function quoted(q)
  return P(q) * Cs((escape + (1 - P(q))) ^ 0) * P(q)
end

-- nil inside a list of captures is written as a box that is opened at the end.
local NIL = {}
local constant = P {
  "value",
  value = P "nil" * word_end * Cc(NIL) + P "true" * word_end * Cc(true) + P "false" * word_end * Cc(false)
    + number + quoted '"' + quoted "'" + V "tuple",
  tuple = P "{" * blank * Ct((V "value" * (blank * "," * blank * V "value") ^ 0) ^ -1) * (blank * ",") ^ -1 * blank
    * "}" / function(list)
      list.tuple = #list
      return list
    end,
}

local function open(v)
  if v == NIL then
    return nil
  elseif type(v) == "table" then
    for i = 1, v.tuple do
      v[i] = open(v[i])
    end
  end
  return v
end

local size = C(digit ^ 1) / tonumber -- a float when it does not fit 64 bits
local shape = Ct((size * (blank * "," * blank * size) ^ 0) ^ -1)
local seed = (P "(" * blank * Cg(C(P "-" ^ -1 * (hexadecimal + digit ^ 1)), "seed") * blank * ")") ^ -1
local function fill(name)
  return P(name) * Cg(Cc(name), "fill")
end
local filling = fill "zeros" + fill "ones" + fill "iota"
  + fill "full" * "(" * blank * Cg(number, "number") * blank * ")"
  + (fill "normal" + fill "uniform") * seed
local array = Ct(Cg(C(word), "dtype") * "[" * blank * Cg(shape, "shape") * blank * "]" * (P ":" * filling) ^ -1) * -1

local constant_only = constant * -1

local FORMS = "a value is a number, true, false, nil, a quoted string, {2,2}, a tensor such as f32[128,512]:normal(1), "
  .. "or a file a.npy, b.npz:name, w.safetensors:name"
local FILLS = "a fill is :zeros, :ones, :iota, :full(3), :normal(seed) or :uniform(seed)"

-- path, what follows it; the extension that comes first and is followed by the end or ':' decides.
local function split_file(text)
  for at = 1, #text do
    for _, extension in ipairs {".npy", ".npz", ".safetensors"} do
      local stop = at + #extension
      if text:sub(at, stop - 1) == extension and (stop > #text or text:sub(stop, stop) == ":") then
        return text:sub(1, stop - 1), text:sub(stop + 1), extension
      end
    end
  end
end

-- Is the word one that a dtype could have? Whether there is such a dtype is asked later.
local dtype_like = {}
for name in ([[bool pred i1 u8 s8 i8 u16 s16 i16 u32 s32 i32 u64 s64 i64 f32 f64 bf16 f16 fp16 half tf32 bool_ uint8
  int8 uint16 int16 uint32 int32 uint64 int64 float32 float64 bfloat16 float16 tfloat32]]):gmatch "%S+" do
  dtype_like[name] = true
end

local function is_dtype(name)
  return dtype_like[name] or name:find "^f8[eE]%d" or name:find "^f4[eE]%d" or name:find "^float[48]_" or false
end

local function file(text)
  local path, rest, extension = split_file(text)
  if not path then
    return nil
  end
  local value = {kind = "file", path = path}
  if extension == ".npy" then
    if rest ~= "" then
      value.dtype = rest
    end
    return value
  end
  local member, dtype = rest:match "^(.*):([%w_]+)$"
  if member and is_dtype(dtype) then
    rest, value.dtype = member, dtype
  end
  if rest ~= "" then
    value.member = rest
  end
  return value
end

local NESTING = 50 -- LPeg's stacks end before 100

local function nests_too_deep(text)
  local depth = 0
  text = text:gsub("\\.", ""):gsub('"[^"]*"', ""):gsub("'[^']*'", "")
  for brace in text:gmatch "[{}]" do
    depth = depth + (brace == "{" and 1 or -1)
    if depth > NESTING then
      return true
    end
  end
end

return function(text)
  if text:sub(1, 1) == "{" and nests_too_deep(text) then
    return nil, ("tuples nest at most %d deep"):format(NESTING)
  end
  too_large = nil
  local found = constant_only:match(text)
  if found ~= nil and too_large then
    return nil, number_fault
  elseif found ~= nil then
    return {kind = "constant", value = open(found)}
  end
  found = array:match(text)
  if found then
    found.kind = "array"
    for _, n in ipairs(found.shape) do
      if math.type(n) ~= "integer" then
        return nil, "a size does not fit 63 bits"
      elseif n < 1 then
        return nil, "sizes are at least 1"
      end
    end
    if found.seed then
      found.seed = math.tointeger(read_number(found.seed))
      if not found.seed or too_large then
        return nil, "a seed is a 64-bit integer"
      end
    elseif too_large then
      return nil, number_fault
    end
    return found
  end
  found = file(text)
  if found then
    return found
  end
  local head, tail = text:match "^([%a_][%w_]*)%[[^%]]*%]:?(.*)$"
  if head then
    return nil, tail ~= "" and FILLS or "a tensor is written dtype[sizes], such as f32[128,512]"
  end
  return nil, FORMS
end
