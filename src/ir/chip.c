/* chip.c -- room ir: generations and target names, read from chip.def. */
#include "ir.h"
#include "names.h"

static const ChipInfo chips[] = {
#define CHIP(gen_, name_, physical, usable, psum, banks, t, v, s, g) \
  [gen_] = {.gen = gen_,                                             \
            .name = name_,                                           \
            .sbuf_physical = physical,                               \
            .sbuf_usable = usable,                                   \
            .psum_bytes = psum,                                      \
            .psum_banks = banks,                                     \
            .tensor_mhz = t,                                         \
            .vector_mhz = v,                                         \
            .scalar_mhz = s,                                         \
            .gpsimd_mhz = g},
#include "chip.def"
};

typedef struct TargetRow {
  const char *name, *aliases;
  Gen gen;
  Target canonical;
  int cores;
} TargetRow;
static const TargetRow targets[TARGET_count] = {
#define TARGET(name, gen, canonical, cores, aliases) [TARGET_##name] = {#name, aliases, gen, TARGET_##canonical, cores},
#include "chip.def"
};
static const char *const names[] = {
#define TARGET(name, gen, canonical, cores, aliases) #name,
#include "chip.def"
    NULL};

const ChipInfo *chip_of(Target t) { return &chips[targets[t].gen]; }
const char *target_name(Target t) { return targets[t].name; }
int target_cores(Target t) { return targets[t].cores; }
const char *const *target_names(void) { return names; }

bool target_parse(const char *name, size_t n, Target *out) {
  for (int i = 0; i < TARGET_count; i++) {
    bool hit = (strlen(targets[i].name) == n && memcmp(targets[i].name, name, n) == 0) ||
               name_in_words(targets[i].aliases, name, n);
    if (!hit) continue;
    *out = targets[i].canonical;
    return true;
  }
  return false;
}
