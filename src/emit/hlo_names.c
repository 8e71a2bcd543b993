/* hlo_names.c -- emit room: what the HLO text parser accepts as a name; strings; source positions. */
#include <string.h>

#include "hlo.h"

/* Words the lexer does not read as names: element types and keywords. */
static const char *const reserved[] = {"pred",
                                       "s1",
                                       "s2",
                                       "s4",
                                       "s8",
                                       "s16",
                                       "s32",
                                       "s64",
                                       "u1",
                                       "u2",
                                       "u4",
                                       "u8",
                                       "u16",
                                       "u32",
                                       "u64",
                                       "f16",
                                       "f32",
                                       "f64",
                                       "bf16",
                                       "c64",
                                       "c128",
                                       "f8e5m2",
                                       "f8e4m3",
                                       "f8e4m3fn",
                                       "f8e3m4",
                                       "f8e4m3b11fnuz",
                                       "f8e5m2fnuz",
                                       "f8e4m3fnuz",
                                       "f8e8m0fnu",
                                       "f4e2m1fn",
                                       "token",
                                       "opaque",
                                       "tuple",
                                       "inf",
                                       "nan",
                                       "ENTRY",
                                       "ROOT",
                                       "HloModule",
                                       "maximal",
                                       "replicated",
                                       "manual",
                                       "unknown",
                                       "last_tile_dim_replicate",
                                       "shard_as",
                                       "shard_like",
                                       "sparse",
                                       NULL};

static bool is_reserved(const char *name) {
  for (int i = 0; reserved[i]; i++)
    if (strcmp(reserved[i], name) == 0) return true;
  return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name_byte(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }

static char *clean(Arena *arena, const char *prefix, const char *name) {
  char *s = arena_printf(arena, "%s%s", prefix, name);
  for (char *p = s; p && *p; p++)
    if (!is_name_byte(*p)) *p = '_';
  return s;
}

const char *hlo_module_name(Arena *arena, const Artifact *a) { return clean(arena, "jit_", a->func_name); }

static bool taken(const char *const *names, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

const char *const *hlo_input_names(Arena *arena, const Artifact *a) {
  const char **names = arena_newn(arena, const char *, a->ninputs);
  for (uint32_t i = 0; names && i < a->ninputs; i++) {
    const char *name = clean(arena, is_letter(a->input_names[i][0]) ? "" : "_", a->input_names[i]);
    while (name && (is_reserved(name) || taken(names, i, name))) name = arena_printf(arena, "%s_", name);
    if (!name) return NULL;
    names[i] = name;
  }
  return names;
}

bool hlo_source(const Artifact *a, const char **file, int *line) {
  const IrModule *m = a->module;
  const IrFunc *f = m->func[0];
  for (uint32_t i = 0; i < f->nins; i++) {
    const IrLoc *loc = f->ins[i]->loc && f->ins[i]->loc < m->nlocs ? &m->locs[f->ins[i]->loc] : NULL;
    if (!loc || !loc->file || !*loc->file) continue;
    *file = loc->file;
    *line = loc->line;
    return true;
  }
  return false;
}

void hlo_put_quoted(Text *out, const char *s) {
  text_putc(out, '"');
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\') text_putc(out, '\\');
    if (c < 0x20 || c == 0x7f) {
      text_printf(out, "\\%03o", c);
    } else {
      text_putc(out, (char)c);
    }
  }
  text_putc(out, '"');
}
