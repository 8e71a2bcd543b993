/* hlo_proto_test.c -- spec/emit: the binary HloModuleProto, read by a walker that knows the wire format alone. */
#include "module.h"

typedef struct Span {
  const unsigned char *p;
  size_t n;
} Span;

static uint64_t varint(Span *s) {
  uint64_t v = 0;
  for (int shift = 0;; shift += 7) {
    if (!s->n || shift > 63) fail_msg("a varint is cut off");
    unsigned char c = *s->p++;
    s->n--;
    v |= (uint64_t)(c & 0x7f) << shift;
    if (c < 0x80) return v;
  }
}

/* The next field of a message: its number, and its bytes or its value. */
static int next_field(Span *s, Span *bytes, uint64_t *value) {
  uint64_t key = varint(s);
  *bytes = (Span){NULL, 0};
  *value = 0;
  if ((key & 7) == 0) {
    *value = varint(s);
    return (int)(key >> 3);
  }
  assert_int_equal(key & 7, 2);
  uint64_t n = varint(s);
  assert_in_range(n, 0, s->n);
  *bytes = (Span){s->p, (size_t)n};
  s->p += n;
  s->n -= (size_t)n;
  return (int)(key >> 3);
}

/* Field `number` of a message, the k-th of that number; p is NULL when there is none. Numbers must not descend. */
static Span field(Span s, int number, int k) {
  int before = 0;
  Span bytes, found = {NULL, 0};
  while (s.n) {
    uint64_t value;
    int this = next_field(&s, &bytes, &value);
    assert_true(this >= before);
    before = this;
    if (this == number && k-- == 0) found = bytes;
  }
  return found;
}

static uint64_t number(Span s, int want) {
  Span bytes;
  uint64_t value, found = 0;
  while (s.n)
    if (next_field(&s, &bytes, &value) == want) found = value;
  return found;
}

static void is_text(Span s, const char *want) {
  assert_non_null(s.p);
  if (s.n != strlen(want) || memcmp(s.p, want, s.n) != 0) fail_msg("%.*s is not %s", (int)s.n, (const char *)s.p, want);
}

static void is_bytes(Span s, const char *want, size_t n) {
  assert_non_null(s.p);
  assert_int_equal(s.n, n);
  assert_memory_equal(s.p, want, n);
}

static Text out;

static Span proto_of(Artifact *a) {
  Diag d;
  diag_init(&d, alloc_std);
  a->backend_config = "eyJhIjoxfQ==";
  a->backend_config_len = strlen(a->backend_config);
  text_clear(&out);
  text_puts(&out, "kept");
  assert_true(hlo_proto(a, &out, &d));
  assert_memory_equal(out.data, "kept", 4);
  diag_free(&d);
  return (Span){(const unsigned char *)out.data + 4, out.len - 4};
}

static Span instruction(Span module, int i) { return field(field(module, 3, 0), 2, i); }

/* f32[4,8]: element type 11, dimensions, layout {minor_to_major, tail padding 1}, no dynamic dimension */
#define F32_4_8 "\x10\x0b\x1a\x02\x04\x08\x2a\x07\x0a\x02\x01\x00\x80\x01\x01\x32\x02\x00\x00"

static void one_output(void **state) {
  (void)state;
  Artifact *a = plan_artifact(&plan_in_place);
  a->has_collectives = true;
  Span m = proto_of(a), main = field(m, 3, 0), call = instruction(m, 2);
  is_text(field(m, 1, 0), "jit_step");
  is_text(field(m, 2, 0), "main");
  assert_int_equal(number(m, 6), number(main, 5));
  is_text(field(main, 1, 0), "main");
  assert_int_equal(number(main, 6), number(call, 35)); /* the root */
  assert_null(instruction(m, 3).p);
  is_text(field(instruction(m, 0), 1, 0), "a");
  is_text(field(instruction(m, 1), 1, 0), "b");
  is_text(field(instruction(m, 1), 2, 0), "parameter");
  assert_int_equal(number(instruction(m, 1), 9), 1);
  is_bytes(field(instruction(m, 0), 3, 0), F32_4_8, sizeof F32_4_8 - 1);
  is_text(field(call, 1, 0), "custom-call.0");
  is_text(field(call, 2, 0), "custom-call");
  is_bytes(field(call, 3, 0), F32_4_8, sizeof F32_4_8 - 1);
  is_text(field(field(call, 7, 0), 1, 0), "xla___op_NkiKernelCallImpl");
  is_text(field(field(call, 7, 0), 2, 0), "xla___op_NkiKernelCallImpl");
  is_text(field(field(call, 7, 0), 3, 0), "k.lua");
  assert_int_equal(number(field(call, 7, 0), 4), 3);
  is_text(field(call, 28, 0), "AwsNeuronCustomNativeKernel");
  is_bytes(field(call, 36, 0), "\1\2", 2); /* ids of a and b */
  is_text(field(call, 43, 0), "eyJhIjoxfQ==");
  is_text(field(field(field(call, 68, 0), 1, 0), 1, 0), "has_collectives");
  is_text(field(field(field(call, 68, 0), 1, 0), 2, 0), "1");
  /* Operand 0 and the whole result: every field has its default, but the entry is there. */
  is_bytes(field(call, 74, 0), "", 0);
  assert_int_equal(number(call, 77), 2);
  is_bytes(field(field(m, 8, 0), 1, 0), "\x20\x01", 2); /* may-alias */
  for (int i = 0; i < 2; i++) {
    Span program = field(i ? main : m, 4, 0);
    is_bytes(field(program, 1, 0), F32_4_8, sizeof F32_4_8 - 1);
    is_bytes(field(program, 2, 0), F32_4_8, sizeof F32_4_8 - 1);
    is_text(field(program, 3, 1), "b");
  }
  artifact_release(a);
}

static void two_outputs(void **state) {
  (void)state;
  Artifact *a = plan_artifact(&plan_two);
  Span m = proto_of(a), call = instruction(m, 3), root = instruction(m, 6);
  is_text(field(instruction(m, 2), 2, 0), "constant");
  is_bytes(field(field(instruction(m, 2), 8, 0), 13, 0), "\x80\x3f\x00\x40\x40\x40\x80\x40", 8);
  is_bytes(field(call, 36, 0), "\1\2\3", 3);
  assert_int_equal(number(field(call, 3, 0), 2), 13); /* a tuple */
  is_bytes(field(field(call, 3, 0), 4, 1), F32_4_8, sizeof F32_4_8 - 1);
  is_bytes(field(call, 74, 0), "\x0a\x01\x01", 3); /* output 1, operand 0 */
  is_bytes(field(field(m, 8, 0), 1, 0), "\x0a\x01\x01\x20\x01", 5);
  is_text(field(instruction(m, 5), 2, 0), "get-tuple-element");
  assert_int_equal(number(instruction(m, 5), 13), 1);
  is_bytes(field(instruction(m, 5), 36, 0), "\4", 1);
  is_text(field(root, 2, 0), "tuple");
  is_bytes(field(root, 36, 0), "\5\6", 2);
  assert_int_equal(number(field(m, 3, 0), 6), number(root, 35));
  artifact_release(a);
}

static void torch_form(void **state) {
  (void)state;
  Artifact *a = plan_artifact(&plan_in_place);
  a->call_target = EMIT_TARGET_TORCH;
  Span m = proto_of(a), call = instruction(m, 2);
  is_text(field(call, 28, 0), "AwsNeuronNkiKernel");
  assert_int_equal(number(call, 77), 1);
  assert_null(field(call, 74, 0).p);
  assert_null(field(call, 68, 0).p);
  assert_non_null(field(m, 8, 0).p);
  artifact_release(a);
}

typedef struct Literal {
  DType dtype;
  int type, field; /* number of the element type, field that holds the elements */
} Literal;

/* The literal of a constant [1,2] of these bytes is want. */
static void literal(Literal l, const void *bytes, const char *want, size_t n) {
  static const int64_t shape[2] = {1, 2};
  const IrBufSpec spec = {.kind = BUF_CONST,
                          .space = SP_private_hbm,
                          .dtype = l.dtype,
                          .rank = 2,
                          .shape = shape,
                          .name = "c",
                          .data = bytes};
  const Plan p = {.name = "c",
                  .fresh = 1,
                  .returned = {10, -1},
                  .constant = true,
                  .table = &spec,
                  .target = dtype_info[l.dtype].gen == gen4 ? TARGET_trn3 : TARGET_trn2};
  Artifact *a = plan_artifact(&p);
  Span at = field(instruction(proto_of(a), 2), 8, 0);
  is_bytes(field(at, l.field, 0), want, n);
  assert_int_equal(number(field(at, 1, 0), 2), l.type);
  assert_int_equal(hlo_element_type(l.dtype), l.type);
  artifact_release(a);
}

static void literals(void **state) {
  (void)state;
  const uint32_t words[2] = {0xfffffffe, 300};
  const float floats[2] = {1, -2};
  literal((Literal){DT_bool_, 1, 2}, "\1\0", "\1\0", 2);
  literal((Literal){DT_int8, 2, 15}, "\xfe\1", "\xfe\1", 2);
  literal((Literal){DT_int16, 3, 17}, "\1\0\xfe\xff", "\1\0\xfe\xff", 4);
  literal((Literal){DT_int32, 4, 4}, words, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02", 12);
  literal((Literal){DT_uint8, 6, 3}, "\xfe\1", "\xfe\1", 2);
  literal((Literal){DT_uint16, 7, 16}, "\1\0\xfe\xff", "\1\0\xfe\xff", 4);
  literal((Literal){DT_uint32, 8, 6}, words, "\xfe\xff\xff\xff\x0f\xac\x02", 7);
  literal((Literal){DT_float16, 10, 11}, "\1\0\xfe\xff", "\1\0\xfe\xff", 4);
  literal((Literal){DT_float32, 11, 8}, floats, "\0\0\x80\x3f\0\0\0\xc0", 8);
  literal((Literal){DT_tfloat32, 11, 8}, floats, "\0\0\x80\x3f\0\0\0\xc0", 8);
  literal((Literal){DT_bfloat16, 16, 13}, "\1\0\xfe\xff", "\1\0\xfe\xff", 4);
  literal((Literal){DT_float8_e5m2, 19, 19}, "\xfe\1", "\xfe\1", 2);
  literal((Literal){DT_float8_e4m3fn, 20, 20}, "\xfe\1", "\xfe\1", 2);
  literal((Literal){DT_float8_e4m3, 28, 28}, "\xfe\1", "\xfe\1", 2);
  literal((Literal){DT_float8_e8m0fnu, 33, 33}, "\xfe\1", "\xfe\1", 2);
  literal((Literal){DT_float8_e5m2_x4, 8, 6}, words, "\xfe\xff\xff\xff\x0f\xac\x02", 7);
  literal((Literal){DT_float8_e4m3fn_x4, 8, 6}, words, "\xfe\xff\xff\xff\x0f\xac\x02", 7);
  literal((Literal){DT_float4_e2m1fn_x4, 7, 16}, "\1\0\xfe\xff", "\1\0\xfe\xff", 4);
}

/* A length that needs several bytes goes in front of what is already written. */
static void long_messages(void **state) {
  (void)state;
  static unsigned char bytes[2 * 20000];
  static const int64_t shape[2] = {2, 20000};
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7);
  const IrBufSpec spec = {.kind = BUF_CONST,
                          .space = SP_private_hbm,
                          .dtype = DT_uint8,
                          .rank = 2,
                          .shape = shape,
                          .name = "c",
                          .data = bytes};
  const Plan p = {.name = "c", .fresh = 1, .returned = {10, -1}, .constant = true, .table = &spec};
  Artifact *a = plan_artifact(&p);
  Span m = proto_of(a);
  is_bytes(field(field(instruction(m, 2), 8, 0), 3, 0), (const char *)bytes, sizeof bytes);
  is_text(field(instruction(m, 3), 28, 0), "AwsNeuronCustomNativeKernel");
  artifact_release(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_output), cmocka_unit_test(two_outputs),   cmocka_unit_test(torch_form),
      cmocka_unit_test(literals),   cmocka_unit_test(long_messages),
  };
  text_init(&out, alloc_std);
  int status = cmocka_run_group_tests(tests, NULL, NULL);
  text_free(&out);
  return status;
}
