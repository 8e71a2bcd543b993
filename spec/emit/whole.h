/* whole.h -- spec/emit: a config that has something in every part: constants of every sort, options, an alias, a grid.
 */
#ifndef SPEC_WHOLE_H
#define SPEC_WHOLE_H
#include "base64.h"
#include "module.h"

static const Plan whole_plan = {.name = "look",
                                .fresh = 1,
                                .returned = {10, 0, -1},
                                .constant = true,
                                .write_operand = true,
                                .target = TARGET_trn2,
                                .ngrid = 1,
                                .grid = {2},
                                .cores = {{2, 1}}};

static inline Artifact *make_other(double f, int64_t a) {
  const ConstValue items[] = {{.kind = CONST_INT, .i = INT64_MAX}, {.kind = CONST_BOOL, .b = true}};
  const ConstValue list[] = {{.name = "f", .kind = CONST_FLOAT, .f = f},
                             {.name = "raw", .kind = CONST_STRING, .s = "\x00\xff\xfe", .len = 3},
                             {.name = "p", .kind = CONST_TUPLE, .items = items, .nitems = 2}};
  const KernelOpt opts[] = {{"a", {.kind = CONST_INT, .i = a}}, {"b", {.kind = CONST_STRING, .s = "x", .len = 1}}};
  Diag d;
  diag_init(&d, alloc_std);
  Artifact *made = plan_artifact(&whole_plan);
  assert_true(artifact_set_constants(made, list, 3));
  assert_true(artifact_set_opts(made, opts, 2));
  if (!config_encode(made, &d)) fail_msg("%s", diag_message(&d));
  diag_free(&d);
  return made;
}

static inline Artifact *make(void) { return make_other(0.1, 1); }

static inline const Artifact *decode_json(const char *json, size_t n, Diag *d) {
  Text b64;
  text_init(&b64, alloc_std);
  base64_encode(&b64, json, n);
  const Artifact *a = config_decode(alloc_std, text_str(&b64), b64.len, d);
  text_free(&b64);
  return a;
}
#endif
