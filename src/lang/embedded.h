/* embedded.h -- room lang: the Lua half of the program (lua/nki, kernels), compiled in as bytes by the build. */
#ifndef NK_EMBEDDED_H
#define NK_EMBEDDED_H
#include <stddef.h>

struct nki_embedded {
  const char *name; /* module name: "nki.x", "nki.kernels.x" */
  const char *src;  /* source text, also NUL-terminated */
  size_t len;
};

struct lua_State;
int nki_open_embedded(struct lua_State *L, const char *name); /* opens all modules, and loads this one */
extern const struct nki_embedded nki_embedded[]; /* sorted by file name; ends with a row whose name is NULL */
#endif
