/* base64.h -- room base: strict base64 on one line (RFC 4648 alphabet, padded, canonical). The only file that sees
 * libb64. */
#ifndef NK_BASE64_H
#define NK_BASE64_H
#include <stdbool.h>

#include "arena.h"
#include "diag.h"
#include "text.h"

void base64_encode(Text *out, const void *data, size_t n);                /* appends */
char *base64_text(Arena *arena, const void *data, size_t n, size_t *len); /* NULL: no memory */
/* Appends the decoded bytes. Refuses white space, a wrong length, a foreign byte, misplaced padding and non-zero tail
   bits (ERR_base64, with the offset). One trailing newline is the caller's business. */
bool base64_decode(Text *out, const char *s, size_t n, Diag *d);
#endif
