/* dump.c -- room lang: the binary chunk of a Lua function, as the part of a cache key that is its code. The chunk is
   read to cut out the name of the source (which may be an absolute path) and to find which globals and which fields the
   code names. */
#include <string.h>

#include "kernel.h"

/* ---- Lua 5.4's binary format (ldump.c writes it) and the instructions that name something (lopcodes.h) ----------- */

enum { MAX_PROTO_DEPTH = 200, HEADER_BYTES = 31 };
enum { K_NIL = 0, K_FALSE = 1, K_TRUE = 17, K_INT = 3, K_FLT = 19, K_SHORT = 4, K_LONG = 20 };
enum { I_LOADK = 3, I_GETUPVAL = 9, I_SETUPVAL = 10, I_GETTABUP = 11, I_GETTABLE = 12, I_GETFIELD = 14, I_SELF = 20 };
#define OPCODE(i) ((i)&0x7f)
#define ARG_A(i) ((i) >> 7 & 0xff)
#define ARG_B(i) ((i) >> 16 & 0xff)
#define ARG_C(i) ((i) >> 24 & 0xff)
#define ARG_BX(i) ((i) >> 15)

typedef struct Str {
  const char *s; /* NULL: a constant that is no string */
  size_t len;
} Str;

typedef struct Proto {       /* one function of the chunk */
  const struct Proto *outer; /* NULL: it is the chunk's function */
  const unsigned char *code;
  size_t ncode;
  Str *constants;
  size_t nconstants;
  bool is_env[256];   /* upvalues called _ENV */
  bool captured[256]; /* upvalues of the chunk's function, not locals of one between */
  Str upvalue[256];   /* names; of a stripped chunk none */
} Proto;

typedef struct Chunk {
  const unsigned char *p, *end;
  bool bad;
  int depth;
  lua_State *L;
  Arena *arena;
  int globals, fields, loose, whole, all; /* stack: sets of names, name -> true */
  bool dynamic;                           /* the table of globals is used as a value: any constant may name a global */
  bool assigns;                           /* to an upvalue */
} Chunk;

static const unsigned char *take(Chunk *c, size_t n) {
  const unsigned char *p = c->p;
  if (c->bad || (size_t)(c->end - p) < n) {
    c->bad = true;
    return NULL;
  }
  c->p += n;
  return p;
}

static size_t take_size(Chunk *c) {
  size_t v = 0;
  for (const unsigned char *b = take(c, 1); b; b = take(c, 1)) {
    if (v > SIZE_MAX >> 8) c->bad = true;
    v = v << 7 | (*b & 0x7f);
    if (*b & 0x80) return v;
  }
  return 0;
}

/* The number of things of at least n bytes that follow. */
static size_t take_count(Chunk *c, size_t bytes) {
  size_t n = take_size(c);
  if (n > (size_t)(c->end - c->p) / bytes) c->bad = true;
  return c->bad ? 0 : n;
}

/* s NULL for "no string". */
static Str take_string(Chunk *c) {
  size_t size = take_size(c);
  return size ? (Str){(const char *)take(c, size - 1), size - 1} : (Str){NULL, 0};
}

static void note(Chunk *c, int set, Str name) {
  if (!name.s) return;
  lua_pushlstring(c->L, name.s, name.len);
  lua_pushboolean(c->L, 1);
  lua_rawset(c->L, set);
}

static void read_constants(Chunk *c, Proto *f) {
  f->nconstants = take_count(c, 1);
  f->constants = arena_newn(c->arena, Str, f->nconstants);
  if (!f->constants) c->bad = true;
  for (size_t i = 0; i < f->nconstants && !c->bad; i++) {
    const unsigned char *tag = take(c, 1);
    int kind = tag ? *tag : K_NIL;
    if (kind == K_INT || kind == K_FLT) {
      take(c, 8);
    } else if (kind == K_SHORT || kind == K_LONG) {
      f->constants[i] = take_string(c);
      note(c, c->all, f->constants[i]);
    } else if (kind != K_NIL && kind != K_FALSE && kind != K_TRUE) {
      c->bad = true;
    }
  }
}

static bool is_name(Str s, const char *name) { return s.s && s.len == strlen(name) && memcmp(s.s, name, s.len) == 0; }

static void read_debug(Chunk *c, Proto *f) {
  take(c, take_count(c, 1)); /* line steps */
  for (size_t n = take_count(c, 2); n > 0 && !c->bad; n--) take_size(c), take_size(c);
  for (size_t n = take_count(c, 3); n > 0 && !c->bad; n--) take_string(c), take_size(c), take_size(c);
  size_t names = take_count(c, 1);
  for (size_t i = 0; i < names && !c->bad; i++) {
    Str name = take_string(c);
    if (i < 256) f->is_env[i] = is_name(name, "_ENV");
    if (i < 256) f->upvalue[i] = name;
  }
  if (names == 0) memset(f->is_env, true, sizeof f->is_env); /* stripped: any may be */
}

static void name_constant(Chunk *c, const Proto *f, int set, uint32_t k) {
  if (k < f->nconstants) note(c, set, f->constants[k]);
}

static uint32_t code_at(const Proto *f, size_t i) {
  uint32_t ins = 0;
  if (i < f->ncode) memcpy(&ins, f->code + 4 * i, sizeof ins);
  return ins;
}

static void name_field(Chunk *c, const Proto *f, uint32_t k, bool loose) {
  name_constant(c, f, c->fields, k);
  if (loose) name_constant(c, f, c->loose, k);
}

/* The value in register reg is read by a constant name at once, so that it goes nowhere else: the place of the name, -1
   when not. A name too far down the constants for one instruction, or too long, is put in a register of its own. */
static int64_t read_by_name(const Proto *f, size_t i, uint32_t reg) {
  uint32_t ins = code_at(f, i), get = code_at(f, i + 1);
  if (i >= f->ncode) return -1;
  if (OPCODE(ins) == I_GETFIELD) return ARG_B(ins) == reg && ARG_A(ins) == reg ? (int64_t)ARG_C(ins) : -1;
  bool far = OPCODE(ins) == I_LOADK && OPCODE(get) == I_GETTABLE && ARG_B(get) == reg && ARG_C(get) == ARG_A(ins) &&
             ARG_A(get) == reg;
  return far ? (int64_t)ARG_BX(ins) : -1;
}

/* The variable called name was read into register reg by the instruction before i: only for one of its fields, or as a
   whole? */
static void read_variable(Chunk *c, const Proto *f, Str name, size_t i, uint32_t reg) {
  int64_t field = read_by_name(f, i, reg);
  if (field < 0) {
    note(c, c->whole, name);
    return;
  }
  name_field(c, f, (uint32_t)field, true);
}

static Str constant(const Proto *f, uint32_t k) { return k < f->nconstants ? f->constants[k] : (Str){NULL, 0}; }

/* _ENV in a register: to be read by a name, or any use of it as a value, which may name any global. */
static void read_env(Chunk *c, const Proto *f, size_t i) {
  uint32_t reg = ARG_A(code_at(f, i));
  int64_t name = read_by_name(f, i + 1, reg);
  if (name < 0) {
    c->dynamic = true;
    return;
  }
  name_constant(c, f, c->globals, (uint32_t)name);
  read_variable(c, f, constant(f, (uint32_t)name), i + (OPCODE(code_at(f, i + 1)) == I_LOADK ? 3 : 2), reg);
}

static void read_code(Chunk *c, const Proto *f) {
  for (size_t k = 0; f->nconstants > 256 && k < f->nconstants; k++) /* no instruction names those behind 255 */
    name_field(c, f, (uint32_t)k, true);
  for (size_t i = 0; i < f->ncode; i++) {
    uint32_t ins = code_at(f, i);
    switch (OPCODE(ins)) {
      case I_GETUPVAL:
        if (f->is_env[ARG_B(ins)])
          read_env(c, f, i);
        else
          read_variable(c, f, f->upvalue[ARG_B(ins)], i + 1, ARG_A(ins));
        break;
      case I_SETUPVAL:
        c->assigns = true;
        break;
      case I_GETTABUP:
        if (!f->is_env[ARG_B(ins)] || !f->upvalue[ARG_B(ins)].s) name_field(c, f, ARG_C(ins), !f->captured[ARG_B(ins)]);
        if (!f->is_env[ARG_B(ins)]) break;
        name_constant(c, f, c->globals, ARG_C(ins));
        read_variable(c, f, constant(f, ARG_C(ins)), i + 1, ARG_A(ins));
        break;
      case I_GETFIELD:
      case I_SELF:
        name_field(c, f, ARG_C(ins), true);
        break;
      default:
        break;
    }
  }
}

static void read_upvalues(Chunk *c, Proto *f) {
  size_t n = take_count(c, 3);
  for (size_t i = 0; i < n && !c->bad; i++) {
    const unsigned char *up = take(c, 3); /* in the outer function's stack?, place there, kind */
    if (up && i < 256) f->captured[i] = !f->outer || (!up[0] && f->outer->captured[up[1]]);
  }
}

static void read_function(Chunk *c, const Proto *outer) {
  Proto *f = arena_new(c->arena, Proto);
  if (!f || ++c->depth > MAX_PROTO_DEPTH) {
    c->bad = true;
    return;
  }
  f->outer = outer;
  take_size(c), take_size(c), take(c, 3); /* lines; parameters, vararg, stack size */
  f->ncode = take_count(c, 4);
  f->code = take(c, 4 * f->ncode);
  read_constants(c, f);
  read_upvalues(c, f);
  for (size_t n = take_count(c, 1); n > 0 && !c->bad; n--) {
    take_string(c); /* its source is the parent's */
    read_function(c, f);
  }
  read_debug(c, f);
  if (!c->bad) read_code(c, f);
  c->depth--;
}

/* ---- the userdata ------------------------------------------------------------------------------------------------ */

static int add_piece(lua_State *L, const void *p, size_t n, void *ud) {
  (void)L;
  Text *t = ud;
  text_add(t, p, n);
  return t->oom;
}

static bool has(lua_State *L, int set, const char *name) {
  lua_pushstring(L, name);
  bool found = lua_rawget(L, set) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

/* Appends the members of a set that are not in `without` (0: of all) to the list on top, whose length is `before`; they
   are sorted, so that bytes made from them are the same in every process. Returns the new length. */
static int add_sorted(lua_State *L, int set, int without, int before) {
  int n = before;
  lua_pushnil(L);
  while (lua_next(L, set)) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    bool skip = without && (lua_pushvalue(L, -1), lua_rawget(L, without)) != LUA_TNIL;
    if (without) lua_pop(L, 1);
    if (skip)
      lua_pop(L, 1);
    else
      lua_rawseti(L, -3, ++n);
  }
  for (int i = before + 2; i <= n; i++) { /* insertion: lists are short */
    lua_rawgeti(L, -1, i);
    int k = i;
    for (; k > before + 1; k--) {
      lua_rawgeti(L, -2, k - 1);
      if (!lua_compare(L, -2, -1, LUA_OPLT)) {
        lua_pop(L, 1);
        break;
      }
      lua_rawseti(L, -3, k);
    }
    lua_rawseti(L, -2, k);
  }
  return n;
}

static int push_list(lua_State *L, int set) {
  lua_newtable(L);
  return add_sorted(L, set, 0, 0);
}

void dump_put(Text *out, const char *dir, const LDump *d) {
  char name[LANG_PATH];
  const char *file = lang_relative(dir, d->source, name, sizeof name);
  text_put_tagged(out, 'F', file, strlen(file));
  text_put_tagged(out, 'c', d->bytes, d->n);
}

/* The piece of a key, then source and dir. The chunk is text without what lies between its head and `after`. */
static LDump *push_pieces(const Chunk *c, Text *text, size_t after, const char *source, const char *dir) {
  lua_State *L = c->L;
  size_t head = HEADER_BYTES + 1, nsource = strlen(source) + 1, ndir = strlen(dir) + 1;
  memmove(text->data + head, text->data + after, text->len - after);
  LDump code = {.source = source, .bytes = text->data, .n = head + text->len - after};
  Text *piece = lang_scratch_text(L, lang_ctx(L));
  dump_put(piece, dir, &code);
  if (piece->oom) lang_no_memory(L);
  LDump *d = lua_newuserdatauv(L, sizeof *d + piece->len + nsource + ndir, DUMP_WHOLE);
  char *to = memcpy(d + 1, piece->data, piece->len), *at = to + piece->len;
  *d = (LDump){.source = at, .dir = at + nsource, .bytes = at - code.n, .n = code.n, .piece = to, .npiece = piece->len};
  memcpy(at, source, nsource);
  memcpy(at + nsource, dir, ndir);
  return d;
}

/* Stack: text and arena are owned below. NULL when the chunk is not as expected. */
static LDump *make_dump(Chunk *c, Text *text, const char *source, const char *dir) {
  lua_State *L = c->L;
  c->p = (const unsigned char *)text_str(text);
  c->end = c->p + text->len;
  take(c, HEADER_BYTES + 1); /* and the number of upvalues */
  take_string(c);
  size_t after = (size_t)(c->p - (const unsigned char *)text_str(text));
  read_function(c, NULL);
  if (c->bad || c->p != c->end) return NULL;
  int set = c->dynamic || has(L, c->whole, LUA_GNAME) ? c->all : c->globals;
  LDump *d = push_pieces(c, text, after, source, dir);
  d->dynamic = c->dynamic;
  d->assigns = c->assigns;
  d->requires = has(L, c->all, "require");
  if (d->requires) set = c->all; /* the module's name is a constant */
  d->nglobals = push_list(L, set);
  lua_setiuservalue(L, -2, DUMP_GLOBALS);
  int loose = c->dynamic ? c->all : c->loose;
  d->nloose = push_list(L, loose);
  d->nfields = add_sorted(L, c->fields, loose, d->nloose);
  lua_pushliteral(L, "__index");
  lua_rawseti(L, -2, d->nfields + 1);
  lua_setiuservalue(L, -2, DUMP_FIELDS);
  d->nwhole = push_list(L, c->whole);
  lua_setiuservalue(L, -2, DUMP_WHOLE);
  return d;
}

LDump *dump_push(lua_State *L, LangCtx *c, int function, const char *dir) {
  lua_Debug ar;
  function = lua_absindex(L, function);
  int top = lua_gettop(L);
  lua_pushvalue(L, function);
  lua_getinfo(L, ">S", &ar);
  Text *text = lang_scratch_text(L, c);
  Chunk chunk = {.L = L, .arena = lang_scratch_arena(L, c)};
  for (int i = 0; i < 5; i++) lua_newtable(L);
  chunk.all = lua_gettop(L);
  chunk.loose = chunk.all - 4;
  chunk.fields = chunk.all - 1;
  chunk.globals = chunk.all - 2;
  chunk.whole = chunk.all - 3;
  lua_pushvalue(L, function);
  lua_dump(L, add_piece, text, 0);
  lua_pop(L, 1);
  if (text->oom) lang_no_memory(L);
  LDump *d = make_dump(&chunk, text, ar.source, dir);
  if (chunk.arena->oom) lang_no_memory(L);
  if (!d) NK_BUG(&c->diag, "binary chunk of another format"), lang_raise(L, &c->diag);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return d;
}
