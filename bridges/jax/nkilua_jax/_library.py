"""libnkilua through ctypes: the part of include/nkilua.h that the bridge uses, and its errors."""

import ctypes
import ctypes.util
import functools
import os
import pathlib
from ctypes import (
    POINTER, Structure, Union, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32,
    c_uint64, c_void_p)

VERSION = "0.1.0"
MAX_RANK = 8

# nkl_arg_kind
ARG_NIL, ARG_BOOL, ARG_INT, ARG_NUM, ARG_STR, ARG_TUPLE, ARG_TENSOR, ARG_DECL = range(8)
# nkl_format
FORMAT_BACKEND_CONFIG = 1

_STATUS = ["NKL_OK", "NKL_ERR_NOMEM", "NKL_ERR_ARG", "NKL_ERR_IO", "NKL_ERR_FORMAT", "NKL_ERR_SYNTAX",
           "NKL_ERR_SCRIPT", "NKL_ERR_TRACE", "NKL_ERR_SIM", "NKL_ERR_LIMIT", "NKL_ERR_CANCELLED",
           "NKL_ERR_UNSUPPORTED", "NKL_ERR_HOST", "NKL_ERR_INTERNAL"]


class NkiluaError(RuntimeError):
  """What went wrong while a kernel was loaded, specialized or traced.

  id is stable ("err_..."); message is one line; file and line are those of the kernel ("" and 0 when unknown); notes
  and traceback may have several lines or none; status is the name of the nkl_status; call says which kernel was called
  with what ("" outside a call).
  """

  def __init__(self, id: str, message: str, *, status: str = "NKL_ERR_ARG", file: str = "", line: int = 0,
               notes: str = "", traceback: str = "", call: str = ""):
    self.id, self.message, self.status = id, message, status
    self.file, self.line, self.notes, self.traceback, self.call = file, line, notes, traceback, call
    where = f"{file}:{line}" if line else ""
    head = f"{where}: {message} [{id}]" if where else f"{message} [{id}]"
    chain = traceback if traceback != where else ""
    super().__init__("\n".join(part for part in (head, notes, chain, call) if part))

  def _fields(self) -> dict:
    return dict(status=self.status, file=self.file, line=self.line, notes=self.notes, traceback=self.traceback,
                call=self.call)

  def in_call(self, call: str) -> "NkiluaError":
    """The same with a line that says which call it was."""
    return NkiluaError(self.id, self.message, **{**self._fields(), "call": call})

  def __reduce__(self):
    return functools.partial(NkiluaError, **self._fields()), (self.id, self.message)


class Error(Structure):
  _fields_ = [("status", c_int), ("id", c_char_p), ("message", c_char_p), ("notes", c_char_p),
              ("traceback", c_char_p), ("file", c_char_p), ("line", c_int)]


class ErrorBuf(Structure):
  _fields_ = [("error", Error), ("reserved", c_void_p)]


class Buf(Structure):
  _fields_ = [("data", c_void_p), ("size", c_size_t), ("reserved", c_void_p)]


class Options(Structure):
  _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("alloc", c_void_p), ("alloc_ud", c_void_p),
              ("write", c_void_p), ("write_ud", c_void_p), ("warn", c_void_p), ("warn_ud", c_void_p),
              ("target", c_char_p), ("memory_limit", c_uint64), ("cache_dir", c_char_p)]


class TensorDesc(Structure):
  _fields_ = [("struct_size", c_uint32), ("dtype", c_int), ("rank", c_int32), ("shape", c_int64 * MAX_RANK),
              ("byte_strides", c_int64 * MAX_RANK), ("data", c_void_p), ("nbytes", c_size_t)]


class Arg(Structure):
  pass


class _Span(Structure):
  _fields_ = [("p", c_char_p), ("len", c_size_t)]


class _Items(Structure):
  _fields_ = [("items", POINTER(Arg)), ("n", c_size_t)]


class _Value(Union):
  _fields_ = [("b", c_int), ("i", c_int64), ("n", c_double), ("s", _Span), ("tuple", _Items),
              ("decl", POINTER(TensorDesc))]


Arg._fields_ = [("name", c_char_p), ("kind", c_int), ("u", _Value)]


class Opt(Structure):
  _fields_ = [("key", c_char_p), ("value", Arg)]


class Cores(Structure):
  _fields_ = [("count", c_int64), ("block", c_int64)]


class Request(Structure):
  _fields_ = [("struct_size", c_uint32), ("kernel", c_void_p), ("args", POINTER(Arg)), ("nargs", c_size_t),
              ("grid", POINTER(c_int64)), ("ngrid", c_size_t), ("opts", POINTER(Opt)), ("nopts", c_size_t),
              ("cores", POINTER(Cores))]


class KernelOptions(Structure):
  _fields_ = [("struct_size", c_uint32), ("mode", c_char_p), ("func_name", c_char_p), ("platform_target", c_char_p),
              ("enable_cache", c_int), ("cache_size", c_int64)]


class Io(Structure):
  _fields_ = [("name", c_char_p), ("dtype", c_int), ("rank", c_int32), ("shape", c_int64 * MAX_RANK)]


# name: (result, arguments)
_FUNCTIONS = {
    "nkl_version_string": (c_char_p, []),
    "nkl_options_init": (None, [POINTER(Options)]),
    "nkl_tensor_desc_init": (None, [POINTER(TensorDesc)]),
    "nkl_request_init": (None, [POINTER(Request)]),
    "nkl_open": (c_int, [POINTER(c_void_p), POINTER(Options)]),
    "nkl_close": (None, [c_void_p]),
    "nkl_last_error": (POINTER(Error), [c_void_p]),
    "nkl_load_string": (c_int, [c_void_p, c_char_p, c_size_t, c_char_p]),
    "nkl_get_kernel": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "nkl_kernel_release": (None, [c_void_p]),
    "nkl_kernel_mode": (c_char_p, [c_void_p]),
    "nkl_kernel_options_init": (None, [POINTER(KernelOptions)]),
    "nkl_kernel_replace": (c_int, [c_void_p, POINTER(KernelOptions), POINTER(c_void_p)]),
    "nkl_kernel_param_count": (c_int, [c_void_p]),
    "nkl_kernel_param_name": (c_char_p, [c_void_p, c_int]),
    "nkl_specialize": (c_int, [c_void_p, POINTER(Request), POINTER(c_void_p)]),
    "nkl_dtype_parse": (c_int, [c_char_p, c_size_t]),
    "nkl_dtype_name": (c_char_p, [c_int]),
    "nkl_dtype_size": (c_size_t, [c_int]),
    "nkl_program_render": (c_int, [c_void_p, c_int, POINTER(Buf), POINTER(ErrorBuf)]),
    "nkl_program_release": (None, [c_void_p]),
    "nkl_program_name": (c_char_p, [c_void_p]),
    "nkl_program_has_collectives": (c_int, [c_void_p]),
    "nkl_program_result_is_sequence": (c_int, [c_void_p]),
    "nkl_program_input_count": (c_size_t, [c_void_p]),
    "nkl_program_output_count": (c_size_t, [c_void_p]),
    "nkl_program_constant_count": (c_size_t, [c_void_p]),
    "nkl_program_alias_count": (c_size_t, [c_void_p]),
    "nkl_program_input": (c_int, [c_void_p, c_size_t, POINTER(Io)]),
    "nkl_program_output": (c_int, [c_void_p, c_size_t, POINTER(Io)]),
    "nkl_program_constant": (c_int, [c_void_p, c_size_t, POINTER(Io), POINTER(c_void_p)]),
    "nkl_program_alias": (c_int, [c_void_p, c_size_t, POINTER(c_int32), POINTER(c_int32)]),
    "nkl_buf_free": (None, [POINTER(Buf)]),
    "nkl_error_buf_free": (None, [POINTER(ErrorBuf)]),
    "nkl_xla_ffi_execute": (c_void_p, [c_void_p]),
}


def _find():
  """The library: NKILUA_LIBRARY, else beside the package, else in the build folder, else the system's."""
  named = os.environ.get("NKILUA_LIBRARY")
  if named:
    if not os.path.exists(named):
      raise ImportError(f"NKILUA_LIBRARY is {named}, and there is no such file")
    return named
  package = pathlib.Path(__file__).resolve().parent
  places = [package, package.parents[2] / "build" / "lib"]
  for place in places:
    for name in ("libnkilua.so", "libnkilua.so.0"):
      if (place / name).exists():
        return str(place / name)
  system = ctypes.util.find_library("nkilua")
  if system:
    return system
  raise ImportError("libnkilua.so is not in " + ", ".join(map(str, places)) + " or where the system looks: build it "
                    "(./dev build), install it, or say where it is with NKILUA_LIBRARY")


@functools.cache
def library():
  """The loaded library, with the types of its functions set."""
  path = _find()
  lib = ctypes.CDLL(path)
  try:
    for name, (result, arguments) in _FUNCTIONS.items():
      function = getattr(lib, name)
      function.restype, function.argtypes = result, arguments
  except AttributeError as e:
    raise ImportError(f"{path} is too old for this package: it has no {name}") from e
  version = lib.nkl_version_string().decode()
  if version != VERSION:
    raise ImportError(f"{path} is nkilua {version}; this package goes with {VERSION}")
  return lib


def check(status, error):
  """Raises what error (an Error) says unless status is NKL_OK."""
  if status == 0:
    return
  text = lambda s: s.decode(errors="replace")
  raise NkiluaError(text(error.id), text(error.message), status=_STATUS[-error.status], file=text(error.file),
                    line=error.line, notes=text(error.notes), traceback=text(error.traceback))


def render(program, format):
  """A text of a program as bytes."""
  lib, buf, error = library(), Buf(), ErrorBuf()
  status = lib.nkl_program_render(program, format, byref(buf), byref(error))
  try:
    check(status, error.error)
    return ctypes.string_at(buf.data, buf.size)
  finally:
    lib.nkl_buf_free(byref(buf))
    lib.nkl_error_buf_free(byref(error))
