-- Attributes and view methods of NkiTensor.
local kernel = require "spec.support.kernel"
local nl, nisa = require "nki.language", require "nki.isa"

local function shape_is(expected, t) assert.equal(expected, tostring(t.shape)) end

describe("a tensor", function()
  it("tells about itself", function()
    kernel.trace(function(t, a)
      assert.equal("a", a.name)
      assert.equal(nl.shared_hbm, a.buffer)
      assert.equal(nl.sbuf, t.buffer)
      assert.equal("float32", t.dtype)
      assert.equal(nl.float32, t.dtype)
      assert.equal(2, t.ndim)
      assert.equal(8192, t.size)
      assert.equal(4, t.itemsize)
      assert.equal(0, t.offset)
      assert.same({64, 1}, t.strides)
      assert.same({{64, 128}, {1, 64}}, t:get_pattern())
      assert.is_true(t:is_contiguous())
      assert.is_false(t[{":", {0, 64, 2}}]:is_contiguous())
      assert.is_false(t:is_indirect())
      assert.truthy(tostring(t):find("sbuf_0[128,64] float32 in sbuf", 1, true))
      assert.equal("mine", nl.ndarray({4, 4}, "float32", {name = "mine"}).name)
      assert.equal("mine_1", nl.ndarray({4, 4}, "float32", {name = "mine"}).name)
    end)
  end)

  it("has no other attributes", function()
    local e = kernel.error_of(function(t) return t.shap end)
    assert.equal("err_no_such_name", e.id)
    assert.truthy(e:find("no NkiTensor.shap (of tile", 1, true), tostring(e))
    assert.truthy(e:find("[128,64] float32 in sbuf); did you mean shape?", 1, true), tostring(e))
  end)
end)

describe("views", function()
  -- {method call, shape}; all on a tile of 128 x 64
  local good = {
    {"slice", "{128, 5}", function(t) return t:slice(1, 0, 10, 2) end},
    {"slice by name", "{128, 10}", function(t) return t:slice {dim = 1, start = 0, stop = 10} end},
    {"slice with the Lua keyword", "{128, 10}", function(t) return t:slice {dim = 1, start = 0, ["end"] = 10} end},
    {"slice from the end", "{4, 64}", function(t) return t:slice(0, -4, 128) end},
    {"select", "{128, 1}", function(t) return t:select(1, -1) end},
    {"reshape", "{128, 8, 8}", function(t) return t:reshape {128, 8, -1} end},
    {"reshape_dim", "{128, 4, 16}", function(t) return t:reshape_dim(1, {4, 16}) end},
    {"flatten_dims", "{128, 64}", function(t) return t:reshape({128, 8, 8}):flatten_dims(1, 2) end},
    {"expand_dim", "{128, 1, 64}", function(t) return t:expand_dim(1) end},
    {"expand_dim at the end", "{128, 64, 1}", function(t) return t:expand_dim(-1) end},
    {"squeeze_dim", "{128, 64}", function(t) return t:expand_dim(1):squeeze_dim(1) end},
    {"permute", "{128, 16, 4}", function(t) return t:reshape({128, 4, 16}):permute {0, 2, 1} end},
    {"permute from the end", "{128, 16, 4}", function(t) return t:reshape({128, 4, 16}):permute {0, -1, 1} end},
    {"rearrange of two groups", "{128, 2, 4, 8, 1}", function(t)
      return t:reshape({128, 16, 4}):rearrange("p (a b) (c d) -> p a c b d", {a = 2, d = 1})
    end},
    {"broadcast", "{128, 3, 64}", function(t) return t:expand_dim(1):broadcast(1, 3) end},
    {"view", "{128, 256}", function(t) return t:view(nl.uint8) end},
    {"reinterpret_cast", "{128, 128}", function(t) return t:reinterpret_cast(nl.bfloat16) end},
    {"ap", "{128, 32}", function(t) return t:ap({{64, 128}, {2, 32}}) end},
    {"ap with an offset", "{64, 2, 4}",
      function(t) return t:ap {pattern = {{64, 64}, {8, 2}, {1, 4}}, offset = 1} end},
    {"rearrange", "{128, 16, 4}", function(t) return t:rearrange("p (a b) -> p b a", {a = 4}) end},
    {"rearrange with lists", "{128, 32, 2}",
      function(t) return t:rearrange({"p", {"a", "b"}}, {"p", "b", "a"}, {a = 2}) end},
    {"rearrange that merges", "{128, 64}", function(t)
      return t:reshape({128, 4, 16}):rearrange "p a b -> p (a b)"
    end},
    {"rearrange with an empty group", "{128, 1, 64}", function(t) return t:rearrange "p f -> p () f" end},
    {"broadcast_to", "{128, 64}", function(t) return t:broadcast_to {128, 64} end},
    {"expand_dims", "{128, 64, 1}", function(t) return t:expand_dims(2) end},
    {"assert_shape", "{128, 64}", function(t) return t:assert_shape {128, 64} end},
  }
  for _, case in ipairs(good) do
    it(case[1], function() kernel.trace(function(t) shape_is(case[2], case[3](t)) end) end)
  end

  it("carry the dtype and share the storage", function()
    kernel.trace(function(t)
      assert.equal("bfloat16", t:view(nl.bfloat16).dtype)
      assert.equal("sbuf_0", t:view(nl.bfloat16).name)
      assert.equal("bfloat16", t:astype(nl.bfloat16).dtype)
      assert.same({64, 1, 16}, t:rearrange("p (a b) -> p b a", {a = 4}).strides)
      assert.equal(10, t:slice(1, 10, 20).offset)
      assert.equal(1, t:ap {pattern = {{64, 64}, {1, 4}}, offset = 1}.offset)
    end)
  end)

  it("pick rows at run time", function()
    local art = kernel.trace(function(_, a)
      local rows = nl.ndarray({16, 1}, nl.uint32)
      nisa.iota(rows, {{1, 1}}, 0, 1)
      local v = a:vector_select(0, rows)
      shape_is("{16, 64}", v)
      assert.is_true(v:is_indirect())
      nl.load(v)
      local one = nl.zeros({1, 1}, nl.int32)
      local row = a:select(0, one)
      assert.is_true(row:is_indirect())
      nl.load(row:reshape {1, 64})
      nl.load(a:ap {pattern = {{64, 4}, {1, 64}}, scalar_offset = one})
    end)
    assert.truthy(art.ir:find("src.vector_offset", 1, true))
    assert.truthy(art.ir:find("register_load", 1, true))
  end)

  -- {what, id, text, body}
  local bad = {
    {"slice", "err_tensor_access_out_of_bound", "slice [0, 65)", function(t) t:slice(1, 0, 65) end},
    {"slice", "err_bind_value", "no such axis", function(t) t:slice(2, 0, 1) end},
    {"slice", "err_bind_value", "below 1", function(t) t:slice(1, 0, 4, 0) end},
    {"select", "err_view_partition", "partition axis", function(t) t:select(0, 1) end},
    {"reshape", "err_view_shape", "multiply to 8192", function(t) t:reshape {128, 65} end},
    {"reshape", "err_view_partition", "partition axis", function(t) t:reshape {64, 128} end},
    {"permute", "err_view_partition", "partition axis", function(t) t:permute {1, 0} end},
    {"broadcast", "err_view_broadcast", "64 elements", function(t) t:broadcast(1, 3) end},
    {"broadcast", "err_view_partition", "partition axis", function(t) t:broadcast(0, 3) end},
    {"squeeze_dim", "err_view_squeeze", "64 elements, not 1", function(t) t:squeeze_dim(1) end},
    {"view", "err_view_cast", "float32",
      function(t) t[{":", {0, 3}}]:view(nl.float32):slice(1, 0,
      1):view("float8_e4m3"):view("int32"):view("bogus") end},
    {"view", "err_unknown_dtype", "did you mean 'bfloat16'?", function(t) t:view "bfloat61" end},
    {"ap", "err_bind_kind", "{stride, count} pairs", function(t) t:ap {1, 2} end},
    {"ap", "err_view_ap_partition", "64 elements per partition", function(t) t:ap {{1, 128}, {1, 4}} end},
    {"rearrange", "err_rearrange", "'a' is missing", function(t) t:rearrange("p (a b) -> p b", {a = 4}) end},
    {"rearrange", "err_rearrange", "64 elements, its names make 63",
      function(t) t:rearrange("p (a b) -> p b a", {a = 9}) end},
    {"rearrange", "err_rearrange", "cannot both be inferred", function(t) t:rearrange "p (a b) -> p b a" end},
    {"rearrange", "err_rearrange", "no axis 'z'", function(t) t:rearrange("p f -> p f", {z = 1}) end},
    {"rearrange", "err_rearrange", "no axis 'x2'", function(t) t:rearrange("p f -> p f", {z = 1, y = 1, x2 = 1}) end},
    {"rearrange", "err_rearrange", "sizes are a table such as {a = 4}, got a number",
      function(t) t:rearrange("p f -> f p", 3) end},
    {"rearrange", "err_rearrange", "got a string", function(t) t:rearrange("p f -> f p", "a") end},
    {"rearrange", "err_rearrange", "got a boolean", function(t) t:rearrange({"p", "f"}, {"p", "f"}, false) end},
    {"rearrange", "err_rearrange", "src_pattern must be a list",
      function(t) t:rearrange({"p", "f", x = 1}, {"p", "f"}) end},
    {"rearrange", "err_rearrange", "src_pattern: axis names are strings",
      function(t) t:rearrange({"p", {"f", x = 1}}, {"p", "f"}) end},
    {"rearrange", "err_rearrange", "axis 'a' is missing in the source", function(t) t:rearrange "p f -> p f a b" end},
    {"rearrange", "err_rearrange", "3 axes, the tensor 2", function(t) t:rearrange "p f g -> p g f" end},
    {"rearrange", "err_rearrange", "occurs twice", function(t) t:rearrange "p p -> p p" end},
    {"rearrange", "err_rearrange", "no list of axis names", function(t) t:rearrange "p (f -> p f" end},
    {"assert_shape", "err_annotation_shape_mismatch", "{128, 65}", function(t) t:assert_shape {128, 65} end},
    {"a method", "err_bind_unknown", "did you mean 'start'?", function(t) t:slice {dim = 1, strat = 0, stop = 3} end},
  }
  for _, case in ipairs(bad) do
    if case[2] ~= "err_view_cast" then
      it("refuse a wrong " .. case[1] .. ": " .. case[3], function()
        local e = kernel.error_of(case[4])
        assert.equal(case[2], e.id, tostring(e))
        assert.truthy(e:find(case[3], 1, true), tostring(e))
      end)
    end
  end

  it("refuse a reinterpretation that does not divide", function()
    local e = kernel.error_of(function() nl.zeros({4, 3}, nl.uint8):view(nl.float32) end)
    assert.equal("err_view_cast", e.id)
  end)

  it("do not remember every index text", function()
    kernel.trace(function(t)
      collectgarbage()
      local before = collectgarbage "count"
      for i = 0, 20000 do
        local _ = t[(":, %d:64%s"):format(i % 64, (" "):rep(i // 64))]
      end
      collectgarbage()
      collectgarbage()
      assert.is_true(collectgarbage "count" - before < 8192)
    end)
  end)
end)
