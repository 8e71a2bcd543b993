/* tensor_test.c -- spec/api: tensors and tensor files. */
#include <math.h>
#include <unistd.h>

#include "support.h"

static nkl_ctx *c;

static int setup(void **state) {
  (void)state;
  c = open_quiet(NULL, NULL);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nkl_close(c);
  return 0;
}

static void a_tensor_copies_or_starts_at_zero(void **state) {
  (void)state;
  float data[6] = {1, 2, 3, 4, 5, 6};
  nkl_tensor *t = matrix(c, 2, 3, data), *zero = matrix(c, 2, 3, NULL);
  nkl_tensor_desc d;
  data[0] = 9;
  assert_true(floats(t)[0] == 1 && floats(t)[5] == 6);
  assert_true(floats(zero)[0] == 0 && floats(zero)[5] == 0);
  nkl_tensor_describe(t, &d);
  assert_int_equal(d.dtype, NKL_F32);
  assert_int_equal(d.rank, 2);
  assert_int_equal(d.shape[1], 3);
  assert_int_equal(d.byte_strides[0], 12);
  assert_int_equal(d.nbytes, 24);
  nkl_tensor_release(nkl_tensor_retain(t));
  nkl_tensor_release(t);
  nkl_tensor_release(zero);
  nkl_tensor_release(NULL);
}

static void strides_are_followed(void **state) {
  (void)state;
  float data[6] = {1, 2, 3, 4, 5, 6};
  nkl_tensor *t;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){3, 2});
  d.data = data;
  d.nbytes = sizeof data;
  d.byte_strides[0] = 4; /* the transpose of 2 x 3 */
  d.byte_strides[1] = 12;
  assert_int_equal(nkl_tensor_new(c, &d, &t), NKL_OK);
  static const float want[] = {1, 4, 2, 5, 3, 6};
  assert_memory_equal(floats(t), want, sizeof want);
  nkl_tensor_release(t);
  d.data = data + 5;
  d.byte_strides[0] = -8;
  d.byte_strides[1] = -4;
  assert_int_equal(nkl_tensor_new(c, &d, &t), NKL_OK);
  static const float back[] = {6, 5, 4, 3, 2, 1};
  assert_memory_equal(floats(t), back, sizeof back);
  nkl_tensor_release(t);
  assert_int_equal(nkl_tensor_wrap(c, &d, NULL, NULL, &t), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "not C-contiguous");
}

static void refused(nkl_tensor_desc d, const char *part) {
  nkl_tensor *t;
  assert_int_equal(nkl_tensor_new(c, &d, &t), NKL_ERR_ARG);
  assert_null(t);
  assert_error(c, NKL_ERR_ARG, "err_api_use", part);
}

static void impossible_descriptions_are_refused(void **state) {
  (void)state;
  static float x[4];
  nkl_tensor_desc d = desc_of(NKL_F32, 1, (int64_t[]){4});
  d.struct_size = 0;
  refused(d, "nkl_tensor_desc_init");
  refused(desc_of(NKL_INVALID, 1, (int64_t[]){4}), "dtype");
  refused(desc_of((nkl_dtype)99, 1, (int64_t[]){4}), "dtype");
  refused(desc_of(NKL_F32, 1, (int64_t[]){0}), "less than 1");
  refused(desc_of(NKL_F32, 1, (int64_t[]){-3}), "less than 1");
  refused(desc_of(NKL_F32, 3, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40, 2}), "62 bits");
  d = desc_of(NKL_F32, 1, (int64_t[]){4});
  d.rank = 9;
  refused(d, "rank");
  d.rank = -1;
  refused(d, "rank");
  d.rank = 1;
  d.data = x;
  d.nbytes = 12;
  refused(d, "nbytes");
}

static void mark_released(void *ud, void *data) {
  assert_ptr_equal(data, (char *)ud + sizeof(int));
  ++*(int *)ud;
}

static void a_wrapped_tensor_borrows_and_gives_back_once(void **state) {
  (void)state;
  static struct {
    int released;
    float data[4];
  } host = {0, {1, 2, 3, 4}};
  nkl_tensor *t;
  nkl_tensor_desc d = desc_of(NKL_F32, 1, (int64_t[]){4});
  assert_int_equal(nkl_tensor_wrap(c, &d, NULL, NULL, &t), NKL_ERR_ARG); /* no data */
  d.data = host.data;
  d.nbytes = sizeof host.data;
  assert_int_equal(nkl_tensor_wrap(c, &d, mark_released, &host, &t), NKL_OK);
  assert_ptr_equal(floats(t), host.data);
  nkl_tensor_retain(t);
  nkl_tensor_release(t);
  assert_int_equal(host.released, 0);
  nkl_tensor_release(t);
  assert_int_equal(host.released, 1);
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static char folder[64];

static const char *in_folder(const char *name) {
  static char path[4][128];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static int make_folder(void **state) {
  strcpy(folder, "/tmp/nk-api-test-XXXXXX");
  return mkdtemp(folder) ? setup(state) : -1;
}

static int drop_folder(void **state) {
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return teardown(state) | (system(command) != 0);
}

static void save_one(const char *path, nkl_tensor *t) {
  nkl_file f = {path, &t, NULL, 1};
  assert_int_equal(nkl_tensor_save(c, &f, 1), NKL_OK);
}

static void every_dtype_survives_every_format_that_has_it(void **state) {
  (void)state;
  static const char *const names[] = {"t"};
  for (int dtype = NKL_BOOL; dtype <= NKL_F4E2M1FN_X4; dtype++) {
    unsigned char bytes[6 * 4];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(dtype == NKL_BOOL ? i % 2 : 37 * i + 11);
    nkl_tensor *t, *back;
    nkl_tensor_desc d = desc_of((nkl_dtype)dtype, 2, (int64_t[]){2, 3});
    d.data = bytes;
    d.nbytes = 6 * nkl_dtype_size((nkl_dtype)dtype);
    assert_int_equal(nkl_tensor_new(c, &d, &t), NKL_OK);
    const char *files[] = {in_folder("t.npy"), in_folder("t.npz"), in_folder("t.safetensors")};
    for (int k = 0; k < 3; k++) {
      nkl_file f = {files[k], &t, names, 1};
      nkl_status s = nkl_tensor_save(c, &f, 1);
      if (k == 2 && dtype == NKL_F8E4M3) { /* the format has no name for it */
        assert_int_equal(s, NKL_ERR_UNSUPPORTED);
        assert_error(c, s, "err_file_no_name", "float8_e4m3");
        continue;
      }
      assert_int_equal(s, NKL_OK);
      nkl_tensor_desc e;
      if (nkl_tensor_load(c, files[k], NULL, (nkl_dtype)dtype, &back) != NKL_OK)
        fail_msg("%s: %s", files[k], nkl_last_error(c)->message);
      nkl_tensor_describe(back, &e);
      assert_int_equal(e.dtype, dtype);
      assert_int_equal(e.shape[1], 3);
      if (dtype != NKL_TF32) assert_memory_equal(e.data, bytes, d.nbytes);
      nkl_tensor_release(back);
    }
    nkl_tensor_release(t);
  }
}

static void write_bytes(const char *path, const void *data, size_t n) {
  assert_int_equal(nkl_file_write(c, path, data, n), NKL_OK);
}

/* An .npy file of version 1. */
typedef struct Npy {
  const char *descr, *shape;
  int fortran;
  const void *data;
  size_t n;
} Npy;

static void write_npy(const char *path, const Npy *a) {
  char file[512], header[118];
  memset(header, ' ', sizeof header);
  int k = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", a->descr,
                   a->fortran ? "True" : "False", a->shape);
  header[k] = ' ';
  header[sizeof header - 1] = '\n';
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy(file + 10, header, sizeof header);
  memcpy(file + 128, a->data, a->n);
  write_bytes(path, file, 128 + a->n);
}
#define NPY(name, descr, shape, fortran, data, n) write_npy(in_folder(name), &(Npy){descr, shape, fortran, data, n})

static void loads(const char *path, nkl_dtype dtype, const float *want, size_t n) {
  nkl_tensor *t;
  if (nkl_tensor_load(c, path, NULL, dtype, &t) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  assert_memory_equal(floats(t), want, n * sizeof *want);
  nkl_tensor_release(t);
}

static void load_fails(const char *path, const char *member, nkl_dtype dtype, const char *id, const char *part) {
  nkl_tensor *t;
  assert_int_not_equal(nkl_tensor_load(c, path, member, dtype, &t), NKL_OK);
  assert_null(t);
  assert_string_equal(nkl_last_error(c)->id, id);
  if (!strstr(nkl_last_error(c)->message, part)) fail_msg("'%s' is not in '%s'", part, nkl_last_error(c)->message);
}

static void foreign_numbers_are_converted_when_asked(void **state) {
  (void)state;
  const double d[] = {1.5, -2, 1e300, 0.1, 3, 4};
  const float f[] = {1.5f, -2, INFINITY, 0.1f, 3, 4};
  NPY("d.npy", "<f8", "(2, 3)", 0, d, sizeof d);
  loads(in_folder("d.npy"), NKL_F32, f, 6);
  load_fails(in_folder("d.npy"), NULL, NKL_INVALID, "err_file_64bit", "d.npy:f32");
  load_fails(in_folder("d.npy"), NULL, NKL_I32, "err_cast_value", "element 0 is 1.5, which int32 cannot hold");
  const int64_t i[] = {1, -2, 2147483648};
  NPY("i.npy", "<i8", "(3,)", 0, i, sizeof i);
  load_fails(in_folder("i.npy"), NULL, NKL_INVALID, "err_file_64bit", "i.npy:i32");
  load_fails(in_folder("i.npy"), NULL, NKL_I32, "err_cast_value", "element 2 is 2147483648");
  load_fails(in_folder("i.npy"), NULL, NKL_U32, "err_cast_value", "element 1 is -2");
  loads(in_folder("i.npy"), NKL_F32, (const float[]){1, -2, 2147483648.0f}, 3);
  const unsigned char raw[] = {0x80, 0x3f, 0x00, 0xc0};
  NPY("v.npy", "|V2", "(2,)", 0, raw, sizeof raw);
  load_fails(in_folder("v.npy"), NULL, NKL_INVALID, "err_file_raw", "v.npy:bf16");
  load_fails(in_folder("v.npy"), NULL, NKL_F32, "err_cast_kind", "2-byte elements");
  nkl_tensor *t;
  assert_int_equal(nkl_tensor_load(c, in_folder("v.npy"), NULL, NKL_BF16, &t), NKL_OK);
  assert_memory_equal(floats(t), raw, 4);
  nkl_tensor_release(t);
}

static void raw_bytes_are_what_they_are_said_to_be(void **state) {
  (void)state;
  const unsigned char raw[] = {0x80, 0x3f, 0x00, 0xc0};
  nkl_tensor *t;
  NPY("v.npy", "|V2", "(2,)", 0, raw, sizeof raw);
  const char *path = in_folder("v.npy");
  assert_int_equal(nkl_tensor_load_word(c, path, NKL_BF16, &t), NKL_OK);
  nkl_tensor_desc d;
  nkl_tensor_describe(t, &d);
  assert_int_equal(d.dtype, NKL_BF16);
  nkl_tensor_release(t);
  for (int k = 0; k < 2; k++) { /* nothing known, or of another size */
    assert_int_not_equal(nkl_tensor_load_word(c, path, k ? NKL_F32 : NKL_INVALID, &t), NKL_OK);
    assert_string_equal(nkl_last_error(c)->id, "err_file_raw");
  }
  assert_int_not_equal(nkl_tensor_load_word(c, path, (nkl_dtype)1000, &t), NKL_OK);
  assert_non_null(strstr(nkl_last_error(c)->message, "raw is not a dtype"));
  assert_null(t);
}

static void byte_order_and_column_order_are_straightened(void **state) {
  (void)state;
  const unsigned char big[] = {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0};
  NPY("b.npy", ">f4", "(2,)", 0, big, sizeof big);
  loads(in_folder("b.npy"), NKL_INVALID, (const float[]){1, 2}, 2);
  const float columns[] = {1, 4, 2, 5, 3, 6};
  NPY("f.npy", "<f4", "(2, 3)", 1, columns, sizeof columns);
  loads(in_folder("f.npy"), NKL_INVALID, (const float[]){1, 2, 3, 4, 5, 6}, 6);
}

static void what_no_tensor_can_be_is_refused(void **state) {
  (void)state;
  load_fails(in_folder("none.npy"), NULL, NKL_INVALID, "err_file_open", "none.npy");
  load_fails(in_folder("a.bin"), NULL, NKL_INVALID, "err_file_kind", ".npy, .npz or .safetensors");
  write_bytes(in_folder("short.npy"), "\x93NUMPY", 6);
  load_fails(in_folder("short.npy"), NULL, NKL_INVALID, "err_npy_format", "short.npy");
  NPY("c.npy", "<c8", "(1,)", 0, "12345678", 8);
  load_fails(in_folder("c.npy"), NULL, NKL_INVALID, "err_file_dtype", "<c8");
  NPY("e.npy", "<f4", "(0, 3)", 0, "", 0);
  load_fails(in_folder("e.npy"), NULL, NKL_INVALID, "err_file_shape", "at least 1");
  NPY("r.npy", "<f4", "(1,1,1,1,1,1,1,1,1)", 0, "1234", 4);
  load_fails(in_folder("r.npy"), NULL, NKL_INVALID, "err_file_shape", "8 dimensions");
}

static void members_are_found_by_name(void **state) {
  (void)state;
  static const char *const names[] = {"x", "y"};
  nkl_tensor *t[] = {matrix(c, 1, 2, (const float[]){1, 2}), matrix(c, 2, 1, (const float[]){3, 4})}, *back;
  const char *files[] = {in_folder("two.npz"), in_folder("two.safetensors")};
  for (int k = 0; k < 2; k++) {
    nkl_file f = {files[k], t, names, 2};
    assert_int_equal(nkl_tensor_save(c, &f, 1), NKL_OK);
    assert_int_equal(nkl_tensor_load(c, files[k], "y", NKL_INVALID, &back), NKL_OK);
    assert_true(floats(back)[1] == 4);
    nkl_tensor_release(back);
    load_fails(files[k], NULL, NKL_INVALID, "err_file_several", "(x, y)");
    load_fails(files[k], "z", NKL_INVALID, "err_file_member", "'z'");
  }
  nkl_file one = {in_folder("two.npy"), t, names, 2};
  assert_int_equal(nkl_tensor_save(c, &one, 1), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_file_one", "holds one tensor");
  nkl_tensor_release(t[0]);
  nkl_tensor_release(t[1]);
}

static void files_are_written_all_or_none(void **state) {
  (void)state;
  nkl_tensor *t = matrix(c, 1, 1, (const float[]){5});
  const char *good = in_folder("good.npy"), *bad = in_folder("no/such/folder.npy");
  nkl_file files[] = {{good, &t, NULL, 1}, {bad, &t, NULL, 1}};
  assert_int_equal(nkl_tensor_save(c, files, 2), NKL_ERR_IO);
  assert_error(c, NKL_ERR_IO, "err_file_write", "no/such");
  assert_int_not_equal(access(good, F_OK), 0);
  save_one(good, t);
  assert_int_equal(access(good, F_OK), 0);
  nkl_tensor_release(t);
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

static void sums_up(nkl_tensor *t, int json, const char *want) {
  nkl_buf b;
  assert_int_equal(nkl_tensor_summary(c, t, "x", json, &b), NKL_OK);
  assert_string_equal(b.data, want);
  nkl_buf_free(&b);
  nkl_tensor_release(t);
}

static void summaries_show_range_mean_and_corners(void **state) {
  (void)state;
  static const float few[] = {1, -2.5f, NAN, 4}, many[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, none[] = {NAN, NAN},
                     ends[] = {INFINITY, -INFINITY};
  sums_up(matrix(c, 2, 2, few), 0, "x float32[2,2] min -2.5 max 4.0 mean 0.833333 nan 1 values 1.0 -2.5 nan 4.0");
  sums_up(matrix(c, 3, 4, many), 0, "x float32[3,4] min 1.0 max 12.0 mean 6.5 corners 1.0 4.0 9.0 12.0");
  sums_up(matrix(c, 1, 12, many), 0, "x float32[1,12] min 1.0 max 12.0 mean 6.5 corners 1.0 12.0");
  sums_up(matrix(c, 1, 2, none), 0, "x float32[1,2] min nan max nan mean nan nan 2 values nan nan");
  sums_up(matrix(c, 1, 2, ends), 0, "x float32[1,2] min -inf max inf mean nan values inf -inf");
  sums_up(matrix(c, 1, 2, many), 1,
          "{\"name\":\"x\",\"dtype\":\"float32\",\"shape\":[1,2],\"min\":1.0,\"max\":2.0,\"mean\":1.5,\"nan\":0,"
          "\"values\":[1.0,2.0]}");
  nkl_tensor *t;
  nkl_tensor_desc d = desc_of(NKL_I32, 1, (int64_t[]){2});
  int32_t ints[] = {2147483647, -2147483647};
  d.data = ints;
  d.nbytes = sizeof ints;
  assert_int_equal(nkl_tensor_new(c, &d, &t), NKL_OK);
  sums_up(t, 0, "x int32[2] min -2147483647 max 2147483647 mean 0 values 2147483647 -2147483647");
}

static int64_t differing(const float *a, const float *b, int64_t n, double rtol, const char *part) {
  nkl_tensor *x = matrix(c, 1, n, a), *y = matrix(c, 1, n, b);
  int64_t mismatches = -1;
  nkl_buf report;
  assert_int_equal(nkl_tensor_compare(c, x, y, rtol, 0, &mismatches, &report), NKL_OK);
  if (!strstr(report.data, part)) fail_msg("'%s' is not in '%s'", part, report.data);
  nkl_buf_free(&report);
  nkl_tensor_release(x);
  nkl_tensor_release(y);
  return mismatches;
}

static void comparison_counts_and_names_the_first_mismatch(void **state) {
  (void)state;
  static const float a[] = {1, 2, 3}, b[] = {1, 2.5f, 2}, nans[] = {NAN, INFINITY, -INFINITY}, zero[] = {0, 0, 0};
  assert_int_equal(differing(a, a, 3, 0, "0 of 3"), 0);
  assert_int_equal(differing(a, b, 3, 0.01, "first at [0,1]: 2.0 is not 2.5"), 2);
  assert_int_equal(differing(a, b, 3, 1, "largest absolute difference 1"), 0);
  assert_int_equal(differing(nans, nans, 3, 0, "0 of 3"), 0);
  assert_int_equal(differing(nans, zero, 3, 1e9, "3 of 3"), 3);
  assert_int_equal(differing(zero, nans, 3, 1e9, "0.0 is not nan"), 3);
  nkl_tensor *x = matrix(c, 1, 3, a), *y = matrix(c, 3, 1, a);
  int64_t mismatches;
  nkl_buf report;
  assert_int_equal(nkl_tensor_compare(c, x, y, 0, 0, &mismatches, &report), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_compare_kind", "float32[1,3] and float32[3,1]");
  assert_int_equal(nkl_tensor_compare(c, x, x, -1, 0, &mismatches, &report), NKL_ERR_ARG);
  assert_int_equal(nkl_tensor_compare(c, x, x, NAN, 0, &mismatches, &report), NKL_ERR_ARG);
  nkl_tensor_release(x);
  nkl_tensor_release(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_tensor_copies_or_starts_at_zero, setup, teardown),
      cmocka_unit_test_setup_teardown(strides_are_followed, setup, teardown),
      cmocka_unit_test_setup_teardown(impossible_descriptions_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(a_wrapped_tensor_borrows_and_gives_back_once, setup, teardown),
      cmocka_unit_test_setup_teardown(every_dtype_survives_every_format_that_has_it, make_folder, drop_folder),
      cmocka_unit_test_setup_teardown(foreign_numbers_are_converted_when_asked, make_folder, drop_folder),
      cmocka_unit_test_setup_teardown(raw_bytes_are_what_they_are_said_to_be, make_folder, drop_folder),
      cmocka_unit_test_setup_teardown(byte_order_and_column_order_are_straightened, make_folder, drop_folder),
      cmocka_unit_test_setup_teardown(what_no_tensor_can_be_is_refused, make_folder, drop_folder),
      cmocka_unit_test_setup_teardown(members_are_found_by_name, make_folder, drop_folder),
      cmocka_unit_test_setup_teardown(files_are_written_all_or_none, make_folder, drop_folder),
      cmocka_unit_test_setup_teardown(summaries_show_range_mean_and_corners, setup, teardown),
      cmocka_unit_test_setup_teardown(comparison_counts_and_names_the_first_mismatch, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
