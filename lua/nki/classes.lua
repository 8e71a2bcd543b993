-- The classes of nki.language and nki.isa as values: X(...) makes one, X.isinstance(v) tells whether v is one, and
-- methods are functions, nl.NkiTensor.reshape(t, shape). The chunk returns {language = f, isa = f}: what adds them to a
-- module's table.
local fail, _, lib = ...
local callables = lib.half "nki.callables"
local fixed, kind_error, kind = callables.fixed, callables.kind_error, lib.kind

local M = {}

-- A class that nobody changes. make is its constructor, of at most so many arguments.
local function class(name, most, make, isinstance, members)
  make = fixed(name, most, make)
  members = members or {}
  members.isinstance = fixed(name .. ".isinstance", 1, isinstance)
  return setmetatable({}, {
    __name = name,
    __metatable = false,
    __call = function(_, ...) return make(...) end,
    __index = function(_, key)
      local v = members[key]
      if v == nil then fail("no_such_name", ("no %s.%s"):format(name, tostring(key))) end
      return v
    end,
    __newindex = function() fail("read_only", name .. " is read-only") end,
    __tostring = function() return "class " .. name end,
  })
end

-- ---- NKIObject: records with defaults and structural equality

local function same(a, b)
  for key, v in pairs(a) do
    if b[key] ~= v then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local record

local function fill(self, fields)
  if type(self) ~= "table" then kind_error("nl.NKIObject", "self", "a record", self) end
  if fields ~= nil and type(fields) ~= "table" then
    kind_error("nl.NKIObject", "fields", "a table of values by name", fields)
  end
  for key, v in pairs(fields or {}) do
    if type(key) ~= "string" then
      fail("bind_key", "nl.NKIObject: the argument table has a " .. type(key) .. " as a key; fields have names")
    end
    rawset(self, key, v)
  end
  return self
end

-- A class of records: called with a table of fields it makes one.
function record(name, base, defaults)
  local members = setmetatable(fill({}, defaults), {__index = base})
  local instance = {__name = name, __index = members}
  instance.__eq = function(a, b) return getmetatable(a) == getmetatable(b) and same(a, b) end
  members.extend = fixed("nl.NKIObject:extend", 2, function(_, more) return record(name, members, more) end)
  members.__init__ = fill
  members.isinstance = function(v)
    local mt = type(v) == "table" and getmetatable(v)
    local at = type(mt) == "table" and rawget(mt, "__index")
    while at and at ~= members do
      local up = type(at) == "table" and getmetatable(at)
      at = type(up) == "table" and up.__index
    end
    return at == members
  end
  local make = fixed("nl.NKIObject", 1, function(fields)
    return members.__init__(setmetatable({}, instance), fields)
  end)
  return setmetatable({}, {__name = name, __index = members, __call = function(_, ...) return make(...) end,
    __newindex = function(_, key, v) members[key] = v end, -- methods of a class of the user's
    __tostring = function() return "class " .. name end})
end

-- ---- modules

local attributes = {"shape", "strides", "offset", "name", "dtype", "buffer", "ndim", "size", "itemsize"}

local function tensor(shape, dtype, storage, buffer)
  if storage == nil then return require "nki".decl(shape, dtype) end
  if kind(storage) ~= "tile" then kind_error("nl.NkiTensor", "storage", "a tensor or nil", storage) end
  if buffer ~= nil and buffer ~= storage.buffer then
    fail("bind_value", ("nl.NkiTensor: parameter 'buffer' is %s; the storage is in %s"):format(tostring(buffer),
      tostring(storage.buffer)))
  end
  return storage:view(dtype):reshape(shape)
end

function M.language(nl)
  local members = {__init__ = tensor}
  for name, method in pairs(lib.methods()) do members[name] = type(method) == "function" and method or nil end
  local function of_tensor(name, most, f)
    members[name] = callables.method("nl.NkiTensor." .. name, most, f, function(t) return kind(t) == "tile" end,
      "a tensor")
  end
  for _, name in ipairs(attributes) do of_tensor(name, 0, function(t) return t[name] end) end
  of_tensor("__getitem__", 1, function(t, key) return t[key] end)
  of_tensor("__setitem__", 2, function(t, key, v) t[key] = v end)
  nl.NkiTensor = class("nl.NkiTensor", 4, tensor, function(v) return kind(v) == "tile" end, members)
  nl.NKIObject = record("NKIObject", nil, {})
  nl.DType = class("nl.DType", 1, function(name) return lib.dtype(name, "nl.DType") end, lib.is_dtype)
  local limits = setmetatable({}, {__index = nl.tile_size})
  nl._TileSize = class("nl._TileSize", 0, function() return nl.tile_size end, function(v) return v == nl.tile_size end,
    limits)
end

function M.isa(nisa)
  local function register(state, frozen)
    if frozen then
      fail("bind_value", "nisa.VirtualRegister: parameter 'frozen' is true; only device loops make frozen registers")
    end
    return nisa.register_alloc(state)
  end
  nisa.VirtualRegister = class("nisa.VirtualRegister", 2, register, function(v) return kind(v) == "index" end,
    {__init__ = register})
  local function instruction(handle)
    if not lib.is_instruction(handle) then
      kind_error("nisa.NkiInstruction", "handle", "what a call of nisa returned", handle)
    end
    return handle
  end
  nisa.NkiInstruction = class("nisa.NkiInstruction", 1, instruction, lib.is_instruction,
    {__init__ = instruction, depends_on = lib.depends_on})
  nisa.NkiValidationError = class("nisa.NkiValidationError", 1, function(message)
    local _, e = pcall(fail, "instruction_invalid", tostring(message))
    return e
  end, lib.is_validation_error)
end

return M
