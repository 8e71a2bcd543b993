/* config_damage_test.c -- spec/emit: a config that is not what was written is refused with a message, or says the same.
   Only the program itself may change unseen: another digit in it is another program. */
#include <stdio.h>
#include <stdlib.h>

#include "random.h"
#include "whole.h"

static const char IR_KEY[] = "\"serialize_ir_string\":", AFTER_IR[] = ",\"tiled\":";

typedef struct Parts {
  size_t head, tail; /* bytes before the program, and from where on it is over */
} Parts;

static Parts parts_of(const Artifact *a) {
  const char *ir = strstr(a->config_json, IR_KEY), *tail = strstr(a->config_json, AFTER_IR);
  assert_non_null(ir);
  assert_non_null(tail);
  return (Parts){(size_t)(ir - a->config_json), (size_t)(tail - a->config_json)};
}

/* Whether all of b but its program is what a holds. */
static bool same_but_program(const Artifact *a, const Artifact *b) {
  Parts p = parts_of(a), q = parts_of(b);
  return p.head == q.head && memcmp(a->config_json, b->config_json, p.head) == 0 &&
         strcmp(a->config_json + p.tail, b->config_json + q.tail) == 0;
}

static Diag d;

/* Decodes what may be damaged: a message or an artifact, and it is a's or other's. */
static int outcome(const Artifact *b, const Artifact *a, const Artifact *other) {
  assert_true((b == NULL) == (d.id != ERR_none));
  if (!b) assert_true(*diag_message(&d) != '\0');
  diag_clear(&d);
  if (!b) return 0;
  if (!same_but_program(a, b) && !(other && same_but_program(other, b))) fail_msg("accepted: %s", b->config_json);
  artifact_release(b);
  return 1;
}

/* With NKILUA_EVERY in the environment every other byte is put in every place, as .ci/run does; else some. */
static bool every(void) { return getenv("NKILUA_EVERY") != NULL; }

/* A third of the bytes that mean something and of keep's bits; neighbours take turns. */
static bool telling(size_t i, char keep, char put) {
  static const char bytes[] = "01x\",{} \x80"; /* and the NUL */
  int flipped = (unsigned char)(keep ^ put);
  return (i + (unsigned char)put) % 3 == 0 && (memchr(bytes, put, sizeof bytes) || (flipped & (flipped - 1)) == 0);
}

static void every_byte_of_the_json(void **state) {
  (void)state;
  Artifact *a = make();
  char *json = strdup(a->config_json);
  Parts p = parts_of(a);
  size_t accepted = 0, len = a->config_json_len;
  for (size_t i = 0; i < len; i++) {
    char keep = json[i];
    for (int byte = 0; byte < 256; byte++) {
      char put = (char)byte;
      if (put == keep || !(every() || telling(i, keep, put))) continue;
      json[i] = put;
      int taken = outcome(decode_json(json, len, &d), a, NULL);
      if (taken && (i < p.head || i >= p.tail)) fail_msg("byte %zu: %c for %c is not noticed", i, put, keep);
      accepted += (size_t)taken;
    }
    json[i] = keep;
  }
  assert_in_range(accepted, 1, every() ? 50 * len : len); /* labels and lines in the program */
  free(json);
  artifact_release(a);
}

/* Another digit of base64 in every place, each of them somewhere; bytes that are none. */
static void every_byte_of_the_base64(void **state) {
  (void)state;
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n -_\x80";
  Artifact *a = make();
  char *text = strdup(a->backend_config);
  for (size_t i = 0; i < a->backend_config_len; i++) {
    char keep = text[i];
    for (int byte = 0; byte < 256; byte++) {
      char put = (char)byte;
      const char *digit = memchr(digits, put, sizeof digits);
      if (put == keep || !(every() || (digit && (size_t)(digit - digits) % 11 == i % 11))) continue;
      text[i] = put;
      outcome(config_decode(alloc_std, text, a->backend_config_len, &d), a, NULL);
    }
    text[i] = keep;
  }
  free(text);
  artifact_release(a);
}

/* The head of one config and the tail of another of the same kernel, at any two places, or of itself. */
static void splices(void **state) {
  (void)state;
  Artifact *a = make(), *b = make_other(0.2, 2);
  const Artifact *of[2] = {a, b};
  char *json = malloc(a->config_json_len + b->config_json_len);
  for (uint64_t k = 0; k < 3000; k++) {
    const Artifact *x = of[k & 1], *y = of[k >> 1 & 1];
    size_t i = (size_t)(random_bits(1, k) % x->config_json_len);
    /* Every other time at the same place, where the two fit. */
    size_t j = k & 4 ? i : (size_t)(random_bits(2, k) % y->config_json_len);
    if (j > y->config_json_len) j = y->config_json_len;
    memcpy(json, x->config_json, i);
    memcpy(json + i, y->config_json + j, y->config_json_len - j);
    outcome(decode_json(json, i + y->config_json_len - j, &d), a, b);
  }
  free(json);
  artifact_release(a);
  artifact_release(b);
}

static void copy_upto(Text *out, const char *from, const char *to) { text_add(out, from, (size_t)(to - from)); }

/* Constants or options of another specialization of the same kernel. */
static void a_value_of_another_config(void **state) {
  (void)state;
  static const char *const keys[][3] = {{"\"constant_values\":", ",\"kernel_return\":", "constant_values"},
                                        {"\"opts\":", ",\"serialize_dims\":", "opts"}};
  Artifact *a = make(), *b = make_other(0.2, 2);
  for (int k = 0; k < 2; k++) {
    const char *at = strstr(a->config_json, keys[k][0]), *end = strstr(at, keys[k][1]);
    const char *other = strstr(b->config_json, keys[k][0]), *stop = strstr(other, keys[k][1]);
    Text json;
    char want[128];
    text_init(&json, alloc_std);
    copy_upto(&json, a->config_json, at);
    copy_upto(&json, other, stop);
    text_puts(&json, end);
    assert_null(decode_json(text_str(&json), json.len, &d));
    snprintf(want, sizeof want, "backend_config: '%s' is not what the program in serialize_ir_string says", keys[k][2]);
    assert_string_equal(diag_message(&d), want);
    diag_clear(&d);
    text_free(&json);
  }
  artifact_release(a);
  artifact_release(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte_of_the_json),
      cmocka_unit_test(every_byte_of_the_base64),
      cmocka_unit_test(splices),
      cmocka_unit_test(a_value_of_another_config),
  };
  diag_init(&d, alloc_std);
  int status = cmocka_run_group_tests(tests, NULL, NULL);
  diag_free(&d);
  return status;
}
