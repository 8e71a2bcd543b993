/* anyform.h -- spec/emit: modules made of a number: any names, ranks, dtypes, outputs, aliases, grids, constants. */
#ifndef SPEC_ANYFORM_H
#define SPEC_ANYFORM_H
#include "module.h"
#include "random.h"

typedef struct AnyForm {
  uint64_t seed, drawn;
  Trace *t;
  const IrTile *source[8]; /* operands, then constants */
  int noperands, nsources;
} AnyForm;

static inline int any_below(AnyForm *f, int n) { return (int)(random_bits(f->seed, f->drawn++) % (uint64_t)n); }

#define ANY_OF(f, list) ((list)[any_below((f), (int)(sizeof(list) / sizeof *(list)))])

/* What a file or a kernel may be called, and no name of XLA's may. */
static const char *const any_names[] = {"x",     "bf16",          "__x",     "9",           "a-b",          "a.b",
                                        "ENTRY", "ROOT",          "tuple",   "f8e4m3fn",    "main",         "token",
                                        "x_1",   "constant.0",    "a b\"c'", "caf\303\251", "\342\211\244", "{}()[]",
                                        "%x=1",  "custom-call.0", "-"};
static const char *const any_files[] = {"k.lua",           "with space.lua", "q\"uote.lua", "back\\slash.lua",
                                        "caf\303\251.lua", "new\nline.lua",  "tab\t.lua",   "{brace}.lua",
                                        "a'b,c=d.lua",     "dir/k.lua"};
static const DType any_types[] = {DT_float32,     DT_bfloat16,      DT_float16,        DT_int32,
                                  DT_uint32,      DT_int8,          DT_uint8,          DT_int16,
                                  DT_uint16,      DT_bool_,         DT_tfloat32,       DT_float8_e4m3,
                                  DT_float8_e5m2, DT_float8_e4m3fn, DT_float8_e8m0fnu, DT_float8_e5m2_x4};

static inline int any_shape(AnyForm *f, int64_t shape[IR_MAX_RANK]) {
  static const int64_t sizes[] = {1, 2, 3, 5, 8, 1, 2, 129};
  int rank = 1 + any_below(f, IR_MAX_RANK);
  for (int i = 0; i < rank; i++) shape[i] = rank > 4 ? 1 + any_below(f, 3) : ANY_OF(f, sizes);
  return rank;
}

static inline void any_sources(AnyForm *f) {
  int64_t shape[IR_MAX_RANK];
  static unsigned char bytes[1 << 16];
  f->noperands = any_below(f, 6);
  for (int i = 0; i < f->noperands; i++) {
    char name[64];
    int rank = any_shape(f, shape);
    snprintf(name, sizeof name, "%s%s", ANY_OF(f, any_names), any_below(f, 2) ? "" : "_");
    assert_non_null(f->source[i] = tr_operand(f->t, name, ANY_OF(f, any_types), rank, shape));
  }
  f->nsources = f->noperands;
  for (int n = f->noperands ? any_below(f, 3) : 1; n > 0; n--) {
    DType t = ANY_OF(f, any_types);
    int rank = any_shape(f, shape);
    for (int64_t k = 1; k < rank; k++) shape[k] = 1; /* few elements */
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)((i + (size_t)n) % (t == DT_bool_ ? 2 : 100));
    IrBufSpec spec = {BUF_CONST,      SP_private_hbm,  .dtype = t,   .rank = rank,
                      .shape = shape, .name = "table", .data = bytes};
    assert_non_null(f->source[f->nsources++] = tr_constant(f->t, &spec));
  }
}

/* Fresh copies of sources, operands themselves, and fresh tensors again. */
static inline void any_outputs(AnyForm *f) {
  const IrTile *out[6];
  uint32_t n = 0;
  bool passed[8] = {false};
  for (int left = 1 + any_below(f, 6); left > 0; left--) {
    int at = any_below(f, f->nsources), how = any_below(f, 4);
    const IrTile *src = f->source[at];
    const IrBuf *b = f->t->f->bufs[src->buf];
    if (how == 0 && at < f->noperands && !passed[at]) {
      passed[at] = true;
      out[n++] = src;
    } else if (how == 1 && n && f->t->f->bufs[out[n - 1]->buf]->kind == BUF_ALLOC) {
      out[n] = out[n - 1];
      n++;
    } else {
      IrBufSpec spec = {BUF_ALLOC, SP_shared_hbm, .dtype = b->dtype, .rank = b->rank, .shape = b->shape};
      spec.name = any_below(f, 2) ? ANY_OF(f, any_names) : NULL;
      assert_non_null(out[n] = tr_ndarray(f->t, &spec));
      plan_copy_at(f->t, out[n++], src, ANY_OF(f, any_files));
    }
  }
  if (!tr_return(f->t, out, n, n > 1 || any_below(f, 2))) fail_msg("%s", diag_message(f->t->d));
}

static inline Artifact *any_artifact(uint64_t seed, Diag *d) {
  AnyForm f = {.seed = seed};
  TraceSpec spec = {.func_name = ANY_OF(&f, any_names), .target = TARGET_trn3, .max_instr = 1000};
  spec.ngrid = any_below(&f, 3);
  for (int i = 0; i < spec.ngrid; i++) spec.grid[i] = 1 + any_below(&f, 3);
  spec.target_is_fallback = any_below(&f, 2);
  const char *target = any_below(&f, 3) ? EMIT_TARGET_NATIVE : EMIT_TARGET_TORCH;
  bool collectives = any_below(&f, 2);
  if (!(f.t = tr_open(alloc_std, &spec, d))) fail_msg("%s", diag_message(d));
  uint64_t drawn = f.drawn;
  for (int64_t i = 0; i < f.t->m->nprogram; i++) {
    f.drawn = drawn; /* all programs are alike */
    assert_true(tr_begin_program(f.t));
    any_sources(&f);
    any_outputs(&f);
    if (!tr_end_program(f.t)) fail_msg("seed %d: %s", (int)seed, diag_message(d));
  }
  IrModule *m = tr_finish(f.t);
  if (!m) fail_msg("seed %d: %s", (int)seed, diag_message(d));
  tr_close(f.t);
  FwRequest r = {.func_name = spec.func_name};
  if (!fw_generate_operand_output_aliases(&r, m, d)) fail_msg("%s", diag_message(d));
  Artifact *a = artifact_new(alloc_std, m);
  ir_release(m);
  assert_non_null(a);
  a->call_target = target;
  a->has_collectives = collectives;
  return a;
}
#endif
