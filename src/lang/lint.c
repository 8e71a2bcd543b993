/* lint.c -- room lang: `nkilua lint`: lua/nki/lint.lua on the text of a file, and what it is told of public functions.
 */
#include <stdio.h>
#include <string.h>

#include "docs.h"
#include "file.h"
#include "half.h"
#include "hoststate.h"

static void set_field(lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

/* facts(): {["nl.exp"] = "tile", ["nisa.memset"] = "instruction", simulated =, activations = {names}, methods =}. */
int lint_facts(lua_State *L) {
  char full[96];
  const LRow *row;
  lua_newtable(L);
  int facts = lua_gettop(L);
  lua_newtable(L); /* simulated */
  lua_newtable(L); /* activations */
  for (int i = 0; (row = docs_row(i)); i++) {
    Doc doc;
    docs_of_row(row, &doc);
    lua_settop(L, facts + 2);
    if (docs_simulated(&doc)) {
      lua_pushvalue(L, facts + 1);
      set_field(L, row->bind.func, "yes");
    }
    if (strcmp(docs_field(&doc, "instructions"), "activation") == 0) {
      lua_pushvalue(L, facts + 2);
      set_field(L, row->bind.func, "yes");
    }
    lua_pushvalue(L, facts);
    if (doc.gives) set_field(L, row->bind.func, doc.gives->word);
  }
  lua_settop(L, facts + 2);
  lua_setfield(L, facts, "activations");
  lua_setfield(L, facts, "simulated");
  for (int op = OP_none + 1; op < OP_count; op++) {
    snprintf(full, sizeof full, "%s.%s", op_info[op].dialect, op_info[op].name);
    set_field(L, full, "instruction");
  }
  lua_newtable(L);
  for (int i = 0; i < docs_nmethods; i++)
    if (docs_is_view(&docs_methods[i])) set_field(L, docs_methods[i].name, "tile");
  lua_setfield(L, facts, "methods");
  return 1;
}

typedef struct LintJob {
  Host *h;
  const char *path;
  bool json;
  const Text *text;
  Text *out;
  size_t *found;
  Diag *d; /* set: the text does not compile */
} LintJob;

static int lint_text(lua_State *L) {
  LintJob *job = lua_touserdata(L, 1);
  lang_half(L, job->h->c, "nki.lint");
  lua_getfield(L, -1, "report");
  lua_pushlstring(L, text_str(job->text), job->text->len);
  lua_pushstring(L, job->path);
  lua_pushboolean(L, job->json);
  lua_call(L, 3, 2);
  if (lua_isnil(L, -2)) {
    const HostChunk chunk = {text_str(job->text), job->text->len, job->path};
    host_syntax_diag(L, lua_tostring(L, -1), &chunk, job->d);
    return 0;
  }
  size_t n;
  const char *s = lua_tolstring(L, -2, &n);
  text_add(job->out, s, n);
  *job->found = (size_t)lua_tointeger(L, -1);
  return 0;
}

static bool without_nul(const FileIn *text, bool whole, size_t *end, Diag *d) {
  (void)whole;
  (void)end;
  const char *nul = memchr(text->data, '\0', text->n);
  return !nul || DIAG(d, file_not_text, text->what, (size_t)(nul - text->data));
}

bool host_lint(Host *h, const HostLint *lint, Text *out, size_t *found, Diag *d) {
  Text text;
  Diag own;
  *found = 0;
  text_init(&text, h->mem.base);
  diag_init(&own, h->mem.base);
  static const FileKind kind = {"lint looks at", 8 << 20, without_nul};
  bool ok = file_read_as(lint->path, &kind, &text, d) &&
            without_nul(&(FileIn){lint->path, text_str(&text), text.len, NULL}, true, NULL, d);
  LintJob job = {h, lint->path, lint->json, &text, out, found, &own};
  ok = ok && host_protect(h, lint_text, &job, d);
  if (ok && own.id != ERR_none) {
    diag_copy(d, &own);
    ok = false;
  }
  diag_free(&own);
  text_free(&text);
  return ok;
}
