/* xla_ffi.h -- room api: private; what XLA's typed FFI hands to a handler.

   Layout facts of that C interface for versions 0.1 to 0.3, in our own declarations: field order and sizes only, so no
   XLA header is needed to build. Every struct carries the size its writer knew; a handler reads a field only after
   XLA_HAS said that it is there. bridges/jax/tests/abi.c compares all of it with the header that jaxlib ships. */
#ifndef NK_XLA_FFI_H
#define NK_XLA_FFI_H
#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 3 };
enum { XLA_EXTENSION_METADATA = 1 };
enum { XLA_STAGE_EXECUTE = 3 };
enum { XLA_BUFFER = 1 };                           /* kind of an operand or a result: the only one */
enum { XLA_ATTR_SCALAR = 3, XLA_ATTR_STRING = 4 }; /* kinds of an attribute; a string is a span of bytes */
enum { XLA_PRED = 1 };                             /* element type of a truth value: one byte */
typedef enum XlaCode {
  XLA_CANCELLED = 1,
  XLA_INVALID_ARGUMENT = 3,
  XLA_RESOURCE_EXHAUSTED = 8,
  XLA_UNIMPLEMENTED = 12,
  XLA_INTERNAL = 13
} XlaCode;

/* The struct that p points to holds the field: its writer's size reaches to the field's end. */
#define XLA_END(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))
#define XLA_HAS(p, type, field) ((p)->struct_size >= XLA_END(type, field))

typedef struct XlaExtension XlaExtension;
struct XlaExtension {
  size_t struct_size;
  int kind;
  XlaExtension *next;
};
typedef struct XlaVersion {
  size_t struct_size;
  XlaExtension *extension;
  int major, minor;
} XlaVersion;
typedef struct XlaMetadata {
  size_t struct_size;
  XlaVersion version; /* out: what the handler was made for */
  uint32_t traits;    /* out */
  int64_t state_type; /* out, since 0.2 */
} XlaMetadata;
typedef struct XlaMetadataExtension {
  XlaExtension base;
  XlaMetadata *metadata;
} XlaMetadataExtension;

typedef struct XlaError XlaError; /* owned by XLA as soon as it is returned */
typedef struct XlaErrorArgs {
  size_t struct_size;
  XlaExtension *extension;
  const char *message;
  int code;
} XlaErrorArgs;
/* The beginning of XLA's table of functions; the rest is not used. */
typedef struct XlaApi {
  size_t struct_size;
  XlaExtension *extension;
  XlaVersion version;
  const void *internal;
  XlaError *(*error_create)(XlaErrorArgs *args);
} XlaApi;

typedef struct XlaBuffer {
  size_t struct_size;
  XlaExtension *extension;
  int dtype; /* hlo_element_type */
  void *data;
  int64_t rank;
  int64_t *dims;
} XlaBuffer;
typedef struct XlaSpan {
  const char *p; /* without a NUL */
  size_t len;
} XlaSpan;
typedef struct XlaScalar {
  int dtype;
  void *value;
} XlaScalar;
/* Operands, or results. */
typedef struct XlaList {
  size_t struct_size;
  XlaExtension *extension;
  int64_t size;
  int *kinds;
  void **items;
} XlaList;
typedef struct XlaAttrs {
  size_t struct_size;
  XlaExtension *extension;
  int64_t size;
  int *kinds;
  XlaSpan **names; /* sorted */
  void **values;
} XlaAttrs;
typedef struct XlaFrame {
  size_t struct_size;
  XlaExtension *extension;
  const XlaApi *api;
  void *context;
  int stage;
  XlaList args, rets;
  XlaAttrs attrs;
} XlaFrame;
#endif
