/* explain_test.c -- spec/framework: what is said of a key that differs from an earlier one. */
#include <math.h>
#include <stdio.h>

#include "module.h"
#include "random.h"
#include "store.h"

#define TENSOR(n, t, ...)                                                              \
  {                                                                                    \
    .name = n, .is_tensor = true, .dtype = DT_##t, .rank = 2, .shape = { __VA_ARGS__ } \
  }
static const FwArg args[] = {TENSOR("x", float32, 128, 512), {.name = "n", .value = {.kind = CONST_INT, .i = 7}}};
static const FwRequest base = {
    .func_name = "k", .target = TARGET_trn2, .args = args, .nargs = 2, .captured = "c", .ncaptured = 1};
static const FwPipeline pipeline = {.ud = NULL};

static Text key_of(const FwRequest *r) {
  Text key;
  Diag d;
  text_init(&key, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(fw_generate_hash_key(r, &key, &d));
  diag_free(&d);
  return key;
}

static void says(const FwRequest *now, const FwRequest *was, const char *want) {
  Text a = key_of(now), b = key_of(was);
  Explain e;
  explain_begin(&e, &pipeline, now, alloc_std);
  e.key = (Span){a.data, a.len};
  explain_with(&e, (Span){b.data, b.len});
  assert_string_equal(text_str(&e.said), want);
  explain_end(&e);
  text_free(&a);
  text_free(&b);
}

static void launch(void **state) {
  (void)state;
  FwRequest r = base;
  r.target = TARGET_trn1;
  says(&r, &base, "target is trn1 (was trn2)");
  r = base;
  r.target_is_fallback = true;
  says(&r, &base, "the target is a guess (was said)");
  says(&base, &r, "the target is said (was a guess)");
  r = base;
  r.legacy = true;
  says(&r, &base, "the kernel is a legacy one (was none)");
  says(&base, &r, "the kernel is not a legacy one (was one)");
  r = base;
  r.ngrid = 2;
  r.grid[0] = 4;
  r.grid[1] = 2;
  says(&r, &base, "grid is 4,2 (was none)");
  FwRequest cores = r;
  cores.cores[0] = (IrCores){2, 1};
  says(&cores, &r, "grid is 4 on 2 cores in blocks of 1,2 (was 4,2)");
  r = base;
  r.func_name = "k2";
  says(&r, &base, "name is k2 (was k)");
  r = base;
  r.call_target = EMIT_TARGET_TORCH;
  says(&r, &base, "custom-call target is AwsNeuronNkiKernel (was AwsNeuronCustomNativeKernel)");
  r = base;
  r.environment = "true";
  says(&r, &base, "NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE is true (was )");
  r = base;
  r.captured = "d";
  says(&r, &base, "captured state differs");
}

static void options(void **state) {
  (void)state;
  const KernelOpt one[] = {{"level", {.kind = CONST_INT, .i = 1}}},
                  two[] = {{"level", {.kind = CONST_FLOAT, .f = 1.0}}},
                  bad[] = {{"a\nb", {.kind = CONST_BOOL, .b = true}}};
  FwRequest r = base, q = base;
  r.opts = one;
  q.opts = two;
  r.nopts = q.nopts = 1;
  says(&q, &r, "option 'level' is 1.0 (was 1)");
  says(&q, &base, "option 'level' is 1.0 (was not given)");
  says(&base, &q, "option 'level' is not given (was 1.0)");
  q.opts = bad;
  says(&q, &base, "option 'a\\x0ab' is true (was not given)");
}

static void value_is(ConstValue v, const char *text) {
  char want[160];
  FwArg list[] = {args[0], {.name = "n", .value = v}};
  FwRequest r = base;
  r.args = list;
  snprintf(want, sizeof want, "argument 'n' is %s (was 7)", text);
  says(&r, &base, want);
}

static void arguments(void **state) {
  (void)state;
  const FwArg tall[] = {TENSOR("x", float32, 64, 512), args[1]}, half[] = {TENSOR("x", bfloat16, 128, 512), args[1]};
  FwRequest r = base;
  r.args = tall;
  says(&r, &base, "argument 'x' is float32[64,512] (was float32[128,512])");
  r.args = half;
  says(&r, &base, "argument 'x' is bfloat16[128,512] (was float32[128,512])");
  r = base;
  r.nargs = 1;
  says(&r, &base, "argument 'n' is not given (was 7)");
  const ConstValue items[] = {{.kind = CONST_INT, .i = 1}, {.kind = CONST_NIL}};
  value_is((ConstValue){.kind = CONST_NIL}, "nil");
  value_is((ConstValue){.kind = CONST_BOOL}, "false");
  value_is((ConstValue){.kind = CONST_FLOAT, .f = -0.0}, "-0.0");
  value_is((ConstValue){.kind = CONST_FLOAT, .f = NAN}, "nan");
  value_is((ConstValue){.kind = CONST_FLOAT, .f = -INFINITY}, "-inf");
  value_is((ConstValue){.kind = CONST_STRING, .s = "a\0\xff", .len = 3}, "\"a\\x00\\xff\"");
  value_is((ConstValue){.kind = CONST_STRING, .s = "0123456789012345678901234567890123456789x", .len = 41},
           "\"0123456789012345678901234567890123456789...\"");
  value_is((ConstValue){.kind = CONST_TOKEN, .s = "nl.exp", .len = 6}, "nl.exp");
  value_is((ConstValue){.kind = CONST_FUNCTION, .s = "0123456789abcdef0123456789abcdef", .len = 32},
           "function 01234567");
  value_is((ConstValue){.kind = CONST_TUPLE, .items = items, .nitems = 2}, "{1, nil}");
  FwArg list[] = {TENSOR("x", float32, 64, 512), {.name = "n", .value = {.kind = CONST_INT, .i = INT64_MIN}}};
  r = base;
  r.args = list;
  r.target = TARGET_trn3;
  r.captured = "d";
  r.ngrid = 1;
  r.grid[0] = 1;
  says(&r, &base,
       "target is trn3 (was trn2), grid is 1 (was none), argument 'x' is float32[64,512] (was float32[128,512]), "
       "argument 'n' is -9223372036854775808 (was 7), and 1 more");
}

/* Of several earlier keys the one with fewest differences is told, the first of equals. */
static void the_nearest(void **state) {
  (void)state;
  FwRequest far = base, near = base, nearer = base;
  far.target = TARGET_trn1;
  far.captured = "x";
  near.target = TARGET_trn1;
  nearer.target = TARGET_trn3;
  const FwRequest *list[] = {&far, &near, &nearer, &far};
  Text key = key_of(&base);
  Explain e;
  explain_begin(&e, &pipeline, &base, alloc_std);
  e.key = (Span){key.data, key.len};
  assert_true(e.count == UINT32_MAX);
  for (int i = 0; i < 4; i++) {
    Text k = key_of(list[i]);
    explain_with(&e, (Span){k.data, k.len});
    text_free(&k);
  }
  assert_int_equal(e.count, 1);
  assert_string_equal(text_str(&e.said), "target is trn2 (was trn1)");
  explain_end(&e);
  text_free(&key);
}

/* Bytes that are no key are none, wherever the fault is. */
static void any_bytes(void **state) {
  (void)state;
  const KernelOpt opt[] = {{"level", {.kind = CONST_STRING, .s = "high", .len = 4}}};
  FwRequest r = base;
  r.opts = opt;
  r.nopts = 1;
  Text key = key_of(&r);
  Explain e;
  explain_begin(&e, &pipeline, &base, alloc_std);
  e.key = (Span){key.data, key.len};
  for (size_t n = 0; n < key.len; n++) {
    char *part = malloc(n + 1);
    memcpy(part, key.data, n);
    explain_with(&e, (Span){part, n});
    assert_string_equal(text_str(&e.said), "the key differs");
    assert_false(explain_same_name(&e, (Span){part, n}));
    free(part);
  }
  char *copy = malloc(key.len);
  for (uint64_t k = 0; k < 20000; k++) {
    memcpy(copy, key.data, key.len);
    for (uint64_t i = 0; i < 3; i++) copy[random_bits(i, k) % key.len] = (char)random_bits(i + 9, k);
    explain_with(&e, (Span){copy, key.len});
  }
  free(copy);
  explain_end(&e);
  text_free(&key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launch),      cmocka_unit_test(options),   cmocka_unit_test(arguments),
      cmocka_unit_test(the_nearest), cmocka_unit_test(any_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
