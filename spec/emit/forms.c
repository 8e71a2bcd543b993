/* forms.c -- spec/emit: emit_forms FOLDER COUNT writes modules that no kernel of examples/ makes: constants of every
   element type, a call with collectives, the torch-xla form, sequences, names that XLA refuses, and COUNT drawn at
   random. Each as NAME.hlo, NAME.mlir, NAME.pb and NAME.json, the decoded config with the custom-call's target in
   front. */
#include <stdio.h>

#include "anyform.h"

static const char *folder;

static void save(const char *name, const char *suffix, const Text *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(text_str(text), 1, text->len, f) != text->len || fclose(f) != 0) fail_msg("cannot write %s", path);
}

/* Each form after the other in the same text. */
static void write_forms(const char *name, const Artifact *a) {
  Diag d;
  Text text;
  diag_init(&d, alloc_std);
  text_init(&text, alloc_std);
  assert_true(hlo_text(a, &text, &d));
  save(name, "hlo", &text);
  text_clear(&text);
  assert_true(stablehlo_text(a, &text, &d));
  save(name, "mlir", &text);
  text_clear(&text);
  assert_true(hlo_proto(a, &text, &d));
  save(name, "pb", &text);
  text_clear(&text);
  text_printf(&text, "{\"target\":\"%s\",\"config\":", a->call_target);
  text_add(&text, a->config_json, a->config_json_len);
  text_puts(&text, "}\n");
  save(name, "json", &text);
  text_free(&text);
  diag_free(&d);
}

/* Takes over a. */
static void finish(const char *name, Artifact *a, Diag *d) {
  if (!config_encode(a, d)) fail_msg("%s", diag_message(d));
  write_forms(name, a);
  artifact_release(a);
  diag_free(d);
}

static void form(const char *name, const Plan *p, const char *target, bool collectives) {
  Diag d;
  diag_init(&d, alloc_std);
  Artifact *a = plan_artifact(p);
  a->call_target = target;
  a->has_collectives = collectives;
  finish(name, a, &d);
}

static void any_form(int seed) {
  char name[32];
  Diag d;
  diag_init(&d, alloc_std);
  snprintf(name, sizeof name, "any_%d", seed);
  finish(name, any_artifact((uint64_t)seed, &d), &d);
}

/* Two rows of bytes that are finite values, infinities, NaN and zeros of most types. */
static void constant_of(DType t) {
  static const int64_t shape[2] = {2, 8};
  static const unsigned char bytes[64] = {0, 0,    0x80, 0x3f, 0,    0,    0x80, 0x7f, 0,    0,    0xc0, 0x7f, 0,
                                          0, 0,    0x80, 0xff, 0xff, 0xff, 0xff, 1,    0,    0,    0,    0x7f, 0,
                                          0, 0x40, 0x39, 0x30, 0xb8, 0xc1, 0x78, 0x7c, 0xf8, 0xfc, 0x7e, 0x08};
  static const unsigned char truths[16] = {1, 0, 0, 1, 1, 1, 0, 1};
  IrBufSpec spec = {.kind = BUF_CONST,
                    .space = SP_private_hbm,
                    .dtype = t,
                    .rank = 2,
                    .shape = shape,
                    .name = "table",
                    .data = dtype_info[t].cls == DC_BOOL ? truths : bytes};
  Plan p = {.name = dtype_name(t), .fresh = 1, .returned = {10, -1}, .constant = true, .table = &spec};
  p.target = dtype_info[t].gen == gen4 ? TARGET_trn3 : TARGET_trn2;
  char name[64];
  snprintf(name, sizeof name, "constant_%s", dtype_name(t));
  form(name, &p, EMIT_TARGET_NATIVE, false);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  folder = argv[1];
  for (int seed = 1; seed <= atoi(argv[2]); seed++) any_form(seed);
  for (int t = DT_none + 1; t < DT_count; t++) constant_of((DType)t);
  const Plan one = {.name = "one", .returned = {0, -1}, .write_operand = true, .target = TARGET_trn2};
  const Plan two = {.name = "two", .fresh = 1, .returned = {10, 0, -1}, .write_operand = true, .target = TARGET_trn2};
  const Plan list = {.name = "list", .returned = {0, -1}, .sequence = true, .write_operand = true};
  const Plan fresh_list = {.name = "fresh_list", .fresh = 1, .returned = {10, -1}, .sequence = true};
  const Plan swapped = {.name = "swapped", .returned = {1, 0, -1}};
  const Plan names = {.name = "bf16", .arg = {"f32", "__b"}, .returned = {1, 0, -1}};
  const Plan clash = {.name = "9 lives-\"x\"", .arg = {"s32", "s32_"}, .returned = {0, -1}};
  form("collectives", &two, EMIT_TARGET_NATIVE, true);
  form("one", &one, EMIT_TARGET_NATIVE, false);
  form("torch_one", &one, EMIT_TARGET_TORCH, false);
  form("torch_two", &two, EMIT_TARGET_TORCH, false);
  form("list", &list, EMIT_TARGET_NATIVE, false);
  form("fresh_list", &fresh_list, EMIT_TARGET_NATIVE, false);
  form("swapped", &swapped, EMIT_TARGET_NATIVE, false);
  form("names", &names, EMIT_TARGET_NATIVE, false);
  form("clash", &clash, EMIT_TARGET_NATIVE, false);
  return 0;
}
