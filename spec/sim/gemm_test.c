/* gemm_test.c -- spec/sim: the matrix product: exact on whole numbers, the same bytes on every instruction set, one
 * thread. */
#include "gemm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "vmath_isa.h"

enum { PAD = 3, GUARD = 12345 };
typedef void Product(const Gemm *g);

typedef struct Case {
  Gemm g;
  float *a, *b, *c;
} Case;

static float *numbers(int64_t n, int scale, uint32_t seed) {
  float *x = malloc((size_t)(n + 1) * sizeof *x);
  assert_non_null(x);
  for (int64_t i = 0; i <= n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)((int32_t)(seed >> 8) % (2 * scale + 1) - scale);
  }
  return x;
}
/* Whole numbers up to `scale`; rows are PAD longer than needed. */
static Case make(const int64_t mnk[3], int scale) {
  int64_t m = mnk[0], n = mnk[1], k = mnk[2];
  Case c = {
      .a = numbers(k * (m + PAD), scale, 1), .b = numbers(k * (n + PAD), scale, 2), .c = numbers(m * (n + PAD), 9, 3)};
  for (int64_t i = 0; i < m * (n + PAD); i++)
    if (i % (n + PAD) >= n) c.c[i] = GUARD;
  c.g = (Gemm){m, n, k, c.a, m + PAD, c.b, n + PAD, c.c, n + PAD, false};
  return c;
}
static void drop(Case *c) {
  free(c->a);
  free(c->b);
  free(c->c);
}

static const int64_t sizes[][3] = {{1, 1, 1},    {1, 7, 3},     {4, 8, 5},       {5, 33, 17},
                                   {3, 16, 300}, {64, 64, 64},  {33, 1, 9},      {128, 1, 128},
                                   {2, 31, 129}, {127, 65, 40}, {128, 512, 128}, {7, 500, 1}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Whole numbers small enough for every sum to be exact, whatever its order. */
static void check_exact(Product *product, const char *name) {
  for (int s = 0; s < SIZES; s++)
    for (int accumulate = 0; accumulate < 2; accumulate++) {
      Case c = make(sizes[s], 50);
      int64_t m = c.g.m, n = c.g.n, ldc = c.g.ldc;
      float *old = malloc((size_t)(m * ldc) * sizeof *old);
      assert_non_null(old);
      memcpy(old, c.c, (size_t)(m * ldc) * sizeof *old);
      if (!accumulate) /* old contents are not read */
        for (int64_t i = 0; i < m * ldc; i++)
          if (i % ldc < n) c.c[i] = NAN;
      c.g.accumulate = accumulate;
      product(&c.g);
      for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < ldc; j++) {
          double want = j < n ? accumulate * (double)old[i * ldc + j] : GUARD;
          for (int64_t k = 0; j < n && k < c.g.k; k++) want += (double)c.a[k * c.g.lda + i] * c.b[k * c.g.ldb + j];
          if (c.c[i * ldc + j] != want)
            fail_msg("%s, size %d, accumulate %d: (%d, %d) is %a, want %a", name, s, accumulate, (int)i, (int)j,
                     (double)c.c[i * ldc + j], want);
        }
      free(old);
      drop(&c);
    }
}
static void exact_products(void **state) {
  (void)state;
  static const char *const names[] = {"generic", "avx2", "avx512"};
  for (int k = 0; k < 3; k++) {
    const VmIsa *t = vm_isa_named(names[k]);
    if (t) check_exact(t->gemm, t->name);
  }
  check_exact(gemm_f32_plain, "plain");
  check_exact(gemm_f32, gemm_backend());
}

/* In the order of k, two roundings each; what C held is added to the whole sum. */
static void check_order(const VmIsa *t, int s, bool accumulate) {
  Case c = make(sizes[s], 1000), once = make(sizes[s], 1000);
  for (int64_t i = 0; i < c.g.k * c.g.ldb; i++) once.b[i] = c.b[i] = 1.0f / (c.b[i] + 0.5f);
  c.g.accumulate = accumulate;
  t->gemm(&c.g);
  for (int64_t i = 0; i < c.g.m; i++)
    for (int64_t j = 0; j < c.g.n; j++) {
      float want = 0.0f;
      for (int64_t q = 0; q < c.g.k; q++) want += c.a[q * c.g.lda + i] * c.b[q * c.g.ldb + j];
      if (accumulate) want += once.c[i * c.g.ldc + j];
      if (memcmp(&want, &c.c[i * c.g.ldc + j], 4))
        fail_msg("%s, size %d, accumulate %d: (%d, %d)", t->name, s, accumulate, (int)i, (int)j);
    }
  drop(&c);
  drop(&once);
}
static void plain_order(void **state) {
  (void)state;
  static const char *const names[] = {"generic", "avx2", "avx512"};
  for (int k = 0; k < 3; k++) {
    const VmIsa *t = vm_isa_named(names[k]);
    for (int s = 0; t && s < SIZES; s++) {
      check_order(t, s, false);
      check_order(t, s, true);
    }
  }
}

/* Whatever NaN comes in, from A, B or C, one comes out. */
static void one_nan(void **state) {
  (void)state;
  static const uint32_t odd[] = {0xffc00000, 0x7fe64f49, 0xffffffff};
  for (int s = 0; s < SIZES; s++) {
    Case c = make(sizes[s], 50);
    for (int k = 0; k < 3; k++) memcpy(&(float *[]){c.a, c.b, c.c}[k][c.g.m > 1 && k == 0 ? 1 : 0], &odd[k], 4);
    c.g.accumulate = true;
    gemm_f32(&c.g);
    assert_true(isnan(c.c[0]));
    for (int64_t i = 0; i < c.g.m * c.g.ldc; i++) {
      uint32_t bits;
      memcpy(&bits, &c.c[i], 4);
      if (isnan(c.c[i]) && bits != 0x7fc00000) fail_msg("size %d: element %d is %08x", s, (int)i, bits);
    }
    drop(&c);
  }
}

/* A NaN anywhere in C is found, one beside it is not. */
static void finds_every_nan(void **state) {
  (void)state;
  enum { ROWS = 3, MOST = 150, LD = MOST + PAD };
  static const char *const names[] = {"generic", "avx2", "avx512"};
  float c[ROWS * LD];
  for (int t = 0; t < 3; t++) {
    const VmIsa *isa = vm_isa_named(names[t]);
    for (int64_t n = 1; isa && n <= MOST; n++) {
      for (int i = 0; i < ROWS * LD; i++) c[i] = i % LD < n ? (i % 2 ? INFINITY : -INFINITY) : NAN;
      const Gemm g = {.m = ROWS, .n = n, .c = c, .ldc = LD};
      if (isa->gemm_has_nan(&g)) fail_msg("%s, %d columns: there is none", names[t], (int)n);
      for (int i = 0; i < ROWS * n; i++) {
        float *at = &c[i / n * LD + i % n], before = *at;
        *at = NAN;
        if (!isa->gemm_has_nan(&g)) fail_msg("%s, %d columns: element %d", names[t], (int)n, i);
        *at = before;
      }
    }
  }
}

static void no_products(void **state) {
  (void)state;
  float a = 2.0f, b = 3.0f, c[2] = {7.0f, 8.0f};
  gemm_f32(&(Gemm){1, 1, 0, &a, 1, &b, 1, c, 1, true});
  assert_true(c[0] == 7.0f);
  gemm_f32(&(Gemm){1, 0, 1, &a, 1, &b, 1, c, 1, false});
  gemm_f32(&(Gemm){0, 1, 1, &a, 1, &b, 1, c, 1, false});
  assert_true(c[0] == 7.0f && c[1] == 8.0f);
  gemm_f32(&(Gemm){1, 1, 0, &a, 1, &b, 1, c, 1, false});
  assert_true(c[0] == 0.0f && c[1] == 8.0f);
}

static int thread_count(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  int n = 0;
  while (f && fgets(line, sizeof line, f))
    if (!strncmp(line, "Threads:", 8)) n = atoi(line + 8);
  if (f) fclose(f);
  return n;
}
/* A product leaves no threads behind and uses none. */
static void one_thread(void **state) {
  (void)state;
  int before = thread_count();
  if (before == 0) skip();
  Case c = make((const int64_t[3]){512, 512, 512}, 10);
  gemm_f32(&c.g);
  assert_int_equal(thread_count(), before);
  drop(&c);
}

/* Runs in a child: the library is looked for once. */
static void plain_on_request(void **state) {
  (void)state;
  pid_t pid = fork();
  if (pid == 0) {
    setenv("NKILUA_GEMM", "plain", 1);
    _exit(strcmp(gemm_backend(), "plain") ? 1 : 0);
  }
  int status = 0;
  assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_on_request), /* first: nothing may have looked yet */
      cmocka_unit_test(one_thread),       /* before any other product */
      cmocka_unit_test(exact_products),   cmocka_unit_test(plain_order),     cmocka_unit_test(no_products),
      cmocka_unit_test(one_nan),          cmocka_unit_test(finds_every_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
