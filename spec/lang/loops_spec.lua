-- Traced loops, device loops, no_reorder, programs.
local kernel = require "spec.support.kernel"
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

describe("traced loops", function()
  for _, name in ipairs {"affine_range", "sequential_range", "static_range"} do
    it("nl." .. name .. " yields plain integers", function()
      kernel.trace(function()
        local got = {}
        for i in nl[name](3) do got[#got + 1] = i end
        for i in nl[name](2, 9, 3) do got[#got + 1] = i end
        for i in nl[name](3, 0, -1) do got[#got + 1] = i end
        for i in nl[name](0) do got[#got + 1] = i end
        for i in nl[name] {start = 1, stop = 2} do got[#got + 1] = i end
        assert.same({0, 1, 2, 2, 5, 8, 3, 2, 1, 1}, got)
        assert.equal("integer", math.type(got[1]))
      end)
    end)
  end

  it("may be left by break, return and errors", function()
    kernel.trace(function(t)
      for i in nl.affine_range(10) do
        if i == 2 then break end
      end
      local function inner()
        for i in nl.sequential_range(4) do
          for j in nl.affine_range(4) do
            if i + j == 3 then return i end
          end
        end
      end
      assert.equal(0, inner())
      local ok = pcall(function()
        for _ in nl.affine_range(4) do error "x" end
      end)
      assert.is_false(ok)
      nl.exp(t)
    end)
  end)

  it("check their arguments", function()
    local e = kernel.error_of(function() nl.affine_range(1, 2, 0) end)
    assert.truthy(e:find("step", 1, true))
    e = kernel.error_of(function() nl.affine_range(2.5) end)
    assert.truthy(e:find("must be an integer, got the number 2.5", 1, true))
    e = kernel.error_of(function() nl.affine_range(nisa.register_alloc(3)) end)
    assert.truthy(e:find("a register or index value", 1, true))
  end)

  it("are named with their iterations when an instruction fails", function()
    local e = kernel.error_of(function(t)
      for i in nl.affine_range(4) do
        for j in nl.sequential_range(8) do
          if i == 2 and j == 5 then nisa.tensor_copy(t, t[{":", {0, j}}]) end
        end
      end
    end)
    assert.truthy(e.where:find("2", 1, true) and e.where:find("5", 1, true), e.where)
    assert.equal("err_num_elements_mismatch", e.id, tostring(e))
  end)
end)

describe("values carried between iterations of affine_range", function()
  local build = require "spec.support.build"

  -- What a run of the loop says on standard error, and the first element of the result.
  local function run(loop)
    local script = os.tmpname()
    build.spit(script, ([[
      local nki, nl, nisa, nd = require "nki", require "nki.language", require "nki.isa", require "nki.ndarray"
      local k = nki.jit(function(a)
        local out = nl.ndarray({128, 128}, nl.float32, nl.shared_hbm)
        local t = nl.load(a)
        local p = nl.ndarray({128, 128}, nl.float32, nl.psum)
        %s
        nl.store(out, t)
        return out
      end, {platform_target = "trn2"})
      print(k(nd.zeros({128, 128}, "float32")):get(0, 0))
    ]]):format(loop))
    local r = build.shell(build.quote(build.program) .. " " .. build.quote(script))
    os.remove(script)
    assert.equal(0, r.code, r.err)
    return r.err, r.out
  end

  it("are a warning that names tile and loop", function()
    local err, out = run "for i in nl.affine_range(4) do nisa.tensor_scalar(t, t, nl.add, 1) end"
    assert.truthy(err:find("'sbuf_0' carries a value from one iteration of the affine_range loop at", 1, true), err)
    local _, lines = err:gsub("\n", "")
    assert.equal(1, lines, err)
    assert.equal("4.0\n", out)
  end)

  it("are one warning for a line, whatever tile each turn of an outer loop has", function()
    local err = run [[
      for j in nl.affine_range(3) do
        local u = nl.load(a)
        for i in nl.affine_range(4) do nisa.tensor_scalar(u, u, nl.add, 1) end
        for i in nl.affine_range(4) do nisa.tensor_scalar(u, u, nl.add, 2) end
      end]]
    local _, lines = err:gsub("carries a value", "")
    assert.equal(2, lines, err)
  end)

  it("are a warning when a new tile takes the old one's name", function()
    local err, out = run "for i in nl.affine_range(4) do t = t + 1 end"
    assert.truthy(err:find("carries a value", 1, true), err)
    assert.equal("4.0\n", out)
  end)

  local moving = "'sbuf_0', used at an offset known at run time only, may carry a value from one iteration"
  local function warned(body)
    local err = run("local r = require 'nki.isa'.register_alloc(2) for i in nl.affine_range(4) do " .. body .. " end")
    assert.truthy(err:find(moving, 1, true), err)
    assert.equal(1, select(2, err:gsub("\n", "")), err)
  end
  local function silent(body)
    local err = run("local r = require 'nki.isa'.register_alloc(2) for i in nl.affine_range(4) do " .. body .. " end")
    assert.equal("", err)
  end

  it("are a warning where the offset is known at run time only", function()
    warned "local c = t[{{}, nl.ds(r, 2)}] nisa.tensor_scalar(c, c, nl.add, 1)"
    warned "nisa.tensor_scalar(t[{{}, nl.ds(r, 2)}], t[{{}, {0, 2}}], nl.add, 1)"
    warned "nisa.tensor_scalar(t[{{}, {i, i + 1}}], t[{{}, nl.ds(r, 1)}], nl.add, 1)"
    warned "for j in nl.dynamic_range(0, 4) do local c = t[{{}, nl.ds(j, 1)}] nisa.tensor_scalar(c, c, nl.add, 1) end"
  end)

  it("are none where this iteration has written the same, or the rest of the tile is used", function()
    silent "local c = t[{{}, nl.ds(r, 2)}] nisa.memset(c, 1) nisa.tensor_scalar(c, c, nl.add, 1)"
    silent "nisa.memset(t, 1) local c = t[{{}, nl.ds(r, 2)}] nisa.tensor_scalar(c, c, nl.add, 1)"
    silent [[nisa.tensor_scalar(t[{{}, {64, 96}}], t[{{}, {0, 64}}][{{}, nl.ds(r, 32)}], nl.add, 1)]]
  end)

  it("are a warning where rows are picked by a vector", function()
    local err = run [[
      local rows = nl.zeros({4, 1}, nl.int32)
      local table = nl.ndarray({128, 8}, nl.float32, {buffer = nl.private_hbm, name = "table"})
      nisa.dma_copy(table, nl.zeros({128, 8}, nl.float32))
      for i in nl.affine_range(4) do
        local some = nl.ndarray({4, 8}, nl.float32)
        nisa.dma_copy(some, table:vector_select(0, rows))
        nisa.dma_copy(table[{{4 * i, 4 * i + 4}, {}}], some)
      end]]
    assert.truthy(err:find("'table', used at an offset known at run time only, may carry", 1, true), err)
  end)

  it("are legal in a sequential loop", function()
    local err, out = run "for i in nl.sequential_range(4) do t = t + 1 end"
    assert.equal("", err)
    assert.equal("4.0\n", out)
  end)

  it("are legal when matmuls accumulate in psum", function()
    local err, out = run [[
      local ones = nl.ones({128, 128}, nl.float32)
      for i in nl.affine_range(4) do nisa.nc_matmul(p, ones, ones) end
      t = nl.copy(p)]]
    assert.equal("", err)
    assert.equal("512.0\n", out)
  end)
end)

describe("device loops", function()
  it("trace their body once", function()
    local count = 0
    local ops = kernel.body_ops(function(t)
      for _ in nl.dynamic_range(5) do
        count = count + 1
        nisa.tensor_scalar(t, t, nl.add, 1)
      end
    end)
    assert.equal(1, count)
    assert.same({"tensor_scalar"}, ops)
  end)

  it("give the same loop in all three spellings", function()
    local function strip(art) return (art.ir:gsub("loc%b()", "")) end
    local a = kernel.trace(function(t) for _ in nl.dynamic_range(2, 8, 3) do nl.exp(t) end end)
    local b = kernel.trace(function(t) nl.fori_loop(2, 8, function() nl.exp(t) end, 3) end)
    assert.equal(strip(a), strip(b))
    assert.truthy(a.ir:find("scf.for", 1, true))
  end)

  it("take registers and index values as bounds", function()
    local art = kernel.trace(function(t)
      local n = nisa.register_alloc(3)
      nl.fori_loop(0, n, function(i) nl.fori_loop(i, i + 2, function() nl.exp(t) end) end)
    end)
    local _, loops = art.ir:gsub('"scf.for"', "")
    assert.equal(2, loops)
  end)

  it("run while a register is not zero", function()
    local art = kernel.trace(function(t)
      local r = nisa.register_alloc(1)
      nl.while_loop(r, function(x)
        nl.exp(t)
        nisa.register_move(x, 0)
        return x
      end)
      nl.while_loop(1, function() return 0 end)
    end)
    local _, loops = art.ir:gsub('"scf.while"', "")
    assert.equal(2, loops)
    local _, moves = art.ir:gsub('"nisa.register_move"', "")
    assert.equal(4, moves, art.ir) -- a body that returns its own register needs none
  end)

  -- {what, id, text, body}
  local faults = {
    {"break", "err_break_in_device_loop", "nl.while_loop", function()
      for i in nl.dynamic_range(3) do
        if i then break end
      end
    end},
    {"a step of 0", "err_loop_step", "step is 0", function() nl.dynamic_range(0, 3, 0) end},
    {"a negative step", "err_loop_step", "step is -1", function() nl.fori_loop(0, 3, print, -1) end},
    {"a register as step", "err_bind_kind", "must be an integer", function()
      nl.fori_loop(0, 3, print, nisa.register_alloc(1))
    end},
    {"a body that returns something", "err_loop_body", "returns nothing", function() nl.fori_loop(0, 3,
      function() return 1 end) end},
    {"a body that returns no condition", "err_loop_body", "returns the next condition", function() nl.while_loop(1,
      function() end) end},
    {"a body that is no function", "err_bind_kind", "must be a function", function(t) nl.fori_loop(0, 3, t) end},
    {"a bound that is no number", "err_bind_kind", "an integer, a register or an index value",
      function() nl.fori_loop(0, "3", print) end},
    {"a write to the loop variable", "err_index_frozen", "loop variable", function()
      for i in nl.dynamic_range(3) do nisa.register_move(i, 1) end
    end},
    {"no_reorder around them", "err_no_reorder_loop", "nl.no_reorder", function()
      nl.no_reorder(function() nl.fori_loop(0, 3, function() end) end)
    end},
    {"an error caught outside", "err_loop_left_open", "left without its end", function()
      pcall(function() nl.fori_loop(0, 3, function() error "x" end) end)
    end},
  }
  for _, case in ipairs(faults) do
    it("refuse " .. case[1], function()
      local e = kernel.error_of(case[4])
      assert.equal(case[2], e.id, tostring(e))
      assert.truthy(e:find(case[3], 1, true), tostring(e))
    end)
  end

  it("pass the value raised by their body on", function()
    local e = kernel.error_of(function() nl.fori_loop(0, 3, function() error({mine = 1}) end) end)
    assert.equal(1, e.mine)
    e = kernel.error_of(function() nl.no_reorder(function() error("plain", 0) end) end)
    assert.equal("plain", e)
  end)
end)

describe("nl.no_reorder", function()
  it("is a block or a function", function()
    kernel.trace(function(t)
      do
        local _ <close> = nl.no_reorder()
        nl.exp(t)
      end
      nl.no_reorder(function() nl.exp(t) end)
      pcall(function()
        local _ <close> = nl.no_reorder()
        error "x"
      end)
    end)
  end)

  it("may not stay open", function()
    local e = kernel.error_of(function() local _ = nl.no_reorder() end)
    assert.equal("err_no_reorder_open", e.id)
    assert.truthy(e:find("loops_spec.lua:%d+"))
  end)
end)

describe("programs", function()
  it("know their place in the grid", function()
    local seen = {}
    local k = nki.jit(function(a)
      seen[#seen + 1] = {nl.program_id(0), nl.program_id(1), nl.program_id(-1)}
      assert.equal(2, nl.program_ndim())
      assert.equal(2, nl.num_programs())
      assert.equal(3, nl.num_programs(1))
      assert.equal(6, nl.num_programs {0, 1})
      return a
    end, {platform_target = "trn2", enable_cache = false})
    k[{2, 3}]:specialize(nki.decl({4, 4}, "float32"))
    assert.same({{0, 0, 0}, {0, 1, 1}, {0, 2, 2}, {1, 0, 0}, {1, 1, 1}, {1, 2, 2}}, seen)
  end)

  it("are one without a grid", function()
    kernel.trace(function()
      assert.equal(0, nl.program_id())
      assert.equal(0, nl.program_id(3))
      assert.equal(1, nl.num_programs())
      assert.equal(0, nl.program_ndim())
    end)
  end)

  it("refuse axes the grid does not have", function()
    local k = nki.jit(function(a)
      nl.program_id(1)
      return a
    end, {platform_target = "trn2", enable_cache = false})
    local ok, e = pcall(function() k[2]:specialize(nki.decl({4, 4}, "float32")) end)
    assert.is_false(ok)
    local want = "nl.program_id: parameter 'axis' is 1, no axis of the grid; it has 1, counted from 0"
    assert.truthy(e:find(want, 1, true), e.message)
  end)

  it("count each axis once", function()
    local function programs(axes)
      local k = nki.jit(function(a)
        assert.equal(6, nl.num_programs {0, 1})
        assert.equal(6, nl.num_programs {-1, 0})
        nl.num_programs(axes)
        return a
      end, {platform_target = "trn2", enable_cache = false})
      return pcall(function() k[{2, 3}]:specialize(nki.decl({4, 4}, "float32")) end)
    end
    assert.is_true(programs {1})
    for _, axes in ipairs {{0, 0}, {1, -1}} do
      local ok, e = programs(axes)
      assert.is_false(ok)
      assert.truthy(e:find("nl.num_programs: parameter 'axes' is a list that names an axis twice", 1, true), e.message)
    end
  end)
end)
