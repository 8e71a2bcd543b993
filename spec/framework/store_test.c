/* store_test.c -- spec/framework: the pipeline with a folder behind its cache. Whatever is in the folder, the answer is
   the right one. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "folder.h"
#include "saved.h"

static char root[64];
static Diag d;

typedef struct Fake {
  const Plan *plan;
  int traces;
  bool impure;
} Fake;

static IrModule *trace(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *diag) {
  Fake *fake = ud;
  (void)r, (void)has_collectives;
  fake->traces++;
  *impure = fake->impure;
  return plan_module(fake->plan, diag);
}

static bool encode(void *ud, const FwRequest *r, Artifact *a, Diag *diag) {
  (void)ud, (void)r;
  return config_encode(a, diag);
}

static const Plan plan = {.name = "k", .returned = {0, -1}, .write_operand = true, .target = TARGET_trn2};
static const FwArg args[] = {{.name = "a", .is_tensor = true, .dtype = DT_float32, .rank = 2, .shape = {4, 8}},
                             {.name = "c", .value = {.kind = CONST_INT, .i = 7}},
                             {.name = "b", .is_tensor = true, .dtype = DT_bfloat16, .rank = 2, .shape = {4, 8}}};
static const FwRequest request = {
    .func_name = "k", .target = TARGET_trn2, .args = args, .nargs = 3, .captured = "x", .ncaptured = 1};

/* One call of a process of its own: a fresh cache and store. */
typedef struct Call {
  const FwRequest *r;
  FwPipeline p;
  const char *dir;
  char config[8192], last[512], warning[512];
} Call;

static void run(Call *call, Fake *fake) {
  FwStore *s = fw_store_new(alloc_std, call->dir ? call->dir : root, true);
  FwCache *c = fw_cache_new(alloc_std);
  call->p.ud = fake;
  call->p.specialize_and_call = trace;
  fw_cache_attach(c, s);
  const Artifact *a = fw_specialize(c, &call->p, call->r ? call->r : &request, alloc_std, &d);
  if (!a) fail_msg("%s", diag_message(&d));
  snprintf(call->config, sizeof call->config, "%s", a->backend_config);
  snprintf(call->last, sizeof call->last, "%s", fw_cache_info(c).last);
  const char *warning = fw_store_warning(s);
  snprintf(call->warning, sizeof call->warning, "%s", warning ? warning : "");
  assert_null(fw_store_warning(s)); /* once */
  artifact_release(a);
  fw_cache_free(c);
  fw_store_free(s);
}

static char file_path[160];

/* The one file of the folder. */
static const char *the_file(void) {
  Arena arena;
  size_t n;
  arena_init(&arena, alloc_std);
  const char **names = folder_list(root, ".nkc", &arena, &n);
  assert_non_null(names);
  assert_int_equal(n, 1);
  snprintf(file_path, sizeof file_path, "%s/%s", root, names[0]);
  arena_free(&arena);
  return file_path;
}

static size_t file_count(void) {
  Arena arena;
  size_t n;
  arena_init(&arena, alloc_std);
  folder_list(root, "", &arena, &n);
  arena_free(&arena);
  return n - 2;
}

static void empty_root(void) {
  char line[128];
  snprintf(line, sizeof line, "rm -rf '%s'/*", root);
  assert_int_equal(system(line), 0);
}

/* What is there now is not believed, said to be so, and replaced. */
static void replaced(const char *why) {
  Fake fake = {.plan = &plan};
  Call call = {0}, again = {0};
  char want[256];
  run(&call, &fake);
  snprintf(want, sizeof want, "; file %s %s; kept in memory and on disk", strrchr(the_file(), '/') + 1, why);
  assert_int_equal(fake.traces, 1);
  if (!strstr(call.last, want)) fail_msg("'%s' is not in '%s'", want, call.last);
  run(&again, &fake);
  assert_int_equal(fake.traces, 1);
  assert_string_equal(again.last, "hit on disk");
  assert_string_equal(call.config, again.config);
}

static void a_second_process_finds_it(void **state) {
  (void)state;
  Fake fake = {.plan = &plan};
  Call first = {0}, second = {0}, third = {0};
  empty_root();
  run(&first, &fake);
  assert_string_equal(first.last, "miss: first call; kept in memory and on disk");
  run(&second, &fake);
  assert_string_equal(second.last, "hit on disk");
  assert_int_equal(fake.traces, 1);
  assert_string_equal(first.config, second.config);
  FwRequest other = request;
  other.target = TARGET_trn3;
  const Plan on_trn3 = {.name = "k", .returned = {0, -1}, .write_operand = true, .target = TARGET_trn3};
  fake.plan = &on_trn3;
  third.r = &other;
  run(&third, &fake);
  assert_string_equal(third.last,
                      "miss: first call in this process; on disk, nearest: target is trn3 (was trn2); kept in memory "
                      "and on disk");
  assert_int_equal(file_count(), 2);
}

static void counts(void **state) {
  (void)state;
  Fake fake = {.plan = &plan};
  Call first = {0};
  empty_root();
  run(&first, &fake);
  FwStore *s = fw_store_new(alloc_std, root, false);
  FwCache *c = fw_cache_new(alloc_std);
  FwPipeline p = {.ud = &fake, .specialize_and_call = trace};
  fw_cache_attach(c, s);
  const Artifact *a = fw_specialize(c, &p, &request, alloc_std, &d), *b = fw_specialize(c, &p, &request, alloc_std, &d);
  assert_ptr_equal(a, b);
  FwCacheInfo info = fw_cache_info(c);
  assert_int_equal(info.hits, 2);
  assert_int_equal(info.disk_hits, 1);
  assert_int_equal(info.misses, 0);
  assert_int_equal(info.entries, 1);
  assert_string_equal(info.last, "hit in memory");
  artifact_release(a);
  artifact_release(b);
  fw_cache_free(c);
  fw_store_free(s);
}

static void damage_is_repaired(void **state) {
  (void)state;
  Fake fake = {.plan = &plan};
  Call first = {0};
  Text good;
  empty_root();
  run(&first, &fake);
  text_init(&good, alloc_std);
  assert_true(file_read(the_file(), &good, &d));
  assert_true(file_write(the_file(), good.data, good.len / 2, &d));
  replaced("is damaged");
  assert_true(file_write(the_file(), "", 0, &d));
  replaced("is not one of nkilua's");
  char hex[33];
  good.data[24]++; /* the version */
  hash_hex(good.data, good.len - 32, hex);
  memcpy(good.data + good.len - 32, hex, 32);
  assert_true(file_write(the_file(), good.data, good.len, &d));
  replaced("is of another nkilua version");
  text_free(&good);
}

/* A whole file under the name of another key. */
static void the_key_decides(void **state) {
  (void)state;
  Fake fake = {.plan = &plan};
  Call first = {0}, second = {0};
  Text one;
  char path[160];
  empty_root();
  run(&first, &fake);
  text_init(&one, alloc_std);
  assert_true(file_read(the_file(), &one, &d));
  assert_int_equal(unlink(the_file()), 0);
  FwRequest other = request;
  other.captured = "y";
  second.r = &other;
  run(&second, &fake);
  snprintf(path, sizeof path, "%s", the_file());
  assert_true(file_write(path, one.data, one.len, &d));
  fake.traces = 0;
  run(&second, &fake);
  assert_int_equal(fake.traces, 1);
  assert_non_null(strstr(second.last, "is that of another key; kept in memory and on disk"));
  text_free(&one);
}

/* Something else where the file would be: no waiting for a pipe, nothing is written into it, the right answer. */
static void no_file_at_all(void **state) {
  (void)state;
  char path[160];
  for (int kind = 0; kind < 2; kind++) {
    Fake fake = {.plan = &plan};
    Call first = {0}, second = {0};
    empty_root();
    run(&first, &fake);
    snprintf(path, sizeof path, "%s", the_file());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(kind ? mkdir(path, 0700) : mkfifo(path, 0600), 0);
    run(&second, &fake);
    assert_int_equal(fake.traces, 2);
    assert_string_equal(first.config, second.config);
    assert_non_null(strstr(second.last, ".nkc is no file; kept in memory, not on disk: file "));
    assert_string_equal(second.warning, "");
    assert_int_equal(path_kind(path), kind ? PATH_FOLDER : PATH_OTHER);
  }
}

static void folders_that_do_not_work(void **state) {
  (void)state;
  static const char *const dirs[] = {"/proc/no/such", "/dev/null", "/proc/tty", "/dev/null/x"};
  for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
    Fake fake = {.plan = &plan};
    Call call = {.dir = dirs[i]};
    run(&call, &fake);
    assert_int_equal(fake.traces, 1);
    assert_non_null(strstr(call.last, "miss: first call; kept in memory, not on disk: cannot "));
    assert_memory_equal(call.warning, "persistent cache: cannot ", 25);
  }
}

static void what_is_never_written(void **state) {
  (void)state;
  empty_root();
  Fake fake = {.plan = &plan, .impure = true};
  Call impure = {0}, own = {.p = {.encode_backend_config = encode}}, serial = {0};
  run(&impure, &fake);
  assert_string_equal(impure.last, "miss: first call; not kept: ");
  fake.impure = false;
  run(&own, &fake);
  assert_string_equal(own.last, "miss: first call; kept in memory, not on disk: steps of the pipeline are replaced");
  FwRequest r = request;
  r.not_on_disk = "captured 'f' has no value to tell it by";
  serial.r = &r;
  run(&serial, &fake);
  assert_string_equal(serial.last,
                      "miss: first call; kept in memory, not on disk: captured 'f' has no value to tell it by");
  assert_int_equal(file_count(), 0);
  Call plain = {0};
  run(&plain, &fake);
  fake.traces = 0;
  run(&serial, &fake); /* nor is it read */
  run(&own, &fake);
  assert_int_equal(fake.traces, 2);
}

static int open_root(void **state) {
  (void)state;
  diag_init(&d, alloc_std);
  strcpy(root, "/tmp/nkilua-store-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state) {
  char line[128];
  (void)state;
  diag_free(&d);
  snprintf(line, sizeof line, "rm -rf '%s'", root);
  return system(line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_second_process_finds_it),
      cmocka_unit_test(counts),
      cmocka_unit_test(damage_is_repaired),
      cmocka_unit_test(the_key_decides),
      cmocka_unit_test(no_file_at_all),
      cmocka_unit_test(folders_that_do_not_work),
      cmocka_unit_test(what_is_never_written),
  };
  return cmocka_run_group_tests(tests, open_root, drop_root);
}
