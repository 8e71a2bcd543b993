/* stats.c -- room api: what a tensor's numbers look like, and how far two tensors differ. */
#include <math.h>

#include "api.h"
#include "convert.h"
#include "json.h"

enum { BLOCK = 1024, FEW = 8 };

static int64_t numbers(const SimTensor *t) { return tensor_count(t) * dtype_info[t->dtype].elems; }

static bool is_packed(const SimTensor *t) { return dtype_info[t->dtype].cls == DC_PACK; }

/* Numbers i .. i+n of t, n at most BLOCK and both multiples of 4 for packed types. */
static void load(const SimTensor *t, int64_t i, int64_t n, double *out) {
  float block[BLOCK];
  const char *p = (const char *)t->data + i / dtype_info[t->dtype].elems * dtype_bytes(t->dtype);
  if (dtype_is_wide_int(t->dtype)) { /* f32 would round them */
    for (int64_t k = 0; k < n; k++) out[k] = tensor_at(t->dtype, p, k);
    return;
  }
  if (is_packed(t)) {
    cvt_unpack(t->dtype, p, n / 4, block);
  } else {
    cvt_load(t->dtype, p, n, block);
  }
  for (int64_t k = 0; k < n; k++) out[k] = block[k];
}

static double number_at(const SimTensor *t, int64_t i) {
  double four[4];
  if (!is_packed(t)) return tensor_at(t->dtype, t->data, i);
  load(t, i / 4 * 4, 4, four);
  return four[i % 4];
}

static void number_text(const SimTensor *t, double v, Text *out) {
  if (dtype_is_int(t->dtype)) {
    text_int(out, (int64_t)v);
  } else if (isfinite(v)) {
    text_float(out, (float)v);
  } else {
    text_puts(out, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
  }
}

typedef struct Stats {
  double min, max, mean;
  int64_t nans;
} Stats;

static Stats measure(const SimTensor *t) {
  Stats s = {INFINITY, -INFINITY, 0, 0};
  double block[BLOCK], sum = 0;
  int64_t n = numbers(t);
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t m = n - i < BLOCK ? n - i : BLOCK;
    load(t, i, m, block);
    for (int64_t k = 0; k < m; k++) {
      if (isnan(block[k])) {
        s.nans++;
        continue;
      }
      if (block[k] < s.min) s.min = block[k];
      if (block[k] > s.max) s.max = block[k];
      sum += block[k];
    }
  }
  if (s.nans == n) s.min = s.max = NAN;
  s.mean = s.nans == n ? NAN : sum / (double)(n - s.nans);
  return s;
}

/* Positions of the numbers to show: all of a few, else the corners of the first matrix (the ends of a vector). */
static int shown(const SimTensor *t, int64_t at[FEW]) {
  int64_t n = numbers(t);
  if (n <= FEW) {
    for (int i = 0; i < (int)n; i++) at[i] = i;
    return (int)n;
  }
  int64_t cols = (t->rank ? t->shape[t->rank - 1] : 1) * dtype_info[t->dtype].elems;
  int64_t rows = t->rank > 1 ? t->shape[t->rank - 2] : 1;
  int count = 0;
  at[count++] = 0;
  if (cols > 1) at[count++] = cols - 1;
  if (rows > 1) at[count++] = (rows - 1) * cols;
  if (rows > 1 && cols > 1) at[count++] = rows * cols - 1;
  return count;
}

static void summary_line(const SimTensor *t, const char *name, Text *out) {
  Stats s = measure(t);
  char mean[TEXT_NUMBER];
  int64_t at[FEW];
  int n = shown(t, at);
  text_printf(out, "%s ", name);
  shape_describe(t->dtype, t->rank, t->shape, out);
  text_puts(out, " min ");
  number_text(t, s.min, out);
  text_puts(out, " max ");
  number_text(t, s.max, out);
  text_printf(out, " mean %s", text_number(mean, s.mean, 6));
  if (s.nans) text_printf(out, " nan %lld", (long long)s.nans);
  text_puts(out, numbers(t) <= FEW ? " values" : " corners");
  for (int i = 0; i < n; i++) {
    text_putc(out, ' ');
    number_text(t, number_at(t, at[i]), out);
  }
}

static void summary_json(const SimTensor *t, const char *name, Text *out) {
  Stats s = measure(t);
  int64_t at[FEW];
  int n = shown(t, at);
  JsonWriter w = {out, false};
  json_begin(&w, '{');
  json_key(&w, "name");
  json_cstr(&w, name);
  json_key(&w, "dtype");
  json_cstr(&w, dtype_name(t->dtype));
  json_key(&w, "shape");
  json_begin(&w, '[');
  for (int i = 0; i < t->rank; i++) json_int(&w, t->shape[i]);
  json_end(&w, ']');
  json_key(&w, "min");
  json_double(&w, s.min);
  json_key(&w, "max");
  json_double(&w, s.max);
  json_key(&w, "mean");
  json_double(&w, s.mean);
  json_key(&w, "nan");
  json_int(&w, s.nans);
  json_key(&w, numbers(t) <= FEW ? "values" : "corners");
  json_begin(&w, '[');
  for (int i = 0; i < n; i++) json_double(&w, number_at(t, at[i]));
  json_end(&w, ']');
  json_end(&w, '}');
}

nkl_status nkl_tensor_summary(nkl_ctx *c, const nkl_tensor *t, const char *name, int json, nkl_buf *out) {
  Text line;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_BEGIN(c, t, name, out);
  text_init(&line, c->alloc);
  (json ? summary_json : summary_line)(&t->t, name, &line);
  return api_take(&line, out) ? NKL_OK : API_NOMEM(c);
}

/* ---- comparing ----------------------------------------------------------------------------------------------- */

typedef struct Differences {
  double absolute, relative; /* largest */
  int64_t mismatches, first; /* position of the first mismatch */
  double actual, desired;    /* there */
} Differences;

static void compare_one(Differences *r, const double v[2], const double tolerance[2], int64_t i) {
  double a = v[0], b = v[1];
  bool both_nan = isnan(a) && isnan(b);
  double diff = a == b || both_nan ? 0 : fabs(a - b);
  if (isnan(diff)) diff = INFINITY;
  double relative = diff == 0 ? 0 : b == 0 ? INFINITY : diff / fabs(b);
  if (isnan(relative)) relative = INFINITY; /* infinite by infinite */
  if (diff > r->absolute) r->absolute = diff;
  if (relative > r->relative) r->relative = relative;
  bool near = diff == 0 || (isfinite(diff) && diff <= tolerance[1] + tolerance[0] * fabs(b));
  if (near) return;
  if (r->mismatches++ > 0) return;
  r->first = i;
  r->actual = a;
  r->desired = b;
}

static void position_text(const SimTensor *t, int64_t i, Text *out) {
  int64_t index[NKL_MAX_RANK];
  i /= dtype_info[t->dtype].elems;
  for (int k = t->rank - 1; k >= 0; k--) {
    index[k] = i % t->shape[k];
    i /= t->shape[k];
  }
  text_putc(out, '[');
  for (int k = 0; k < t->rank; k++) text_printf(out, k ? ",%lld" : "%lld", (long long)index[k]);
  text_putc(out, ']');
}

static void tell(const SimTensor *t, const Differences *r, Text *out) {
  text_printf(out, "%lld of %lld elements differ", (long long)r->mismatches, (long long)numbers(t));
  char absolute[TEXT_NUMBER], relative[TEXT_NUMBER];
  text_printf(out, "; largest absolute difference %s, relative %s", text_number(absolute, r->absolute, 6),
              text_number(relative, r->relative, 6));
  if (!r->mismatches) return;
  text_puts(out, "; first at ");
  position_text(t, r->first, out);
  text_puts(out, ": ");
  number_text(t, r->actual, out);
  text_puts(out, " is not ");
  number_text(t, r->desired, out);
}

static bool alike(nkl_ctx *c, const SimTensor *a, const SimTensor *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++) same = a->shape[i] == b->shape[i];
  if (same) return true;
  Text t;
  text_init(&t, c->alloc);
  shape_describe(a->dtype, a->rank, a->shape, &t);
  text_puts(&t, " and ");
  shape_describe(b->dtype, b->rank, b->shape, &t);
  DIAG(&c->diag, compare_kind, text_str(&t));
  text_free(&t);
  return false;
}

nkl_status nkl_tensor_compare(nkl_ctx *c, const nkl_tensor *actual, const nkl_tensor *desired, double rtol, double atol,
                              int64_t *mismatches, nkl_buf *report) {
  Differences r = {0};
  double a[BLOCK], b[BLOCK], tolerance[2] = {rtol, atol};
  Text line;
  API_SET(report, (nkl_buf)NKL_BUF_INIT);
  API_SET(mismatches, 0);
  API_BEGIN(c, actual, desired, mismatches, report);
  if (!(rtol >= 0 && atol >= 0))
    return API_FAIL(c, api_use, "nkl_tensor_compare", "a tolerance is negative or not a number");
  if (!alike(c, &actual->t, &desired->t)) return api_fail(c);
  int64_t n = numbers(&actual->t);
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t m = n - i < BLOCK ? n - i : BLOCK;
    load(&actual->t, i, m, a);
    load(&desired->t, i, m, b);
    for (int64_t k = 0; k < m; k++) compare_one(&r, (double[]){a[k], b[k]}, tolerance, i + k);
  }
  *mismatches = r.mismatches;
  text_init(&line, c->alloc);
  tell(&actual->t, &r, &line);
  return api_take(&line, report) ? NKL_OK : API_NOMEM(c);
}
