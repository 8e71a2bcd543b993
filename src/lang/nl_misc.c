/* nl_misc.c -- room lang: indices, program ids, memories, printing, nl.tile_size. */
#include <stdlib.h>

#include "nl.h"

const char LANG_DS[] = "NkiSlice";
static const char ds_mt; /* registry */

/* start + more; an index value when start is one. */
static void push_start(lua_State *L, const LDs *ds, int64_t more) {
  LangCtx *c = lang_ctx(L);
  if (!ds->dynamic) {
    lua_pushinteger(L, ds->start + more);
    return;
  }
  lang_push_index(L, c, *lang_live_index(L, c, &ds->at, "nl.ds", "start"));
  lua_pushinteger(L, more);
  if (more) {
    lua_arith(L, LUA_OPADD);
  } else {
    lua_pop(L, 1);
  }
}

/* start, size and stop of a slice. */
static int ds_index(lua_State *L) {
  static const char *const fields[] = {"start", "size", "stop", NULL};
  const LDs *ds = lang_ds_at(L, 1);
  char clip[TEXT_CLIP + 4];
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lang_clip(L, 2, clip) : luaL_typename(L, 2);
  if (!ds) return 0;
  if (strcmp(key, "size") == 0) {
    lua_pushinteger(L, ds->size);
  } else if (strcmp(key, "start") == 0) {
    push_start(L, ds, 0);
  } else if (strcmp(key, "stop") == 0) {
    push_start(L, ds, ds->size);
  } else {
    const char *near = diag_nearest(key, fields);
    return LANG_HERE(L, no_such_name, "nl.ds", key, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  }
  return 1;
}

static int ds_tostring(lua_State *L) {
  const LDs *ds = lang_ds_at(L, 1);
  if (!ds) return 0;
  if (ds->dynamic) {
    lua_pushfstring(L, "nl.ds(an index value, %I)", (LUAI_UACINT)ds->size);
  } else {
    lua_pushfstring(L, "nl.ds(%I, %I)", (LUAI_UACINT)ds->start, (LUAI_UACINT)ds->size);
  }
  return 1;
}

static void push_ds(lua_State *L, LDs v) {
  LDs *ds = lua_newuserdatauv(L, sizeof *ds, 0);
  *ds = v;
  ds->tag = LANG_DS;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &ds_mt) != LUA_TTABLE) {
    lua_pop(L, 1);
    static const luaL_Reg methods[] = {{"__index", ds_index}, {"__tostring", ds_tostring}, {NULL, NULL}};
    lua_createtable(L, 0, 4);
    luaL_setfuncs(L, methods, 0);
    lang_name_metatable(L, "NkiSlice");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &ds_mt);
  }
  lua_setmetatable(L, -2);
}

int nl_ds(Call *call) {
  lua_State *L = call->L;
  LDs ds = {0};
  const LIndex *at = lang_index_at(L, 1);
  ds.size = lang_check_int(L, 2, "nl.ds", "size");
  if (ds.size < 1) LANG_HERE(L, bind_value, "nl.ds", "size", "below 1", "a slice has at least one element");
  if (at) {
    ds.dynamic = true;
    ds.at = *at;
  } else if (!lang_to_int(L, 1, &ds.start)) {
    lang_kind_error(L, 1, "nl.ds", "start", "an integer, a register or an index value");
  }
  int64_t stop;
  if (ds.start < 0) LANG_HERE(L, bind_value, "nl.ds", "start", "negative", "a start is at least 0");
  if (__builtin_add_overflow(ds.start, ds.size, &stop))
    LANG_HERE(L, bind_value, "nl.ds", "size", "too large", "start + size must fit 63 bits");
  push_ds(L, ds);
  return 1;
}

static int64_t grid_axis(const Call *call, int i, const char *param) {
  lua_State *L = call->L;
  int n = call->t->spec.ngrid;
  int64_t axis = lua_isnil(L, i) ? 0 : lang_check_int(L, i, call->row->bind.func, param);
  if (axis >= -n && axis < 0) return axis + n;
  if (axis >= 0 && (!n || axis < n)) return axis;
  char is[48], legal[48];
  snprintf(is, sizeof is, "%lld, no axis of the grid", (long long)axis);
  snprintf(legal, sizeof legal, "it has %d, counted from 0", n);
  return LANG_HERE(L, bind_value, call->row->bind.func, param, is, legal);
}

int nl_program_id(Call *call) {
  lua_State *L = call->L;
  int64_t axis = grid_axis(call, 1, "axis");
  lua_pushinteger(L, tr_program_id(call->t, (int)axis));
  return 1;
}

int nl_num_programs(Call *call) {
  lua_State *L = call->L;
  int64_t total = 1;
  if (lua_type(L, 1) == LUA_TTABLE) {
    int n = (int)lua_rawlen(L, 1);
    uint32_t seen = 0;
    if (!lang_is_list(L, 1)) lang_kind_error(L, 1, call->row->bind.func, "axes", "an axis or a list of axes");
    for (int k = 1; k <= n; k++) {
      lua_rawgeti(L, 1, k);
      int64_t axis = grid_axis(call, lua_gettop(L), "axes");
      lua_pop(L, 1);
      if (!call->t->spec.ngrid) continue;
      if (seen >> axis & 1)
        LANG_HERE(L, bind_value, call->row->bind.func, "axes", "a list that names an axis twice", "each counts once");
      seen |= 1u << axis;
      total *= call->t->spec.grid[axis];
    }
  } else {
    int64_t axis = grid_axis(call, 1, "axes");
    if (call->t->spec.ngrid) total = call->t->spec.grid[axis];
  }
  lua_pushinteger(L, total);
  return 1;
}

int nl_program_ndim(Call *call) {
  lua_State *L = call->L;
  lua_pushinteger(L, call->t->spec.ngrid);
  return 1;
}

int nl_is_memory(Call *call) {
  lua_State *L = call->L;
  const LToken *tok = lang_token_at(L, 1);
  if (!tok || tok->kind != TOK_SPACE) lang_kind_error(L, 1, call->row->bind.func, "buffer", "a memory such as nl.sbuf");
  lua_pushboolean(L, call->row->arg >> tok->space & 1);
  return 1;
}

int nl_device_print(Call *call) {
  lua_State *L = call->L;
  size_t n;
  Args_device_print a;
  nl_defaults(OP_device_print, &a);
  if (lua_type(L, 1) != LUA_TSTRING) lang_kind_error(L, 1, "nl.device_print", "print_prefix", "a string");
  const char *s = lua_tolstring(L, 1, &n);
  if (!text_is_plain(s, n))
    LANG_HERE(L, bind_value, "nl.device_print", "print_prefix", "not plain text", "it is UTF-8 without NUL");
  char *copy = arena_strdup(&call->t->m->arena, s, n);
  if (!copy) DIAG0(call->t->d, nomem), lang_trace_error(L, call->t);
  a.print_prefix = (IrVal){.kind = V_STR, .n = (uint32_t)n, .u.str = copy};
  a.tensor = nl_t(nl_any_tile(call, 2));
  nl_emit(call, OP_device_print, &a);
  return 0;
}

/* ---- nl.tile_size: limits of the target (the running trace's, else the one a kernel would get now) */

static Target current_target(lua_State *L, LangCtx *c) {
  Target t;
  bool fallback;
  const char *warning;
  if (c->trace) return c->trace->spec.target;
  if (!fw_get_platform_target(c->target, &t, &fallback, &warning, &c->diag)) lang_raise_here(L, &c->diag);
  return t;
}

static int64_t banks(Target t) {
  const char *env = getenv("NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE");
  bool reserved = env && strcmp(env, "true") == 0 && chip_of(t)->gen >= gen3;
  return chip_of(t)->psum_banks - reserved;
}

static int tile_size_index(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  static const struct {
    const char *name;
    int64_t value;
  } fixed[] = {{"pmax", 128},
               {"psum_fmax", 512},
               {"psum_bank_fmax", 512},
               {"psum_bank_fmax_bytes", 2048},
               {"bn_stats_fmax", 512},
               {"gemm_stationary_fmax", 128},
               {"gemm_moving_fmax", 512},
               {"psum_min_align", IR_PLACE_ALIGN},
               {"sbuf_min_align", IR_PLACE_ALIGN}};
  static const char *const names[] = {"pmax",
                                      "psum_fmax",
                                      "psum_bank_fmax",
                                      "psum_bank_fmax_bytes",
                                      "bn_stats_fmax",
                                      "gemm_stationary_fmax",
                                      "gemm_moving_fmax",
                                      "psum_min_align",
                                      "sbuf_min_align",
                                      "psum_num_banks",
                                      "sbuf_size_bytes",
                                      "sbuf_fmax",
                                      "sbuf_fmax_bytes",
                                      "total_available_sbuf_size",
                                      NULL};
  const char *key = luaL_tolstring(L, 2, NULL);
  int64_t v = -1;
  for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
    if (strcmp(fixed[k].name, key) == 0) v = fixed[k].value;
  if (v < 0 && strcmp(key, "psum_num_banks") == 0) v = banks(current_target(L, c));
  if (v < 0 && strcmp(key, "sbuf_size_bytes") == 0) v = chip_of(current_target(L, c))->sbuf_physical * 128;
  if (v < 0 && strcmp(key, "sbuf_fmax") == 0) v = chip_of(current_target(L, c))->sbuf_usable / 4;
  if (v < 0 && (strcmp(key, "sbuf_fmax_bytes") == 0 || strcmp(key, "total_available_sbuf_size") == 0))
    v = chip_of(current_target(L, c))->sbuf_usable;
  if (v < 0) {
    const char *near = diag_nearest(key, names);
    char clip[TEXT_CLIP + 4];
    key = text_clip(clip, key, strlen(key));
    return LANG_HERE(L, no_such_name, "nl.tile_size", key, near ? "; did you mean " : "", near ? near : "",
                     near ? "?" : "");
  }
  lua_pushinteger(L, v);
  return 1;
}

static int tile_size_frozen(lua_State *L) { return LANG_HERE(L, read_only, "nl.tile_size"); }

void nl_push_tile_size(lua_State *L, LangCtx *c) {
  static const luaL_Reg meta[] = {{"__index", tile_size_index}, {"__newindex", tile_size_frozen}, {NULL, NULL}};
  lua_newtable(L);
  lua_newtable(L);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, meta, 1);
  lang_name_metatable(L, "nl.tile_size");
  lua_setmetatable(L, -2);
}

int nisa_get_nc_version(Call *call) {
  lua_State *L = call->L;
  lang_push_enum(L, call->c, ET_nc_version, (int)chip_of(current_target(L, call->c))->gen, "nisa");
  return 1;
}
