/* hlo_names.c -- room emit: what XLA accepts as a name. */
#include <string.h>

#include "hlo.h"

/* Element types: the lexer of HLO text does not read these as names. */
static const char *const reserved =
    " pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 f32 f64 bf16 c64 c128 f4e2m1fn f6e2m3fn f6e3m2fn f8e3m4 "
    "f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu token opaque ";

/* Names hold no blank, so a match between blanks is a whole word. */
static bool is_reserved(const char *name) {
  size_t n = strlen(name);
  for (const char *at = strstr(reserved, name); at; at = strstr(at + 1, name))
    if (at[-1] == ' ' && at[n] == ' ') return true;
  return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name_byte(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }

/* What must stand in front of a name of legal bytes: XLA keeps names that begin with "__" for itself. */
static const char *start_of(const char *name) {
  if (strncmp(name, "__", 2) == 0) return "x";
  return is_letter(name[0]) ? "" : "_";
}

const char *hlo_name(Arena *arena, const char *prefix, const char *name) {
  char *s = arena_printf(arena, "%s%s", prefix, name);
  for (char *p = s; p && *p; p++)
    if (!is_name_byte(*p)) *p = '_';
  if (!s) return NULL;
  const char *start = start_of(s);
  if (*start) s = arena_printf(arena, "%s%s", start, s);
  return s && is_reserved(s) ? arena_printf(arena, "%s_", s) : s;
}
