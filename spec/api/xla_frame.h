/* xla_frame.h -- spec/api: call frames of XLA's made by hand, and the programs that they call. */
#ifndef NK_SPEC_XLA_FRAME_H
#define NK_SPEC_XLA_FRAME_H
#include "../../src/api/xla_ffi.h"
#include "support.h"

enum { ROWS = 4, COLS = 8, N = ROWS * COLS };
enum { F32 = 11, BF16 = 16, F64 = 12 };

/* ---- XLA's side ------------------------------------------------------------------------------------------------ */

struct XlaError {
  char message[1024];
  int code;
};
static struct XlaError made;

static inline XlaError *make_error(XlaErrorArgs *args) {
  if (args->struct_size != XLA_END(XlaErrorArgs, code)) fail_msg("struct_size %zu", args->struct_size);
  snprintf(made.message, sizeof made.message, "%s", args->message);
  made.code = args->code;
  return &made;
}

static const XlaApi api = {
    .struct_size = sizeof(XlaApi), .version = {sizeof(XlaVersion), NULL, 0, 3}, .error_create = make_error};

/* A frame of the config's program with up to four operands and results. */
typedef struct Frame {
  XlaFrame frame;
  XlaBuffer buffers[8];
  int64_t dims[8][2];
  int kinds[8], attr_kinds[2];
  void *args[4], *rets[4], *values[2];
  XlaSpan config, other, config_name, other_name, *names[2];
} Frame;

static inline void add_buffer(Frame *f, XlaList *list, void *data) {
  int at = (int)(f->frame.args.size + f->frame.rets.size);
  f->dims[at][0] = ROWS;
  f->dims[at][1] = COLS;
  f->buffers[at] = (XlaBuffer){XLA_END(XlaBuffer, dims), NULL, F32, data, 2, f->dims[at]};
  list->items[list->size++] = &f->buffers[at];
}

static inline void start(Frame *f, const char *config) {
  *f = (Frame){.config = {config, strlen(config)}, .config_name = {"configuration", 6}};
  f->other_name = (XlaSpan){"strictness", 6};
  for (int i = 0; i < 8; i++) f->kinds[i] = XLA_BUFFER;
  f->attr_kinds[0] = f->attr_kinds[1] = XLA_ATTR_STRING;
  f->names[0] = &f->config_name;
  f->names[1] = &f->other_name;
  f->values[0] = &f->config;
  f->values[1] = &f->other;
  f->frame = (XlaFrame){.struct_size = XLA_END(XlaFrame, attrs), .api = &api, .stage = XLA_STAGE_EXECUTE};
  f->frame.args = (XlaList){XLA_END(XlaList, items), NULL, 0, f->kinds, f->args};
  f->frame.rets = (XlaList){XLA_END(XlaList, items), NULL, 0, f->kinds, f->rets};
  f->frame.attrs = (XlaAttrs){XLA_END(XlaAttrs, values), NULL, 1, f->attr_kinds, f->names, f->values};
}

static inline void accepted(Frame *f) {
  struct XlaError *e = nkl_xla_ffi_execute(&f->frame);
  if (e) fail_msg("%s", e->message);
}

static inline void refused(Frame *f, XlaCode code, const char *id, const char *part) {
  struct XlaError *e = nkl_xla_ffi_execute(&f->frame);
  assert_ptr_equal(e, &made);
  if (!strstr(e->message, part)) fail_msg("'%s' is not in '%s'", part, e->message);
  if (!strstr(e->message, id)) fail_msg("'%s' is not in '%s'", id, e->message);
  assert_int_equal(e->code, code);
}

/* ---- the programs ---------------------------------------------------------------------------------------------- */

/* Writes its output before it reads b. */
#define COPY_THEN_ADD                                                      \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(a, b)\n"                                        \
  "  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.store(out, nl.load(a))\n"                                          \
  "  nl.store(out, nl.load(out) + nl.load(b) * 2)\n"                       \
  "  return out\n"                                                         \
  "end, {func_name = 'copy_then_add'})\n"
/* Reads memory that it has not written. */
#define READS_NOTHING                                                                \
  "local nki, nl = require 'nki', require 'nki.language'\n"                          \
  "return nki.jit(function(a)\n"                                                     \
  "  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n"           \
  "  nl.store(out, nl.load(a) + nl.ndarray(a.shape, a.dtype, {buffer = nl.sbuf}))\n" \
  "  return out\n"                                                                   \
  "end, {func_name = 'reads_nothing'})\n"
static nkl_buf add, twice, late, unwritten;
static float a[N], b[N], out[N], out2[N];

static inline nkl_buf config_of(const char *source, size_t n, double scale) {
  nkl_ctx *c = open_quiet(NULL, NULL);
  nkl_kernel *k = kernel_of(c, source);
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){ROWS, COLS});
  nkl_arg args[3] = {{.kind = NKL_ARG_DECL}, {.kind = NKL_ARG_DECL}, {.kind = NKL_ARG_NUM, .u.n = scale}};
  nkl_program *p;
  nkl_buf text;
  args[0].u.decl = args[1].u.decl = &d;
  assert_int_equal(specialize(c, k, args, n, &p), NKL_OK);
  assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &text, NULL), NKL_OK);
  nkl_program_release(p);
  nkl_kernel_release(k);
  nkl_close(c);
  return text;
}

static inline int setup_programs(void **state) {
  (void)state;
  add = config_of(ADD_SCALED, 3, 2);
  twice = config_of(DOUBLE_IN_PLACE, 1, 0);
  late = config_of(COPY_THEN_ADD, 2, 0);
  unwritten = config_of(READS_NOTHING, 1, 0);
  return 0;
}

static inline int teardown_programs(void **state) {
  (void)state;
  nkl_buf_free(&add);
  nkl_buf_free(&twice);
  nkl_buf_free(&late);
  nkl_buf_free(&unwritten);
  return 0;
}

static inline void fresh_numbers(void) {
  for (int i = 0; i < N; i++) {
    a[i] = (float)i;
    b[i] = (float)(i * i);
    out[i] = out2[i] = -1;
  }
}

static inline void start_add(Frame *f) {
  fresh_numbers();
  start(f, add.data);
  add_buffer(f, &f->frame.args, a);
  add_buffer(f, &f->frame.args, b);
  add_buffer(f, &f->frame.rets, out);
}

static inline void assert_sum(const float *sum) {
  for (int i = 0; i < N; i++) assert_float_equal(sum[i], (float)i + 2 * (float)(i * i), 0);
}
#endif
