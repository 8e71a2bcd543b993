-- nkilua lint: every rule has code that it warns of and code that it leaves alone; the project's own Lua is clean.
local build = require "spec.support.build"
local cli = require "spec.cli.support"
local tree = require "spec.support.tree"

local HEAD = 'local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"\n'

-- The body of a kernel with tensors a and b and a number n; t and out are tiles.
local function kernel(body)
  return ("%sreturn nki.jit(function(a, b, n)\nlocal t, out = nl.load(a), nl.empty_like(b)\n%s\nreturn t\nend)\n")
    :format(HEAD, body)
end

-- {rule, what it warns of, what it leaves alone ...}; a text in parts[0] must be in the warning.
local cases = {
  {"lint_tensor_equal",
    "if t == 0 then return b end",
    "if n == 0 or b == nil or t ~= nil or a.shape[0] == 4 then return b end"},
  {"lint_tensor_equal", "local same = nl.exp(t) ~= t", "local same = a.dtype == nl.float32"},
  {"lint_tensor_equal",
    "nl.fori_loop(0, 4, function(i) return i == 3 end)",
    "for i in nl.static_range(4) do local l = i == 3 end"},
  {"lint_tensor_equal",
    "local u; u = nl.copy(t); local v = nl.abs(u) local w = v == 2",
    "local u; if n then u = t end local w = u == 2"},
  {"lint_tensor_truth", "if t then return b end", "if b and n then return a.shape end"},
  {"lint_tensor_truth", "local m = nl.less(t, 1) and nl.less(t, 2)", "local x = n and nl.exp(t) or t"},
  {"lint_tensor_truth",
    "local m = not nl.less(t, 1)",
    "local acc; for i = 0, 3 do if not acc then acc = t else acc = acc + t end end"},
  {"lint_tensor_truth",
    "local i = nl.arange(4)[\"None, :\"] if i then return b end",
    "local i = nl.arange(4) local m = i and 1 or 2 -- lint: ignore lint_tensor_truth"},
  {"lint_while_register",
    "local r = nisa.register_alloc(3) while r do r = r - 1 end",
    "local r = 3 while r > 0 do r = r - 1 end"},
  {"lint_length", "local l = #{1, nil, 3}", "local l = #{1, 2, nil}"},
  {"lint_length", "local keys = {nil, 4} local l = #keys", "local keys = {4, 4} local l = #keys"},
  {"lint_length", "local l = #t", "local l = #t.shape"},
  {"lint_pairs_order",
    "for k, v in pairs {p = 1} do nl.store(out[k], t) end",
    "for k, v in ipairs {1} do nl.store(out[k], t) end"},
  {"lint_pairs_order",
    "for k, v in next, {p = 1} do nisa.memset(t, v) end",
    "for k, v in pairs {p = 1} do n = v + nl.tile_size.pmax end"},
  {"lint_python_name",
    "for i in range(4) do n = i end",
    "local range = nl.affine_range for i in range(4) do n = i end"},
  {"lint_python_name", "local x = None", "local x = {None = 1}"},
  {"lint_one_based", "for i = 1, a.shape[0] // 128 do nl.store(out[nl.ds(i * 128, 128)], t) end",
    "for i = 1, a.shape[0] // 128 - 1 do nl.store(out[nl.ds(i * 128, 128)], t) end"},
  {"lint_one_based", "for d = 1, a.ndim do n = n * a.shape[d] end", "for d = 1, 3 do n = n * d end"},
  {"lint_loop_end", "for i = 0, a.shape[0] // 128 do nl.store(out[nl.ds(i * 128, 128)], t) end",
    "for i = 0, a.shape[0] // 128 - 1 do nl.store(out[nl.ds(i * 128, 128)], t) end"},
  {"lint_loop_end",
    "for d = 0, #a.shape do n = n * a.shape[d] end",
    "for d = 0, #a.shape - 1 do n = n * a.shape[d] end"},
  {"lint_arange_slice", "local u = nl.copy(t[{nl.arange(128)[\":, None\"], nl.arange(4)[\"None, :\"]}])",
    "local i, j = nl.arange(128)[\":, None\"], nl.arange(4)[\"None, :\"] nl.load(a[{i, j}], {mask = nl.less(i, n)})"},
  {"lint_arange_slice",
    "local i, j = nl.arange(128)[\":, None\"], nl.arange(4)[\"None, :\"] nl.store(out[{i + n * 128, j}], t)",
    "local i, j = nl.arange(128)[\":, None\"], nl.arange(4)[\"None, :\"] nl.store(out[{i, 2 * j}], t)"},
  {"lint_global", "total = 3", "local total; total = 3; _G.sum = total"},
  {"lint_simulator_only", "local u = nl.divide(t, 3)", "local u = nl.multiply(t, 1 / 3)"},
  {"lint_simulator_only", "local u = t / 3", "local u = n / 3"},
  {"lint_simulator_only", "local u = t % 3", "local u = n % 3"},
  {"lint_parameter_stored", "nl.store(a, t)", "nl.store(nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm}), t)"},
  {"lint_parameter_stored", "nisa.dma_copy {dst = b[nl.ds(0, 128)], src = t}", "nisa.dma_copy {dst = t, src = b}"},
  {"lint_parameter_stored", "a[\"0:4\"] = t", "t[\"0:4\"] = 0"},
  {"lint_parameter_stored", "nl.store(a, t) if n > 4 then return b, {out} end",
    "nl.store(a, t) if n > 4 then return {b, a} end"},
  {"lint_parameter_stored", "nl.store(a, t) local f = function() return a end",
    "nl.store(a, t) if n > 4 then return a end"},
  {"lint_affine_carry", "local s = nl.zeros({128, 4}, nl.float32) for i in nl.affine_range(4) do s = s + t end",
    "local s = nl.zeros({128, 4}, nl.float32) for i in nl.sequential_range(4) do s = s + t end"},
  {"lint_affine_carry", "local s = nl.copy(t) for i in nl.affine_range(4) do nisa.tensor_tensor(s, s, t, nl.add) end",
    "local s = nl.ndarray({128, 4}, nl.float32) for i in nl.affine_range(4) do nisa.nc_matmul(s, t, t) end"},
  {"lint_affine_carry",
    "local s = nl.copy(t) for i in nl.affine_range(4) do nisa.activation{dst = s, op = nl.exp, data = s} end",
    "for i in nl.affine_range(4) do local s = nl.copy(t) nisa.activation{dst = s, op = nl.exp, data = s} end"},
  {"lint_affine_carry",
    "local s = nl.copy(t) for i in nl.affine_range(4) do s[\"...\"] = s + t end",
    "local s = nl.copy(t) for i in nl.affine_range(4) do local p = nl.ds(i, 1) s[{\":\", p}] = s[{\":\", p}] + t end"},
  {"lint_affine_carry",
    "local s, p = nl.copy(t), nl.ds(0, 1) for i in nl.affine_range(4) do s[{\":\", p}] = s[{\":\", p}] + t end",
    "local s = nl.copy(t) for i in nl.affine_range(4) do s[{\":\", i}] = s[{\":\", i}] + t end"},
  {"lint_allocated_bias",
    "local s = nl.ndarray({128, 4}, nl.float32, {address = {0, 0}}) nisa.activation(s, nl.exp, t)",
    "local s = nl.ndarray({128, 4}, nl.float32, {address = {0, 0}}) nisa.activation(s, nl.exp, t, b)"},
  {"lint_allocated_bias", "local s = nl.ndarray({128, 4}, nl.float32, {address = {0, 0}}) local e = nl.exp(t)",
    "local s = nl.ndarray({128, 4}, nl.float32) local e = nl.exp(t)"},
  {"lint_allocated_transpose", "local s = nl.ndarray({8, 8}, nl.float32, {address = {0, 0}}) nisa.nc_transpose(s, t)",
    "local s = nl.ndarray({8, 8}, nl.float32, {address = {0, 0}}) nisa.nc_transpose(s, t, nisa.engine.vector)"},
  -- a name is what it was given before, or in a loop around
  {"lint_tensor_truth",
    "local w = nl.copy(t) if w then w = n end",
    "local w = n for i = 0, 3 do if w then w = nl.copy(t) end end"},
  {"lint_tensor_truth",
    "local w = nl.copy(t) while w do w = nl.exp(w) end",
    "local w = nl.copy(t) for i = 0, 3 do if w then w = b.next end end"},
  {"lint_tensor_truth",
    "local w = nl.copy(t) repeat w = nl.exp(w) until w",
    "local w = nl.copy(t) local f = function() return not w end w = n f()"},
  -- functions of the script give what they return
  {"lint_tensor_equal",
    "local function f(x) if n then return nl.exp(x) end return x * nl.abs(x) end local w = f(t) == 0",
    "local function f(x) if n then return nl.exp(x) end return x end local w = f(t) == 0"},
  {"lint_unknown_rule", "n = 1 -- lint: ignore lint_tensor_thruth", "n = 1 -- lint: ignore lint_tensor_truth"},
}

describe("nkilua lint", function()
  local folder, found, answer
  setup(function()
    folder = cli.folder()
    local words = {"lint"}
    for i, case in ipairs(cases) do
      for k, side in ipairs {"bad", "good"} do
        local path = ("%s/%03d_%s.lua"):format(folder, i, side)
        build.spit(path, kernel(case[k + 1]))
        words[#words + 1] = path
      end
    end
    answer = cli.run(words)
    found = {}
    for line in answer.out:gmatch "[^\n]+" do
      local file, at, id = line:match "/(%d+_%l+)%.lua:(%d+):%d+: (lint_[%w_]+): "
      assert(file, line)
      found[file] = (found[file] or "") .. at .. " " .. id .. "\n"
    end
  end)
  teardown(function() cli.drop(folder) end)

  it("has status 1 and is silent on standard error when it finds something", function()
    assert.equal(1, answer.code)
    assert.equal("", answer.err)
  end)

  for i, case in ipairs(cases) do
    it(("warns once: %s, %s"):format(case[1], case[2]), function()
      assert.equal("4 " .. case[1] .. "\n", found[("%03d_bad"):format(i)])
    end)
    it(("is content with %s"):format(case[3]), function() assert.is_nil(found[("%03d_good"):format(i)]) end)
  end

  it("has a case for every rule, and docs/lua-hazards.md a row", function()
    local rules, tried, page = {lint_unknown_rule = true}, {}, tree.read "docs/lua-hazards.md"
    for id in tree.read("lua/nki/lint_rules.lua"):gmatch 'rule%("(lint_[%w_]+)"' do rules[id] = true end
    for _, case in ipairs(cases) do tried[case[1]] = true end
    for id in pairs(rules) do
      assert.is_true(tried[id], id)
      assert.truthy(page:find("| `" .. id .. "` |", 1, true), id)
    end
    for id in page:gmatch "`(lint_[%w_]+)`" do assert.is_true(rules[id], id) end
  end)

  -- One file, from standard input.
  local function lint(text, ...)
    return cli.run {"lint", "-", ..., stdin = text}
  end

  it("says file, line, column, rule and what to write, in the order of the text", function()
    local r = lint(kernel "if t == 0 then x = t / 2 end")
    assert.equal([[
-:4:6: lint_tensor_equal: == asks whether the tile 't' is the same Lua value: false beside a number; write nl.equal
-:4:16: lint_global: 'x' becomes a global: write local, or _G.x when that is meant
-:4:22: lint_simulator_only: / on a tile is a step of the simulator: no instruction does it; multiply by nl.reciprocal
]], r.out)
    assert.equal(1, r.code)
  end)

  it("gives JSON", function()
    local r = lint(kernel "x = 3", "--json")
    assert.equal('[{"file":"-","findings":[{"line":4,"column":1,"id":"lint_global","text":"\'x\' becomes a global: '
      .. 'write local, or _G.x when that is meant"}]}]\n', r.out)
    assert.equal('[{"file":"-","findings":[]}]\n', lint("return 1", "--json").out)
    assert.equal("", lint("#!/usr/bin/env nkilua\nreturn 1").out)
    assert.equal("-:1:1: lint_global", (lint("\xef\xbb\xbfx = 1").out:match "^(.-): '"))
  end)

  it("is told what to leave alone", function()
    local body = "local x = not t"
    assert.equal(1, lint(kernel(body)).code)
    for _, ignoring in ipairs {body .. " -- lint: ignore lint_tensor_truth",
      "-- lint: ignore lint_tensor_truth\n" .. body, body .. "\n-- lint: ignore-file lint_tensor_truth"} do
      assert.equal("", lint(kernel(ignoring)).out)
    end
    assert.equal(1, lint(kernel("-- lint: ignore lint_tensor_truth\n\n" .. body)).code)
    assert.equal(1, lint(kernel(body .. " -- lint: ignore lint_global")).code)
  end)

  it("knows the modules by any name and functions by theirs", function()
    local text = [[local lang = require("nki.language")
      local exp, k = lang.exp, function(x) return not lang.copy(x) end
      require("nki").jit(k)
      return function(x) return not exp(x) end]]
    assert.equal("-:2:55: lint_tensor_truth\n-:4:37: lint_tensor_truth\n", (lint(text).out:gsub(": not[^\n]*", "")))
  end)

  it("reads all of Lua", function()
    local r = lint [==[
      do goto over ::over:: ; end
      local s <const>, h <close> = [[a
      b]], nil --[=[ long ]=] --[[ and
      another ]]
      local t = {[1] = 0x.8p3, two = 'a\'b', "c"; ...}
      function t.f.g:h(a, ...) repeat local x = a until x; return ... end
      return -2 ^ 2 .. t "s" {1} 'x' :m [[z]], ~t // 3 >> 1 | 2 ~ 4 & 5]==]
    assert.equal(0, r.code, r.out .. r.err)
  end)

  it("has status 2 for what does not compile or is not there, and still looks at the rest", function()
    local r = lint "local x = t[0:128]"
    assert.equal(2, r.code)
    assert.equal("nkilua: -:1: ']' expected near ':'; a slice is a string, t[\"0:64, ::2\"], or nl.ds(start, size)\n",
      r.err)
    for text, hint in pairs {["if a != b then end"] = "~= for !=", ["x += 1"] = "x = x + y",
      ["x = a ** 2"] = "Lua writes ^",
      ["def f(x):"] = "Lua writes function", ["import nki"] = "require", ["elif x then"] = "elseif"} do
      assert.truthy(lint(text).err:find(hint, 1, true), text)
    end
    build.spit(folder .. "/last.lua", "x = 3")
    r = cli.run {"lint", folder .. "/none.lua", folder .. "/last.lua"}
    assert.equal(2, r.code)
    assert.matches("cannot open '.*none.lua'", r.err)
    assert.matches("last.lua:1:1: lint_global", r.out)
    local deep = "nested too deep: Lua reads at most 200 levels of brackets, blocks and operators"
    for _, text in ipairs{"\nx = " .. ("("):rep(100000) .. "1", "#!x\nx = " .. ("not "):rep(1000) .. "1",
      "x = " .. ("{"):rep(99) .. "\n" .. ("{"):rep(9999) .. "}"} do
      assert.equal("nkilua: -:2: " .. deep .. "\n", lint(text).err)
      build.spit(folder .. "/deep.lua", text)
      local run = cli.run {"run", folder .. "/deep.lua"}
      assert.equal(1, run.code)
      assert.truthy(run.err:find("deep.lua:2: " .. deep, 1, true), run.err)
    end
    assert.matches("nested too deeply", lint("return f" .. (".a"):rep(300000)).err)
    cli.fails(2, {"lint"}, "usage: nkilua lint FILE")
  end)
end)

-- What specs do on purpose, by the beginning of their names.
local meant = {
  {"spec/", "lint_parameter_stored"}, {"spec/cases/sim_", "lint_simulator_only"},
  {"spec/lang/nl_values_spec", "lint_simulator_only"}, {"spec/lang/loops_spec", "lint_tensor_truth"},
  {"spec/users_calls_spec", "lint_tensor_equal"}, {"spec/users_calls_spec", "lint_global"},
}

local function is_meant(file, id)
  for _, m in ipairs(meant) do
    if file:sub(1, #m[1]) == m[1] and id == m[2] then return true end
  end
  return false
end

describe("the project's own Lua", function()
  it("has no findings but those that specs are about", function()
    local words = {"lint"}
    for _, path in ipairs(tree.files "%.lua$") do words[#words + 1] = path end
    assert.is_true(#words > 150)
    local r = cli.run(words)
    assert.equal("", r.err)
    for line in r.out:gmatch "[^\n]+" do
      local file, id = line:match "^([^:]+):%d+:%d+: (lint_[%w_]+)"
      assert.is_true(is_meant(file, id), line)
    end
  end)
end)
