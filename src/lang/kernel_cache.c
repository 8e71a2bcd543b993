/* kernel_cache.c -- room lang: the persistent cache of a context, what may go into it, and what is said of it. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

static void warn_line(const LangCtx *c, const char *head, const char *text) {
  c->warn(c->io_ud, head, strlen(head));
  c->warn(c->io_ud, text, strlen(text));
  c->warn(c->io_ud, "\n", 1);
}

/* The folder is the context's, else what NKILUA_CACHE_DIR says; "" is none. */
static FwStore *store_of(lua_State *L, LangCtx *c) {
  if (c->store_known) return c->store;
  const char *dir = c->cache_dir ? c->cache_dir : getenv("NKILUA_CACHE_DIR");
  if (dir && *dir && !(c->store = fw_store_new(c->alloc, dir, c->explain_cache))) lang_no_memory(L);
  c->store_known = true;
  return c->store;
}

void kernel_cache_free(LangCtx *c) {
  fw_store_free(c->store);
  c->store = NULL;
}

void kernel_cache_open(KernelCall *call) {
  lua_State *L = call->L;
  FwStore *store = store_of(L, call->c);
  fw_cache_attach(call->k->core->cache, store);
  if (!store) return;
  const char *name = capture_serial(call->c);
  if (call->over) call->r.not_on_disk = "the kernel's class has steps of its own";
  if (name) call->r.not_on_disk = lua_pushfstring(L, "captured '%s' has no value to tell it by", name);
}

void kernel_cache_say(KernelCall *call, const Artifact *a, int64_t disk_hits) {
  const LangCtx *c = call->c;
  const KernelCore *core = call->k->core;
  if (!core->enable_cache) fw_cache_note(core->cache, "traced: enable_cache is false, nothing is kept");
  if (!c->store && !c->explain_cache) return;
  FwCacheInfo info = fw_cache_info(core->cache);
  const char *warnings = info.disk_hits > disk_hits ? a->module->warnings : NULL; /* the trace would have said them */
  if (warnings && !call->node) c->warn(c->io_ud, warnings, strlen(warnings));
  const char *warning = c->store ? fw_store_warning(c->store) : NULL;
  if (warning) warn_line(c, "warning: ", warning);
  if (!c->explain_cache) return;
  c->warn(c->io_ud, "cache: ", 7);
  c->warn(c->io_ud, core->func_name, strlen(core->func_name));
  warn_line(c, ": ", info.last);
}
