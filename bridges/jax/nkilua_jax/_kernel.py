"""Kernel files, their contexts, and traces: what nkl_specialize makes of a kernel and of shapes. Knows no JAX."""

import ctypes
import dataclasses
import hashlib
import os
import struct
import threading
import weakref
from ctypes import byref, c_int32, c_int64, c_void_p

import ml_dtypes
import numpy as np

from . import _library as nkl
from ._library import NkiluaError

TARGET_VARIABLE = "NEURON_PLATFORM_TARGET_OVERRIDE"

# Dtypes whose elements travel as another type's bytes, as in the HLO that nkilua prints.
_CONTAINER = {"tfloat32": "float32", "float8_e5m2_x4": "uint32", "float8_e4m3fn_x4": "uint32",
              "float4_e2m1fn_x4": "uint16", "bool_": "bool"}


def _numpy_dtype(dtype):
  name = nkl.library().nkl_dtype_name(dtype).decode()
  name = _CONTAINER.get(name, name)
  return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


@dataclasses.dataclass(frozen=True)
class Spec:
  """Shape and dtype of a tensor."""

  shape: tuple[int, ...]
  dtype: np.dtype


def specs(arrays):
  """The Spec of each array, or of whatever has its shape and dtype."""
  return tuple(Spec(tuple(int(n) for n in a.shape), np.dtype(a.dtype)) for a in arrays)


@dataclasses.dataclass(frozen=True)
class Tensor:
  """A tensor that a program takes, gives or holds."""

  name: str
  shape: tuple[int, ...]
  dtype: np.dtype


class Trace:
  """One specialization: what the three sides (abstract evaluation, lowering, torch-xla) read of a program.

  inputs, outputs: Tensors. constants: (Tensor, array), trailing operands of the custom-call. aliases: (operand, output)
  by output. result_is_sequence: the kernel returned several values or a list. digest: of the backend_config.
  """

  def __init__(self, program):
    lib = nkl.library()
    self.name = lib.nkl_program_name(program).decode()
    self.backend_config = nkl.render(program, nkl.FORMAT_BACKEND_CONFIG).decode()
    self.digest = hashlib.sha256(self.backend_config.encode()).hexdigest()
    self.has_collectives = bool(lib.nkl_program_has_collectives(program))
    self.result_is_sequence = bool(lib.nkl_program_result_is_sequence(program))
    self.inputs = tuple(self._tensor(lib.nkl_program_input, program, i)
                        for i in range(lib.nkl_program_input_count(program)))
    self.outputs = tuple(self._tensor(lib.nkl_program_output, program, i)
                         for i in range(lib.nkl_program_output_count(program)))
    self.constants = tuple(self._constant(program, i) for i in range(lib.nkl_program_constant_count(program)))
    self.aliases = tuple(self._alias(program, i) for i in range(lib.nkl_program_alias_count(program)))
    weakref.finalize(self, lib.nkl_program_release, program)

  @staticmethod
  def _tensor(get, program, i, *more):
    io = nkl.Io()
    get(program, i, byref(io), *more)
    return Tensor(io.name.decode(), tuple(io.shape[:io.rank]), _numpy_dtype(io.dtype))

  @classmethod
  def _constant(cls, program, i):
    data = c_void_p()
    tensor = cls._tensor(nkl.library().nkl_program_constant, program, i, byref(data))
    count = int(np.prod(tensor.shape, dtype=np.int64)) * tensor.dtype.itemsize
    return tensor, np.frombuffer(ctypes.string_at(data, count), tensor.dtype).reshape(tensor.shape)

  @staticmethod
  def _alias(program, i):
    operand, output = c_int32(), c_int32()
    nkl.library().nkl_program_alias(program, i, byref(operand), byref(output))
    return operand.value, output.value


# ---- arguments -------------------------------------------------------------------------------------------------------


def freeze(name, value):
  """A constant as a hashable (kind, value) in which 1, 1.0, True, 0.0 and -0.0 are five values."""
  if isinstance(value, np.generic):
    value = value.item() if value.dtype.kind in "biufUS" else float(value)
  if value is None:
    return (nkl.ARG_NIL, None)
  if isinstance(value, bool):
    return (nkl.ARG_BOOL, value)
  if isinstance(value, int):
    if not -2**63 <= value < 2**63:
      raise NkiluaError("err_nki_param_not_hashable", f"argument {name}: {value} does not fit 64 bits")
    return (nkl.ARG_INT, value)
  if isinstance(value, float):
    return (nkl.ARG_NUM, struct.pack("<d", value))
  if isinstance(value, str):
    return (nkl.ARG_STR, value.encode())
  if isinstance(value, bytes):
    return (nkl.ARG_STR, value)
  if isinstance(value, tuple):
    return (nkl.ARG_TUPLE, tuple(freeze(name, item) for item in value))
  hint = "; use a tuple" if isinstance(value, list) else ""
  raise NkiluaError("err_nki_param_not_hashable",
                    f"argument {name} is a {type(value).__name__}; a kernel takes arrays, numbers, booleans, strings, "
                    f"None and tuples of these{hint}", status="NKL_ERR_TRACE")


def _put_constant(arg, frozen, keep):
  arg.kind, value = frozen
  if arg.kind == nkl.ARG_BOOL:
    arg.u.b = value
  elif arg.kind == nkl.ARG_INT:
    arg.u.i = value
  elif arg.kind == nkl.ARG_NUM:
    arg.u.n = struct.unpack("<d", value)[0]
  elif arg.kind == nkl.ARG_STR:
    arg.u.s.p, arg.u.s.len = value, len(value)
    keep.append(value)
  elif arg.kind == nkl.ARG_TUPLE:
    items = (nkl.Arg * len(value))()
    for item, part in zip(items, value):
      _put_constant(item, part, keep)
    keep.append(items)
    arg.u.tuple.items, arg.u.tuple.n = items, len(value)


def _put_tensor(arg, who, spec, keep):
  lib, desc = nkl.library(), nkl.TensorDesc()
  lib.nkl_tensor_desc_init(byref(desc))
  name = spec.dtype.name.encode()
  desc.dtype = lib.nkl_dtype_parse(name, len(name))
  if not lib.nkl_dtype_size(desc.dtype):
    raise NkiluaError("err_framework_dtype", f"argument {who}: framework 'jax' has no NKI dtype for its elements "
                      f"({spec.dtype.name})", status="NKL_ERR_UNSUPPORTED")
  if len(spec.shape) > nkl.MAX_RANK:
    raise NkiluaError("err_framework", f"argument {who}: framework 'jax': rank is not 0 to {nkl.MAX_RANK}")
  desc.rank = len(spec.shape)
  desc.shape[:desc.rank] = spec.shape
  keep.append(desc)
  arg.kind, arg.u.decl = nkl.ARG_DECL, ctypes.pointer(desc)


# ---- files and calls -------------------------------------------------------------------------------------------------


class _File:
  """A kernel file loaded in a context of its own; a context serves one thread at a time."""

  def __init__(self, path, target):
    lib, options = nkl.library(), nkl.Options()
    self.lock = threading.Lock()
    self.kernels = {}
    self.traces = weakref.WeakValueDictionary()  # of the programs the context keeps, by address
    lib.nkl_options_init(byref(options))
    options.target = target.encode() if target is not None else None
    self.context = c_void_p()
    status = lib.nkl_open(byref(self.context), byref(options))
    self.close = weakref.finalize(self, _close, self.context, self.kernels)
    self.check(status)
    self.check(lib.nkl_load_file(self.context, os.fsencode(path)))

  def check(self, status):
    nkl.check(status, nkl.library().nkl_last_error(self.context).contents)

  def kernel(self, name):
    """Handle and parameter names of a kernel; under the lock."""
    if name not in self.kernels:
      lib, kernel = nkl.library(), c_void_p()
      self.check(lib.nkl_get_kernel(self.context, None if name is None else name.encode(), byref(kernel)))
      count = lib.nkl_kernel_param_count(kernel)
      self.kernels[name] = kernel, [lib.nkl_kernel_param_name(kernel, i).decode() for i in range(count)]
    return self.kernels[name]


def _close(context, kernels):
  for kernel, _ in kernels.values():
    nkl.library().nkl_kernel_release(kernel)
  nkl.library().nkl_close(context)


_files_lock = threading.Lock()
_files = {}  # (path, content, target) -> _File
_contents = {}  # path -> (state of the file, digest of its content)


def _content(path):
  """A digest of the file; it is read again only when size, time or place on the disk say that it changed."""
  try:
    state = os.stat(path)
    state = (state.st_mtime_ns, state.st_size, state.st_ino)
    if _contents.get(path, (None,))[0] != state:
      with open(path, "rb") as file:
        _contents[path] = (state, hashlib.sha256(file.read()).hexdigest())
  except OSError as e:
    raise NkiluaError("err_script_file", f"{path}: {e.strerror}", status="NKL_ERR_IO") from e
  return _contents[path][1]


@dataclasses.dataclass(frozen=True)
class Call:
  """What a call is besides the shapes and dtypes of its arrays; hashable, equal by value.

  arguments: per argument the parameter's name (None: by position) and a frozen constant, or None for an array.
  """

  path: str
  content: str
  kernel: str | None
  target: str | None
  grid: tuple[int, ...]
  arguments: tuple[tuple[str | None, tuple | None], ...]

  def _file(self):
    key = (self.path, self.content, self.target)
    with _files_lock:
      if key not in _files:
        _files[key] = _File(self.path, self.target)
      return _files[key]

  def _parameters(self, names):
    """The parameter that each argument is for, given the names of all; a surplus one is "#i"."""
    return [name or (names[i] if i < len(names) else f"#{i}") for i, (name, _) in enumerate(self.arguments)]

  def _request(self, kernel, names, specs, keep):
    args, rest = (nkl.Arg * len(self.arguments))(), iter(specs)
    for arg, (name, constant), parameter in zip(args, self.arguments, self._parameters(names)):
      arg.name = None if name is None else name.encode()
      if constant is None:
        _put_tensor(arg, parameter, next(rest), keep)
      else:
        _put_constant(arg, constant, keep)
    request = nkl.Request()
    nkl.library().nkl_request_init(byref(request))
    request.kernel = kernel
    grid = (c_int64 * len(self.grid))(*self.grid)
    request.args, request.nargs, request.grid, request.ngrid = args, len(args), grid, len(grid)
    keep.extend((args, grid))
    return request

  def trace(self, specs):
    """The specialization for arrays of these Specs. The library keeps and finds it; its keys see what the kernel
    captures, so the answer is never stale."""
    lib, file, keep, program = nkl.library(), self._file(), [], c_void_p()
    with file.lock:
      request = self._request(*file.kernel(self.kernel), specs, keep)
      file.check(lib.nkl_specialize(file.context, byref(request), byref(program)))
      known = file.traces.get(program.value)
      if known is not None:  # it holds the program, so the address is that program's still
        lib.nkl_program_release(program)
        return known
      trace = file.traces[program.value] = Trace(program)
      return trace

  def order(self, trace):
    """For each input of the trace the position of its array; parameters that are never read are no inputs."""
    file = self._file()
    with file.lock:
      _, names = file.kernel(self.kernel)
    arrays = [name for name, (_, constant) in zip(self._parameters(names), self.arguments) if constant is None]
    return tuple(arrays.index(tensor.name) for tensor in trace.inputs)


def is_array(value):
  """Arrays, tracers and anything else with a shape and a dtype; NumPy's scalars are numbers."""
  return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.generic)


def bind(kernel_file, name, args, constants, grid, target):
  """A Call and the arrays among its arguments, in order: by position first, then by name."""
  path = os.path.realpath(os.fspath(kernel_file))
  if target is None:
    target = os.environ.get(TARGET_VARIABLE) or None
  if grid is None:
    grid = ()
  grid = tuple(int(n) for n in grid) if isinstance(grid, (tuple, list)) else (int(grid),)
  arguments, arrays = [], []
  for who, value in [*((None, v) for v in args), *sorted(constants.items())]:
    if is_array(value):
      arrays.append(value)
      arguments.append((who, None))
    else:
      arguments.append((who, freeze(f"#{len(arguments)}" if who is None else who, value)))
  return Call(path, _content(path), name, target, grid, tuple(arguments)), arrays


def clear_files():
  """Forgets all contexts; programs that are in use stay."""
  with _files_lock:
    _files.clear()
