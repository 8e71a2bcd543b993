-- ranks.lua: kernels with collectives on a few ranks, and their values.
local nki, nl = require "nki", require "nki.language"
local ncc = require "nki.collectives"
local nd = require "nki.ndarray"
local testing = require "nki.testing"

local ranks = {RANKS = 4}

function ranks.jit(f, options)
  options = options or {}
  options.platform_target = options.platform_target or "trn1"
  options.func_name = "k"
  return nki.jit(f, options)
end

function ranks.shared(shape, dtype) return nl.ndarray(shape, dtype or nl.float32, {buffer = nl.shared_hbm}) end

-- A list of random arrays, one for each rank.
function ranks.by_rank(shape, seed)
  local list = {}
  for r = 1, ranks.RANKS do
    list[r] = nd.random.normal(shape, {seed = 10 * (seed or 1) + r})
  end
  return list
end

function ranks.same(got, want) testing.assert_allclose(got, want, {rtol = 0, atol = 0, equal_nan = true}) end

-- A kernel x -> out of the shape given, made by the call.
function ranks.one_call(shape, call)
  return ranks.jit(function(x)
    local out = ranks.shared(shape, x.dtype)
    call(x, out)
    return out
  end)
end

-- In a kernel: body as often as the register says.
function ranks.times(register, body)
  nl.while_loop(register, function(r)
    body()
    return r - 1
  end)
end

-- The sum over all ranks of x [3, 5].
ranks.all_sum = ranks.one_call({3, 5}, function(x, out) ncc.all_reduce({x}, {out}, {{0, 1, 2, 3}}, nl.add) end)

return ranks
