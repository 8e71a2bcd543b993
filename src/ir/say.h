/* say.h -- room ir: private; the nouns of messages. Each returns out->s; long lists and names are cut with "...". */
#ifndef NK_SAY_H
#define NK_SAY_H
#include "ir.h"

typedef struct Say {
  char s[320];
  size_t n;
} Say;

const char *say_tile(const IrFunc *f, const IrTile *t,
                     Say *out); /* "a[128,512] float32 in sbuf", "view [64,512] of a[...] ..." */
const char *say_buf(const IrBuf *b, Say *out);
const char *say_shape(const int64_t *shape, int n, Say *out); /* "[128,512]" */
const char *say_dims(const IrTile *t, Say *out);              /* the tile's shape */
const char *say_pattern(const IrTile *t, Say *out);           /* "[[512,128],[1,512]]" */
const char *say_spaces(uint32_t mask, Say *out);              /* "sbuf or psum" */
const char *say_lists(const IrVal *lists, Say *out);          /* "{{0,1},{2,3}}" */
const char *say_dtypes(uint32_t mask, Say *out);              /* "int32, uint32" */
const char *say_alus(uint64_t mask, Say *out);
const char *say_engines(uint32_t mask, Say *out);
const char *engine_name(int engine); /* also "sim" */
#endif
