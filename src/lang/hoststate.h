/* hoststate.h -- room lang: private to the host_*.c files. */
#ifndef NK_HOSTSTATE_H
#define NK_HOSTSTATE_H
#include "call.h"
#include "host.h"
#include "pool.h"

typedef struct HostMem {
  Alloc base;
  Pool pool; /* Lua's small blocks, unless the allocator is the embedder's own, who then sees each, or memory has a
                limit: a pool keeps what is freed for blocks of that size and may hold many times what Lua has */
  uint64_t limit, used;
  bool refused;      /* the limit, not the system, said no */
  atomic_int arming; /* host_interrupt looks at call frames: nothing is freed meanwhile */
} HostMem;

struct Host {
  HostMem mem;
  lua_State *L;
  LangCtx *c;
  _Atomic(lua_State *) running; /* the coroutine that runs, or L */
  HostWrite write, warn;
  void *write_ud, *warn_ud;
  bool warnings, warn_more; /* lua_warning: switched on; the message goes on */
  bool helpful;             /* the global function help is there */
  int result;               /* registry reference to what the last script returned */
  Text traceback;           /* of the failure that is being reported */
};

/* Runs f(L) with arg as its one argument (a light userdata), in protected mode; its results are dropped. */
bool host_protect(Host *h, lua_CFunction f, void *arg, Diag *d);
void host_open_coroutines(lua_State *L, Host *h);
/* The message of a Lua error value that is a string: position, first line, further lines. */
void host_string_diag(const char *s, ErrId id, Diag *d);
/* A chunk that does not load; why: Lua's message. Without a src it is the file of its name. */
void host_syntax_diag(lua_State *L, const char *why, const HostChunk *chunk, Diag *d);
#endif
