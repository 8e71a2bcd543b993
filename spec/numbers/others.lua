-- Patterns, selections, searches, gathers, random numbers, registers for every combination of dtypes.
local nl, nisa = require "nki.language", require "nki.isa"

local R = {}
local PLAIN = {{"dst"}}
local column = {8, 1}

local function has(v, word) return (" " .. v .. " "):find(" " .. word .. " ", 1, true) ~= nil end
local function first(v) return v:match "%S+" end

R.iota = {
  sources = {}, outs = PLAIN, variants = {"small", "steps", "wide"},
  f = function(v, _, d)
    local how = {small = {{{1, 64}}, 0, 64}, steps = {{{-100, 4}, {7, 16}}, 300, -3}, wide = {{{33554431, 64}}, -9, 1}}
    nisa.iota(d[1], {pattern = how[v][1], offset = how[v][2], channel_multiplier = how[v][3]})
  end,
}
R.affine_select = {
  sources = {{"on_true_tile", "a"}}, outs = PLAIN,
  variants = {"equal", "not_equal", "greater_equal", "greater", "less_equal", "less"},
  f = function(v, s, d)
    nisa.affine_select {dst = d[1], pattern = {{-1, 64}}, channel_multiplier = 5, offset = 9, on_true_tile = s[1],
                        on_false_value = -2.5, cmp_op = nl[v]}
  end,
}
R.range_select = {
  sources = {{"on_true_tile", "a"}, {"bound0", "c"}, {"bound1", "c"}}, outs = {{"dst"}, {"reduce_res", column}},
  variants = {"greater less_equal", "greater_equal less", "equal greater"},
  f = function(v, s, d)
    local a, b = v:match "(%S+) (%S+)"
    nisa.range_select {dst = d[1], on_true_tile = s[1], comp_op0 = nl[a], comp_op1 = nl[b], bound0 = s[2],
                       bound1 = s[3], reduce_res = d[2], range_start = -1, on_false_value = -3.4028234663852886e38}
  end,
}
R.select_reduce = {
  sources = {{"predicate", "b"}, {"on_true", "a"}, {"on_false", "c"}}, outs = {{"dst"}, {"reduce_res", column}},
  variants = {"plain", "reverse"},
  f = function(v, s, d)
    nisa.select_reduce {dst = d[1], predicate = s[1], on_true = s[2], on_false = s[3], reduce_res = d[2],
                        reduce_cmd = nisa.reduce_cmd.reset_reduce, reverse_pred = v == "reverse"}
  end,
}

R.max8 = {sources = {{"src", "a"}}, outs = {{"dst", {8, 8}}}, variants = {"plain"},
          f = function(_, s, d) nisa.max8(d[1], s[1]) end}
R.nc_find_index8 = {sources = {{"data", "a"}, {"vals", "v"}}, outs = {{"dst", {8, 8}}}, variants = {"plain"},
                    f = function(_, s, d) nisa.nc_find_index8(d[1], s[1], s[2]) end}
R.nc_match_replace8 = {
  sources = {{"data", "a"}, {"vals", "v"}}, outs = {{"dst"}, {"dst_idx", {8, 8}}}, variants = {"2.0", "-1000.5"},
  f = function(v, s, d)
    nisa.nc_match_replace8 {dst = d[1], data = s[1], vals = s[2], imm = tonumber(v), dst_idx = d[2]}
  end,
}
local mask = {}
for i = 0, 31 do
  mask[i + 1] = i % 7 == 3 and 255 or (i * 11 + 5) % 32
end
R.nc_stream_shuffle = {
  sources = {{"src", "a32"}}, outs = {{"dst", {32, 16}}}, variants = {"plain"},
  f = function(_, s, d)
    nisa.memset(d[1], 0)
    nisa.nc_stream_shuffle(d[1], s[1], mask)
  end,
}
R.nc_n_gather = {sources = {{"data", "a"}, {"indices", "ix"}}, outs = PLAIN, variants = {"plain"},
                 f = function(_, s, d) nisa.nc_n_gather(d[1], s[1], s[2]) end}
R.local_gather = {
  sources = {{"src_buffer", "a16"}, {"index", "lg"}}, outs = {{"dst", {16, 80}}}, variants = {"plain"},
  f = function(_, s, d)
    nisa.local_gather {dst = d[1], src_buffer = s[1], index = s[2], num_elem_per_idx = 4, num_valid_indices = 20}
  end,
}
R.sequence_bounds = {sources = {{"segment_ids", "ids"}}, outs = {{"dst", {1, 2, 64}}}, variants = {"plain"},
                     f = function(_, s, d) nisa.sequence_bounds(d[1], s[1]) end}
R.nonzero_with_count = {
  sources = {{"src", "a32"}}, outs = {{"dst", {32, 17}}}, variants = {"plain"},
  f = function(_, s, d)
    nisa.memset(d[1], 7)
    nisa.nonzero_with_count {dst = d[1], src = s[1], index_offset = 100, padding_val = -5}
  end,
}
R.topk = {
  sources = {{"src", "a16"}}, outs = {{"val_dst", {16, 12}}, {"idx_dst", {16, 12}}}, variants = {"200", "512"},
  f = function(v, s, d) nisa.topk {val_dst = d[1], idx_dst = d[2], src = s[1], n = math.tointeger(tonumber(v))} end,
}

R.set_rng_seed = {
  sources = {{"src_seeds", "seed"}}, outs = {{"dst", dtypes = {"uint32"}}}, variants = {"plain"},
  f = function(_, s, d)
    nisa.set_rng_seed(s[1])
    nisa.rng(d[1])
  end,
}
-- The same start for every combination.
local function seed(v)
  if first(v) == "gpsimd" then
    local st = nl.ndarray({8, 6}, nl.uint32)
    nisa.iota(st, {{77777, 6}}, {offset = 1000003, channel_multiplier = 1000003})
    nisa.rand_set_state(st, {engine = nisa.engine.gpsimd})
  else
    local word = nl.ndarray({1, 1}, nl.uint32)
    nisa.memset(word, 4000000007)
    nisa.set_rng_seed(word)
  end
end
R.rng = {
  sources = {}, outs = PLAIN, variants = {"vector", "gpsimd"},
  f = function(v, _, d)
    seed(v)
    nisa.rng(d[1], {engine = nisa.engine[v]})
  end,
}
R.rand2 = {
  sources = {{"min", "c"}, {"max", "p"}}, outs = PLAIN, variants = {"columns", "numbers"},
  f = function(v, s, d)
    local numbers = v == "numbers"
    seed "vector"
    nisa.rand2 {dst = d[1], min = numbers and -3.0 or s[1], max = numbers and 100.0 or s[2]}
  end,
}
R.dropout = {
  sources = {{"data", "a"}, {"prob", "p"}}, outs = PLAIN, variants = {"column", "number"},
  f = function(v, s, d) nisa.dropout(d[1], s[1], v == "number" and 0.375 or s[2]) end,
}
local function state(v, s, d)
  local engine = nisa.engine[first(v)]
  if not has(v, "first") then
    nisa.rand_set_state(s[1], {engine = engine})
  end
  if has(v, "drawn") then
    local words = nl.ndarray({8, 10}, nl.uint32)
    nisa.rng(words, {engine = engine})
    nisa.rand_get_state(d[1], {engine = engine})
    return {d[1], words}
  end
  nisa.rand_get_state(d[1], {engine = engine})
end
local function states(parameter)
  return {
    sources = function(v) return {{parameter, first(v) == "vector" and "st24" or "st6", dtypes = {"uint32"}}} end,
    outs = {{"dst", dtypes = {"uint32"}, shape = function(v) return {8, first(v) == "vector" and 24 or 6} end}},
    variants = {"gpsimd", "vector", "gpsimd drawn", "vector drawn", "gpsimd first", "vector first"},
    f = state, also = "dst src_seeds",
  }
end
R.rand_set_state, R.rand_get_state = states "src_seeds", states "src_seeds"

local ints = {"bool_", "uint8", "int8", "uint16", "int16", "uint32", "int32"}
local function through_register(_, s, d)
  local r, copy = nisa.register_alloc(), nisa.register_alloc()
  nisa.register_load(r, s[1])
  nisa.register_move(copy, r)
  nisa.register_store(d[1], copy)
end
R.register_load = {sources = {{"src", "e1"}}, outs = {{"dst", {1, 1}, dtypes = ints}}, variants = {"plain"},
                   f = through_register}
R.register_move = {sources = {{"src", "e1", dtypes = ints}}, outs = {{"dst", {1, 1}, dtypes = ints}},
                   variants = {"plain"}, f = through_register}
R.register_store = {sources = {{"src", "e1", dtypes = ints}}, outs = {{"dst", {1, 1}}}, variants = {"plain"},
                    f = through_register}

R.sim_binary = {
  sources = {{"data1", "a"}, {"data2", "b"}}, outs = PLAIN, variants = {"divide", "mod", "fmod"},
  f = function(v, s, d)
    local r = nl[v](s[1], s[2], {dtype = d[1].dtype})
    return {r}
  end,
}
R.sim_unary = {
  sources = {{"data", "a"}}, outs = PLAIN, variants = {"ceil", "floor", "trunc"},
  f = function(v, s, d) return {nl[v](s[1], {dtype = d[1].dtype})} end,
}

return R
