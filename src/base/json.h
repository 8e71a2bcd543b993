/* json.h -- room base: exact, strict JSON. Only json.c sees cJSON. Integers are exact int64, floats round-trip, object
   keys keep their order, duplicate keys, NUL bytes, invalid UTF-8, trailing bytes and depth over 64 are refused. */
#ifndef NK_JSON_H
#define NK_JSON_H
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "text.h"

typedef enum JsonKind { JSON_NULL, JSON_BOOL, JSON_INT, JSON_FLOAT, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;
typedef struct Json Json;
struct Json {
  JsonKind kind;
  const char *key; /* name in the enclosing object, else NULL */
  Json *next;      /* next element of the enclosing array or object */
  Json *child;     /* first element */
  uint32_t count;  /* elements of an array or object */
  bool b;
  int64_t i;     /* JSON_INT: literals without '.', 'e' that fit int64; -0 does not */
  double f;      /* JSON_FLOAT (also JSON_INT, rounded) */
  const char *s; /* JSON_STRING, NUL-terminated */
  size_t len;
};

/* Whole input must be one value. what names the source in messages ("backend_config"). NULL on error. */
const Json *json_parse(Arena *a, const char *s, size_t n, const char *what, Diag *d);
const Json *json_get(const Json *object, const char *key); /* case sensitive; NULL when absent */

/* Writer: compact, no white space, keys in call order. Commas are put where needed. */
typedef struct JsonWriter {
  Text *out;
  bool need_comma;
} JsonWriter;
void json_begin(JsonWriter *w, char open); /* '{' or '[' */
void json_end(JsonWriter *w, char close);
void json_key(JsonWriter *w, const char *key);
/* Bytes that are not UTF-8 are written as U+FFFD and the result is false, also for a NUL byte, which json_parse
 * refuses. */
bool json_string(JsonWriter *w, const char *s, size_t n);
bool json_cstr(JsonWriter *w, const char *s);
void json_int(JsonWriter *w, int64_t v);   /* beyond +-2^53: as a string */
void json_double(JsonWriter *w, double v); /* shortest round-trip with '.'; "NaN", "Infinity", "-Infinity" as strings */
void json_bool(JsonWriter *w, bool v);
void json_null(JsonWriter *w);
/* Are the n bytes at spelled what json_string would write of s? */
bool json_spells(const char *spelled, size_t n, const char *s, size_t len);
/* Indented form of a parsed value, for --decode; arrays of scalars stay on one line. False when out of memory. */
bool json_pretty(Text *out, const Json *v);
#endif
