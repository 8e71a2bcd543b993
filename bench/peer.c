/* peer.c -- the peers of bench/run.lua that need C.

   bench_peer sgemm           processor seconds of dnnl_sgemm for 1024^3 on the simulator's tiles
                              (K 128, M 128, N 512), one thread

   bench_peer start N CMD...  median wall seconds of running CMD N times, standard output thrown away */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return seconds_of(CLOCK_MONOTONIC); }

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *list, int n) {
  qsort(list, (size_t)n, sizeof *list, by_value);
  return list[n / 2];
}

typedef int (*Sgemm)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t,
                     float, float *, int64_t);

/* C[m,n] += A[k,m]^T B[k,n] tile by tile, each tile kept apart and contiguous as in SBUF and PSUM. */
static void tiles(Sgemm sgemm, const float *a, const float *b, float *c) {
  for (int m = 0; m < 8; m++)
    for (int n = 0; n < 2; n++)
      for (int k = 0; k < 8; k++)
        sgemm('T', 'N', 128, 512, 128, 1.0f, a + (size_t)(k * 8 + m) * 128 * 128, 128,
              b + (size_t)(k * 2 + n) * 128 * 512, 512, k ? 1.0f : 0.0f, c + (size_t)(m * 2 + n) * 128 * 512, 512);
}

static int run_sgemm(void) {
  setenv("OMP_NUM_THREADS", "1", 1);
  void *lib = dlopen("libdnnl.so.2", RTLD_NOW);
  Sgemm sgemm = NULL;
  if (lib) *(void **)&sgemm = dlsym(lib, "dnnl_sgemm");
  if (!sgemm) {
    fprintf(stderr, "bench_peer: no dnnl_sgemm\n");
    return 1;
  }
  enum { N = 1 << 20, RUNS = 21 };
  float *a = aligned_alloc(64, N * sizeof *a), *b = aligned_alloc(64, N * sizeof *b),
        *c = aligned_alloc(64, N * sizeof *c);
  double t[RUNS];
  if (!a || !b || !c) return 1;
  for (int i = 0; i < N; i++) a[i] = (float)(i % 17) - 8, b[i] = (float)(i % 13) - 6;
  tiles(sgemm, a, b, c);
  for (int r = 0; r < RUNS; r++) {
    double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    tiles(sgemm, a, b, c);
    t[r] = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start;
  }
  printf("%.9f\n", median(t, RUNS));
  return 0;
}

static int run_start(int n, char **argv) {
  double *t = calloc((size_t)n, sizeof *t);
  if (!t) return 1;
  for (int r = 0; r < n; r++) {
    double start = now();
    pid_t child = fork();
    if (child == 0) {
      int null = open("/dev/null", O_WRONLY);
      dup2(null, 1);
      execvp(argv[0], argv);
      _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
      fprintf(stderr, "bench_peer: %s failed\n", argv[0]);
      return 1;
    }
    t[r] = now() - start;
  }
  printf("%.9f\n", median(t, n));
  free(t);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "sgemm") == 0) return run_sgemm();
  if (argc > 3 && strcmp(argv[1], "start") == 0 && atoi(argv[2]) > 0) return run_start(atoi(argv[2]), argv + 3);
  fprintf(stderr, "usage: bench_peer sgemm | start N CMD...\n");
  return 2;
}
