-- Index keys: every form selects the elements that NumPy's counterpart selects; everything else is an error that names
-- tensor and axis.
local kernel = require "spec.support.kernel"
local nki, nl = require "nki", require "nki.language"
local raises = require "spec.support.raises"

-- {key, shape, offset} on a tile of 128 x 64
local forms = {
  {3, {1, 64}, 3 * 64},
  {3.0, {1, 64}, 3 * 64},
  {-1, {1, 64}, 127 * 64},
  {{3, 5}, {1, 1}, 3 * 64 + 5},
  {nl.ds(2, 5), {5, 64}, 2 * 64},
  {{nl.ds(0, 128), nl.ds(60, 4)}, {128, 4}, 60},
  {{{0, 4}}, {4, 64}, 0},
  {{{4}}, {124, 64}, 4 * 64},
  {{{-4}}, {4, 64}, 124 * 64},
  {{{nil, 7}}, {7, 64}, 0},
  {{{0, -100}}, {28, 64}, 0},
  {{{}, {0, 10, 3}}, {128, 4}, 0},
  {{":", {1, 64, 2}}, {128, 32}, 1},
  {{"...", 3}, {128, 1}, 3},
  {{3, "..."}, {1, 64}, 3 * 64},
  {{"...", 3, 4}, {1, 1}, 3 * 64 + 4},
  {":", {128, 64}, 0},
  {"...", {128, 64}, 0},
  {"5", {1, 64}, 5 * 64},
  {"0:4", {4, 64}, 0},
  {"..., ::2", {128, 32}, 0},
  {"-2:, -1", {2, 1}, 126 * 64 + 63},
  {" 8 : 16 , 1 : 7 : 3 ", {8, 2}, 8 * 64 + 1},
  {{"8:16", "1:7:3"}, {8, 2}, 8 * 64 + 1},
}

local function show(key)
  if type(key) ~= "table" then return tostring(key) end
  local parts = {}
  for i = 1, 3 do
    if key[i] ~= nil then parts[#parts + 1] = show(key[i]) end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

describe("indexing", function()
  for _, form in ipairs(forms) do
    it("takes t[" .. show(form[1]) .. "]", function()
      kernel.trace(function(t)
        local v = t[form[1]]
        assert.equal(tostring(nl.zeros(form[2], "float32").shape), tostring(v.shape))
        assert.equal(form[3], v.offset)
      end)
    end)
  end

  it("tells the start, size and stop of nl.ds", function()
    kernel.trace(function()
      local part = nl.ds(3, 4)
      assert.same({3, 4, 7, "nl.ds(3, 4)"}, {part.start, part.size, part.stop, tostring(part)})
      raises("err_no_such_name", "no nl.ds.sise; did you mean size?", function() return part.sise end)
      raises("err_no_such_name", "no nl.ds.number", function() return part[1] end)
    end)
  end)

  it("gives index values for the start and stop of nl.ds on the device", function()
    local art = kernel.trace(function(t, a)
      nl.fori_loop(0, 8, function(i)
        local part = nl.ds(i * 2, 4)
        assert.equal(4, part.size)
        assert.equal("nl.ds(an index value, 4)", tostring(part))
        nl.load(a[nl.ds(part.start, 2)])
        nl.load(a[nl.ds(part.stop, 2)])
      end)
      return t
    end)
    assert.is_truthy(art.ir:find("{c = [128]}", 1, true), art.ir)
    assert.is_truthy(art.ir:find("{c = [128], k = 256}", 1, true), art.ir)
  end)

  it("removes axes of tensors in hbm", function()
    kernel.trace(function(_, a)
      assert.is_true(a[3].shape == {64})
      assert.is_true(a[{3, 4}].shape == {1})
      assert.is_true(a[{":", 4}].shape == {128})
    end)
  end)

  it("keeps at least two axes on chip", function()
    kernel.trace(function(t)
      local x = t:reshape {128, 8, 8}
      assert.is_true(x[{":", 0, 3}].shape == {128, 1})
      assert.is_true(x[{":", 2}].shape == {128, 8})
    end)
  end)

  -- {key, id, text}
  local faults = {
    {128, "err_tensor_access_out_of_bound", "index 128 of axis 0"},
    {-129, "err_tensor_access_out_of_bound", "index -129 of axis 0"},
    {{0, 64}, "err_tensor_access_out_of_bound", "index 64 of axis 1"},
    {{{0, 129}}, "err_tensor_access_out_of_bound", "slice [0, 129) of axis 0"},
    {{{5, 5}}, "err_tensor_access_out_of_bound", "slice [5, 5) of axis 0"},
    {nl.ds(100, 29), "err_tensor_access_out_of_bound", "slice [100, 129) of axis 0"},
    {{{0, 4, 0}}, "err_key_slice", "step of a slice is at least 1"},
    {{{0, 4, -1}}, "err_key_slice", "step of a slice is at least 1"},
    {{{0, 4, 1, 1}}, "err_key_slice", "{start, stop, step}"},
    {{{0, "x"}}, "err_key_slice", "are integers"},
    {{{start = 0}}, "err_key_slice", "{start, stop, step}"},
    {{1, 2, 3}, "err_key_count", "has rank 2, and the number of keys is 3"},
    {"...,...", "err_key_ellipsis", "more than one"},
    {1.5, "err_key_kind", "the number 1.5"},
    {{true}, "err_key_kind", "is true"},
    {{[2] = 3}, "err_key_kind", "is nil"},
    {{{0, 4}, x = 1}, "err_key_slice", "no position"},
    {"0:x", "err_key_syntax", "unexpected 'x' at character 3"},
    {"0:4,", "err_key_syntax", "unexpected ',' at character 4"},
    {"", "err_key_syntax", "expected an integer"},
    {{"0:4, 1"}, "err_key_slice", "stands for one axis"},
    {"99999999999999999999", "err_key_syntax", "does not fit 64 bits"},
  }
  for _, fault in ipairs(faults) do
    it("refuses t[" .. show(fault[1]) .. "]", function()
      local e = kernel.error_of(function(t) return t[fault[1]] end)
      assert.equal(fault[2], e.id)
      assert.truthy(e:find(fault[3], 1, true), tostring(e))
      assert.truthy(e:find("sbuf_0", 1, true), "the tensor's name: " .. tostring(e))
    end)
  end

  it("takes registers and index values, scaled to elements", function()
    local art = kernel.trace(function(_, a, out)
      for i in nl.dynamic_range(3) do
        nl.store(out[nl.ds(i * 32 + 16, 16)], nl.load(a[nl.ds(i * 32, 16)]))
      end
    end)
    assert.truthy(art.ir:find("c = [2048]", 1, true), art.ir) -- 32 rows of 64 elements
    assert.truthy(art.ir:find("k = 1024", 1, true), art.ir) -- 16 rows
  end)

  it("refuses a run-time slice larger than its axis, and two run-time offsets", function()
    local e = kernel.error_of(function(_, a)
      for i in nl.dynamic_range(3) do nl.load(a[nl.ds(i, 129)]) end
    end)
    assert.equal("err_tensor_access_out_of_bound", e.id)
    assert.truthy(e:find("nl.ds of 129 elements in axis 0", 1, true), tostring(e))
    e = kernel.error_of(function(_, a)
      for i in nl.dynamic_range(3) do nl.load(a[{nl.ds(i, 1), nl.ds(i, 1)}]) end
    end)
    assert.equal("err_view_one_dynamic", e.id)
  end)
end)

describe("nl.ds", function()
  it("checks its arguments, also outside a kernel", function()
    assert.has_error(function() nl.ds(0, 0) end)
    assert.has_error(function() nl.ds(-1, 4) end)
    assert.has_error(function() nl.ds(0) end)
    assert.has_error(function() nl.ds("0", 4) end)
    assert.has_error(function() nl.ds(math.maxinteger, 4) end)
  end)
end)

describe("assignment to a view", function()
  it("copies tiles and numbers into it", function()
    assert.same({"memset"}, kernel.body_ops(function(t) t[{":", {0, 4}}] = 3 end))
    assert.same({"tensor_copy"}, kernel.body_ops(function(t) t[{":", {0, 4}}] = t[{":", {4, 8}}] end))
    assert.same({"tensor_copy"}, kernel.body_ops(function(t) t[{":", {0, 4}}] = t[{":", {4, 5}}] end)) -- repeats
    assert.same({"dma_copy"}, kernel.body_ops(function(t, _, out) out["0:4"] = t["0:4"] end))
    assert.same({"dma_copy"}, kernel.body_ops(function(t, a) t["0:4"] = a["0:4"] end))
    assert.same({"memset", "dma_copy"}, kernel.body_ops(function(_, _, out) out["0:4"] = 1.5 end))
  end)

  it("refuses other values and other shapes", function()
    assert.equal("err_store_dst_shape_smaller_than_other_shape",
      kernel.error_of(function(t) t["0:4"] = t["0:8"] end).id)
    assert.equal("err_bind_kind", kernel.error_of(function(t) t[0] = "x" end).id)
    assert.equal("err_bind_kind", kernel.error_of(function(t) t[0] = nil end).id)
    local e = kernel.error_of(function(t) t.shape = {1, 1} end)
    assert.equal("err_read_only", e.id)
    assert.truthy(e:find("shape of tile ", 1, true), tostring(e))
  end)

  it("say what they are when their instruction is refused", function()
    local e = kernel.error_of(function(t) t[-1] = 1 end)
    assert.equal("err_start_partition", e.id)
    assert.truthy(e:find("starts at partition 127; 1 partition may start at 0, 32, 64 or 96", 1, true), tostring(e))
    assert.equal("note: issued by assignment", (e.notes:gsub("\n$", "")))
    e = kernel.error_of(function(t) t[5] = t[0] end)
    assert.truthy(e.notes:find("issued by assignment", 1, true), tostring(e))
  end)

  it("fill one row, or a tensor of one axis, of HBM", function()
    local k = nki.jit(function(n)
      local rows, line = nl.ndarray({3, n}, nl.float32, {buffer = nl.shared_hbm}),
        nl.ndarray({n}, nl.int8, {buffer = nl.shared_hbm})
      rows[{{0, 2}}] = 1
      rows[-1] = 2
      line[nl.ds(0, n - 1)] = 3
      line[n - 1] = 4
      return rows, line
    end)
    local rows, line = nki.simulate(k)(4)
    assert.same({{1, 1, 1, 1}, {1, 1, 1, 1}, {2, 2, 2, 2}}, rows:totable())
    assert.same({3, 3, 3, 4}, line:totable())
  end)

  it("and reads by a tile on chip name what picks elements there", function()
    for _, f in ipairs {function(t) return t[t] end, function(t) t[t] = 1 end} do
      local e = kernel.error_of(f)
      assert.equal("err_copy_dynamic_indirect_indices_not_natively_supported", e.id)
      assert.truthy(e:find("nl.gather_flattened", 1, true), tostring(e))
    end
  end)
end)
