/* dump.c -- room lang: the binary chunk of a Lua function, as the part of a cache key that is its code. The chunk is parsed to
   cut out the name of the source (which may be an absolute path) and to list the string constants (possible global names). */
#include <string.h>

#include "kernel.h"

/* ---- a reader of Lua 5.4's binary format (ldump.c writes it) ------------------------------------------------------------- */

enum { MAX_PROTO_DEPTH = 200, HEADER_BYTES = 31 };
enum { K_NIL = 0, K_FALSE = 1, K_TRUE = 17, K_INT = 3, K_FLT = 19, K_SHORT = 4, K_LONG = 20 };

typedef struct Chunk {
  const unsigned char *p, *end;
  bool bad;
  int depth;
  lua_State *L;
  int names, seen; /* list of constants; set of those in it */
  int nnames;
  bool requires;
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

/* A counted array of things of n bytes each. */
static void skip(Chunk *c, size_t bytes) {
  size_t n = take_size(c);
  if (n > (size_t)(c->end - c->p) / bytes) c->bad = true;
  if (!c->bad) take(c, n * bytes);
}

/* NULL for "no string". */
static const char *take_string(Chunk *c, size_t *len) {
  size_t size = take_size(c);
  *len = size ? size - 1 : 0;
  return size ? (const char *)take(c, size - 1) : NULL;
}

static void note_name(Chunk *c, const char *s, size_t len) {
  if (len == 7 && memcmp(s, "require", 7) == 0) c->requires = true;
  lua_pushlstring(c->L, s, len);
  lua_pushvalue(c->L, -1);
  if (lua_rawget(c->L, c->seen) != LUA_TNIL) {
    lua_pop(c->L, 2);
    return;
  }
  lua_pop(c->L, 1);
  lua_pushvalue(c->L, -1);
  lua_pushboolean(c->L, 1);
  lua_rawset(c->L, c->seen);
  lua_rawseti(c->L, c->names, ++c->nnames);
}

static void read_constants(Chunk *c) {
  size_t n = take_size(c), len;
  for (size_t i = 0; i < n && !c->bad; i++) {
    const unsigned char *tag = take(c, 1);
    switch (tag ? *tag : K_NIL) {
      case K_NIL:
      case K_FALSE:
      case K_TRUE:
        break;
      case K_INT:
      case K_FLT:
        take(c, 8);
        break;
      case K_SHORT:
      case K_LONG: {
        const char *s = take_string(c, &len);
        if (s) note_name(c, s, len);
        break;
      }
      default:
        c->bad = true;
    }
  }
}

static void read_function(Chunk *c);

static void read_debug(Chunk *c) {
  size_t len;
  skip(c, 1); /* line steps */
  for (size_t n = take_size(c); n > 0 && !c->bad; n--) take_size(c), take_size(c);
  for (size_t n = take_size(c); n > 0 && !c->bad; n--) take_string(c, &len), take_size(c), take_size(c);
  for (size_t n = take_size(c); n > 0 && !c->bad; n--) take_string(c, &len);
}

static void read_body(Chunk *c) {
  take_size(c), take_size(c), take(c, 3); /* lines; parameters, vararg, stack size */
  skip(c, 4);                             /* code */
  read_constants(c);
  skip(c, 3); /* upvalues */
  for (size_t n = take_size(c); n > 0 && !c->bad; n--) read_function(c);
  read_debug(c);
}

static void read_function(Chunk *c) {
  size_t len;
  if (++c->depth > MAX_PROTO_DEPTH) c->bad = true;
  take_string(c, &len); /* a nested function has its parent's source */
  read_body(c);
  c->depth--;
}

/* ---- the userdata ------------------------------------------------------------------------------------------------------- */

static int add_piece(lua_State *L, const void *p, size_t n, void *ud) {
  (void)L;
  Text *t = ud;
  text_add(t, p, n);
  return t->oom;
}

/* The source's string in the main function: its position and length. */
static const char *find_source(Chunk *c, size_t *at, size_t *len) {
  take(c, HEADER_BYTES + 1); /* and the number of upvalues */
  const char *s = take_string(c, len);
  *at = HEADER_BYTES + 1;
  return s;
}

static LDump *make_dump(lua_State *L, const Text *text, const char *source) {
  Chunk c = {.p = (const unsigned char *)text_str(text), .L = L};
  c.end = c.p + text->len;
  size_t at, len;
  find_source(&c, &at, &len);
  size_t after = (size_t)(c.p - (const unsigned char *)text->data), tail = text->len - after, name = strlen(source) + 1;
  if (c.bad) return NULL;
  LDump *d = lua_newuserdatauv(L, sizeof *d + at + tail + name, 1);
  char *to = (char *)(d + 1);
  memcpy(to, text->data, at);
  memcpy(to + at, text->data + after, tail);
  memcpy(to + at + tail, source, name);
  *d = (LDump){.source = to + at + tail, .bytes = to, .n = at + tail, .cut = at};
  int top = lua_gettop(L);
  lua_newtable(L);
  lua_newtable(L);
  c.names = top + 1;
  c.seen = top + 2;
  read_body(&c);
  lua_settop(L, top + 1);
  lua_setiuservalue(L, -2, 1);
  d->nnames = c.nnames;
  d->requires = c.requires;
  return c.bad || c.p != c.end ? NULL : d;
}

LDump *dump_push(lua_State *L, LangCtx *c, int function) {
  lua_Debug ar;
  function = lua_absindex(L, function);
  lua_pushvalue(L, function);
  lua_getinfo(L, ">S", &ar);
  Text *text = lang_scratch_text(L, c);
  lua_pushvalue(L, function);
  lua_dump(L, add_piece, text, 0);
  lua_pop(L, 1);
  if (text->oom) DIAG0(&c->diag, nomem), lang_raise(L, &c->diag);
  LDump *d = make_dump(L, text, ar.source);
  if (!d) NK_BUG(&c->diag, "binary chunk of another format"), lang_raise(L, &c->diag);
  lua_remove(L, -2);
  return d;
}
