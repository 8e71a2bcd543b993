/* abi.c -- nkilua's own declarations of XLA's typed FFI against the header that jaxlib ships. Nothing is run: it
   compiles when every size, offset and number agrees. The numbers of the element types are checked by calls
   (test_calls.py, Dtypes). */
#include "xla/ffi/api/c_api.h"

#include "xla_ffi.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME(ours, field, theirs, theirs_field)                                         \
  _Static_assert(offsetof(ours, field) == offsetof(theirs, theirs_field) &&             \
                     sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->theirs_field), \
                 #theirs "." #theirs_field)
/* The size that XLA writes into a struct whose last field is this one. */
#define SAME_END(ours, field, theirs) _Static_assert(XLA_END(ours, field) == theirs##_STRUCT_SIZE, #theirs)

_Static_assert(XLA_MAJOR == XLA_FFI_API_MAJOR && XLA_MINOR >= XLA_FFI_API_MINOR, "version");
_Static_assert((int)XLA_EXTENSION_METADATA == (int)XLA_FFI_Extension_Metadata, "extension");
_Static_assert((int)XLA_STAGE_EXECUTE == (int)XLA_FFI_ExecutionStage_EXECUTE, "stage");
_Static_assert((int)XLA_BUFFER == (int)XLA_FFI_ArgType_BUFFER && (int)XLA_BUFFER == (int)XLA_FFI_RetType_BUFFER,
               "buffer");
_Static_assert((int)XLA_ATTR_STRING == (int)XLA_FFI_AttrType_STRING, "string");
_Static_assert((int)XLA_ATTR_SCALAR == (int)XLA_FFI_AttrType_SCALAR, "scalar");
_Static_assert((int)XLA_PRED == (int)XLA_FFI_DataType_PRED, "pred");
_Static_assert((int)XLA_CANCELLED == (int)XLA_FFI_Error_Code_CANCELLED &&
                   (int)XLA_INVALID_ARGUMENT == (int)XLA_FFI_Error_Code_INVALID_ARGUMENT &&
                   (int)XLA_RESOURCE_EXHAUSTED == (int)XLA_FFI_Error_Code_RESOURCE_EXHAUSTED &&
                   (int)XLA_UNIMPLEMENTED == (int)XLA_FFI_Error_Code_UNIMPLEMENTED &&
                   (int)XLA_INTERNAL == (int)XLA_FFI_Error_Code_INTERNAL,
               "error codes");

SAME_SIZE(XlaExtension, XLA_FFI_Extension_Base);
SAME(XlaExtension, struct_size, XLA_FFI_Extension_Base, struct_size);
SAME(XlaExtension, kind, XLA_FFI_Extension_Base, type);
SAME(XlaExtension, next, XLA_FFI_Extension_Base, next);

SAME_SIZE(XlaVersion, XLA_FFI_Api_Version);
SAME(XlaVersion, extension, XLA_FFI_Api_Version, extension_start);
SAME(XlaVersion, major, XLA_FFI_Api_Version, major_version);
SAME(XlaVersion, minor, XLA_FFI_Api_Version, minor_version);
SAME_END(XlaVersion, minor, XLA_FFI_Api_Version);

SAME_SIZE(XlaMetadata, XLA_FFI_Metadata);
SAME(XlaMetadata, version, XLA_FFI_Metadata, api_version);
SAME(XlaMetadata, traits, XLA_FFI_Metadata, traits);
SAME(XlaMetadata, state_type, XLA_FFI_Metadata, state_type_id);
SAME_SIZE(XlaMetadataExtension, XLA_FFI_Metadata_Extension);
SAME(XlaMetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);

SAME_SIZE(XlaErrorArgs, XLA_FFI_Error_Create_Args);
SAME(XlaErrorArgs, extension, XLA_FFI_Error_Create_Args, extension_start);
SAME(XlaErrorArgs, message, XLA_FFI_Error_Create_Args, message);
SAME(XlaErrorArgs, code, XLA_FFI_Error_Create_Args, errc);
SAME_END(XlaErrorArgs, code, XLA_FFI_Error_Create_Args);

SAME(XlaApi, extension, XLA_FFI_Api, extension_start);
SAME(XlaApi, version, XLA_FFI_Api, api_version);
SAME(XlaApi, internal, XLA_FFI_Api, internal_api);
SAME(XlaApi, error_create, XLA_FFI_Api, XLA_FFI_Error_Create);

SAME_SIZE(XlaBuffer, XLA_FFI_Buffer);
SAME(XlaBuffer, extension, XLA_FFI_Buffer, extension_start);
SAME(XlaBuffer, dtype, XLA_FFI_Buffer, dtype);
SAME(XlaBuffer, data, XLA_FFI_Buffer, data);
SAME(XlaBuffer, rank, XLA_FFI_Buffer, rank);
SAME(XlaBuffer, dims, XLA_FFI_Buffer, dims);
SAME_END(XlaBuffer, dims, XLA_FFI_Buffer);

SAME_SIZE(XlaSpan, XLA_FFI_ByteSpan);
SAME(XlaSpan, p, XLA_FFI_ByteSpan, ptr);
SAME(XlaSpan, len, XLA_FFI_ByteSpan, len);

SAME_SIZE(XlaScalar, XLA_FFI_Scalar);
SAME(XlaScalar, dtype, XLA_FFI_Scalar, dtype);
SAME(XlaScalar, value, XLA_FFI_Scalar, value);

SAME_SIZE(XlaList, XLA_FFI_Args);
SAME(XlaList, size, XLA_FFI_Args, size);
SAME(XlaList, kinds, XLA_FFI_Args, types);
SAME(XlaList, items, XLA_FFI_Args, args);
SAME_END(XlaList, items, XLA_FFI_Args);
SAME_SIZE(XlaList, XLA_FFI_Rets);
SAME(XlaList, size, XLA_FFI_Rets, size);
SAME(XlaList, kinds, XLA_FFI_Rets, types);
SAME(XlaList, items, XLA_FFI_Rets, rets);
SAME_SIZE(XlaAttrs, XLA_FFI_Attrs);
SAME(XlaAttrs, size, XLA_FFI_Attrs, size);
SAME(XlaAttrs, kinds, XLA_FFI_Attrs, types);
SAME(XlaAttrs, names, XLA_FFI_Attrs, names);
SAME(XlaAttrs, values, XLA_FFI_Attrs, attrs);
SAME_END(XlaAttrs, values, XLA_FFI_Attrs);

SAME(XlaFrame, extension, XLA_FFI_CallFrame, extension_start);
SAME(XlaFrame, api, XLA_FFI_CallFrame, api);
SAME(XlaFrame, context, XLA_FFI_CallFrame, ctx);
SAME(XlaFrame, stage, XLA_FFI_CallFrame, stage);
SAME(XlaFrame, args, XLA_FFI_CallFrame, args);
SAME(XlaFrame, rets, XLA_FFI_CallFrame, rets);
SAME(XlaFrame, attrs, XLA_FFI_CallFrame, attrs);
SAME_END(XlaFrame, attrs, XLA_FFI_CallFrame);
