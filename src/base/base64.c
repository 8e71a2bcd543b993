/* base64.c -- base room: strict base64; the only file that sees libb64. libb64 breaks lines, counts in int, skips every
   byte it does not know and writes one byte past the decoded data, so it is fed checked pieces with room to spare. */
#include "base64.h"

#include <b64/cdecode.h>
#include <b64/cencode.h>
#include <string.h>

enum {
  LINE_BYTES = 54, /* libb64 puts a newline after the 72 characters these give */
  ENCODE_PIECE = LINE_BYTES * 64,
  DECODE_PIECE = 1 << 20
};

static void add_without_newlines(Text *out, const char *s, size_t n) {
  while (n > 0) {
    const char *nl = memchr(s, '\n', n);
    size_t run = nl ? (size_t)(nl - s) : n;
    text_add(out, s, run);
    size_t step = nl ? run + 1 : run;
    s += step;
    n -= step;
  }
}

void base64_encode(Text *out, const void *data, size_t n) {
  if (!text_reserve(out, n / 3 < SIZE_MAX / 8 ? (n / 3 + 1) * 4 : SIZE_MAX)) return;
  base64_encodestate state;
  base64_init_encodestate(&state);
  char code[ENCODE_PIECE / 3 * 4 + ENCODE_PIECE / LINE_BYTES + 16];
  const char *p = data;
  while (n > 0) {
    size_t piece = n < ENCODE_PIECE ? n : ENCODE_PIECE;
    int len = base64_encode_block(p, (int)piece, code, &state);
    add_without_newlines(out, code, (size_t)len);
    p += piece;
    n -= piece;
  }
  int len = base64_encode_blockend(code, &state);
  add_without_newlines(out, code, (size_t)len);
}

static int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Everything libb64 would let pass. *pad is the number of '=' at the end. */
static bool check(const char *s, size_t n, int *pad, Diag *d) {
  *pad = n >= 1 && s[n - 1] == '=' ? (n >= 2 && s[n - 2] == '=' ? 2 : 1) : 0;
  size_t body = n - (size_t)*pad;
  for (size_t i = 0; i < body; i++) {
    if (sextet(s[i]) >= 0) continue;
    if (s[i] == '=') return DIAG(d, base64, "misplaced '='", i);
    return DIAG(d, base64, "byte outside the alphabet", i);
  }
  if (n % 4 != 0) return DIAG(d, base64, "length is not a multiple of 4: text ends", n);
  int unused = *pad == 2 ? 15 : *pad == 1 ? 3 : 0; /* bits of the last character that no byte takes */
  if (*pad && (sextet(s[body - 1]) & unused)) return DIAG(d, base64, "unused bits are not zero", body - 1);
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
