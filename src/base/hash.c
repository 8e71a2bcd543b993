/* hash.c -- room base: XXH3 over bytes; the only file that sees xxhash. */
#include "hash.h"

#include <xxhash.h>

uint64_t hash64(const void *p, size_t n) { return XXH3_64bits(p, n); }

void hash_hex(const void *p, size_t n, char out[33]) {
  XXH128_canonical_t c; /* big-endian, so the digits are the same on every machine */
  XXH128_canonicalFromHash(&c, XXH3_128bits(p, n));
  for (size_t i = 0; i < sizeof c.digest; i++) {
    out[2 * i] = "0123456789abcdef"[c.digest[i] >> 4];
    out[2 * i + 1] = "0123456789abcdef"[c.digest[i] & 15];
  }
  out[32] = '\0';
}
