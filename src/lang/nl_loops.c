/* nl_loops.c -- room lang: traced loops, device loops, no_reorder. Generic `for` asks for four values; the fourth,
   closed by Lua on every way out, is how the trace learns of break and errors. */
#include "nl.h"

typedef enum LoopKind { LOOP_TRACED, LOOP_DEVICE, LOOP_ORDER } LoopKind;
typedef struct LLoop {
  LoopKind kind;
  uint64_t serial;
  uint32_t loc; /* of the call that made it */
  uint32_t id;  /* of the session; device loops: 0 until the first step */
  bool done;
  int64_t next, stop, step;
  IrVal lower, upper;
} LLoop;

static const char loop_mt; /* registry: metatable of LLoop */

static LLoop *to_loop(lua_State *L, int i) {
  void *p = lua_touserdata(L, i);
  if (!p || !lua_getmetatable(L, i)) return NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &loop_mt);
  bool ours = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return ours ? p : NULL;
}

static bool live(const LangCtx *c, const LLoop *loop) { return c->trace && c->trace->serial == loop->serial; }

static LLoop *live_loop(lua_State *L, LangCtx *c) {
  LLoop *loop = to_loop(L, 1);
  if (!loop || !live(c, loop)) LANG_HERE0(L, loop_not_open);
  return loop;
}

/* Blames the line of the loop: that of the `break` is not known any more. */
static int close_device(lua_State *L, LangCtx *c, LLoop *loop, bool failed) {
  if (loop->done || !loop->id || failed) return 0; /* after an error the loop stays open: the run is over */
  loop->done = true;
  DIAG0(&c->diag, break_in_device_loop);
  ir_diag_where(c->trace->m, loop->loc, c->trace->iter, &c->diag);
  return lang_raise(L, &c->diag);
}

static int loop_close(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  LLoop *loop = to_loop(L, 1);
  bool failed = !lua_isnoneornil(L, 2), ok = true;
  if (!loop || !live(c, loop)) return 0;
  if (loop->kind == LOOP_DEVICE) return close_device(L, c, loop, failed);
  if (loop->kind == LOOP_TRACED)
    ok = tr_loop_close(c->trace, loop->id);
  else if (!loop->done)
    ok = tr_no_reorder(c->trace, false);
  loop->done = true;
  if (ok) return 0;
  if (!failed) return lang_trace_error(L, c->trace);
  diag_clear(c->trace->d); /* the error already on its way says more */
  return 0;
}

static LLoop *push_loop(const Call *call, LoopKind kind) {
  lua_State *L = call->L;
  LLoop *loop = lua_newuserdatauv(L, sizeof *loop, 0);
  memset(loop, 0, sizeof *loop);
  loop->kind = kind;
  loop->serial = call->t->serial;
  loop->loc = call->t->loc;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &loop_mt) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 3);
    lua_pushlightuserdata(L, call->c);
    lua_pushcclosure(L, loop_close, 1);
    lua_setfield(L, -2, "__close");
    lang_name_metatable(L, "NkiLoop");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &loop_mt);
  }
  lua_setmetatable(L, -2);
  return loop;
}

/* The loop is on top: returns iterator, loop, nil, loop. */
static int give(const Call *call, lua_CFunction step) {
  lua_State *L = call->L;
  int at = lua_gettop(L);
  lua_pushlightuserdata(L, call->c);
  lua_pushcclosure(L, step, 1);
  lua_pushvalue(L, at);
  lua_pushnil(L);
  lua_pushvalue(L, at);
  return 4;
}

/* ---- traced */

static int range_step(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  LLoop *loop = live_loop(L, c);
  int64_t value = loop->next;
  if (loop->done || (loop->step > 0 ? value >= loop->stop : value <= loop->stop)) {
    loop->done = true;
    if (!tr_loop_close(c->trace, loop->id)) lang_trace_error(L, c->trace);
    lua_pushnil(L);
    return 1;
  }
  if (!tr_iter_begin(c->trace, loop->id, value)) lang_trace_error(L, c->trace);
  if (__builtin_add_overflow(value, loop->step, &loop->next)) loop->next = loop->stop;
  lua_pushinteger(L, value);
  return 1;
}

int nl_range(Call *call) {
  lua_State *L = call->L;
  const char *func = call->row->bind.func;
  int64_t start = 0, stop = lang_check_int(L, 1, func, "start"), step = 1;
  if (!lua_isnil(L, 2)) {
    start = stop;
    stop = lang_check_int(L, 2, func, "stop");
  }
  if (!lua_isnil(L, 3)) step = lang_check_int(L, 3, func, "step");
  if (step == 0) LANG_HERE(L, bind_value, func, "step", "0", "a loop moves by at least 1");
  LLoop *loop = push_loop(call, LOOP_TRACED);
  loop->next = start;
  loop->stop = stop;
  loop->step = step;
  loop->id = tr_loop_open(call->t, (TrRange)call->row->arg);
  if (!loop->id) lang_trace_error(L, call->t);
  return give(call, range_step);
}

/* ---- on the device */

static IrVal bound(const Call *call, int slot, int64_t dflt) {
  lua_State *L = call->L;
  const char *func = call->row->bind.func, *param = nl_param(call, slot);
  int64_t v = dflt;
  const LIndex *at = lang_index_at(L, slot);
  if (at) {
    lang_live_index(L, call->c, at, func, param);
    return (IrVal){.kind = V_IDX, .u.idx = lang_index_value(L, call->c, at, 1)};
  }
  if (!lua_isnil(L, slot) && !lang_to_int(L, slot, &v))
    lang_kind_error(L, slot, func, param, "an integer, a register or an index value");
  return nl_i(v);
}

static int64_t device_step(const Call *call, int slot) {
  lua_State *L = call->L;
  int64_t step = lua_isnil(L, slot) ? 1 : lang_check_int(L, slot, call->row->bind.func, "step");
  if (step < 1) LANG_HERE(L, loop_step, call->row->bind.func, (long long)step);
  return step;
}

static int dynamic_step(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  LLoop *loop = live_loop(L, c);
  LIndex i = {.coef = 1};
  lang_locate_fast(L, c, c->trace);
  if (loop->id) {
    if (!loop->done && !tr_device_end(c->trace, loop->id)) lang_trace_error(L, c->trace);
    loop->done = true;
    lua_pushnil(L);
    return 1;
  }
  loop->id = tr_for_begin(c->trace, loop->lower, loop->upper, loop->step, &i.idx);
  if (!loop->id) lang_trace_error(L, c->trace);
  lang_push_index(L, c, i);
  return 1;
}

int nl_dynamic_range(Call *call) {
  lua_State *L = call->L;
  bool one = lua_isnil(L, 2);
  IrVal lower = one ? nl_i(0) : bound(call, 1, 0), upper = bound(call, one ? 1 : 2, 0);
  int64_t step = device_step(call, 3);
  LLoop *loop = push_loop(call, LOOP_DEVICE);
  loop->lower = lower;
  loop->upper = upper;
  loop->step = step;
  return give(call, dynamic_step);
}

static void check_function(const Call *call, int slot) {
  lua_State *L = call->L;
  if (lua_type(L, slot) != LUA_TFUNCTION)
    lang_kind_error(L, slot, call->row->bind.func, nl_param(call, slot), "a function");
}

int nl_fori_loop(Call *call) {
  lua_State *L = call->L;
  LIndex i = {.coef = 1};
  IrVal lower = bound(call, 1, 0), upper = bound(call, 2, 0);
  int64_t step = device_step(call, 4);
  check_function(call, 3);
  uint32_t loop = tr_for_begin(call->t, lower, upper, step, &i.idx);
  if (!loop) lang_trace_error(L, call->t);
  lua_pushvalue(L, 3);
  lang_push_index(L, call->c, i);
  lua_call(L, 1, 1);
  if (!lua_isnil(L, -1)) LANG_HERE(L, loop_body, "nl.fori_loop", "the body returns nothing; keep state in tensors");
  if (!tr_device_end(call->t, loop)) lang_trace_error(L, call->t);
  return 0;
}

/* register = integer, register or index value */
static void move_to(const Call *call, uint32_t reg, int i, const char *param) {
  lua_State *L = call->L;
  Args_register_move a;
  int64_t v;
  const LIndex *x = lang_index_at(L, i);
  nl_defaults(OP_register_move, &a);
  a.dst = (IrVal){.kind = V_REG, .u.reg = reg};
  if (x) {
    lang_live_index(L, call->c, x, call->row->bind.func, param);
    if (x->idx)
      a.src = (IrVal){.kind = V_IDX, .u.idx = lang_index_value(L, call->c, x, 1)};
    else
      a.src = (IrVal){.kind = V_REG, .u.reg = x->reg};
    if (!x->idx && x->reg == reg) return;
  } else if (lang_to_int(L, i, &v)) {
    a.src = nl_i(v);
  } else {
    lang_kind_error(L, i, call->row->bind.func, param, "an integer, a register or an index value");
  }
  nl_emit(call, OP_register_move, &a);
}

int nl_while_loop(Call *call) {
  lua_State *L = call->L;
  const LIndex *init = lang_index_at(L, 1);
  LIndex r = {.coef = 1};
  check_function(call, 2);
  if (init && init->idx == 0) {
    r = *lang_live_index(L, call->c, init, "nl.while_loop", "init");
  } else {
    if (!tr_reg_alloc(call->t, NULL, &r.reg)) lang_trace_error(L, call->t);
    move_to(call, r.reg, 1, "init");
  }
  uint32_t loop = tr_while_begin(call->t, r.reg);
  if (!loop) lang_trace_error(L, call->t);
  lua_pushvalue(L, 2);
  lang_push_index(L, call->c, r);
  lua_call(L, 1, 1);
  lang_locate_fast(L, call->c, call->t);
  if (lua_isnil(L, -1))
    LANG_HERE(L, loop_body, "nl.while_loop", "the body returns the next condition: a register or an integer");
  move_to(call, r.reg, lua_gettop(L), "result of the body");
  if (!tr_device_end(call->t, loop)) lang_trace_error(L, call->t);
  return 0;
}

/* nisa.register_alloc(x) */
int nisa_register_alloc(Call *call) {
  lua_State *L = call->L;
  LIndex r = {.coef = 1};
  if (!tr_reg_alloc(call->t, NULL, &r.reg)) lang_trace_error(L, call->t);
  if (!lua_isnil(L, 1)) move_to(call, r.reg, 1, "x");
  lang_push_index(L, call->c, r);
  return 1;
}

/* ---- order */

int nl_no_reorder(Call *call) {
  lua_State *L = call->L;
  if (!tr_no_reorder(call->t, true)) return lang_trace_error(L, call->t);
  if (lua_isnil(L, 1)) {
    push_loop(call, LOOP_ORDER);
    return 1;
  }
  check_function(call, 1);
  lua_pushvalue(L, 1);
  int status = lua_pcall(L, 0, 0, 0);
  if (!tr_no_reorder(call->t, false) && status == LUA_OK) return lang_trace_error(L, call->t);
  return status == LUA_OK ? 0 : lua_error(L);
}
