/* capture.h -- room lang: private to the capture files: the scratch of one walk over captured state. */
#ifndef NK_LANG_CAPTURE_H
#define NK_LANG_CAPTURE_H
#include "kernel.h"

/* Objects met in this walk, by address: they are reachable, so an address stays theirs. */
typedef struct Seen {
  const void *p;
  uint32_t walk, number;
} Seen;

typedef struct Mark { /* from here the bytes belong to this upvalue or global */
  size_t at;
  const char *name;
  size_t value; /* where its value begins; 0: the name goes on after a function inside */
} Mark;

typedef struct Key { /* of a table, in canonical order: kind, then value */
  int kind;
  union {
    lua_Integer i;
    double f;
    const char *s;
    const void *p;
  } u;
  size_t len;
} Key;

struct Capture {
  Text bytes;
  Seen *seen;
  uint32_t nslots, count, walk;
  Mark *marks;
  size_t nmarks, capmarks;
  Key *keys;
  size_t nkeys, capkeys;
  uint64_t serial;
  const char *dir;
  const char *unsure; /* the name of something reached that may answer otherwise next time; NULL: nothing */
  int depth;
  bool assigns;   /* a function assigns to an upvalue */
  bool by_serial; /* some object was told by its number alone, first at: */
  size_t serial_at;
  bool named; /* the standard libraries have their names */
  /* Weak tables: closure -> LDump, what has a name -> name, object -> number; names also: name -> true. In the
     registry, two of them on the stack during a walk. */
  int dumps_ref, names_ref, serials_ref, dumps, names;
  const void *globals; /* the table, during a walk */
};

/* Raises. */
void *capture_grow(lua_State *L, LangCtx *c, void *p, size_t *cap, size_t size);
const char *capture_walk(lua_State *L, LangCtx *c, int i); /* the name, when the value was written by name */
/* A value inside another: a standard library there may be used by anybody for anything. */
void capture_walk_part(lua_State *L, LangCtx *c, int i);
void capture_walk_content(lua_State *L, LangCtx *c, int t); /* of a library's table, whole */
bool capture_is_library(const char *name); /* of the standard library, by the name that capture_walk returns */
const char *capture_walk_table(lua_State *L, LangCtx *c, int t);
void capture_walk_function(lua_State *L, LangCtx *c, int f);
void capture_walk_strings(lua_State *L, LangCtx *c); /* all methods of strings */
void capture_weak_table(lua_State *L);               /* pushes one with weak keys */
void capture_name_standard(lua_State *L, int names); /* at the first walk */
/* True when p was walked already: its visit number stands for it. */
bool capture_seen(lua_State *L, LangCtx *c, const void *p);
/* The name of a library's table or function, NULL when the value at i is none. */
const char *capture_put_name(lua_State *L, Capture *k, int i);
/* It is of a library, with or without a name. */
bool capture_is_known(lua_State *L, const Capture *k, int i);
/* A number that is this object's own in this context: a lasting order of what has none. */
lua_Integer capture_serial_of(lua_State *L, Capture *k, int i);
/* Anything whose content cannot be told, by that number. */
void capture_put_serial(lua_State *L, Capture *k, int i);

static inline void put_raw(Capture *k, const void *s, size_t n) { text_put(&k->bytes, s, n); }
static inline void put_tag(Capture *k, char tag) { put_raw(k, &tag, 1); }
static inline void put_u64(Capture *k, uint64_t v) { text_put_u64(&k->bytes, v); }
static inline void put_bytes(Capture *k, char tag, const void *s, size_t n) { text_put_tagged(&k->bytes, tag, s, n); }
#endif
