/* explain.c -- room framework: why a call is another specialization: what of its key differs from the nearest earlier
   one. The bytes are those that key.c writes; a key of another make only "differs". */
#include <stdio.h>
#include <string.h>

#include "store.h"

enum { MOST_SAID = 4, MOST_DEPTH = 100, AXIS = 3 * 8 /* bytes of one axis of the grid */ };

/* A key taken apart. */
typedef struct KeyView {
  Span version, head, grid, func_name, call_target, environment, opts, args, captured;
  uint64_t nopts, nargs;
} KeyView;

/* ---- taking apart ------------------------------------------------------------------------------------------------ */

static Span skip_const(Bytes *b, int depth) {
  const char *from = b->p;
  switch (bytes_u8(b)) {
    case 'n':
      break;
    case 'b':
      bytes_take(b, 1);
      break;
    case 'i':
    case 'f':
      bytes_take(b, 8);
      break;
    case 's':
    case 't':
    case 'F':
      bytes_str(b);
      break;
    case '(':
      for (uint64_t n = bytes_u64(b); n > 0 && !b->bad; n--) skip_const(b, depth + 1);
      break;
    default:
      b->bad = true;
  }
  if (depth > MOST_DEPTH) b->bad = true;
  return (Span){from, (size_t)(b->p - from)};
}

/* A parameter's value behind its name: a tensor's type or a constant. */
static Span skip_value(Bytes *b) {
  if (!b->left || *b->p != 'T') return skip_const(b, 0);
  Span head = bytes_take(b, 3);
  if (!b->bad && (unsigned char)head.p[1] >= DT_count) b->bad = true;
  Span shape = bytes_take(b, b->bad ? 0 : 8 * (uint64_t)(unsigned char)head.p[2]);
  return (Span){head.p, head.n + shape.n};
}

static Span skip_named(Bytes *b, uint64_t n) {
  const char *from = b->p;
  for (uint64_t i = 0; i < n && !b->bad; i++) {
    bytes_str(b);
    skip_value(b);
  }
  return (Span){from, (size_t)(b->p - from)};
}

static bool take_apart(Span key, KeyView *k) {
  Bytes b = {key.p, key.n, false};
  k->version = bytes_str(&b);
  k->head = bytes_take(&b, 4);
  if (!b.bad && (unsigned char)k->head.p[0] >= TARGET_count) return false;
  k->grid = bytes_take(&b, b.bad ? 0 : AXIS * (uint64_t)(unsigned char)k->head.p[3]);
  k->func_name = bytes_str(&b);
  k->call_target = bytes_str(&b);
  k->environment = bytes_str(&b);
  k->nopts = bytes_u64(&b);
  k->opts = skip_named(&b, k->nopts);
  k->nargs = bytes_u64(&b);
  k->args = skip_named(&b, k->nargs);
  k->captured = bytes_str(&b);
  return !b.bad && b.left == 0;
}

/* ---- saying ------------------------------------------------------------------------------------------------------ */

void fw_say_string(Text *out, const char *s, size_t n) {
  enum { LONGEST = 40 };
  size_t shown = n > LONGEST ? LONGEST : n;
  for (size_t i = 0; i < shown; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c < 0x20 || c >= 0x7f) {
      text_printf(out, "\\x%02x", c);
    } else {
      text_putc(out, (char)c);
    }
  }
  if (shown < n) text_puts(out, "...");
}

void fw_say_double(Text *out, double v) {
  char number[TEXT_NUMBER];
  if (v - v == 0) {
    text_double(out, v);
  } else {
    text_puts(out, text_number(number, v, 6));
  }
}

static void say_quoted(Text *out, char quote, Span s) {
  text_putc(out, quote);
  fw_say_string(out, s.p, s.n);
  text_putc(out, quote);
}

static void say_const(Text *out, Bytes *b) {
  uint64_t bits;
  double f;
  switch (bytes_u8(b)) {
    case 'n':
      text_puts(out, "nil");
      break;
    case 'b':
      text_puts(out, bytes_u8(b) ? "true" : "false");
      break;
    case 'i':
      text_int(out, (int64_t)bytes_u64(b));
      break;
    case 'f':
      bits = bytes_u64(b);
      memcpy(&f, &bits, sizeof f);
      fw_say_double(out, f);
      break;
    case 's':
      say_quoted(out, '"', bytes_str(b));
      break;
    case 't': {
      Span name = bytes_str(b);
      fw_say_string(out, name.p, name.n);
      break;
    }
    case 'F': { /* 32 digits */
      Span hex = bytes_str(b);
      text_puts(out, "function ");
      fw_say_string(out, hex.p, hex.n > 8 ? 8 : hex.n);
      break;
    }
    case '(':
      text_putc(out, '{');
      for (uint64_t i = 0, n = bytes_u64(b); i < n && !b->bad; i++) {
        if (i) text_puts(out, ", ");
        say_const(out, b);
      }
      text_putc(out, '}');
      break;
    default:
      b->bad = true;
  }
}

static void say_value(Text *out, Span s) {
  Bytes b = {s.p, s.n, false};
  if (!s.n || *s.p != 'T') {
    say_const(out, &b);
    return;
  }
  Span head = bytes_take(&b, 3);
  text_puts(out, dtype_name((DType)head.p[1]));
  text_putc(out, '[');
  for (int i = 0; b.left; i++) {
    if (i) text_putc(out, ',');
    text_int(out, (int64_t)bytes_u64(&b));
  }
  text_putc(out, ']');
}

static void say_grid(Text *out, Span grid) {
  Bytes b = {grid.p, grid.n, false};
  if (!b.left) text_puts(out, "none");
  for (int i = 0; b.left; i++) {
    uint64_t size = bytes_u64(&b), cores = bytes_u64(&b), block = bytes_u64(&b);
    text_printf(out, "%s%llu", i ? "," : "", (unsigned long long)size);
    if (cores > 1)
      text_printf(out, " on %llu cores in blocks of %llu", (unsigned long long)cores, (unsigned long long)block);
  }
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

typedef struct Diff {
  uint32_t count;
  Text *out;
} Diff;

/* Whether one more difference is to be said. */
static bool another(Diff *d) {
  if (++d->count > MOST_SAID) return false;
  if (d->count > 1) text_puts(d->out, ", ");
  return true;
}

static void compare_text(Diff *d, const char *what, Span now, Span was) {
  if (span_equal(now, was) || !another(d)) return;
  text_printf(d->out, "%s is ", what);
  fw_say_string(d->out, now.p, now.n);
  text_puts(d->out, " (was ");
  fw_say_string(d->out, was.p, was.n);
  text_putc(d->out, ')');
}

static void compare_flag(Diff *d, bool now, bool was, const char *const say[2]) {
  if (now != was && another(d)) text_puts(d->out, say[now]);
}

static void compare_head(Diff *d, const KeyView *now, const KeyView *was) {
  static const char *const fallback[2] = {"the target is said (was a guess)", "the target is a guess (was said)"};
  static const char *const legacy[2] = {"the kernel is not a legacy one (was one)",
                                        "the kernel is a legacy one (was none)"};
  const char *a = target_name((Target)now->head.p[0]), *b = target_name((Target)was->head.p[0]);
  compare_text(d, "target", (Span){a, strlen(a)}, (Span){b, strlen(b)});
  compare_flag(d, now->head.p[1], was->head.p[1], fallback);
  compare_flag(d, now->head.p[2], was->head.p[2], legacy);
  if (span_equal(now->grid, was->grid) || !another(d)) return;
  text_puts(d->out, "grid is ");
  say_grid(d->out, now->grid);
  text_puts(d->out, " (was ");
  say_grid(d->out, was->grid);
  text_putc(d->out, ')');
}

/* The value of that name among n; p NULL: there is none. */
static Span find_value(Span list, uint64_t n, Span name) {
  Bytes b = {list.p, list.n, false};
  for (uint64_t i = 0; i < n; i++) {
    Span other = bytes_str(&b), value = skip_value(&b);
    if (span_equal(other, name)) return value;
  }
  return (Span){NULL, 0};
}

typedef struct Named {
  const char *what;
  Span now, was;
  uint64_t nnow, nwas;
} Named;

static void say_named(Diff *d, const char *what, Span name, const Span value[2]) {
  text_printf(d->out, "%s ", what);
  say_quoted(d->out, '\'', name);
  text_puts(d->out, value[0].p ? " is " : " is not given");
  if (value[0].p) say_value(d->out, value[0]);
  text_puts(d->out, value[1].p ? " (was " : " (was not given");
  if (value[1].p) say_value(d->out, value[1]);
  text_putc(d->out, ')');
}

static void compare_named(Diff *d, const Named *n) {
  Bytes b = {n->now.p, n->now.n, false};
  for (uint64_t i = 0; i < n->nnow; i++) {
    Span name = bytes_str(&b), now = skip_value(&b), was = find_value(n->was, n->nwas, name);
    if (was.p && span_equal(now, was)) continue;
    if (another(d)) say_named(d, n->what, name, (const Span[2]){now, was});
  }
  b = (Bytes){n->was.p, n->was.n, false};
  for (uint64_t i = 0; i < n->nwas; i++) {
    Span name = bytes_str(&b), was = skip_value(&b);
    if (find_value(n->now, n->nnow, name).p) continue;
    if (another(d)) say_named(d, n->what, name, (const Span[2]){{NULL, 0}, was});
  }
}

static void compare_captured(Diff *d, const Explain *e, Span now, Span was) {
  if (span_equal(now, was) || !another(d)) return;
  if (e->p->describe_captured) {
    e->p->describe_captured(e->p->ud, e->r, was.p, was.n, d->out);
  } else {
    text_puts(d->out, "captured state differs");
  }
}

static uint32_t compare(const Explain *e, Span earlier, Text *out) {
  KeyView now, was;
  Diff d = {0, out};
  if (!take_apart(e->key, &now) || !take_apart(earlier, &was)) {
    text_puts(out, "the key differs");
    return UINT32_MAX - 1;
  }
  compare_text(&d, "nkilua", now.version, was.version);
  compare_head(&d, &now, &was);
  compare_text(&d, "name", now.func_name, was.func_name);
  compare_text(&d, "custom-call target", now.call_target, was.call_target);
  compare_text(&d, "NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE", now.environment, was.environment);
  compare_named(&d, &(Named){"option", now.opts, was.opts, now.nopts, was.nopts});
  compare_named(&d, &(Named){"argument", now.args, was.args, now.nargs, was.nargs});
  compare_captured(&d, e, now.captured, was.captured);
  if (d.count > MOST_SAID) text_printf(out, ", and %u more", d.count - MOST_SAID);
  return d.count;
}

bool explain_same_name(const Explain *e, Span earlier) {
  KeyView now, was;
  return take_apart(e->key, &now) && take_apart(earlier, &was) && span_equal(now.func_name, was.func_name);
}

void explain_begin(Explain *e, const FwPipeline *p, const FwRequest *r, Alloc alloc) {
  *e = (Explain){.p = p, .r = r, .count = UINT32_MAX};
  text_init(&e->said, alloc);
  text_init(&e->scratch, alloc);
}

void explain_with(Explain *e, Span earlier) {
  if (e->count <= 1) return; /* no other key is nearer */
  text_clear(&e->scratch);
  uint32_t count = compare(e, earlier, &e->scratch);
  if (count >= e->count) return;
  e->count = count;
  Text before = e->said;
  e->said = e->scratch;
  e->scratch = before;
}

void explain_end(Explain *e) {
  text_free(&e->said);
  text_free(&e->scratch);
}
