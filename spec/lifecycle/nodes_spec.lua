-- Section 2.4 of the source page, inside a kernel: what is called there is a node. A kernel of the library is
-- materialized: traced once, found by its key, spliced in.
local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local raises = require "spec.support.raises"
local testing = require "nki.testing"

local softmax = require "nki.kernels.softmax"
local d = nki.decl({4, 16}, "float32")

-- How often f is called while g runs.
local function calls(f, g)
  local n = 0
  debug.sethook(function()
    if debug.getinfo(2, "f").func == f then n = n + 1 end
  end, "c")
  local ok, e = pcall(g)
  debug.sethook()
  assert(ok, tostring(e))
  return n
end

local function twice(k)
  return nki.jit(function(a)
    local b = k(a)
    return k(b)
  end, {func_name = "twice"})
end

describe("section 2.4: a kernel of the library inside another", function()
  before_each(function() softmax:clear_cache() end)

  it("is traced once, whatever number of nodes it becomes", function()
    assert.equal(1, calls(softmax.func, function() twice(softmax):specialize(d) end))
    assert.equal(0, calls(softmax.func, function() twice(softmax):specialize(d) end))
    local info = softmax:cache_info()
    assert.equal(1, info.entries)
    assert.equal(3, info.hits)
    assert.equal(2, calls(softmax.func, function() twice(nki.jit(softmax.func)):specialize(d) end))
  end)

  it("gives the same IR as its body run there", function()
    local spliced = twice(softmax):specialize(d)
    assert.equal(twice(nki.jit(softmax.func)):specialize(d).ir, spliced.ir)
    testing.assert_equal(twice(softmax)(nd.ones{2, 4}), nd.full({2, 4}, 0.25, "float32"))
  end)

  it("is a node of the artifact with the key of its specialization", function()
    local artifact = twice(softmax):specialize(d)
    assert.equal(2, #artifact.nodes)
    local first, second = table.unpack(artifact.nodes)
    assert.equal(nki.InternalMaterializedNkiKernel, getmetatable(first))
    assert.equal("InternalMaterializedNkiKernel softmax(x)", tostring(first))
    assert.equal("nki.kernels.softmax", first.library)
    assert.equal(softmax:specialize(d).cache_key, first.cache_key)
    assert.same({{name = "x", tensor = "a"}}, first.operands)
    assert.same({{name = "x", tensor = first.results[1]}}, second.operands)
    assert.equal(first.line + 1, second.line)
    assert.equal("nodes_spec.lua", first.file)
    assert.equal(0, first.depth)
    assert.same({}, softmax:specialize(d).nodes)
  end)

  it("is found by shape, constants and the target of the kernel that it is called in", function()
    local attention = require "nki.kernels.attention"
    attention:clear_cache()
    local k = nki.jit(function(q)
      local one, two = attention(q, q, q, true), attention(q, q, q, false)
      local three = attention(q, q, q, {causal = true})
      return one, two, three
    end, {platform_target = "trn1"})
    local q = nki.decl({1, 16, 16}, "float32")
    local nodes = k:specialize(q).nodes
    assert.equal(nodes[1].cache_key, nodes[3].cache_key)
    assert.not_equal(nodes[1].cache_key, nodes[2].cache_key)
    assert.equal(2, attention:cache_info().entries)
    local cached = attention.__neuron_kernel_interface_kernel_cache__
    assert.equal("trn1", cached[1].result.platform_target)
    assert.equal(false, cached[1].result.platform_target_is_fallback)
  end)

  it("takes rows of a tensor, and runs its body on what is no run of elements", function()
    local x = nd.random.normal({8, 16}, {seed = 1})
    local want = softmax(x)
    local function of(key)
      return nki.jit(function(a)
        local y = softmax(a[key])
        return y
      end)
    end
    softmax:clear_cache()
    local rows, odd = of(nl.ds(4, 4)), of{{1, 8, 2}}
    for i, k in ipairs{rows, odd} do
      local out = k(x)
      for r = 0, 3 do
        local from = i == 1 and 4 + r or 1 + 2 * r
        for c = 0, 15 do assert.equal(want:get(from, c), out:get(r, c)) end
      end
    end
    local a = nki.decl({8, 16}, "float32")
    assert.truthy(rows:specialize(a).nodes[1].cache_key)
    assert.is_nil(odd:specialize(a).nodes[1].cache_key)
    assert.equal("InternalMaterializedNkiKernel softmax(x)", tostring(odd:specialize(a).nodes[1]))
  end)

  it("does its part in every turn of a loop and every program of a grid", function()
    local k = nki.jit(function(a)
      local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
      for i in nl.affine_range(2) do
        local rows = nl.ds(4 * nl.program_id(0) + 2 * i, 2)
        local y = softmax(a[rows])
        nl.store(out[rows], nl.load(y))
      end
      return out
    end)
    local x = nd.random.normal({4, 16}, {seed = 2})
    testing.assert_equal(k[1](x), softmax(x))
    local nodes = k[2]:specialize(nki.decl({8, 16}, "float32")).nodes
    assert.equal(4, #nodes)
    assert.equal(nodes[1].cache_key, nodes[4].cache_key)
  end)

  it("refuses operands elsewhere than in shared_hbm and a grid, in the page's words", function()
    local words = "The input and output tensor of a NKI kernel must be in shared_hbm address space"
    raises("err_nested_kernel_memory", words, function()
      nki.jit(function(a) return softmax(nl.load(a)) end):specialize(d)
    end)
    raises("err_nested_kernel_with_spmd_grid", "softmax is called with a grid inside another kernel", function()
      nki.jit(function(a) return softmax[2](a) end):specialize(d)
    end)
    raises("err_nki_param_not_hashable", "parameter 'lengths'", function()
      nki.jit(function(a) return softmax(a, {1, 2}) end):specialize(d)
    end)
    assert.equal(0, softmax:cache_info().misses)
  end)

  it("tells its own line and that of the call when it fails", function()
    local ok, e = pcall(function()
      nki.jit(function(a)
        return (softmax(a))
      end):specialize(nki.decl({4, 100000}, "float32"))
    end)
    assert.is_false(ok)
    assert.equal("err_tensor_capacity", e.id)
    assert.truthy(tostring(e):find("^nki/kernels/softmax.lua:%d+: err_tensor_capacity: "))
    assert.truthy(tostring(e):find("called from nodes_spec.lua:%d+"))
  end)

  it("leaves the tensors of the kernel around it what they are", function()
    local kept
    local k = nki.jit(function(a)
      kept = nl.ndarray({4, 4}, "float32", {name = "kept"})
      softmax:clear_cache()
      return (softmax(a))
    end)
    k:specialize(d)
    raises("err_tile_stale", "'kept'", function()
      nki.jit(function(a)
        nl.store(a, kept)
        return a
      end):specialize(d)
    end)
  end)

  it("comes from a file as it comes from memory", function()
    local script = [[
      local nki = require "nki"
      local softmax = require "nki.kernels.softmax"
      local k = nki.jit(function(a, note)
        local b = softmax(a)
        return (softmax(b))
      end)
      local a = k:specialize(nki.decl({4, 16}, "float32"), arg[1])
      print(a.backend_config, softmax:cache_info().disk_hits, k:cache_info().disk_hits)
      for _, n in ipairs(a.nodes) do
        print(n, n.library, n.cache_key, n.operands[1].tensor, n.results[1], n.file, n.line, n.depth)
      end]]
    local dir = cli.folder()
    local file = dir .. "/k.lua"
    build.spit(file, script)
    local function run(note)
      local r = build.run{file, note, env = "NKILUA_CACHE_DIR=" .. dir .. "/cache NEURON_PLATFORM_TARGET_OVERRIDE=trn2"}
      assert.equal("", r.err)
      return r.out
    end
    local traced, found, node = run "1", run "1", run "1"
    assert.equal((traced:gsub("\t0\t0\n", "\t0\t1\n")), found)
    os.execute("rm -rf " .. build.quote(dir))
    assert.equal(found, node)
  end)
end)

describe("section 2.4: a kernel of the user's inside another", function()
  it("is an ExternalNativeNkiKernel, and what it calls is inside it", function()
    local inner = nki.jit(function(p)
      local y = softmax(p)
      return y, p
    end, {func_name = "inner"})
    local k = nki.jit(function(a)
      local node = nki.insert_nki_kernel(inner, a)
      local y = inner(node.results[1])
      return y
    end)
    local artifact = k:specialize(d)
    local names = {}
    for i, node in ipairs(artifact.nodes) do names[i] = node.depth .. " " .. tostring(node) end
    assert.same({"0 ExternalNativeNkiKernel inner(p)", "1 InternalMaterializedNkiKernel softmax(x)",
      "0 ExternalNativeNkiKernel inner(p)", "1 InternalMaterializedNkiKernel softmax(x)"}, names)
    local first, second = artifact.nodes[1], artifact.nodes[2]
    assert.equal(nki.ExternalNativeNkiKernel, getmetatable(first))
    assert.same({first.results[1], "a"}, {second.results[1], first.results[2]})
    assert.is_nil(first.cache_key)
    assert.is_nil(first.library)
  end)

  it("is no node when it is a helper of nki.trace or fails", function()
    local helper = nki.trace(function(t) return t end)
    local failing = nki.jit(function(_) error("no", 0) end)
    local k = nki.jit(function(a)
      pcall(failing, a)
      return helper(a)
    end)
    assert.same({}, k:specialize(d).nodes)
    local traced = k:specialize_and_call(k:bind_arguments(d))
    assert.same({}, traced.nodes)
  end)
end)
