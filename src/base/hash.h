/* hash.h -- room base: content hashes (XXH3). Never of an address, never of padding. */
#ifndef NK_HASH_H
#define NK_HASH_H
#include <stddef.h>
#include <stdint.h>

uint64_t hash64(const void *p, size_t n);
/* 128 bits as 32 lower-case hex digits and a NUL. */
void hash_hex(const void *p, size_t n, char out[33]);
#endif
