/* fill.c -- room api: tensors made from the VALUE grammar. The random ones come from base/random.h: the same bytes on
 * every machine. */
#include <math.h>
#include <stdio.h>

#include "api.h"
#include "random.h"

static const char *const names[] = {"", "zeros", "ones", "iota", "full", "normal", "uniform"};

static bool refuse(const ApiFill *f, const SimTensor *t, const char *why, Diag *d) {
  return DIAG(d, fill, f->name, dtype_name(t->dtype), names[f->value->fill], why);
}

static HostFill resolve(const ApiFill *f, const SimTensor *t) {
  if (f->value->fill != FILL_DEFAULT) return f->value->fill;
  return dtype_is_float(t->dtype) ? FILL_NORMAL : FILL_ZEROS;
}

static bool fill_random(const ApiFill *f, HostFill kind, SimTensor *t) {
  uint64_t seed = random_seed_named(f->value->has_seed ? f->value->seed : f->seed, f->name, strlen(f->name));
  int64_t n = tensor_count(t);
  bool ok = true;
  for (int64_t i = 0; i < n; i++) {
    double v = kind == FILL_NORMAL ? random_normal(seed, (uint64_t)i) : random_uniform(seed, (uint64_t)i);
    ok = tensor_put(t->dtype, t->data, i, v) && ok;
  }
  return ok;
}

static double number_of(const ConstValue *v) { return v->kind == CONST_INT ? (double)v->i : v->f; }

/* A finite number that the dtype turns into infinity or NaN was not meant. */
static bool survives(const SimTensor *t, int64_t i, double v) {
  return !isfinite(v) || dtype_is_int(t->dtype) || isfinite(tensor_at(t->dtype, t->data, i));
}

static bool fill_numbers(const ApiFill *f, HostFill kind, SimTensor *t, Diag *d) {
  int64_t n = tensor_count(t);
  double v = kind == FILL_ONES ? 1 : kind == FILL_FULL ? number_of(&f->value->constant) : 0;
  for (int64_t i = 0; i < n; i++) {
    if (kind == FILL_IOTA) v = (double)i;
    if (!tensor_put(t->dtype, t->data, i, v) || !survives(t, i, v)) {
      char why[96], number[TEXT_NUMBER];
      snprintf(why, sizeof why, "%s does not fit", text_number(number, v, 17));
      return refuse(f, t, why, d);
    }
  }
  return true;
}

bool api_fill(const ApiFill *f, SimTensor *t, Diag *d) {
  HostFill kind = resolve(f, t);
  memset(t->data, 0, (size_t)tensor_bytes(t));
  if (kind == FILL_ZEROS) return true;
  if (dtype_info[t->dtype].cls == DC_PACK) return refuse(f, t, "packed elements can be zeros only", d);
  if (kind != FILL_NORMAL && kind != FILL_UNIFORM) return fill_numbers(f, kind, t, d);
  if (!dtype_is_float(t->dtype))
    return refuse(f, t, "only floats can be random; use :zeros, :ones, :iota or :full(x)", d);
  return fill_random(f, kind, t) || refuse(f, t, "a value does not fit", d);
}
