/* specialize.c -- room framework: dump_config_with_boundargs, the one page everybody reads, from the bottom up:
   key -> look up -> else TRACE -> return types -> aliases -> encode -> assemble -> store. A hit runs no Lua, copies
   nothing and returns the same artifact. A module comes verified from whoever made it (tr_finish, ir_parse). */
#include <string.h>

#include "cache.h"
#include "hash.h"

static bool make_key(const FwPipeline *p, const FwRequest *r, Text *key, Diag *d) {
  return p->generate_hash_key ? p->generate_hash_key(p->ud, r, key, d) : fw_generate_hash_key(r, key, d);
}

/* The default of translate_return_types: shapes and dtypes are the returned buffers', names are in the module. */
static bool check_returns(const FwRequest *r, const IrModule *m, Diag *d) {
  if (m->nfunc == 0 || m->func[0]->nrets == 0) return DIAG(d, no_output, r->func_name);
  if (!m->output_names || !m->arg_names) return NK_BUG(d, "traced module without names");
  return true;
}

static bool set_constants(Artifact *a, const FwRequest *r, Diag *d) {
  Arena scratch;
  arena_init(&scratch, a->arena.alloc);
  ConstValue *list = arena_newn(&scratch, ConstValue, r->nargs);
  uint32_t n = 0;
  for (uint32_t i = 0; list && i < r->nargs; i++) {
    if (r->args[i].is_tensor) continue;
    list[n] = r->args[i].value;
    list[n++].name = r->args[i].name;
  }
  bool ok = list && artifact_set_constants(a, list, n) && artifact_set_opts(a, r->opts, r->nopts);
  arena_free(&scratch);
  return ok || DIAG0(d, nomem);
}

/* One cache miss. The trace may come back here with the same cache, so a miss keeps its key and its story to itself. */
typedef struct Miss {
  const FwPipeline *p;
  const FwRequest *r;
  Text key, story;
  IrModule *m;
  bool has_collectives, impure;
  Diag *d;
} Miss;

static bool fill(Artifact *a, const Miss *miss) {
  const FwRequest *r = miss->r;
  const FwPipeline *p = miss->p;
  char *hex = arena_alloc(&a->arena, 33);
  a->func_name = arena_strdup(&a->arena, r->func_name, strlen(r->func_name));
  if (!hex || !a->func_name) return DIAG0(miss->d, nomem);
  hash_hex(miss->key.data, miss->key.len, hex);
  a->cache_key = hex;
  a->call_target = r->call_target ? r->call_target : EMIT_TARGET_NATIVE;
  a->has_collectives = miss->has_collectives;
  if (!set_constants(a, r, miss->d)) return false;
  if (p->matmul_mac_count && !p->matmul_mac_count(p->ud, r, miss->m, &a->matmul_mac_count, miss->d)) return false;
  return p->encode_backend_config ? p->encode_backend_config(p->ud, r, a, miss->d) : config_encode(a, miss->d);
}

/* assemble_result: everything the custom-call needs, in one immutable value. */
static Artifact *assemble(const Miss *miss) {
  Artifact *a = artifact_new(miss->m->arena.alloc, miss->m);
  if (!a) {
    DIAG0(miss->d, nomem);
    return NULL;
  }
  const FwPipeline *p = miss->p;
  if (fill(a, miss) && (!p->assemble_result || p->assemble_result(p->ud, miss->r, a, miss->d))) return a;
  artifact_release(a);
  return NULL;
}

/* Re-executes the body and builds the artifact. */
static Artifact *trace_and_assemble(Miss *miss) {
  const FwPipeline *p = miss->p;
  const FwRequest *r = miss->r;
  Diag *d = miss->d;
  IrModule *m = miss->m = p->specialize_and_call(p->ud, r, &miss->has_collectives, &miss->impure, d);
  if (!m) return NULL;
  bool ok = p->translate_return_types ? p->translate_return_types(p->ud, r, m, d) : check_returns(r, m, d);
  if (ok)
    ok = p->generate_operand_output_aliases ? p->generate_operand_output_aliases(p->ud, r, m, d)
                                            : fw_generate_operand_output_aliases(r, m, d);
  Artifact *a = ok ? assemble(miss) : NULL;
  ir_release(m);
  return a;
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* Steps of a host's own may make of one key whatever they like; a cache in memory is the kernel's alone. */
static const char *not_on_disk(const Miss *miss) {
  const FwPipeline *p = miss->p;
  if (miss->r->not_on_disk) return miss->r->not_on_disk;
  bool own = p->generate_hash_key || p->translate_return_types || p->generate_operand_output_aliases ||
             p->matmul_mac_count || p->encode_backend_config || p->assemble_result;
  return own ? "steps of the pipeline are replaced" : NULL;
}

static Span key_of(const Miss *miss) { return (Span){text_str(&miss->key), miss->key.len}; }

/* Why this is not one of the entries: told before the trace, which may look at other captured state. */
static void explain(FwCache *c, Miss *miss) {
  Explain e;
  FwStore *store = cache_store(c);
  explain_begin(&e, miss->p, miss->r, miss->story.alloc);
  e.key = key_of(miss);
  cache_explain(c, &e);
  bool earlier = e.count != UINT32_MAX;
  text_printf(&miss->story, "miss: %s", earlier ? text_str(&e.said) : "first call");
  if (!earlier && store && !not_on_disk(miss)) {
    store_explain(store, &e);
    if (e.count != UINT32_MAX) text_printf(&miss->story, " in this process; on disk, nearest: %s", text_str(&e.said));
  }
  explain_end(&e);
}

static const Artifact *look_on_disk(FwCache *c, Miss *miss) {
  FwStore *store = cache_store(c);
  const char *why = NULL;
  if (!store || not_on_disk(miss)) return NULL;
  const char *call_target = miss->r->call_target ? miss->r->call_target : EMIT_TARGET_NATIVE;
  const Artifact *a = store_get(store, key_of(miss), call_target, &why);
  if (why) text_printf(&miss->story, "; %s", why);
  if (!a) return NULL;
  cache_count_disk_hit(c);
  fw_cache_note(c, "hit on disk");
  if (cache_put(c, miss->key.data, miss->key.len, a)) return a;
  artifact_release(a);
  DIAG0(miss->d, nomem);
  return NULL;
}

static void keep_on_disk(FwCache *c, Miss *miss, const Artifact *a) {
  FwStore *store = cache_store(c);
  if (!store) return;
  const char *why = not_on_disk(miss);
  if (!why) why = store_put(store, key_of(miss), a);
  text_puts(&miss->story, why ? ", not on disk: " : " and on disk");
  if (why) text_puts(&miss->story, why);
}

/* What the trace of a miss made, stored unless the run changed what the key was made of. */
static const Artifact *trace_and_store(FwCache *c, Miss *miss) {
  Artifact *made = trace_and_assemble(miss);
  if (!made || !c) return made;
  if (miss->impure) {
    cache_count_impure(c);
    text_printf(&miss->story, "; not kept: %s", cache_reason(c));
  } else if (!cache_put(c, miss->key.data, miss->key.len, made)) {
    artifact_release(made);
    DIAG0(miss->d, nomem);
    return NULL;
  } else {
    text_puts(&miss->story, "; kept in memory");
    keep_on_disk(c, miss, made);
  }
  fw_cache_note(c, text_str(&miss->story));
  return made;
}

Artifact *fw_assemble_result(const FwRequest *r, const IrModule *m, bool has_collectives, Alloc alloc, Diag *d) {
  static const FwPipeline defaults = {.ud = NULL};
  Miss miss = {.p = &defaults, .r = r, .m = (IrModule *)(uintptr_t)m, .has_collectives = has_collectives, .d = d};
  text_init(&miss.key, alloc);
  Artifact *a = make_key(&defaults, r, &miss.key, d) ? assemble(&miss) : NULL;
  text_free(&miss.key);
  return a;
}

/* Not in memory. */
static const Artifact *look_further(FwCache *c, Miss *miss) {
  explain(c, miss);
  const Artifact *a = look_on_disk(c, miss);
  if (a || miss->d->id != ERR_none) return a;
  fw_cache_note(c, text_str(&miss->story)); /* should the trace fail */
  return trace_and_store(c, miss);
}

/* known: the key that was looked up in vain, NULL without a cache. */
static const Artifact *make_artifact(FwCache *c, Miss *miss, const Text *known, Alloc alloc) {
  const Artifact *a = NULL;
  text_init(&miss->key, alloc);
  text_init(&miss->story, alloc);
  if (known) text_add(&miss->key, known->data, known->len);
  if (known && miss->key.oom)
    DIAG0(miss->d, nomem);
  else if (known || make_key(miss->p, miss->r, &miss->key, miss->d))
    a = c ? look_further(c, miss) : trace_and_store(c, miss);
  text_free(&miss->key);
  text_free(&miss->story);
  return a;
}

const Artifact *fw_specialize(FwCache *c, const FwPipeline *p, const FwRequest *r, Alloc alloc, Diag *d) {
  Text *key = c ? cache_scratch(c) : NULL;
  if (key && !make_key(p, r, key, d)) return NULL;
  const Artifact *a = key ? fw_cache_get(c, key->data, key->len) : NULL;
  if (a) return artifact_retain(a);
  Miss miss = {.p = p, .r = r, .d = d};
  return make_artifact(c, &miss, key, alloc);
}
