/* say.c -- room ir: tiles, shapes and sets as words for messages. Only failing paths come here. */
#include "say.h"

#include <stdio.h>
#include <string.h>

static void start(Say *o) {
  o->n = 0;
  o->s[0] = '\0';
}

/* Appends; cuts at a whole UTF-8 character and ends with "..." when full. */
static void add(Say *o, const char *s) {
  size_t n = strlen(s), room = sizeof o->s - 4 - o->n;
  if (o->n > sizeof o->s - 4) return;
  if (n <= room) {
    memcpy(o->s + o->n, s, n + 1);
    o->n += n;
    return;
  }
  while (room && ((unsigned char)s[room] & 0xC0) == 0x80) room--;
  memcpy(o->s + o->n, s, room);
  memcpy(o->s + o->n + room, "...", 4);
  o->n = sizeof o->s - 3; /* full */
}

static void add_int(Say *o, int64_t v) {
  char buf[24];
  snprintf(buf, sizeof buf, "%lld", (long long)v);
  add(o, buf);
}

/* A name is user text: at most 80 bytes of it. */
static void add_name(Say *o, const char *name) {
  char buf[84];
  size_t n = strlen(name);
  if (n > 80) {
    n = 77;
    while (n && ((unsigned char)name[n] & 0xC0) == 0x80) n--;
    memcpy(buf, name, n);
    memcpy(buf + n, "...", 4);
    name = buf;
  }
  add(o, name);
}

static void add_shape(Say *o, const int64_t *shape, int n) {
  add(o, "[");
  for (int i = 0; i < n; i++) {
    if (i) add(o, ",");
    add_int(o, shape[i]);
  }
  add(o, "]");
}

static void add_dims(Say *o, const IrTile *t) {
  int64_t shape[IR_MAX_RANK];
  for (int i = 0; i < t->rank; i++) shape[i] = t->dim[i].count;
  add_shape(o, shape, t->rank);
}

static void add_buf(Say *o, const IrBuf *b) {
  add_name(o, b->name);
  if (b->space == SP_reg) {
    add(o, " (a register)");
    return;
  }
  add_shape(o, b->shape, b->rank);
  add(o, " ");
  add(o, dtype_name(b->dtype));
  add(o, " in ");
  add(o, space_name(b->space));
}

const char *say_buf(const IrBuf *b, Say *o) {
  start(o);
  add_buf(o, b);
  return o->s;
}

const char *say_tile(const IrFunc *f, const IrTile *t, Say *o) {
  start(o);
  if (!t->whole) {
    add(o, tile_is_picked(t) ? "indirect view " : t->vec ? "row-indexed view " : "view ");
    add_dims(o, t);
    add(o, " of ");
  }
  add_buf(o, f->bufs[t->buf]);
  return o->s;
}

void tile_describe(const IrFunc *f, const IrTile *t, Text *out) {
  Say s;
  text_puts(out, say_tile(f, t, &s));
}

void shape_describe(DType dtype, int rank, const int64_t *shape, Text *out) {
  text_printf(out, "%s[", dtype_name(dtype));
  for (int i = 0; i < rank; i++) text_printf(out, i ? ",%lld" : "%lld", (long long)shape[i]);
  text_putc(out, ']');
}

const char *say_shape(const int64_t *shape, int n, Say *o) {
  start(o);
  add_shape(o, shape, n);
  return o->s;
}

const char *say_dims(const IrTile *t, Say *o) {
  start(o);
  add_dims(o, t);
  return o->s;
}

static void add_item(Say *o, const char *name, const char *sep) {
  if (o->n) add(o, sep);
  add(o, name);
}

const char *say_pattern(const IrTile *t, Say *o) {
  start(o);
  for (int i = 0; i < t->rank; i++) {
    const int64_t pair[2] = {t->dim[i].stride, t->dim[i].count};
    add(o, i ? "," : "[");
    add_shape(o, pair, 2);
  }
  add(o, "]");
  return o->s;
}

const char *say_lists(const IrVal *lists, Say *o) {
  start(o);
  const int64_t *g = lists->u.ints;
  add(o, "{");
  for (uint32_t k = 0; k < lists->n; k++, g += 1 + *g) {
    add(o, k ? ", {" : "{");
    for (int64_t i = 1; i <= *g; i++) {
      if (i > 1) add(o, ", ");
      add_int(o, g[i]);
    }
    add(o, "}");
  }
  add(o, "}");
  return o->s;
}

const char *say_spaces(uint32_t mask, Say *o) {
  start(o);
  if (mask & 1u << SP_sbuf) add_item(o, "sbuf", " or ");
  if (mask & 1u << SP_psum) add_item(o, "psum", " or ");
  if (mask & 1u << SP_private_hbm) {
    add_item(o, "hbm", " or ");
  } else if (mask & 1u << SP_shared_hbm) {
    add_item(o, "shared_hbm", " or ");
  }
  if (mask & 1u << SP_reg) add_item(o, "a register", " or ");
  return o->s;
}

const char *say_dtypes(uint32_t mask, Say *o) {
  start(o);
  for (int i = 1; i < DT_count; i++)
    if (mask >> i & 1) add_item(o, dtype_name((DType)i), ", ");
  return o->s;
}

const char *say_alus(uint64_t mask, Say *o) {
  start(o);
  for (int i = 1; i < ALU_count; i++)
    if (mask >> i & 1) add_item(o, alu_info[i].name, ", ");
  return o->s;
}

const char *engine_name(int engine) {
  const char *name = engine == ENGINE_SIM ? "sim" : engine == ENGINE_CC ? "cc" : enum_name(ET_engine, engine);
  return name ? name : "?";
}

const char *say_engines(uint32_t mask, Say *o) {
  start(o);
  for (int i = 1; i < 8; i++)
    if (mask >> i & 1) add_item(o, engine_name(i), ", ");
  return o->s;
}
