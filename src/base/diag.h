/* diag.h -- room base: one failure of the user's, with everything needed to print it.
   Below the lang room every fallible function returns bool (true = ok) and fills a Diag on false. Our own faults
   are NK_BUG: abort in debug builds, ERR_internal in release builds. */
#ifndef NK_DIAG_H
#define NK_DIAG_H
#include <stdbool.h>

#include "text.h"

/* Public status of an error; values are those of nkl_status in nkilua.h. */
typedef enum ErrStatus {
  ST_OK = 0,
  ST_NOMEM = -1,
  ST_ARG = -2,
  ST_IO = -3,
  ST_FORMAT = -4,
  ST_SYNTAX = -5,
  ST_SCRIPT = -6,
  ST_TRACE = -7,
  ST_SIM = -8,
  ST_LIMIT = -9,
  ST_CANCELLED = -10,
  ST_UNSUPPORTED = -11,
  ST_HOST = -12,
  ST_INTERNAL = -13
} ErrStatus;

typedef enum ErrId {
  ERR_none,
#define E(id, status, fmt) ERR_##id,
#include "errors.def"
#undef E
  ERR_count
} ErrId;

/* One format string per message, so that the compiler checks the arguments at the call. */
#define E(id, status, fmt) __attribute__((unused)) static const char FMT_##id[] = fmt;
#include "errors.def"
#undef E

typedef struct Diag {
  ErrId id;
  Text message;   /* one line, names function, parameter, tensor, values, and what is allowed */
  Text notes;     /* further lines, each "note: ..."; '\n' between lines, none at the end */
  Text where;     /* "file:line" lines: the instruction's line first, then the call chain, then loop iterations */
  char file[256]; /* relative to the script's folder; "" when unknown */
  int line;       /* 0 when unknown */
} Diag;

void diag_init(Diag *d, Alloc alloc);
void diag_free(Diag *d);
void diag_clear(Diag *d);
bool diag_copy(Diag *to, const Diag *from);
/* The message; "out of memory" when it could not be stored (then id is ERR_nomem). Never NULL. */
const char *diag_message(const Diag *d);
/* Sets id and message (control characters are spelled \n, \x1b ..., so it is one line whatever the arguments hold);
   always returns false, so `return DIAG(d, id, ...)`. A second failure on a Diag that already holds one is appended as
   a note, so several faults of one call are all reported. No argument may point into d. */
bool diag_failf(Diag *d, ErrId id, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define DIAG(d, id, ...) diag_failf((d), ERR_##id, FMT_##id, __VA_ARGS__)
#define DIAG0(d, id) diag_failf((d), ERR_##id, "%s", FMT_##id) /* for messages without arguments */
void diag_note(Diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The message becomes "name: message". */
void diag_prefix(Diag *d, const char *name);
void diag_at(Diag *d, const char *file, int line); /* keeps the first location given */
const char *err_name(ErrId id);                    /* "err_..." */
ErrStatus err_status(ErrId id);
const char *err_format(ErrId id);
ErrId err_by_name(const char *name);

/* Our own fault: aborts in debug builds; in release builds evaluates to DIAG(d, internal, ...). */
bool diag_bug(Diag *d, const char *file, int line, const char *what);
#define NK_BUG(d, what) diag_bug((d), __FILE__, __LINE__, (what))

/* The name in `names` (NULL-terminated) nearest to s by edit distance, or NULL when none is near enough to suggest. */
const char *diag_nearest(const char *s, const char *const *names);
#endif
