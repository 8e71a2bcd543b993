-- Random numbers as a user sees them: uniform, without visible order, the same for the same seed, kept and continued.
local build = require "spec.support.build"
local draws = require "spec.support.draws"
local stored = require "spec.support.kernel".stored
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local function run(target, body)
  return nki.jit(body, {platform_target = target, func_name = "random"})()
end

local function seed(value)
  local word = nl.ndarray({1, 1}, nl.uint32)
  nisa.memset(word, value)
  nisa.set_rng_seed(word)
end

-- 128 x 256 words of an engine.
local function words(target, engine, value)
  return run(target, function()
    local t = nl.ndarray({128, 256}, nl.uint32)
    if value then
      seed(value)
    end
    nisa.rng(t, {engine = nisa.engine[engine]})
    return stored(t)
  end)
end

local generators = {{"trn1", "vector"}, {"trn3", "vector"}, {"trn2", "gpsimd"}}

describe("random words", function()
  for _, g in ipairs(generators) do
    it(("are uniform in every byte, %s of %s"):format(g[2], g[1]), function()
      local counts, bytes = {}, words(g[1], g[2]):bytes()
      for at = 0, 3 do
        for i = 0, 255 do counts[i] = 0 end
        for i = 1 + at, #bytes, 4 do
          local b = bytes:byte(i)
          counts[b] = counts[b] + 1
        end
        local chi, expected = 0, #bytes / 4 / 256
        for i = 0, 255 do
          chi = chi + (counts[i] - expected) ^ 2 / expected
        end
        -- 255 degrees of freedom: 99.99% lie between 177 and 347
        assert(chi > 170 and chi < 355, ("byte %d: chi squared is %g"):format(at, chi))
      end
    end)

    it(("say nothing of their neighbours, %s of %s"):format(g[2], g[1]), function()
      local bytes = words(g[1], g[2]):bytes()
      local n, x = #bytes // 4, {}
      for i = 1, n do
        x[i] = string.unpack("<I4", bytes, 4 * i - 3) / 2 ^ 32 - 0.5
      end
      for _, lag in ipairs {1, 2, 4, 256} do -- in a lane, and from lane to lane
        local sum = 0
        for i = 1, n - lag do
          sum = sum + x[i] * x[i + lag]
        end
        local correlation = sum / (n - lag) * 12
        assert(math.abs(correlation) < 5 / math.sqrt(n), ("lag %d: %g"):format(lag, correlation))
      end
    end)
  end

  it("are the same for the same seed, and others for another", function()
    for _, target in ipairs {"trn1", "trn2", "trn3"} do
      local first = words(target, "vector", 7)
      assert.equal(first, words(target, "vector", 7))
      assert.are_not.equal(first, words(target, "vector", 8))
    end
  end)

  it("go on from a state that was kept", function()
    for target, engine in pairs {trn2 = "gpsimd", trn3 = "vector"} do
      local a, b = run(target, function()
        local state = nl.ndarray({128, engine == "vector" and 24 or 6}, nl.uint32)
        local t, u = nl.ndarray({128, 33}, nl.uint32), nl.ndarray({128, 33}, nl.uint32)
        engine = nisa.engine[engine] or engine
        nisa.rng(u, {engine = engine})
        nisa.rand_get_state(state, {engine = engine})
        nisa.rng(t, {engine = engine})
        local first = stored(t)
        nisa.rand_set_state(state, {engine = engine})
        nisa.rng(u, {engine = engine})
        return first, stored(u)
      end)
      assert.equal(a, b)
    end
  end)

  it("drop the share of elements that was asked for", function()
    local kept = run("trn2", function()
      local t = nl.ndarray({128, 256}, nl.float32)
      nisa.memset(t, 1.0)
      nisa.dropout(t, t, 0.3)
      return stored(t)
    end)
    assert.near(0.7, kept:mean(), 0.013) -- five standard deviations
  end)
end)

describe("every way to draw gives the documented numbers", function()
  local total = 0
  for _, target in ipairs {"trn1", "trn2", "trn3"} do
    for _, draw in ipairs(draws.list) do
      it(("%s on %s, however it is launched"):format(draw[1], target), function()
        for _, launch in ipairs(draws.launches) do
          local result = draws.run(draw, launch, target)
          total = total + (result and 1 or 0)
          if result then
            assert(result == draws.wanted(draw, launch, target), launch[1] .. ": other numbers")
          end
        end
      end)
    end
  end
  it("and none is left out", function() assert.equal(6 * 7 + 9 * 9 + 12 * 9, total) end)
end)

describe("a fresh process", function()
  local first
  for _, isa in ipairs {"generic", "avx2", "avx512"} do
    for _, cpus in ipairs {"", "taskset -c 0"} do
      it(("draws the same bytes: %s %s"):format(isa, cpus), function()
        first = first or draws.transcript()
        local command = ("NKILUA_ISA=%s %s %s -e %s"):format(isa, cpus, build.quote(build.program),
          build.quote "io.write(require('spec.support.draws').transcript())")
        local r = build.shell(command)
        assert.same({0, ""}, {r.code, r.err})
        assert(r.out == first, "other numbers")
        assert(#first > 100000, "too little was drawn")
      end)
    end
  end
end)
