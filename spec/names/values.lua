-- Cases of the names that are values: f(v) gives the cases of the value v, which they use in an instruction, or compare
-- with numbers of NKI's documents.
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local gen = require "spec.support.generators"
local sb = require("spec.support.case").sbuf

local x = nd.array {{1, 2, 3, 4}, {5, 6, 7, 8}}
local values = {}

-- ---- dtypes: 8 bytes as {2, n}, what they are as numbers (packed ones are none), and the type in the IR

local dtypes = {
  bool_ = {"\0\1\1\0\1\1\0\0", {0, 1, 1, 0, 1, 1, 0, 0}, "2x4xi1"},
  int8 = {"\0\1\x7F\x80\xFF\2\3\4", {0, 1, 127, -128, -1, 2, 3, 4}, "2x4xi8"},
  uint8 = {"\0\1\x7F\x80\xFF\2\3\4", {0, 1, 127, 128, 255, 2, 3, 4}, "2x4xui8"},
  int16 = {"\1\0\xFF\x7F\0\x80\xFF\xFF", {1, 32767, -32768, -1}, "2x2xi16"},
  uint16 = {"\1\0\xFF\x7F\0\x80\xFF\xFF", {1, 32767, 32768, 65535}, "2x2xui16"},
  int32 = {"\1\0\0\0\0\0\0\x80", {1, -2147483648}, "2x1xi32"},
  uint32 = {"\1\0\0\0\0\0\0\x80", {1, 2147483648}, "2x1xui32"},
  float32 = {"\0\0\x80\x3F\0\0\x20\xC0", {1, -2.5}, "2x1xf32"},
  tfloat32 = {"\0\0\x80\x3F\0\0\x20\xC0", {1, -2.5}, "2x1xtf32"},
  float16 = {"\0\x3C\0\xC1\xFF\x7B\1\0", {1, -2.5, 65504, 2 ^ -24}, "2x2xf16"},
  bfloat16 = {"\x80\x3F\x20\xC0\0\x7F\0\x40", {1, -2.5, 2 ^ 127, 2}, "2x2xbf16"},
  float8_e4m3 = {"\x38\xC2\x77\1\0\x40\x30\x28", {1, -2.5, 240, 2 ^ -9, 0, 2, 0.5, 0.25}, "2x4xf8E4M3"},
  float8_e4m3fn = {"\x38\xC2\x7E\1\0\x40\x30\x28", {1, -2.5, 448, 2 ^ -9, 0, 2, 0.5, 0.25}, "2x4xf8E4M3FN"},
  float8_e5m2 = {"\x3C\xC1\x7B\1\0\x40\x38\x34", {1, -2.5, 57344, 2 ^ -16, 0, 2, 0.5, 0.25}, "2x4xf8E5M2"},
  float8_e8m0fnu = {"\x7F\x80\x7E\0\xFE\x81\x7D\x82", {1, 2, 0.5, 2 ^ -127, 2 ^ 127, 4, 0.25, 8}, "2x4xui8",
    target = "trn3"},
  float8_e5m2_x4 = {"\x3C\xC1\x7B\1\0\x40\x38\x34", nil, "2x1xui32", target = "trn3"},
  float8_e4m3fn_x4 = {"\x38\xC2\x7E\1\0\x40\x30\x28", nil, "2x1xui32", target = "trn3"},
  float4_e2m1fn_x4 = {"\x21\x43\x65\x87\xA9\xCB\xED\x0F", nil, "2x2xui16", target = "trn3"},
}
local width = {uint32 = 4, int32 = 4, float32 = 4, tfloat32 = 4, float8_e5m2_x4 = 4, float8_e4m3fn_x4 = 4, uint16 = 2,
  int16 = 2, float16 = 2, bfloat16 = 2, float4_e2m1fn_x4 = 2}
for name, row in pairs(dtypes) do
  values["nl." .. name] = function(v)
    local bytes, numbers, mlir = row[1], row[2], row[3]
    local shape = {2, 4 // (width[name] or 1)}
    local data = nd.from_bytes(bytes, shape, name)
    local cases = {{"stored, copied and read back", {data}, function(h)
      local t, u = sb(shape, v), sb(shape, v)
      local out = nl.ndarray(shape, v, {buffer = nl.shared_hbm})
      nisa.dma_copy(t, h)
      nisa.tensor_copy(u, t)
      nisa.dma_copy(out, u)
      return out
    end, {data}, hbm = true, target = row.target, ir = mlir .. ","}}
    cases[2] = numbers and {"the numbers of its bits", function()
      local told = {}
      for i, n in ipairs(nd.from_bytes(bytes, {#numbers}, v):astype("float32"):totable()) do
        told[i] = n
      end
      return told, nd.array(numbers, "float32"):astype(v):bytes()
    end, {numbers, bytes}, host = true, target = row.target}
    return cases
  end
end
values["nl.DType"] = function(v)
  return {{"names and other spellings", function()
    return v "bf16", v(nl.float8_e5m2), v.isinstance "float32", v.isinstance "float99", v.isinstance(32)
  end, {"bfloat16", "float8_e5m2", true, false, false}, host = true}}
end

-- ---- memories

-- A tensor there, written and read by what reaches it.
local function memory(word)
  return function(v)
    return {{"a tensor there", {x}, function(t)
      local there = nl.ndarray({2, 4}, nl.float32, {buffer = v, name = "there"})
      assert(there.buffer == v and v.value == word, "it is in " .. tostring(there.buffer))
      if nl.is_on_chip(v) then
        nisa.tensor_copy(there, t)
        return there
      end
      nl.store(there, t)
      return nl.load(there)
    end, {x}, ir = ('%%there = "nki.alloc"() {name = "there"} : () -> memref<2x4xf32, "%s">'):format(word)}}
  end
end
for _, name in ipairs {"sbuf", "psum", "private_hbm", "shared_hbm"} do
  values["nl." .. name], values["nl.MemoryRegion." .. name] = memory(name), memory(name)
end
values["nl.hbm"] = memory "private_hbm"
values["nl.MemoryRegion"] = function(v)
  return {{"its members", function()
    local names = {}
    for name, member in pairs(v) do
      names[#names + 1] = name .. " " .. member.value
    end
    table.sort(names)
    return names
  end, {{"private_hbm private_hbm", "psum psum", "sbuf sbuf", "shared_hbm shared_hbm"}}, host = true}}
end

-- ---- limits, by generation

local limits = {
  pmax = 128, psum_fmax = 512, psum_bank_fmax = 512, psum_bank_fmax_bytes = 2048, gemm_stationary_fmax = 128,
  gemm_moving_fmax = 512, bn_stats_fmax = 512, psum_min_align = 4, sbuf_min_align = 4, psum_num_banks = 8,
  sbuf_size_bytes = {24 << 20, 28 << 20, 32 << 20}, sbuf_fmax = {180224 // 4, 212984 // 4, 245752 // 4},
  sbuf_fmax_bytes = {180224, 212984, 245752}, total_available_sbuf_size = {180224, 212984, 245752},
}
local targets = {"trn1", "trn2", "trn3"}
values["nl.tile_size"] = function(v)
  return {{"a tile of most partitions", function()
    nisa.memset(nl.ndarray({v.pmax, 1}, nl.float32), 0)
    return v.pmax
  end, {128}, ir = "memref<128x1xf32"}}
end
for name, want in pairs(limits) do
  values["nl._TileSize." .. name] = function()
    return gen.map(targets, function(target, i)
      return {target, function() return nl._TileSize[name], nl.tile_size[name] end,
        type(want) == "table" and {want[i], want[i]} or {want, want}, target = target, last = target}
    end)
  end
end

-- ---- attributes of tensors: of half of every second column of a tile

local attributes = {
  shape = nil, strides = {6, 2}, offset = 1, name = "mine", dtype = "bfloat16", buffer = nl.sbuf, ndim = 2, size = 12,
}
local function part() return nl.ndarray({4, 6}, nl.bfloat16, {name = "mine"})[{{}, {1, 6, 2}}] end
for name, want in pairs(attributes) do
  values["nl.NkiTensor." .. name] = function(v)
    return {{"of a view", function()
      local t = part()
      return t[name], v(t)
    end, {want, want}}}
  end
end
values["nl.NkiTensor.shape"] = function(v)
  return {{"of a view", function()
    local t = part()
    return {t.shape:unpack()}, v(t)[1], t.shape == {4, 3}, #t.shape
  end, {{4, 3}, 3, true, 2}}}
end

-- ---- operators

values["nl.average"] = function(v)
  return {{"over partitions", {x}, function(t)
    local r = sb {1, 4}
    nisa.tensor_partition_reduce(r, v, t)
    return r
  end, {{{3, 4, 5, 6}}}, ir = '"average"'}}
end
values["nl.prelu"] = function(v)
  return {{"half of what is below zero", {nd.array {{-4, -1, 0, 3}}}, function(t)
    local r = sb {1, 4}
    nisa.activate2 {dst = r, op = v, data = t, imm0 = 1.0, imm1 = 0.0, op0 = nl.multiply, op1 = nl.add,
      relu_param = 0.5}
    return r
  end, {{{-2, -0.5, 0, 3}}}, target = "trn3", ir = '"prelu"'}}
end
values["nl.bypass"] = function(v)
  return {{"no operation at all", {x}, function(t)
    local r = sb {2, 4}
    nisa.activate2 {dst = r, op = nl.square, data = t, imm0 = 0.0, imm1 = 0.0, op0 = v, op1 = v}
    return r
  end, {{{1, 4, 9, 16}, {25, 36, 49, 64}}}, target = "trn3", ir = '"bypass"'}}
end

-- ---- enumerations of nki.isa

local enums = {
  engine = {tensor = 1, vector = 5, scalar = 2, gpsimd = 3, dma = 4, sync = 6, unknown = 0},
  reduce_cmd = {idle = 0, reset = 1, reduce = 2, reset_reduce = 3, load_reduce = 4},
  dge_mode = {unknown = 0, swdge = 1, hwdge = 2, none = 3},
  oob_mode = {error = 0, skip = 1},
  matmul_perf_mode = {none = "none", double_row = "double_row"},
  nc_version = {gen2 = 2, gen3 = 3, gen4 = 4},
  dma_engine = {dma = 1, gpsimd_dma = 2},
}
for name, members in pairs(enums) do
  values["nisa." .. name] = function(v)
    return {{"its members", function()
      local told = {}
      for member, token in pairs(v) do
        told[member] = token.value
        assert(token.name == member, member)
      end
      return told
    end, {members}, host = true}}
  end
end

-- value of the member `word`, used by f(v, tile) -> tile; the IR has `ir`.
local function used(word, number, f, want, more)
  return function(v)
    assert(v.value == number and v.name == word, tostring(v) .. " is " .. v.value)
    local c = {"in an instruction", {x}, function(t) return f(v, t) end, {want}, ir = ('"%s"'):format(word)}
    for key, option in pairs(more or {}) do
      c[key] = option
    end
    return {c}
  end
end

local function plus_one(v, t)
  local r = sb {2, 4}
  nisa.tensor_scalar {dst = r, data = t, op0 = nl.multiply, operand0 = 2.0, op1 = nl.add, operand1 = 1.0, engine = v}
  return r
end
local odd = {{3, 5, 7, 9}, {11, 13, 15, 17}}
local function filled(v)
  local r = sb {2, 4}
  nisa.memset(r, 7.0, v)
  return r
end
local sevens = {{7, 7, 7, 7}, {7, 7, 7, 7}}
local function turned(v, t)
  local r = nl.ndarray({4, 2}, nl.float32, {buffer = nl.psum})
  nisa.nc_transpose(r, t, v)
  return r
end
local function queue(v, t)
  local h, back = nl.ndarray({2, 4}, nl.float32, {buffer = nl.private_hbm}), sb {2, 4}
  nl.store(h, t)
  nisa.dma_copy {dst = back, src = h, dge_mode = nisa.dge_mode.hwdge, engine = v}
  return back
end
-- f with the member v is refused on gen2, where no instruction takes it.
local function from_gen3(of_gen3, f)
  return function(v)
    local list = of_gen3(v)
    list[#list + 1] = {"refused before", function()
      local ok, e = pcall(f, v, nl.ones({2, 4}, nl.float32))
      return ok, e.id, (e:find("needs gen3", 1, true)) ~= nil
    end, {false, "err_argument_generation", true}, last = "trn1"}
    return list
  end
end
local engines = {
  tensor = used("tensor", 1, turned, {{1, 5}, {2, 6}, {3, 7}, {4, 8}}),
  vector = used("vector", 5, plus_one, odd),
  scalar = from_gen3(used("scalar", 2, plus_one, odd, {target = "trn2"}), plus_one),
  gpsimd = used("gpsimd", 3, filled, sevens),
  sync = from_gen3(used("sync", 6, queue, x, {target = "trn2"}), queue),
  unknown = used("unknown", 0, filled, sevens, {ir = '"nisa.memset"'}),
}
for name, f in pairs(engines) do
  values["nisa.engine." .. name] = f
end
for _, name in ipairs {"tensor", "vector", "scalar", "gpsimd", "unknown"} do
  values["nisa." .. name .. "_engine"] = engines[name]
end
values["nisa.engine.dma"] = function(v)
  return {{"no engine that computes", function()
    local ok, e = pcall(nisa.memset, sb {2, 4}, 0.0, v)
    return v.value, v.name, ok, e.id, (e:find("engine dma is not one of", 1, true)) ~= nil
  end, {4, "dma", false, "err_engine_set", true}}}
end

-- The sum of the first row after a first instruction that begins the sum.
local function summed(v, t)
  local total, r = sb {2, 1}, sb {2, 4}
  nisa.activation {dst = r, op = nl.copy, data = t, reduce_op = nl.add, reduce_cmd = nisa.reduce_cmd.reset_reduce}
  nisa.activation {dst = r, op = nl.square, data = t, reduce_op = nl.add, reduce_cmd = v, reduce_res = total}
  return total
end
local function loaded(v, t)
  local total, r = sb {2, 1}, sb {2, 4}
  nisa.tensor_scalar_reduce {dst = r, data = t, op0 = nl.multiply, operand0 = 1.0, reduce_op = nl.add,
    reduce_res = total, reduce_cmd = v, reduce_init = 100.0}
  return total
end
values["nisa.reduce_cmd.idle"] = used("idle", 0, summed, {{10}, {26}}, {ir = '"nisa.activation"'})
values["nisa.reduce_cmd.reset"] = used("reset", 1, summed, {{0}, {0}})
values["nisa.reduce_cmd.reduce"] = used("reduce", 2, summed, {{10 + 30}, {26 + 174}})
values["nisa.reduce_cmd.reset_reduce"] = used("reset_reduce", 3, summed, {{30}, {174}})
values["nisa.reduce_cmd.load_reduce"] = used("load_reduce", 4, loaded, {{110}, {126}})

local function moved(v, t)
  local h, back = nl.ndarray({2, 4}, nl.float32, {buffer = nl.private_hbm}), sb {2, 4}
  nl.store(h, t)
  nisa.dma_copy {dst = back, src = h, dge_mode = v}
  return back
end
for name, number in pairs(enums.dge_mode) do
  values["nisa.dge_mode." .. name] = used(name, number, moved, x,
    {target = name == "hwdge" and "trn2" or nil, ir = name == "unknown" and '"nisa.dma_copy"' or nil})
end

-- Rows 1 and 9 of two: the second one is not there.
local function picked(v, t)
  local h, back = nl.ndarray({2, 4}, nl.float32, {buffer = nl.private_hbm}), nl.zeros({2, 4}, nl.float32)
  local rows = nl.ndarray({2, 1}, nl.int32)
  nl.store(h, t)
  nisa.iota(rows, {{1, 1}}, 1, 8)
  nisa.dma_copy {dst = back, src = h:vector_select(0, rows), oob_mode = v}
  return back
end
values["nisa.oob_mode.skip"] = used("skip", 1, picked, {{5, 6, 7, 8}, {0, 0, 0, 0}})
values["nisa.oob_mode.error"] = function(v)
  local c = used("error", 0, picked, x)(v)[1]
  local function run(target)
    local ok, e = pcall(require("spec.support.case").compute, {"rows", c[2], c[3], c[4], target = target})
    return ok, e.id
  end
  return {{"the run stops", run, {false, "err_tensor_access_out_of_bound"}, host = true}}
end

local function product(v, dtype, rows)
  return function(t)
    local r = nl.ndarray({2, 2}, nl.float32, {buffer = nl.psum})
    local s = nl.copy(t, dtype)
    s = rows and s:reshape {2, 2, 2} or s[{{}, {0, 2}}]
    nisa.nc_matmul {dst = r, stationary = s, moving = s, perf_mode = v}
    return r
  end
end
values["nisa.matmul_perf_mode.none"] = used("none", "none", function(v, t) return product(v, nl.float32)(t) end,
  {{26, 32}, {32, 40}}, {ir = '"nisa.nc_matmul"'})
-- The sum over partitions and over both rows of each: {1, 2}, {3, 4}, {5, 6}, {7, 8}.
values["nisa.matmul_perf_mode.double_row"] = used("double_row", "double_row", function(v, t)
  return product(v, nl.float8_e4m3, true)(t)
end, {{84, 100}, {100, 120}}, {target = "trn2"})

for number, target in pairs {[2] = "trn1", [3] = "trn2", [4] = "trn3"} do
  values["nisa.nc_version.gen" .. number] = function(v)
    return gen.map(targets, function(other)
      return {other, function() return v.value, nisa.get_nc_version() == v, nisa.get_nc_version().value >= v.value end,
        {number, other == target, other >= target}, target = other, last = other}
    end)
  end
end

for name, number in pairs(enums.dma_engine) do
  values["nisa.dma_engine." .. name] = function(v)
    assert(v.value == number and v.name == name)
    local swap = {"two cores exchange tiles", {nd.array {{1, 2, 3}, {4, 5, 6}}}, function(h)
      local out = nl.ndarray({2, 3}, nl.float32, {buffer = nl.shared_hbm})
      local got, me = sb {1, 3}, nl.program_id(0)
      nisa.sendrecv {src = nl.load(h[nl.ds(me, 1)]), dst = got, send_to_rank = 1 - me, recv_from_rank = 1 - me,
        pipe_id = 0, dma_engine = v}
      nl.store(out[nl.ds(me, 1)], got)
      return out
    end, {{{4, 5, 6}, {1, 2, 3}}}, hbm = true, target = "trn2", grid = nl.nc(2),
      ir = name == "gpsimd_dma" and '"gpsimd_dma"' or '"nisa.sendrecv"'}
    return {swap}
  end
end

return values
