/* zip_test.c -- spec/base: the zip layer: zip64, lies in the directory, deflate. */
#include "zip.h"

#include <stdio.h>
#include <zlib.h>

#include "support.h"

typedef struct Listed {
  char *bytes;
  FileIn in; /* of bytes */
  Arena a;
  Diag d;
  ZipMember *m;
  uint32_t count;
  bool ok;
} Listed;

static Listed list(const Text *t) {
  Listed l = {.bytes = malloc(t->len ? t->len : 1)};
  memcpy(l.bytes, text_str(t), t->len);
  arena_init(&l.a, alloc_std);
  diag_init(&l.d, alloc_std);
  l.in = (FileIn){"z", l.bytes, t->len, NULL};
  l.ok = zip_list(&l.a, &l.in, &l.m, &l.count, &l.d);
  return l;
}

static void done(Listed *l) {
  free(l->bytes);
  arena_free(&l->a);
  diag_free(&l->d);
}

static void refused(const Text *t, const char *message) {
  Listed l = list(t);
  assert_false(l.ok);
  assert_int_equal(l.d.id, ERR_npy_format);
  assert_string_equal(diag_message(&l.d), message);
  done(&l);
}

/* Members "m0", "m1" ... holding "contents 0", ...; limit as in ZipWriter. */
static void build(Text *t, int count, uint64_t limit) {
  ZipWriter w;
  text_init(t, alloc_std);
  zip_begin(&w, t);
  w.limit = limit;
  for (int i = 0; i < count; i++) {
    Text head;
    char name[16];
    text_init(&head, alloc_std);
    text_puts(&head, "contents ");
    snprintf(name, sizeof name, "m%d", i);
    zip_add(&w, name, &head, name + 1, strlen(name + 1));
    text_free(&head);
  }
  zip_end(&w);
  assert_false(t->oom);
}

static void check_members(const Text *t, int count) {
  Listed l = list(t);
  if (!l.ok) print_error("%s\n", diag_message(&l.d));
  assert_true(l.ok);
  assert_int_equal(l.count, count);
  for (int i = 0; i < count; i++) {
    char name[16], contents[32];
    snprintf(name, sizeof name, "m%d", i);
    snprintf(contents, sizeof contents, "contents %d", i);
    assert_string_equal(l.m[i].name, name);
    assert_int_equal(l.m[i].size, strlen(contents));
    const char *data;
    assert_true(zip_data(&l.a, &l.in, &l.m[i], &data, &l.d));
    assert_memory_equal(data, contents, strlen(contents));
  }
  done(&l);
}

static void members_are_read_back_in_both_forms(void **state) {
  (void)state;
  const uint64_t limits[] = {UINT32_MAX, 0, 1, 11, 60, 100}; /* from nothing zip64 to everything */
  for (int count = 0; count < 12; count++) {
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
      Text t;
      build(&t, count, limits[i]);
      check_members(&t, count);
      text_free(&t);
    }
  }
}

static void a_size_at_the_limit_needs_zip64(void **state) {
  (void)state;
  for (uint64_t limit = 9; limit <= 11; limit++) {
    Text t;
    build(&t, 1, limit); /* ten bytes; their size is at offset 22 of the local header */
    assert_memory_equal(t.data + 22, limit > 10 ? "\x0A\0\0\0" : "\xFF\xFF\xFF\xFF", 4);
    text_free(&t);
  }
}

/* Bit 11 of the flags: other programs would read the name in a code page. */
static void names_beyond_ascii_are_marked_as_utf8(void **state) {
  (void)state;
  static const char *const names[] = {"plain", "\xC3\xA9"};
  for (int i = 0; i < 2; i++) {
    Text t, head;
    ZipWriter w;
    text_init(&t, alloc_std);
    text_init(&head, alloc_std);
    zip_begin(&w, &t);
    zip_add(&w, names[i], &head, "x", 1);
    zip_end(&w);
    assert_int_equal(t.data[7], i ? 8 : 0);
    text_free(&head);
    text_free(&t);
  }
}

static void more_than_65534_members_need_zip64(void **state) {
  (void)state;
  for (int count = 65533; count < 65538; count++) {
    Text t;
    build(&t, count, UINT32_MAX);
    bool zip64 = memcmp(t.data + t.len - 22 - 20, "PK\6\7", 4) == 0;
    assert_int_equal(zip64, count >= 65535);
    if (count != 65533) check_members(&t, count);
    text_free(&t);
  }
}

static void an_archive_may_start_anywhere_in_the_buffer(void **state) {
  (void)state;
  Text t, alone;
  build(&alone, 2, 0);
  text_init(&t, alloc_std);
  text_puts(&t, "before");
  ZipWriter w;
  zip_begin(&w, &t);
  Text head;
  text_init(&head, alloc_std);
  text_puts(&head, "contents ");
  w.limit = 0;
  zip_add(&w, "m0", &head, "0", 1);
  zip_add(&w, "m1", &head, "1", 1);
  zip_end(&w);
  assert_int_equal(t.len - 6, alone.len);
  assert_memory_equal(t.data + 6, alone.data, alone.len);
  text_free(&head);
  text_free(&alone);
  text_free(&t);
}

static void a_comment_is_allowed_and_its_length_checked(void **state) {
  (void)state;
  Text t;
  build(&t, 2, UINT32_MAX);
  t.data[t.len - 2] = 5;
  text_puts(&t, "hello");
  check_members(&t, 2);
  text_puts(&t, "!");
  refused(&t, "z: not a zip archive, or cut off: no end record (offset 208)");
  text_free(&t);
}

/* One member "m0" with 10 bytes: local header at 0, data at 32, directory at 42, its entry 48 bytes, end record at 90.
 */
enum { DIR = 42, END = 90 };

typedef struct Lie {
  size_t at;
  int bytes;
  uint64_t value;
  const char *message;
} Lie;

static const Lie lies[] = {
    {END + 4, 2, 1, "z: archive of several disks (offset 90)"},
    {END + 8, 2, 2, "z: archive of several disks (offset 90)"},
    {END + 10, 2, 2, "z: archive of several disks (offset 90)"},
    {END + 8, 4, 0x00020002, "z: more members than the central directory can hold (offset 90)"},
    {END + 8, 4, 0, "z: bytes after the last member's entry (offset 42)"},
    {END + 12, 4, 47, "z: central directory is not where it should be (offset 90)"},
    {END + 16, 4, 43, "z: central directory is not where it should be (offset 90)"},
    {END + 16, 4, 0xFFFFFFFF, "z: central directory is not where it should be (offset 90)"},
    {DIR, 4, 0, "z: bad central directory (offset 42)"},
    {DIR + 8, 2, 1, "z: encrypted member (offset 42)"},
    {DIR + 10, 2, 12, "z: compression is neither stored nor deflate (offset 42)"},
    {DIR + 20, 4, 9, "z: impossible member size (offset 42)"},
    {DIR + 20, 4, 0xFFFFFFFF, "z: member out of range (offset 42)"},
    {DIR + 24, 4, 11, "z: impossible member size (offset 42)"},
    {DIR + 28, 2, 200, "z: central directory cut off (offset 42)"},
    {DIR + 30, 2, 1, "z: central directory cut off (offset 42)"},
    {DIR + 32, 2, 0xFFFF, "z: central directory cut off (offset 42)"},
    {DIR + 42, 4, 13, "z: local header out of range (offset 13)"},
    {DIR + 42, 4, 1, "z: bad local header (offset 1)"},
    {DIR + 42, 4, 1000, "z: member out of range (offset 42)"},
    {DIR + 46, 1, 0, "z: member name is not UTF-8 text (offset 88)"},
    {DIR + 46, 1, 0xFF, "z: member name is not UTF-8 text (offset 88)"},
    {DIR + 46, 1, 'n', "z: local header names another member (offset 0)"},
    {0, 4, 0, "z: bad local header (offset 0)"},
    {26, 2, 1, "z: local header names another member (offset 0)"},
    {26, 2, 13, "z: member runs into the central directory (offset 0)"},
    {28, 2, 1, "z: member runs into the central directory (offset 0)"},
};

static void lies_in_the_headers_are_seen(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    Text t;
    build(&t, 1, UINT32_MAX);
    assert_int_equal(t.len, END + 22);
    for (int k = 0; k < lies[i].bytes; k++) t.data[lies[i].at + (size_t)k] = (char)(lies[i].value >> 8 * k);
    refused(&t, lies[i].message);
    text_free(&t);
  }
}

/* The same in zip64: local header 0 with 20 bytes more, directory at 62, its entry 76, zip64 end at 138, locator at
 * 194. */
static const Lie wide_lies[] = {
    {194 + 8, 8, 139, "z: zip64 end record out of range (offset 194)"},
    {194 + 8, 8, UINT64_MAX, "z: zip64 end record out of range (offset 194)"},
    {194 + 8, 8, 137, "z: bad zip64 end record (offset 137)"},
    {138 + 4, 8, 45, "z: bad zip64 end record (offset 138)"},
    {138 + 16, 4, 1, "z: archive of several disks (offset 138)"},
    {138 + 24, 8, 2, "z: archive of several disks (offset 138)"},
    {138 + 40, 8, 75, "z: central directory is not where it should be (offset 214)"},
    {138 + 48, 8, UINT64_MAX, "z: central directory is not where it should be (offset 214)"},
    {62 + 30, 2, 20, "z: extra field too long (offset 110)"},
    {62 + 48 + 2, 2, 8, "z: zip64 field too short (offset 110)"},
    {62 + 48 + 4, 8, UINT64_MAX, "z: impossible member size (offset 62)"},
    {62 + 48 + 20, 8, UINT64_MAX, "z: member out of range (offset 62)"},
};

static void lies_in_zip64_headers_are_seen(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wide_lies / sizeof *wide_lies; i++) {
    const Lie *lie = &wide_lies[i];
    Text t;
    build(&t, 1, 0);
    assert_int_equal(t.len, 214 + 22);
    for (int k = 0; k < lie->bytes; k++) t.data[lie->at + (size_t)k] = (char)(lie->value >> 8 * k);
    refused(&t, lie->message);
    text_free(&t);
  }
}

static void a_member_count_beyond_reason_is_refused_before_memory_is_asked_for(void **state) {
  (void)state;
  Text t;
  build(&t, 1, 0);
  for (int k = 0; k < 16; k++) t.data[138 + 24 + k] = (char)(k % 8 == 7 ? 0x10 : 0);
  refused(&t, "z: more members than the central directory can hold (offset 214)");
  text_free(&t);
}

static void the_same_name_twice_is_refused(void **state) {
  (void)state;
  Text t, head;
  ZipWriter w;
  text_init(&t, alloc_std);
  text_init(&head, alloc_std);
  zip_begin(&w, &t);
  zip_add(&w, "a", &head, "x", 1);
  zip_add(&w, "b", &head, "x", 1);
  zip_add(&w, "a", &head, "x", 1);
  zip_end(&w);
  refused(&t, "z: member name occurs twice (offset 190)");
  text_free(&head);
  text_free(&t);
}

/* Two entries of one local header: the classic bomb. */
static void members_that_share_bytes_are_refused(void **state) {
  (void)state;
  Text t, head;
  ZipWriter w;
  text_init(&t, alloc_std);
  text_init(&head, alloc_std);
  zip_begin(&w, &t);
  zip_add(&w, "same", &head, "x", 1);
  size_t entry = w.central.len;
  zip_add(&w, "also", &head, "x", 1);
  memset(w.central.data + entry + 42, 0, 4);      /* offset of the second: 0 */
  memcpy(w.central.data + entry + 46, "same", 4); /* as the local header says */
  zip_end(&w);
  refused(&t, "z: member name occurs twice (offset 120)");
  text_free(&t);
  /* with an inner archive's header as the second member's, the names differ and the bytes still overlap */
  Text inner;
  text_init(&inner, alloc_std);
  zip_begin(&w, &inner);
  zip_add(&w, "in", &head, "x", 1);
  text_free(&w.central);
  text_init(&t, alloc_std);
  zip_begin(&w, &t);
  zip_add(&w, "out", &head, inner.data, inner.len);
  ZipWriter forged = w;
  text_init(&forged.central, alloc_std);
  Text scratch;
  text_init(&scratch, alloc_std);
  forged.out = &scratch;
  zip_add(&forged, "in", &head, "x", 1);
  forged.central.data[42] = 33; /* where the inner local header lies */
  text_add(&w.central, forged.central.data, forged.central.len);
  w.count = 2;
  zip_end(&w);
  refused(&t, "z: members overlap (offset 33)");
  text_free(&forged.central);
  text_free(&scratch);
  text_free(&inner);
  text_free(&head);
  text_free(&t);
}

/* The only member of t becomes a deflated one of the given size; the packed bytes are those stored. */
static void make_deflated(Text *t, const char *plain, size_t n, size_t claimed) {
  char packed[4096];
  z_stream s = {0};
  deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  s.next_in = (Bytef *)(uintptr_t)plain;
  s.avail_in = (uInt)n;
  s.next_out = (Bytef *)packed;
  s.avail_out = sizeof packed;
  assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
  size_t len = sizeof packed - s.avail_out;
  deflateEnd(&s);
  Text head;
  ZipWriter w;
  text_init(&head, alloc_std);
  text_init(t, alloc_std);
  zip_begin(&w, t);
  zip_add(&w, "m", &head, packed, len);
  w.central.data[10] = 8;
  uLong crc = crc32_z(0, (const Bytef *)plain, n);
  for (int i = 0; i < 4; i++) w.central.data[16 + i] = (char)(crc >> 8 * i);
  for (int i = 0; i < 4; i++) w.central.data[24 + i] = (char)(claimed >> 8 * i);
  zip_end(&w);
  text_free(&head);
}

static void check_deflated(const char *plain, size_t n, size_t claimed, const char *message) {
  Text t;
  make_deflated(&t, plain, n, claimed);
  Listed l = list(&t);
  assert_true(l.ok);
  const char *data = NULL;
  size_t used = l.a.used;
  bool ok = zip_data(&l.a, &l.in, &l.m[0], &data, &l.d);
  assert_string_equal(diag_message(&l.d), message);
  assert_int_equal(ok, *message == '\0');
  if (ok) assert_memory_equal(data, plain, n);
  assert_in_range(l.a.used - used, 0, claimed + 16); /* what zlib needed was given back */
  done(&l);
  text_free(&t);
}

static void deflated_members_are_inflated_exactly(void **state) {
  (void)state;
  static char plain[100000]; /* compresses to the utmost */
  const char *damaged = "z: damaged deflate data (offset 31)";
  check_deflated(plain, sizeof plain, sizeof plain, "");
  check_deflated("abc", 3, 3, "");
  check_deflated("", 0, 0, "");
  check_deflated(plain, sizeof plain, sizeof plain - 1, damaged);
  check_deflated(plain, sizeof plain, sizeof plain + 1, damaged);
  check_deflated("abc", 3, 0, damaged);
}

static void the_head_of_a_large_deflated_member_is_inflated_alone(void **state) {
  (void)state;
  enum { N = 2 << 20 };
  char *plain = calloc(1, N);
  strcpy(plain, "head");
  Text t;
  make_deflated(&t, plain, N, N);
  Listed l = list(&t);
  assert_true(l.ok);
  FileIn head;
  size_t used = l.a.used;
  assert_true(zip_head(&l.a, &l.in, &l.m[0], &head, &l.d));
  assert_int_equal(head.n, N);
  assert_string_equal(head.data, "head");
  assert_in_range(l.a.used - used, ZIP_HEAD, ZIP_HEAD + 16);
  l.bytes[l.m[0].data] = 6; /* a block of no known kind */
  assert_false(zip_head(&l.a, &l.in, &l.m[0], &head, &l.d));
  assert_string_equal(diag_message(&l.d), "z: damaged deflate data (offset 31)");
  done(&l);
  text_free(&t);
  free(plain);
}

static void a_deflated_size_no_data_could_give_is_refused_at_once(void **state) {
  (void)state;
  Text t;
  make_deflated(&t, "abc", 3, 1 << 30);
  refused(&t, "z: impossible member size (offset 36)");
  text_free(&t);
}

static void bytes_after_the_deflate_stream_are_refused(void **state) {
  (void)state;
  Text t;
  make_deflated(&t, "abc", 3, 3);
  Listed l = list(&t);
  assert_true(l.ok);
  const char *data;
  ZipMember longer = l.m[0], shorter = l.m[0];
  longer.packed++;
  shorter.packed--;
  assert_false(zip_data(&l.a, &l.in, &longer, &data, &l.d));
  diag_clear(&l.d);
  assert_false(zip_data(&l.a, &l.in, &shorter, &data, &l.d));
  assert_string_equal(diag_message(&l.d), "z: damaged deflate data (offset 31)");
  done(&l);
  text_free(&t);
}

static void a_wrong_crc_is_seen(void **state) {
  (void)state;
  Text t;
  build(&t, 1, UINT32_MAX);
  t.data[35] ^= 1;
  Listed l = list(&t);
  assert_true(l.ok);
  const char *data;
  assert_false(zip_data(&l.a, &l.in, &l.m[0], &data, &l.d));
  assert_string_equal(diag_message(&l.d), "z: CRC does not match (offset 32)");
  done(&l);
  text_free(&t);
}

static void a_name_beyond_65535_bytes_cannot_be_written(void **state) {
  (void)state;
  char *name = malloc(65537);
  memset(name, 'n', 65536);
  for (size_t len = 65535; len <= 65536; len++) {
    name[len] = '\0';
    Text t, head;
    ZipWriter w;
    text_init(&t, alloc_std);
    text_init(&head, alloc_std);
    zip_begin(&w, &t);
    zip_add(&w, name, &head, "x", 1);
    zip_end(&w);
    assert_int_equal(t.oom, len == 65536);
    text_free(&head);
    text_free(&t);
    name[len] = 'n';
  }
  free(name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_are_read_back_in_both_forms),
      cmocka_unit_test(a_size_at_the_limit_needs_zip64),
      cmocka_unit_test(names_beyond_ascii_are_marked_as_utf8),
      cmocka_unit_test(more_than_65534_members_need_zip64),
      cmocka_unit_test(an_archive_may_start_anywhere_in_the_buffer),
      cmocka_unit_test(a_comment_is_allowed_and_its_length_checked),
      cmocka_unit_test(lies_in_the_headers_are_seen),
      cmocka_unit_test(lies_in_zip64_headers_are_seen),
      cmocka_unit_test(a_member_count_beyond_reason_is_refused_before_memory_is_asked_for),
      cmocka_unit_test(the_same_name_twice_is_refused),
      cmocka_unit_test(members_that_share_bytes_are_refused),
      cmocka_unit_test(deflated_members_are_inflated_exactly),
      cmocka_unit_test(the_head_of_a_large_deflated_member_is_inflated_alone),
      cmocka_unit_test(a_deflated_size_no_data_could_give_is_refused_at_once),
      cmocka_unit_test(bytes_after_the_deflate_stream_are_refused),
      cmocka_unit_test(a_wrong_crc_is_seen),
      cmocka_unit_test(a_name_beyond_65535_bytes_cannot_be_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
