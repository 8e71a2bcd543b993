/* npz_test.c -- spec/base: .npz archives, NumPy's (as base64) and our own. */
#include <stdio.h>

#include "npy_files.h"

/* savez(f, x=arange(6, "<f4").reshape(2, 3), y=array([1, 2, 3], "<i2")): local headers are zip64 */
static const char NPZ[] =
    "UEsDBC0AAAAAAAAAIQBP6QAq//////////8FABQAeC5ucHkBABAAmAAAAAAAAACYAAAAAAAAAJNOVU1QWQEAdgB7J2Rlc2NyJzogJzxmNCcsICdm"
    "b3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgyLCAzKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAKAAAAAAAAgD8AAABAAABAQAAAgEAAAKBAUEsDBC0AAAAAAAAAIQBgggCR//////////8FABQAeS5ucHkBABAAhgAAAAAA"
    "AACGAAAAAAAAAJNOVU1QWQEAdgB7J2Rlc2NyJzogJzxpMicsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgzLCksIH0gICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAKAQACAAMAUEsBAi0DLQAAAAAAAAAhAE/pACqYAAAA"
    "mAAAAAUAAAAAAAAAAAAAAIABAAAAAHgubnB5UEsBAi0DLQAAAAAAAAAhAGCCAJGGAAAAhgAAAAUAAAAAAAAAAAAAAIABzwAAAHkubnB5UEsFBgAA"
    "AAACAAIAZgAAAIwBAAAAAA==";

static bool parse_npz(File *f) {
  diag_clear(&f->d);
  return npz_parse(&f->a, &(FileIn){"w.npz", f->bytes, f->n, NULL}, &f->arrays, &f->count, &f->d);
}

static void stored_archives_of_numpy_are_read(void **state) {
  (void)state;
  File f = open_base64(NPZ);
  assert_true(parse_npz(&f));
  assert_int_equal(f.count, 2);
  assert_string_equal(f.arrays[0].name, "x");
  assert_int_equal(f.arrays[0].nbytes, 24);
  float value;
  memcpy(&value, f.arrays[0].data + 20, sizeof value);
  assert_true(value == 5.0f);
  assert_string_equal(f.arrays[1].name, "y");
  assert_string_equal(f.arrays[1].descr, "<i2");
  assert_memory_equal(f.arrays[1].data, "\1\0\2\0\3\0", 6);
  close_file(&f);
}

static void compressed_archives_of_numpy_are_read(void **state) {
  (void)state;
  File f = open_base64(DEFLATED);
  assert_true(parse_npz(&f));
  assert_int_equal(f.count, 2);
  assert_int_equal(f.arrays[0].nbytes, 4000);
  for (int i = 0; i < 4000; i++) assert_int_equal(f.arrays[0].data[i], 0);
  assert_string_equal(f.arrays[1].name, "e");
  assert_int_equal(f.arrays[1].nbytes, 0);
  close_file(&f);
}

static void every_truncation_of_an_archive_is_refused(void **state) {
  (void)state;
  const char *const codes[] = {NPZ, DEFLATED};
  for (int i = 0; i < 2; i++) {
    File whole = open_base64(codes[i]);
    for (size_t n = 0; n < whole.n; n++) {
      File f = open_bytes(whole.bytes, n);
      assert_false(parse_npz(&f));
      assert_int_equal(f.d.id, ERR_npy_format);
      close_file(&f);
    }
    close_file(&whole);
  }
}

/* Either the change is seen, or it hit a field without meaning (time, attributes, version) and the data is untouched.
 */
static void no_single_changed_byte_gives_other_data(void **state) {
  (void)state;
  const char *const codes[] = {NPZ, DEFLATED};
  for (int i = 0; i < 2; i++) {
    File good = open_base64(codes[i]);
    assert_true(parse_npz(&good));
    for (size_t at = 0; at < good.n; at++) {
      File f = open_bytes(good.bytes, good.n);
      f.bytes[at] ^= 0x41;
      if (parse_npz(&f)) {
        assert_int_equal(f.count, good.count);
        for (uint32_t k = 0; k < f.count; k++) {
          assert_string_equal(f.arrays[k].name, good.arrays[k].name);
          assert_string_equal(f.arrays[k].descr, good.arrays[k].descr);
          assert_int_equal(f.arrays[k].nbytes, good.arrays[k].nbytes);
          assert_memory_equal(f.arrays[k].data, good.arrays[k].data, (size_t)good.arrays[k].nbytes);
        }
      } else {
        assert_int_equal(f.d.id, ERR_npy_format);
      }
      close_file(&f);
    }
    close_file(&good);
  }
}

static void a_written_archive_is_read_back(void **state) {
  (void)state;
  static const float w[4] = {1, 2, 3, 4};
  static const int16_t v[3] = {5, 6, 7};
  NpyArray in[3] = {
      {.name = "w", .descr = "<f4", .rank = 2, .shape = {2, 2}, .data = (const char *)w, .nbytes = sizeof w},
      {.name = "\xC3\xA9/b", .descr = "<i2", .rank = 1, .shape = {3}, .data = (const char *)v, .nbytes = sizeof v},
      {.name = "none", .descr = "|b1", .rank = 1, .shape = {0}}};
  Text t, again;
  text_init(&t, alloc_std);
  text_init(&again, alloc_std);
  npz_write(&t, in, 3);
  npz_write(&again, in, 3);
  assert_int_equal(t.len, again.len); /* no time stamps */
  assert_memory_equal(t.data, again.data, t.len);
  File f = open_bytes(t.data, t.len);
  assert_true(parse_npz(&f));
  assert_int_equal(f.count, 3);
  for (int i = 0; i < 3; i++) {
    assert_string_equal(f.arrays[i].name, in[i].name);
    assert_string_equal(f.arrays[i].descr, in[i].descr);
    assert_int_equal(f.arrays[i].rank, in[i].rank);
    assert_int_equal(f.arrays[i].shape[0], in[i].shape[0]);
    assert_int_equal(f.arrays[i].nbytes, in[i].nbytes);
    if (in[i].nbytes) assert_memory_equal(f.arrays[i].data, in[i].data, (size_t)in[i].nbytes);
  }
  close_file(&f);
  text_free(&t);
  text_free(&again);
}

static void an_archive_without_arrays_is_legal(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  npz_write(&t, NULL, 0);
  File f = open_bytes(t.data, t.len);
  assert_true(parse_npz(&f));
  assert_int_equal(f.count, 0);
  close_file(&f);
  text_free(&t);
}

static void faults_inside_an_archive_name_the_member(void **state) {
  (void)state;
  File f = open_base64(NPZ);
  f.bytes[45 + 128] ^= 1; /* data of x.npy */
  assert_false(parse_npz(&f));
  assert_string_equal(diag_message(&f.d), "w.npz, member 'x.npy': CRC does not match (offset 55)");
  close_file(&f);
}

/* Of a large member the header is read before its bytes are summed up. */
static void a_large_member_with_a_wrong_header_is_refused_first(void **state) {
  (void)state;
  enum { N = 2 << 20 };
  char *zeros = calloc(1, N);
  NpyArray array = {.name = "x", .descr = "|u1", .rank = 1, .shape = {N}, .itemsize = 1, .data = zeros, .nbytes = N};
  Text t;
  text_init(&t, alloc_std);
  npz_write(&t, &array, 1);
  File f = open_bytes(t.data, t.len);
  assert_true(parse_npz(&f));
  assert_int_equal(f.arrays[0].nbytes, N);
  f.bytes[35 + 10] = '['; /* local header, name, preamble */
  assert_false(parse_npz(&f));
  assert_string_equal(diag_message(&f.d), "w.npz, member 'x.npy': header is not a dict (offset 10)");
  close_file(&f);
  text_free(&t);
  free(zeros);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stored_archives_of_numpy_are_read),
      cmocka_unit_test(compressed_archives_of_numpy_are_read),
      cmocka_unit_test(every_truncation_of_an_archive_is_refused),
      cmocka_unit_test(no_single_changed_byte_gives_other_data),
      cmocka_unit_test(a_written_archive_is_read_back),
      cmocka_unit_test(an_archive_without_arrays_is_legal),
      cmocka_unit_test(faults_inside_an_archive_name_the_member),
      cmocka_unit_test(a_large_member_with_a_wrong_header_is_refused_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
