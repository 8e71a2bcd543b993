/* baremetal.c -- room framework: what a run on a device would need, execute and write. Nothing is run here: a device
   needs the closed compiler and the Neuron runtime. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fw.h"

static bool on_path(const char *name, Alloc alloc) {
  const char *p = getenv("PATH");
  Text file;
  bool found = false;
  text_init(&file, alloc);
  while (p && *p && !found) {
    size_t n = strcspn(p, ":");
    text_clear(&file);
    text_printf(&file, "%.*s/%s", (int)n, p, name);
    found = n && access(text_str(&file), X_OK) == 0;
    p += n + (p[n] == ':');
  }
  text_free(&file);
  return found;
}

bool fw_baremetal_missing(Text *out) {
  static const char runtime[] = "/opt/aws/neuron/lib/libnrt.so.1", device[] = "/dev/neuron0";
  if (!on_path("neuronx-cc", out->alloc)) text_puts(out, "the compiler neuronx-cc (not on PATH)");
  if (access(runtime, R_OK) != 0) text_printf(out, "%sthe Neuron runtime (no %s)", out->len ? ", " : "", runtime);
  if (access(device, F_OK) != 0) text_printf(out, "%sa Neuron device (no %s)", out->len ? ", " : "", device);
  return out->len > 0;
}

/* As a shell takes it. */
static void put_word(Text *out, const char *dir, const char *name, const char *ending) {
  Text word;
  text_init(&word, out->alloc);
  if (dir && *dir) text_printf(&word, "%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/");
  text_printf(&word, "%s%s", name, ending);
  const char *s = text_str(&word);
  if (strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+=") == strlen(s)) {
    text_puts(out, s);
  } else {
    text_puts(out, "'");
    for (; *s; s++) text_printf(out, *s == '\'' ? "'\\''" : "%c", *s);
    text_puts(out, "'");
  }
  if (word.oom) out->oom = true;
  text_free(&word);
}

bool fw_baremetal_plan(const Artifact *a, const FwBaremetal *b, Text *out) {
  const char *neff = b->neff ? b->neff : "file.neff";
  text_printf(out, "run neuronx-cc compile --framework XLA --target %s --output ", target_name(a->module->target));
  put_word(out, b->dir, neff, "");
  if (b->compile_options && *b->compile_options) text_printf(out, " %s", b->compile_options);
  text_puts(out, " ");
  put_word(out, b->dir, a->func_name, ".hlo.pb");
  text_puts(out, "\nwrite ");
  put_word(out, b->dir, a->func_name, ".hlo.pb");
  text_puts(out, "\nwrite ");
  put_word(out, b->dir, neff, "");
  text_puts(out, "\n");
  if (b->trace) {
    text_puts(out, "write ");
    put_word(out, b->dir, b->trace, "");
    text_puts(out, "\n");
  }
  return !out->oom;
}
