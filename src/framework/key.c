/* key.c -- room framework: the canonical bytes of a request. Two calls share a specialization exactly when these bytes
   are equal, so every field is tagged and has its length in front: no two requests spell the same bytes. */
#include <string.h>

#include "fw.h"

static void put_byte(Text *key, unsigned char b) { text_put(key, &b, 1); }

static inline void put_bytes(Text *key, const void *s, size_t n) {
  char *at = text_reserve(key, 8 + n);
  if (!at) return;
  text_le64(at, n);
  if (n) memcpy(at + 8, s, n);
  text_commit(key, 8 + n);
}

static void put_str(Text *key, const char *s) { put_bytes(key, s, strlen(s)); }

static void put_double(Text *key, double f) {
  uint64_t bits;
  memcpy(&bits, &f, sizeof bits);
  text_put_u64(key, f == f ? bits : UINT64_C(0x7ff8000000000000)); /* there is one NaN */
}

void fw_key_const(Text *key, const ConstValue *v) {
  static const char tags[] = {[CONST_NIL] = 'n',    [CONST_BOOL] = 'b',  [CONST_INT] = 'i',      [CONST_FLOAT] = 'f',
                              [CONST_STRING] = 's', [CONST_TOKEN] = 't', [CONST_FUNCTION] = 'F', [CONST_TUPLE] = '('};
  put_byte(key, (unsigned char)tags[v->kind]);
  switch (v->kind) {
    case CONST_NIL:
      break;
    case CONST_BOOL:
      put_byte(key, v->b);
      break;
    case CONST_INT:
      text_put_u64(key, (uint64_t)v->i);
      break;
    case CONST_FLOAT:
      put_double(key, v->f);
      break;
    case CONST_STRING:
    case CONST_TOKEN:
    case CONST_FUNCTION:
      put_bytes(key, v->s, v->len);
      break;
    case CONST_TUPLE:
      text_put_u64(key, v->nitems);
      for (uint32_t i = 0; i < v->nitems; i++) fw_key_const(key, &v->items[i]);
      break;
  }
}

/* ---- what every call writes: in one piece each */

static char *u64_at(char *at, uint64_t v) {
  text_le64(at, v);
  return at + 8;
}

static char *str_at(char *at, const char *s, size_t n) { return (char *)memcpy(u64_at(at, n), s, n) + n; }

static void put_tensor(Text *key, const FwArg *arg) {
  size_t name = strlen(arg->name);
  char *start = text_reserve(key, 8 + name + 3 + 8 * (size_t)arg->rank);
  if (!start) return;
  char *at = str_at(start, arg->name, name);
  *at++ = 'T';
  *at++ = (char)arg->dtype;
  *at++ = (char)arg->rank;
  for (int i = 0; i < arg->rank; i++) at = u64_at(at, (uint64_t)arg->shape[i]);
  text_commit(key, (size_t)(at - start));
}

static void put_arg(Text *key, const FwArg *arg) {
  if (arg->is_tensor) {
    put_tensor(key, arg);
  } else {
    put_str(key, arg->name);
    fw_key_const(key, &arg->value);
  }
}

static char *grid_at(char *at, const FwRequest *r) {
  const unsigned char head[4] = {(unsigned char)r->target, r->target_is_fallback, r->legacy, (unsigned char)r->ngrid};
  at = (char *)memcpy(at, head, sizeof head) + sizeof head;
  for (int i = 0; i < r->ngrid; i++) {
    bool spread = r->cores[i].count > 1;
    at = u64_at(at, (uint64_t)r->grid[i]);
    at = u64_at(at, spread ? (uint64_t)r->cores[i].count : 1);
    at = u64_at(at, spread ? (uint64_t)r->cores[i].block : 1);
  }
  return at;
}

/* What a call has besides its arguments. */
static void put_head(Text *key, const FwRequest *r) {
  const char *target = r->call_target ? r->call_target : EMIT_TARGET_NATIVE;
  const char *environment = r->environment ? r->environment : "";
  size_t nversion = sizeof NKILUA_BUILD_VERSION - 1, nfunc = strlen(r->func_name), ntarget = strlen(target);
  size_t nenvironment = strlen(environment), grid = 4 + 24 * (size_t)r->ngrid;
  char *start = text_reserve(key, 4 * 8 + nversion + nfunc + ntarget + nenvironment + grid + 8);
  if (!start) return;
  char *at = grid_at(str_at(start, NKILUA_BUILD_VERSION, nversion), r);
  at = str_at(str_at(at, r->func_name, nfunc), target, ntarget);
  at = u64_at(str_at(at, environment, nenvironment), r->nopts);
  text_commit(key, (size_t)(at - start));
}

bool fw_generate_hash_key(const FwRequest *r, Text *key, Diag *d) {
  put_head(key, r);
  for (uint32_t i = 0; i < r->nopts; i++) {
    put_str(key, r->opts[i].key);
    fw_key_const(key, &r->opts[i].value);
  }
  text_put_u64(key, r->nargs);
  for (uint32_t i = 0; i < r->nargs; i++) put_arg(key, &r->args[i]);
  put_bytes(key, r->captured, r->ncaptured);
  return key->oom ? DIAG0(d, nomem) : true;
}
