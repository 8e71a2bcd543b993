/* config.h -- room emit: private; what the writer and the reader of a backend_config share. */
#ifndef NK_CONFIG_H
#define NK_CONFIG_H
#include "emit.h"

typedef enum ConfigKey {
#define KEY(name, kind, write) CONFIG_##name,
#include "config.def"
#undef KEY
  CONFIG_count
} ConfigKey;

/* Everything that follows from the module alone, written into w: the reader compares it with what it was given. */
void config_put_grid(JsonWriter *w, const Artifact *a);
void config_put_cores(JsonWriter *w, const Artifact *a);
void config_put_dims(JsonWriter *w, const Artifact *a);
void config_put_returns(JsonWriter *w, const Artifact *a);
void config_put_aliases(JsonWriter *w, const Artifact *a);
void config_put_names(JsonWriter *w, const char *const *names, uint32_t n);
/* A constant tensor: {name, kind, dtype, shape, data}. */
void config_put_tensor(JsonWriter *w, const ConstTensor *t);
/* Digests of the bound constants and of the options as the writer spells them: two numbers in hex, or "" when there are
   neither. They are in the program, so that values of another specialization are noticed. False when out of memory. */
enum { CONFIG_DIGEST = 16, CONFIG_BOUND = 2 * CONFIG_DIGEST + 1 };
bool config_bound(const Artifact *a, char out[CONFIG_BOUND + 1]);
/* config_encode with the text that ir_print would make. */
bool config_encode_printed(Artifact *a, const char *ir, size_t n, Diag *d);
/* config_encode of what was read from a config. Mostly that is what it would write, and is copied. Frees json. */
typedef struct ConfigRead {
  const char *b64; /* canonical, as base64_decode takes no other */
  size_t nb64;
  Text *json;
  size_t nir; /* about how long the program's text is */
} ConfigRead;
bool config_encode_read(Artifact *a, const ConfigRead *read, Diag *d);
#endif
