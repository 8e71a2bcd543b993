/* target.c -- room framework: _get_platform_target. Option, else environment, else what the machine says it is, else
   trn1 as a guess, which is part of the key and of the config. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "fw.h"

#define DMI_FILE "/sys/devices/virtual/dmi/id/product_name"
static const char fallback_warning[] = "Unable to read MLA target. Assuming cross compile to trn1.";

static bool parse(const char *what, const char *name, Target *out, Diag *d) {
  if (target_parse(name, strlen(name), out)) return true;
  const char *const *names = target_names();
  const char *near = diag_nearest(name, names);
  Text list;
  text_init(&list, d->message.alloc);
  for (int i = 0; names[i]; i++) text_printf(&list, "%s%s", i ? ", " : "", names[i]);
  char clip[TEXT_CLIP + 4];
  DIAG(d, unknown_platform_target, what, text_clip(clip, name, strlen(name)), near ? " (did you mean '" : "",
       near ? near : "", near ? "'?)" : "", text_str(&list));
  text_free(&list);
  return false;
}

bool fw_target_of_product(const char *product, Target *out) {
  return target_parse(product, strcspn(product, ".\n"), out);
}

/* A machine that is none is no error. */
static bool from_machine(Target *out, Alloc alloc) {
  Diag ignored;
  Text name;
  diag_init(&ignored, alloc);
  text_init(&name, alloc);
  bool ok = file_read(DMI_FILE, &name, &ignored) && fw_target_of_product(text_str(&name), out);
  text_free(&name);
  diag_free(&ignored);
  return ok;
}

bool fw_get_platform_target(const char *explicit_name, Target *out, bool *fallback, const char **warning, Diag *d) {
  *fallback = false;
  *warning = NULL;
  if (explicit_name) return parse("platform_target", explicit_name, out, d);
  const char *env = getenv("NEURON_PLATFORM_TARGET_OVERRIDE");
  if (env && *env) return parse("NEURON_PLATFORM_TARGET_OVERRIDE", env, out, d);
  if (from_machine(out, d->message.alloc)) return true;
  *out = TARGET_trn1;
  *fallback = true;
  *warning = fallback_warning;
  return true;
}
