-- Small kernels for specs: tracing a body, the error of a body, running one on arrays.
local nki, nl = require "nki", require "nki.language"

local M = {}

local options = {platform_target = "trn2", enable_cache = false}

--- Traces body(t, a, out) where a is an operand (128 x 64 float32 unless dims say otherwise), t its tile and out the
-- output, which gets t unless the body returns another tile. Returns the artifact.
function M.trace(body, dims, opts)
  local k = nki.jit(function(a)
    local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
    local t = nl.load(a)
    nl.store(out, body(t, a, out) or t)
    return out
  end, opts or options)
  return k:specialize(nki.decl(dims or {128, 64}, "float32"))
end

--- The error that body raises while it is traced (the object; tostring gives its text). Fails when there is none.
function M.error_of(body, dims, opts)
  local ok, e = pcall(M.trace, body, dims, opts)
  if ok then error("the body was traced without an error", 2) end
  return e
end

--- Names of the instructions of an artifact's first function, in order, without structure: {"dma_copy", ...}.
function M.ops(artifact)
  local list = {}
  for name in artifact.ir:gmatch '"n[a-z]*%.([%w_]+)"%(' do
    if name ~= "alloc" and name ~= "const" and name ~= "view" then list[#list + 1] = name end
  end
  return list
end

--- Instructions between the load of the operand and the store of the output.
function M.body_ops(body, dims, opts)
  local list = M.ops(M.trace(body, dims, opts))
  table.remove(list, 1)
  table.remove(list)
  return list
end

--- The tensor that hands tile back to the host: itself in shared_hbm, else a copy there.
function M.stored(tile)
  if tile.buffer == nl.shared_hbm then
    return tile
  end
  local out = nl.ndarray(tile.shape, tile.dtype, {buffer = nl.shared_hbm})
  nl.store(out, tile.buffer == nl.psum and nl.copy(tile) or tile)
  return out
end

--- Runs fn(tiles ...) -> tile on arrays (nested lists or arrays); returns the result, of the tile's shape and dtype.
function M.run(fn, ...)
  local nd = require "nki.ndarray"
  local args = {}
  for i, v in ipairs {...} do args[i] = type(v) == "table" and nd.array(v, "float32") or v end
  local function body(...)
    local tiles = {}
    for i, a in ipairs {...} do tiles[i] = nl.load(a) end
    return M.stored(fn(table.unpack(tiles)))
  end
  local k
  if #args == 1 then k = nki.jit(function(a) return body(a) end, options)
  elseif #args == 2 then k = nki.jit(function(a, b) return body(a, b) end, options)
  else k = nki.jit(function(a, b, c) return body(a, b, c) end, options) end
  return k(table.unpack(args))
end

return M
