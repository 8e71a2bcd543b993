-- nki.kernels.swiglu_mlp(x, gate, up, down): the gated feed-forward layer, fused.
--   out = (silu(x gate) * (x up)) down, silu(z) = z / (1 + exp(-z))
-- x [tokens, hidden], gate and up [hidden, inner], down [inner, features], all of one dtype, float32, bfloat16 or
-- float16. Returns [tokens, features] of that dtype.
-- Up to 512 tokens go at a time, fewer when their inputs and inner activations would not fit SBUF; with 128 of them
-- hidden + inner is at most some 70000 in 16 bits, half of that in float32. Products are summed in float32 in PSUM;
-- the inner activations are rounded to x's dtype.
--   nkilua run kernels/swiglu_mlp.lua 'x=bf16[200,300]' 'gate=bf16[300,400]' 'up=bf16[300,400]' 'down=bf16[400,300]'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local ROWS, WIDE, ROOM = 128, 512, 144 * 1024 -- ROOM: bytes per partition for what is kept of some tokens

-- How many tokens go at a time.
local function tokens_at_once(size, dtype)
  local tiles = (size.hidden + ROWS - 1) // ROWS + (size.inner + ROWS - 1) // ROWS
  local bytes, tokens = tiles * (dtype == nl.float32 and 4 or 2), 512
  while tokens > ROWS and tokens * bytes > ROOM do tokens = tokens // 2 end
  return tokens
end

local function psum(rows, cols) return nl.ndarray({rows, cols}, nl.float32, {buffer = nl.psum}) end

-- The transpose of x [tokens, hidden], in tiles of 128 of hidden.
local function turned(x)
  local tokens, hidden = x.shape:unpack()
  local tiles = {}
  for h in nl.affine_range(0, hidden, ROWS) do
    local _, n = library.part(h, ROWS, hidden)
    tiles[#tiles + 1] = nl.ndarray({n, tokens}, x.dtype)
  end
  for t in nl.affine_range(0, tokens, ROWS) do
    local ts = library.part(t, ROWS, tokens)
    local rows = nl.load(x[ts])
    for i, tile in ipairs(tiles) do
      nisa.tensor_copy(tile[{{}, ts}], nl.transpose(rows[{{}, nl.ds((i - 1) * ROWS, tile.shape[0])}]))
    end
  end
  return tiles
end

-- Appends to `inner` the activations of up to 512 columns of gate and up, by 128, each [128, tokens].
local function activate(xT, gate, up, inner)
  local hidden, cols = gate.shape:unpack()
  local tokens, g, u = xT[1].shape[1], {}, {}
  for c in nl.affine_range(0, cols, ROWS) do
    local _, n = library.part(c, ROWS, cols)
    g[#g + 1], u[#u + 1] = psum(n, tokens), psum(n, tokens)
  end
  for i, tile in ipairs(xT) do
    local hs = library.part((i - 1) * ROWS, ROWS, hidden)
    local gs, us = nl.load(gate[hs]), nl.load(up[hs])
    for j in ipairs(g) do
      local cs = library.part((j - 1) * ROWS, ROWS, cols)
      nisa.nc_matmul(g[j], gs[{{}, cs}], tile)
      nisa.nc_matmul(u[j], us[{{}, cs}], tile)
    end
  end
  for j in ipairs(g) do
    inner[#inner + 1] = nl.multiply(nl.silu(g[j]), u[j], xT[1].dtype)
  end
end

-- Up to 512 columns of the result, stored.
local function project(inner, down, out)
  local rows, cols = down.shape:unpack()
  local tokens, sums = out.shape[0], {}
  for t in nl.affine_range(0, tokens, ROWS) do
    local _, n = library.part(t, ROWS, tokens)
    sums[#sums + 1] = psum(n, cols)
  end
  for i, tile in ipairs(inner) do
    local weights = nl.load(down[(library.part((i - 1) * ROWS, ROWS, rows))])
    for j, sum in ipairs(sums) do
      nisa.nc_matmul(sum, tile[{{}, (library.part((j - 1) * ROWS, ROWS, tokens))}], weights)
    end
  end
  for j, sum in ipairs(sums) do
    nl.store(out[(library.part((j - 1) * ROWS, ROWS, tokens))], nl.copy(sum, out.dtype))
  end
end

return nki.jit(function(x, gate, up, down)
  local size = library.tensors("swiglu_mlp", {{"x", x, "tokens hidden"}, {"gate", gate, "hidden inner", "x"},
                                              {"up", up, "hidden inner", "x"}, {"down", down, "inner features", "x"}})
  local out, some = library.output({size.tokens, size.features}, x.dtype), tokens_at_once(size, x.dtype)
  for t in nl.affine_range(0, size.tokens, some) do
    local ts = library.part(t, some, size.tokens)
    local xT, inner = turned(x[ts]), {}
    for i in nl.affine_range(0, size.inner, WIDE) do
      local cs = library.part(i, WIDE, size.inner)
      activate(xT, gate[{{}, cs}], up[{{}, cs}], inner)
    end
    for f in nl.affine_range(0, size.features, WIDE) do
      local fs = library.part(f, WIDE, size.features)
      project(inner, down[{{}, fs}], out[{ts, fs}])
    end
  end
  return out
end, {func_name = "swiglu_mlp"})
