/* store.c -- room framework: the folder of a persistent cache. One file per key, named by its hash; a file appears
   complete or not at all and is believed only when all of it is as it was written, so any number of processes may share
   the folder and anything may happen to it. Nothing here is an error of the user's call: at worst it traces. */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "folder.h"
#include "hash.h"

static const char ending[] = ".nkc";

struct FwStore {
  Alloc alloc;
  Text dir, path, bytes, why, warning;
  FileView file;                             /* bytes of it are what Saved points into */
  bool explain, made, swept, broken, warned; /* broken: nothing can be written */
};

FwStore *fw_store_new(Alloc alloc, const char *dir, bool explain) {
  FwStore *s = alloc_new(&alloc, sizeof *s);
  if (!s) return NULL;
  *s = (FwStore){.alloc = alloc, .explain = explain, .file = {.source = {-1, NULL}}};
  text_init(&s->file.bytes, alloc);
  text_init(&s->dir, alloc);
  text_init(&s->path, alloc);
  text_init(&s->bytes, alloc);
  text_init(&s->why, alloc);
  text_init(&s->warning, alloc);
  text_puts(&s->dir, dir);
  if (!s->dir.oom) return s;
  fw_store_free(s);
  return NULL;
}

void fw_store_free(FwStore *s) {
  if (!s) return;
  file_view_close(&s->file);
  text_free(&s->dir);
  text_free(&s->path);
  text_free(&s->bytes);
  text_free(&s->why);
  text_free(&s->warning);
  Alloc alloc = s->alloc;
  alloc_free(&alloc, s, sizeof *s);
}

const char *fw_store_warning(FwStore *s) {
  if (s->warned || !s->warning.len) return NULL;
  s->warned = true;
  return text_str(&s->warning);
}

static bool set_path(FwStore *s, const char *name, const char *end) {
  text_clear(&s->path);
  text_printf(&s->path, "%s/%s%s", text_str(&s->dir), name, end);
  return !s->path.oom;
}

static bool set_key_path(FwStore *s, Span key) {
  char hex[33];
  hash_hex(key.p, key.n, hex);
  return set_path(s, hex, ending);
}

static const char *say(FwStore *s, const char *what) {
  const char *slash = strrchr(text_str(&s->path), '/');
  text_clear(&s->why);
  text_printf(&s->why, "file %s %s", slash ? slash + 1 : text_str(&s->path), what);
  return text_str(&s->why);
}

/* The file at path in s->file, taken apart. Another thing than a file is not opened: a pipe would never answer. */
static const char *read_path(FwStore *s, Saved *saved) {
  static const FileKind kind = {"a cached kernel may have", FILE_STREAM_MOST, NULL};
  Diag d;
  file_view_close(&s->file);
  if (path_kind(text_str(&s->path)) != PATH_FILE) return "is no file";
  diag_init(&d, s->alloc);
  bool ok = file_view(text_str(&s->path), &kind, &s->file, &d);
  const char *fault = ok ? saved_read_file(&s->file.in, saved, &d) : "cannot be read";
  diag_free(&d);
  return fault;
}

const Artifact *store_get(FwStore *s, Span key, const char *call_target, const char **why) {
  Saved saved;
  *why = NULL;
  if (!set_key_path(s, key)) return NULL;
  PathKind kind = path_kind(text_str(&s->path));
  if (kind == PATH_NONE || kind == PATH_HIDDEN) return NULL; /* store_put says why it is hidden */
  const char *fault = read_path(s, &saved);
  if (!fault && !span_equal(saved.key, key)) fault = "is that of another key";
  const Artifact *a = fault ? NULL : saved_artifact(&saved, call_target, s->alloc, &fault);
  file_view_close(&s->file);
  if (!a) *why = say(s, fault);
  return a;
}

/* The first thing that goes wrong is the one warning; from then on files are only read. */
static const char *fail(FwStore *s, Diag *d) {
  s->broken = true;
  text_printf(&s->warning, "persistent cache: %s; what is not there yet is kept in memory only", diag_message(d));
  text_clear(&s->why);
  text_puts(&s->why, diag_message(d));
  diag_free(d);
  return text_str(&s->why);
}

const char *store_put(FwStore *s, Span key, const Artifact *a) {
  Diag d;
  if (s->broken) return "the folder cannot be written";
  diag_init(&d, s->alloc);
  if (!s->made && !folder_make(text_str(&s->dir), &d)) return fail(s, &d);
  s->made = true;
  bool ok = set_key_path(s, key);
  PathKind kind = path_kind(text_str(&s->path));
  if (ok && (kind == PATH_FOLDER || kind == PATH_OTHER)) { /* a pipe would never take it, a device would */
    diag_free(&d);
    return say(s, "is no file");
  }
  ok = ok && saved_of(&s->bytes, a, key.p, key.n);
  if (ok && !file_write(text_str(&s->path), s->bytes.data, s->bytes.len, &d)) return fail(s, &d);
  diag_free(&d);
  if (ok && !s->swept) file_drop_stale(text_str(&s->path));
  s->swept = s->swept || ok;
  return ok ? NULL : "it does not fit into memory";
}

/* At most so many files are looked into. */
enum { MOST_FILES = 256 };

void store_explain(FwStore *s, Explain *e) {
  if (!s->explain) return;
  Arena arena;
  size_t n;
  arena_init(&arena, s->alloc);
  const char **names = folder_list(text_str(&s->dir), ending, &arena, &n);
  for (size_t i = 0; names && i < n && i < MOST_FILES && e->count > 1; i++) {
    Saved saved;
    if (set_path(s, names[i], "") && !read_path(s, &saved) && explain_same_name(e, saved.key))
      explain_with(e, saved.key);
  }
  arena_free(&arena);
}
