/* key_test.c -- spec/framework: which requests share a key. */
#include <math.h>

#include "module.h"

static const FwArg tensor = {.name = "x", .is_tensor = true, .dtype = DT_float32, .rank = 2, .shape = {128, 512}};

/* The key as text that the caller frees. */
static Text key_of(const FwRequest *r) {
  Text key;
  Diag d;
  text_init(&key, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(fw_generate_hash_key(r, &key, &d));
  diag_free(&d);
  return key;
}

static bool same(const FwRequest *a, const FwRequest *b) {
  Text ka = key_of(a), kb = key_of(b);
  bool equal = ka.len == kb.len && memcmp(ka.data, kb.data, ka.len) == 0;
  text_free(&ka);
  text_free(&kb);
  return equal;
}

static FwRequest base(const FwArg *args, uint32_t n) {
  return (FwRequest){
      .func_name = "k", .target = TARGET_trn2, .args = args, .nargs = n, .captured = "c", .ncaptured = 1};
}

static void every_field_counts(void **state) {
  (void)state;
  const KernelOpt opt = {"o", {.kind = CONST_INT, .i = 1}}, other = {"o", {.kind = CONST_FLOAT, .f = 1.0}};
  const FwRequest a = base(&tensor, 1);
  FwRequest b[16];
  for (int i = 0; i < 16; i++) b[i] = a;
  FwArg half = tensor, tall = tensor, flat = tensor;
  half.dtype = DT_bfloat16;
  tall.shape[0] = 64;
  flat.rank = 1;
  b[0].func_name = "kk";
  b[1].target = TARGET_trn3;
  b[2].target_is_fallback = true;
  b[3].ngrid = 1;
  b[3].grid[0] = 1;
  b[4].args = &half;
  b[5].args = &tall;
  b[6].args = &flat;
  b[7].opts = &opt;
  b[7].nopts = 1;
  b[8] = b[7];
  b[8].opts = &other;
  b[9].captured = "d";
  b[10].legacy = true;
  b[11].call_target = EMIT_TARGET_TORCH;
  for (int i = 12; i < 16; i++) { /* programs 4, on cores 0 0 0 0, 0 0 1 1, 0 1 0 1, 0 1 2 3 */
    b[i].ngrid = 1;
    b[i].grid[0] = 4;
    b[i].cores[0] = (IrCores[]){{0, 0}, {2, 2}, {2, 1}, {4, 1}}[i - 12];
  }
  assert_true(same(&a, &a));
  for (int i = 0; i < 16; i++) {
    if (same(&a, &b[i])) fail_msg("request %d has the key of the first", i);
    for (int k = 0; k < i; k++)
      if (same(&b[k], &b[i])) fail_msg("requests %d and %d have one key", k, i);
  }
}

/* 1, 1.0, true, 0.0, -0.0, NaN, and what else a Lua value may be. */
static void constants_differ_by_type_and_bits(void **state) {
  (void)state;
  const ConstValue one = {.kind = CONST_INT, .i = 1}, two = {.kind = CONST_INT, .i = 2};
  const ConstValue pair[] = {{.kind = CONST_INT, .i = 1}, {.kind = CONST_INT, .i = 2}};
  const ConstValue values[] = {
      {.kind = CONST_INT, .i = 1},
      {.kind = CONST_FLOAT, .f = 1.0},
      {.kind = CONST_BOOL, .b = true},
      {.kind = CONST_FLOAT, .f = 0.0},
      {.kind = CONST_FLOAT, .f = -0.0},
      {.kind = CONST_FLOAT, .f = (double)NAN},
      {.kind = CONST_NIL},
      {.kind = CONST_BOOL, .b = false},
      {.kind = CONST_INT, .i = 0},
      {.kind = CONST_STRING, .s = "1", .len = 1},
      {.kind = CONST_STRING, .s = "1\0x", .len = 3},
      {.kind = CONST_STRING, .s = "", .len = 0},
      {.kind = CONST_TOKEN, .s = "1", .len = 1},
      {.kind = CONST_FUNCTION, .s = "1", .len = 1},
      {.kind = CONST_TUPLE, .items = &one, .nitems = 1},
      {.kind = CONST_TUPLE, .items = &two, .nitems = 1},
      {.kind = CONST_TUPLE, .items = pair, .nitems = 2},
      {.kind = CONST_TUPLE},
  };
  enum { N = sizeof values / sizeof *values };
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < N; k++) {
      const FwArg a = {.name = "c", .value = values[i]}, b = {.name = "c", .value = values[k]};
      const FwRequest ra = base(&a, 1), rb = base(&b, 1);
      if (same(&ra, &rb) != (i == k)) fail_msg("values %d and %d", i, k);
    }
  }
  const FwArg nan = {.name = "c", .value = {.kind = CONST_FLOAT, .f = (double)NAN}},
              minus = {.name = "c", .value = {.kind = CONST_FLOAT, .f = -(double)NAN}};
  const FwRequest ra = base(&nan, 1), rb = base(&minus, 1);
  assert_true(same(&ra, &rb));
}

/* Texts side by side never run into one another: the second of these looks like the first with its own framing inside a
 * string. */
static void no_two_lists_spell_the_same(void **state) {
  (void)state;
#define FRAME "\1\0\0\0\0\0\0\0ys"
  const FwArg inner[] = {{.name = "x", .value = {.kind = CONST_STRING, .s = "", .len = 0}},
                         {.name = "y", .value = {.kind = CONST_STRING, .s = FRAME "q", .len = sizeof FRAME}}};
  const FwArg outer[] = {{.name = "x", .value = {.kind = CONST_STRING, .s = FRAME, .len = sizeof FRAME - 1}},
                         {.name = "y", .value = {.kind = CONST_STRING, .s = "q", .len = 1}}};
  const FwRequest a = base(inner, 2), b = base(outer, 2);
  assert_false(same(&a, &b));
}

/* cache_key is the same on every machine and in every process. */
static void bytes_are_fixed(void **state) {
  (void)state;
  const FwArg arg = {.name = "n", .value = {.kind = CONST_INT, .i = 258}};
  const FwRequest r = base(&arg, 1);
  Text key = key_of(&r);
  const char tail[] =
      "\1\0\0\0\0\0\0\0n"
      "i\2\1\0\0\0\0\0\0"
      "\1\0\0\0\0\0\0\0c";
  assert_true(key.len > sizeof tail - 1);
  assert_memory_equal(key.data + key.len - (sizeof tail - 1), tail, sizeof tail - 1);
  text_free(&key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_field_counts),
      cmocka_unit_test(constants_differ_by_type_and_bits),
      cmocka_unit_test(no_two_lists_spell_the_same),
      cmocka_unit_test(bytes_are_fixed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
