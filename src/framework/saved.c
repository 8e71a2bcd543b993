/* saved.c -- room framework: an artifact as the bytes of a file, and back. The file holds all that the artifact is made
   of, the whole key it answers, who wrote it, and a checksum over everything. The program's text is parsed and
   verified, but not printed again: the checksum and the build say that it is what this printer made. */
#include <string.h>

#include "file.h"
#include "hash.h"
#include "store.h"

static const char magic[8] = {'N', 'K', 'I', 'L', 'U', 'A', 'C', '\n'};
enum { FORMAT = 3, CHECKSUM = 32, PARTS = 7 }; /* PARTS: the build, then what Saved has */
static const char unread[] = "cannot be read", damaged[] = "is damaged", other_build[] = "is of another nkilua version";

static void put_span(Text *out, Span s) {
  text_put_u64(out, s.n);
  text_add(out, s.p, s.n);
}

bool saved_write(Text *out, const Saved *s) {
  text_clear(out);
  text_add(out, magic, sizeof magic);
  text_put_u64(out, FORMAT);
  put_span(out, (Span){fw_build_id, strlen(fw_build_id)});
  put_span(out, s->key);
  put_span(out, s->warnings);
  put_span(out, s->trail);
  put_span(out, s->nodes);
  put_span(out, s->head);
  put_span(out, s->ir);
  if (out->oom) return false;
  char hex[CHECKSUM + 1];
  hash_hex(out->data, out->len, hex);
  text_add(out, hex, CHECKSUM);
  return !out->oom;
}

static const char *check_head(Bytes *b) {
  if (!span_equal(bytes_take(b, sizeof magic), (Span){magic, sizeof magic})) return "is not one of nkilua's";
  if (bytes_u64(b) != FORMAT) return b->bad ? damaged : "has another format";
  return NULL;
}

const char *saved_read(const char *data, size_t n, Saved *s) {
  Bytes b = {data, n, false};
  char hex[CHECKSUM + 1];
  const char *fault = check_head(&b);
  if (fault) return fault;
  Span build = bytes_str(&b);
  s->key = bytes_str(&b);
  s->warnings = bytes_str(&b);
  s->trail = bytes_str(&b);
  s->nodes = bytes_str(&b);
  s->head = bytes_str(&b);
  s->ir = bytes_str(&b);
  Span sum = bytes_take(&b, CHECKSUM);
  if (b.bad || b.left) return damaged;
  hash_hex(data, n - CHECKSUM, hex);
  if (memcmp(hex, sum.p, CHECKSUM) != 0) return damaged;
  return span_equal(build, (Span){fw_build_id, strlen(fw_build_id)}) ? NULL : other_build;
}

/* The length of the part at *at, which then is where its bytes begin. */
static const char *look_at_length(const FileIn *in, size_t *at, size_t *n, Diag *d) {
  if (in->n - *at < 8) return damaged;
  if (!file_need(in, *at, 8, d)) return unread;
  uint64_t length = text_read_le64(in->data + *at);
  *at += 8;
  *n = (size_t)length;
  return length > in->n - *at ? damaged : NULL;
}

/* What a file's beginning and the lengths of its parts say, before the rest of it is read. */
static const char *look(const FileIn *in, Diag *d) {
  size_t at = sizeof magic + 8, n, nbuild = strlen(fw_build_id);
  if (in->n < at) return damaged;
  if (!file_need(in, 0, at, d)) return unread;
  const char *fault = check_head(&(Bytes){in->data, at, false});
  if (!fault) fault = look_at_length(in, &at, &n, d);
  if (fault) return fault;
  if (n != nbuild) return other_build;
  if (!file_need(in, at, nbuild, d)) return unread;
  if (memcmp(in->data + at, fw_build_id, nbuild) != 0) return other_build;
  for (int i = 1; i < PARTS; i++) {
    at += n;
    fault = look_at_length(in, &at, &n, d);
    if (fault) return fault;
  }
  at += n;
  if (in->n - at != CHECKSUM) return damaged;
  return file_need(in, 0, in->n, d) ? NULL : unread;
}

const char *saved_read_file(const FileIn *in, Saved *s, Diag *d) {
  const char *fault = in->source ? look(in, d) : NULL;
  return fault ? fault : saved_read(in->data, in->n, s);
}

/* Nobody else knows the artifact and its module yet. */
static bool complete(const Saved *s, Artifact *a, const char *call_target) {
  IrModule *m = (IrModule *)(uintptr_t)a->module;
  char *hex = arena_alloc(&a->arena, 33);
  a->call_target = call_target;
  if (!hex || !trail_read(s->trail, m) || !nodes_read(s->nodes, m)) return false;
  hash_hex(s->key.p, s->key.n, hex);
  a->cache_key = hex;
  m->warnings = s->warnings.n ? arena_strdup(&m->arena, s->warnings.p, s->warnings.n) : NULL;
  return m->warnings || !s->warnings.n;
}

static bool same_head(const Saved *s, const Artifact *a) {
  Text head;
  text_init(&head, a->arena.alloc);
  bool same = config_head(a, &head) && span_equal((Span){text_str(&head), head.len}, s->head);
  text_free(&head);
  return same;
}

const Artifact *saved_artifact(const Saved *s, const char *call_target, Alloc alloc, const char **why) {
  Diag d;
  diag_init(&d, alloc);
  const ConfigParts parts = {.head = s->head.p, .nhead = s->head.n, .ir = s->ir.p, .nir = s->ir.n};
  const Artifact *a = config_join(alloc, &parts, &d);
  bool same = a && same_head(s, a) && complete(s, (Artifact *)(uintptr_t)a, call_target);
  *why = same ? NULL : a || d.id != ERR_nomem ? "does not read back" : "does not fit into memory";
  diag_free(&d);
  if (same) return a;
  artifact_release(a);
  return NULL;
}

bool saved_of(Text *out, const Artifact *a, const void *key, size_t n) {
  Text trail, nodes, head;
  const char *warnings = a->module->warnings ? a->module->warnings : "";
  text_init(&trail, out->alloc);
  text_init(&head, out->alloc);
  text_init(&nodes, out->alloc);
  trail_write(&trail, a->module);
  nodes_write(&nodes, a->module);
  Saved s = {.key = {key, n},
             .warnings = {warnings, strlen(warnings)},
             .trail = {text_str(&trail), trail.len},
             .nodes = {text_str(&nodes), nodes.len},
             .ir = {a->ir, a->ir_len}};
  bool ok = config_head(a, &head) && !trail.oom && !nodes.oom;
  s.head = (Span){text_str(&head), head.len};
  ok = ok && saved_write(out, &s);
  text_free(&trail);
  text_free(&nodes);
  text_free(&head);
  return ok;
}
