/* base64.c -- room base: strict base64; the only file that sees libb64. libb64 breaks lines, counts in int, skips every
   byte it does not know and writes one byte past the decoded data, so it is fed checked pieces with room to spare. */
#include "base64.h"

#include <b64/cdecode.h>
#include <b64/cencode.h>
#include <string.h>

enum {
  LINE_BYTES = 51, /* after 54 libb64 puts a newline */
  DECODE_PIECE = 1 << 20
};

static size_t encoded_size(size_t n) { return n / 3 < SIZE_MAX / 8 ? (n + 2) / 3 * 4 : SIZE_MAX; }

/* Writes one byte more: the newline that libb64 ends with. Every piece is the beginning of a line to it. */
static void encode(char *to, const void *data, size_t n) {
  base64_encodestate state;
  base64_init_encodestate(&state);
  for (const char *p = data; n > 0;) {
    size_t piece = n < LINE_BYTES ? n : LINE_BYTES;
    state.stepcount = 0;
    to += base64_encode_block(p, (int)piece, to, &state);
    p += piece;
    n -= piece;
  }
  base64_encode_blockend(to, &state);
}

void base64_encode(Text *out, const void *data, size_t n) {
  char *to = text_reserve(out, encoded_size(n));
  if (!to) return;
  encode(to, data, n);
  text_commit(out, encoded_size(n));
}

char *base64_text(Arena *arena, const void *data, size_t n, size_t *len) {
  *len = encoded_size(n);
  char *to = *len < SIZE_MAX ? arena_raw(arena, *len + 1) : NULL;
  if (!to) return NULL;
  encode(to, data, n);
  to[*len] = '\0';
  return to;
}

static int sextet(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The first character outside the alphabet; n: there is none. */
static size_t find_foreign(const char *s, size_t n) {
  bool foreign[256];
  size_t i = 0;
  for (int c = 0; c < 256; c++) foreign[c] = sextet((unsigned char)c) < 0;
  for (bool found = false; n - i >= 64 && !found; i += found ? 0 : 64)
    for (size_t k = i; k < i + 64; k++) found |= foreign[(unsigned char)s[k]];
  while (i < n && !foreign[(unsigned char)s[i]]) i++;
  return i;
}

/* Everything libb64 would let pass. *pad is the number of '=' at the end. */
static bool check(const char *s, size_t n, int *pad, Diag *d) {
  *pad = n >= 1 && s[n - 1] == '=' ? (n >= 2 && s[n - 2] == '=' ? 2 : 1) : 0;
  size_t body = n - (size_t)*pad, i = find_foreign(s, body);
  if (i < body) return DIAG(d, base64, s[i] == '=' ? "misplaced '='" : "byte outside the alphabet", i);
  if (n % 4 != 0) return DIAG(d, base64, "length is not a multiple of 4: text ends", n);
  int unused = *pad == 2 ? 15 : *pad == 1 ? 3 : 0; /* bits of the last character that no byte takes */
  if (*pad && (sextet((unsigned char)s[body - 1]) & unused))
    return DIAG(d, base64, "unused bits are not zero", body - 1);
  return true;
}

bool base64_decode(Text *out, const char *s, size_t n, Diag *d) {
  int pad;
  if (!check(s, n, &pad, d)) return false;
  size_t room = n / 4 * 3 + 3;
  char *start = text_reserve(out, room), *p = start;
  if (!start) return DIAG0(d, nomem);
  for (size_t i = 0; i < n; i += DECODE_PIECE) {
    size_t piece = n - i < DECODE_PIECE ? n - i : DECODE_PIECE;
    base64_decodestate state;
    base64_init_decodestate(&state);
    p += base64_decode_block(s + i, (int)piece, p, &state);
  }
  size_t got = (size_t)(p - start);
  text_commit(out, got);
  if (got != n / 4 * 3 - (size_t)pad) return NK_BUG(d, "libb64 decoded another number of bytes");
  return true;
}
