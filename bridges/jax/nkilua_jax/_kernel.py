"""Kernel files, their contexts, and traces: what nkl_specialize makes of a kernel and its arguments. Knows no JAX."""

import ctypes
import dataclasses
import hashlib
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from ctypes import byref, c_int32, c_int64, c_void_p
from typing import Any

import ml_dtypes
import numpy as np

from . import _library as nkl
from ._arguments import Spec, freeze, is_array, put_constant, put_tensor, thaw
from ._library import NkiluaError
from ._options import Cores, Options, check_text

# Dtypes whose elements travel as another type's bytes, as in the HLO that nkilua prints.
_CONTAINER = {"tfloat32": "float32", "float8_e5m2_x4": "uint32", "float8_e4m3fn_x4": "uint32",
              "float4_e2m1fn_x4": "uint16", "bool_": "bool"}


def _numpy_dtype(dtype):
  name = nkl.library().nkl_dtype_name(dtype).decode()
  name = _CONTAINER.get(name, name)
  return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


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


# ---- files -----------------------------------------------------------------------------------------------------------


class _File:
  """A kernel file loaded in a context of its own; a context serves one thread at a time."""

  def __init__(self, path, source):
    lib, options = nkl.library(), nkl.Options()
    self.lock = threading.Lock()
    self.kernels = {}  # (name, options) -> handle and parameter names
    self.traces = weakref.WeakValueDictionary()  # of the programs the context keeps, by address
    lib.nkl_options_init(byref(options))
    self.context = c_void_p()
    status = lib.nkl_open(byref(self.context), byref(options))
    self.close = weakref.finalize(self, _close, self.context, self.kernels)
    self.check(status)
    self.check(lib.nkl_load_string(self.context, source, len(source), b"@" + os.fsencode(path)))

  def check(self, status):
    nkl.check(status, nkl.library().nkl_last_error(self.context).contents)

  def kernel(self, name, options=Options()):
    """Handle and parameter names of a kernel with these options of its own; under the lock."""
    key = name, options
    if key not in self.kernels:
      handle = self._find(name) if options == Options() else self._replace(self.kernel(name)[0], options)
      lib = nkl.library()
      count = lib.nkl_kernel_param_count(handle)
      self.kernels[key] = handle, [lib.nkl_kernel_param_name(handle, i).decode() for i in range(count)]
    return self.kernels[key]

  def _find(self, name):
    handle = c_void_p()
    self.check(nkl.library().nkl_get_kernel(self.context, None if name is None else name.encode(), byref(handle)))
    return handle

  def _replace(self, handle, options):
    lib, changes, copy = nkl.library(), nkl.KernelOptions(), c_void_p()
    lib.nkl_kernel_options_init(byref(changes))
    for field in ("mode", "func_name", "platform_target"):
      value = getattr(options, field)
      setattr(changes, field, None if value is None else value.encode())
    if options.enable_cache is not None:
      changes.enable_cache = options.enable_cache
    changes.cache_size = options.cache_size or 0
    self.check(lib.nkl_kernel_replace(handle, byref(changes), byref(copy)))
    return copy


def _close(context, kernels):
  for kernel, _ in kernels.values():
    nkl.library().nkl_kernel_release(kernel)
  nkl.library().nkl_close(context)


_files_lock = threading.Lock()
_files = {}  # (path, content) -> _File
_contents = {}  # path -> (state of the file, digest of its content)


def _io_error(path, error):
  return NkiluaError("err_script_file", f"{path}: {error.strerror}", status="NKL_ERR_IO")


def _content(path):
  """A digest of the file; it is read again only when size, time or place on the disk say that it changed."""
  try:
    state = os.stat(path)
    state = (state.st_mtime_ns, state.st_size, state.st_ino)
    if _contents.get(path, (None,))[0] != state:
      with open(path, "rb") as file:
        _contents[path] = (state, hashlib.sha256(file.read()).hexdigest())
  except OSError as e:
    raise _io_error(path, e) from e
  return _contents[path][1]


def _load(path, content):
  """The file, which must still have this content: another one is another kernel."""
  try:
    with open(path, "rb") as file:
      source = file.read()
  except OSError as e:
    raise _io_error(path, e) from e
  if hashlib.sha256(source).hexdigest() != content:
    raise NkiluaError("err_script_changed", f"{path} is not what it was when it was called; call it again",
                      status="NKL_ERR_IO")
  source = source.removeprefix(b"\xef\xbb\xbf")  # as Lua reads files: no byte order mark, no line that begins with #
  if source.startswith(b"#"):
    source = source[len(source.split(b"\n", 1)[0]):]
  return _File(path, source)


def clear_files() -> None:
  """Forgets all contexts; programs that are in use stay."""
  with _files_lock:
    _files.clear()


# ---- calls -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Call:
  """What a call is besides the shapes and dtypes of its arrays; hashable, equal by value.

  opts: (key, frozen constant) by key. arguments: per argument the parameter's name (None: by position) and a frozen
  constant, or None for an array.
  """

  path: str
  content: str
  kernel: str | None
  options: Options
  opts: tuple[tuple[str, tuple], ...]
  arguments: tuple[tuple[str | None, tuple | None], ...]

  def _file(self):
    key = (self.path, self.content)
    with _files_lock:
      if key not in _files:
        _files[key] = _load(*key)
      return _files[key]

  def _find(self, file):
    return file.kernel(self.kernel, self.options.of_kernel)

  def _parameters(self, names):
    """The parameter that each argument is for, given the names of all; a surplus one is "#i"."""
    return [name or (names[i] if i < len(names) else f"#{i}") for i, (name, _) in enumerate(self.arguments)]

  def _put_arguments(self, names, specs, keep):
    args, rest = (nkl.Arg * len(self.arguments))(), iter(specs)
    for arg, (name, constant), parameter in zip(args, self.arguments, self._parameters(names)):
      arg.name = None if name is None else name.encode()
      if constant is None:
        put_tensor(arg, parameter, next(rest), keep)
      else:
        put_constant(arg, constant, keep)
    return args

  def _put_grid(self, request, keep):
    grid = self.options.grid
    cores = [a if isinstance(a, Cores) else Cores(a, 0, 0) for a in grid]
    sizes, spread = (c_int64 * len(grid))(*(c.size for c in cores)), (nkl.Cores * len(grid))()
    for to, axis in zip(spread, cores):
      to.count, to.block = axis.count, axis.block
    request.grid, request.ngrid, request.cores = sizes, len(grid), spread
    keep.extend((sizes, spread))

  def _request(self, kernel, names, specs, keep):
    request = nkl.Request()
    nkl.library().nkl_request_init(byref(request))
    args, opts = self._put_arguments(names, specs, keep), (nkl.Opt * len(self.opts))()
    for opt, (key, value) in zip(opts, self.opts):
      opt.key = key.encode()
      put_constant(opt.value, value, keep)
    request.kernel = kernel
    request.args, request.nargs, request.opts, request.nopts = args, len(args), opts, len(opts)
    self._put_grid(request, keep)
    keep.extend((args, opts))
    return request

  def mode(self) -> str:
    """That of the kernel, or of the options where they name one."""
    try:
      file = self._file()
      with file.lock:
        return nkl.library().nkl_kernel_mode(self._find(file)[0]).decode()
    except NkiluaError as e:
      raise e.in_call(f"in the call of {self.who()}") from None

  def trace(self, specs: Sequence[Spec]) -> Trace:
    """The specialization for arrays of these Specs. The library keeps and finds it; its keys see what the kernel
    captures, so the answer is never stale."""
    try:
      return self._trace(specs)
    except NkiluaError as e:
      raise e.in_call(self._describe(specs)) from None

  def _trace(self, specs):
    lib, file, keep, program = nkl.library(), self._file(), [], c_void_p()
    with file.lock:
      request = self._request(*self._find(file), specs, keep)
      file.check(lib.nkl_specialize(file.context, byref(request), byref(program)))
      known = file.traces.get(program.value)
      if known is not None:  # it holds the program, so the address is that program's still
        lib.nkl_program_release(program)
        return known
      trace = file.traces[program.value] = Trace(program)
      return trace

  def order(self, trace: Trace) -> tuple[int, ...]:
    """For each input of the trace the position of its array; parameters that are never read are no inputs."""
    file = self._file()
    with file.lock:
      _, names = self._find(file)
    arrays = [name for name, (_, constant) in zip(self._parameters(names), self.arguments) if constant is None]
    return tuple(arrays.index(tensor.name) for tensor in trace.inputs)

  def who(self) -> str:
    return f"{'the kernel' if self.kernel is None else f'kernel {self.kernel!r}'} of {self.path}"

  def _known_names(self):
    """The kernel's parameters, when it can be found."""
    file = _files.get((self.path, self.content))
    if file is None:
      return []
    with file.lock:
      known = file.kernels.get((self.kernel, Options()))
    return known[1] if known else []

  def _describe(self, specs):
    """The call in one line: its kernel, and what every parameter got."""
    names, rest = self._known_names(), iter(specs)
    given = {name: str(next(rest)) if constant is None else thaw(constant)
             for name, (_, constant) in zip(self._parameters(names), self.arguments)}
    parts = [f"{name} = {given.pop(name)}" if name in given else f"{name} is not given" for name in names]
    parts += [f"{name} = {value}" for name, value in given.items()]
    grid = f", grid {', '.join(map(str, self.options.grid))}" if self.options.grid else ""
    return f"in the call of {self.who()}: {', '.join(parts) or 'no arguments'}{grid}"


def _freeze_opt(key, value):
  frozen = freeze(f"opts[{key!r}]", value)
  if frozen[0] not in (nkl.ARG_BOOL, nkl.ARG_INT, nkl.ARG_NUM, nkl.ARG_STR):
    raise NkiluaError("err_kernel_option", f"opts[{key!r}] must be a boolean, a number or a string, got {value!r}")
  return key, frozen


def _freeze_argument(call, at, who, value):
  """As freeze; the message names the parameter and the kernel, which is looked for only then."""
  try:
    return freeze(who or f"#{at}", value)
  except NkiluaError as failed:
    try:
      with call._file().lock:
        names = call._find(call._file())[1]
    except NkiluaError:
      raise failed from None
    error = failed
    if who is None and at < len(names):
      try:
        freeze(names[at], value)
      except NkiluaError as named:
        error = named
    raise error.in_call(f"in the call of {call.who()}, whose parameters are {', '.join(names) or 'none'}") from None


def bind(kernel_file: str | os.PathLike, name: str | None, options: Options, args: Sequence[Any],
         constants: Mapping[str, Any]) -> tuple[Call, list[Any]]:
  """A Call and the arrays among its arguments, in order: by position first, then by name."""
  path = os.path.realpath(check_text("kernel_file", os.fsdecode(kernel_file)))
  if name is not None:
    check_text("the name of a kernel", name)
  opts = tuple(_freeze_opt(key, value) for key, value in options.opts)
  call = Call(path, _content(path), name, dataclasses.replace(options, opts=()), opts, ())
  arguments, arrays = [], []
  for who, value in [*((None, v) for v in args), *sorted(constants.items())]:
    if is_array(value):
      arrays.append(value)
      arguments.append((who, None))
    else:
      arguments.append((who, _freeze_argument(call, len(arguments), who, value)))
  return dataclasses.replace(call, arguments=tuple(arguments)), arrays


def check_mode(call: Call, who: str, modes: Sequence[str]) -> None:
  """Refuses what the function `who` cannot do: modes are those it knows. A class of the kernel's own always passes."""
  asked, known = call.options.mode, ", ".join(modes)
  if asked is not None and asked not in modes:
    raise NkiluaError("err_kernel_option", f"{who} has no mode {asked!r}; its modes are {known}")
  mode = call.mode()
  if mode not in (*modes, "framework"):
    raise NkiluaError("err_kernel_option",
                      f"{who}: {call.who()} is of mode {mode!r}; mode= gives it another one: {known}")
