/* print.c -- room sim: device_print: the prefix, the tensor and its values, long axes shortened as NumPy does. */
#include <math.h>

#include "convert.h"
#include "world.h"

enum { WHOLE_UP_TO = 1000, EDGE = 3 };

typedef struct Printer {
  Text out;
  const Acc *a;
  const IrTile *t;
  char *vals; /* the tile row-major, as stored */
  bool shorten;
} Printer;

static void number(Text *t, float v) {
  if (isnan(v)) {
    text_puts(t, "nan");
  } else if (isinf(v)) {
    text_puts(t, v < 0 ? "-inf" : "inf");
  } else {
    text_float(t, v);
  }
}

static void value(Printer *p, int64_t at) {
  const char *e = p->vals + at * p->a->bytes;
  DType dt = p->a->dt;
  if (dt == DT_bool_) {
    text_puts(&p->out, *e ? "true" : "false");
  } else if (dtype_is_int(dt)) {
    text_int(&p->out, elem_int(dt, e));
  } else if (dtype_info[dt].cls == DC_PACK) {
    float v[4];
    cvt_unpack(dt, e, 1, v);
    for (int k = 0; k < 4; k++) {
      text_puts(&p->out, k ? " " : "(");
      number(&p->out, v[k]);
    }
    text_putc(&p->out, ')');
  } else {
    float v;
    cvt_load(dt, e, 1, &v);
    number(&p->out, v);
  }
}

static void axis(Printer *p, int dim, int64_t at) {
  if (dim == p->t->rank) {
    value(p, at);
    return;
  }
  int64_t n = p->t->dim[dim].count, inner = 1;
  for (int k = dim + 1; k < p->t->rank; k++) inner *= p->t->dim[k].count;
  bool cut = p->shorten && n > 2 * EDGE, last = dim + 1 == p->t->rank;
  text_putc(&p->out, '[');
  for (int64_t i = 0; i < n; i++) {
    if (i) text_puts(&p->out, last ? ", " : ",\n");
    if (i && !last)
      for (int k = 0; k <= dim; k++) text_putc(&p->out, ' ');
    if (cut && i == EDGE) {
      text_puts(&p->out, "...");
      i = n - EDGE - 1;
      continue;
    }
    axis(p, dim + 1, at + i * inner);
  }
  text_putc(&p->out, ']');
}

bool sim_device_print(Sim *s, const Args_device_print *a) {
  Acc x;
  if (!acc_src(s, a->tensor.u.tile, &x)) return false;
  int64_t n = acc_count(&x);
  char *vals = scratch(s, SCR_SRC0, (size_t)(n * x.bytes));
  if (!vals) return false;
  Stream st;
  stream_init(&st, &x);
  stream_read(&st, n, vals);
  Printer p = {.a = &x, .t = a->tensor.u.tile, .vals = vals, .shorten = n > WHOLE_UP_TO};
  text_init(&p.out, s->alloc);
  if (world_ranks(s) > 1) text_printf(&p.out, "rank %d: ", world_rank(s));
  text_add(&p.out, a->print_prefix.u.str, a->print_prefix.n);
  if (a->print_prefix.n) text_putc(&p.out, ' ');
  tile_describe(s->f, a->tensor.u.tile, &p.out);
  text_putc(&p.out, '\n');
  axis(&p, 0, 0);
  text_putc(&p.out, '\n');
  bool ok = !p.out.oom;
  if (ok) s->opt->print(s->opt->print_ud, text_str(&p.out), p.out.len);
  text_free(&p.out);
  return ok || DIAG0(s->d, nomem);
}
