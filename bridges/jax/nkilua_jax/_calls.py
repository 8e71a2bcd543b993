"""What users call: Kernel, and the functions that need none."""

import os
import pathlib
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

import jax

from . import _arguments, _kernel, _primitive, _torch_xla
from ._options import NAMES, Grid, Options
from ._torch_xla import TorchXlaCall

_JAX_MODES = ("auto", "simulation", "jax", "legacy")
_TORCH_MODES = ("auto", "torchxla", "legacy")


class KernelOptions(TypedDict, total=False):
  """Options of a kernel and of its launch, under the names that nki.jit gives them; all may be left out.

  grid: a number, nc(n), or a tuple of these. platform_target: "trn2" ...; without it the kernel's own, then
  NEURON_PLATFORM_TARGET_OVERRIDE, then the machine. mode: "auto", "simulation" (never lowered for neuron), "jax" or
  "legacy" (parameters that are written are outputs). func_name: the name in config and HLO. enable_cache: False traces
  at every call. cache_size: how many specializations are kept. opts: compile options, carried into the config. strict:
  in simulations a read of memory that was never written is an error, not a report.
  """

  grid: Grid | None
  platform_target: str | None
  mode: str | None
  func_name: str | None
  enable_cache: bool | None
  cache_size: int | None
  opts: Mapping[str, Any] | None
  strict: bool


class Kernel:
  """A kernel of a Lua file with its options: k(x, y, scale=2.0), and k[grid](x, y, scale=2.0).

  kernel_file: the file. name: the kernel's key in the table that the file returns; None when it returns one kernel.
  options: see KernelOptions. Immutable; the file is loaded at the first call.
  """

  __slots__ = ("kernel_file", "name", "_options", "__weakref__")

  def __init__(self, kernel_file: str | os.PathLike, name: str | None = None, **options: Unpack[KernelOptions]):
    unknown = sorted(set(options) - set(NAMES))
    if unknown:
      raise TypeError(f"there is no option {unknown[0]!r}; options are {', '.join(NAMES)}")
    self.kernel_file = os.fspath(kernel_file)
    self.name = name
    self._options = tuple(options.items())
    Options.make(**options)

  @property
  def __name__(self) -> str:
    """What jax.jit calls a program that is this kernel alone."""
    return self.name or pathlib.Path(os.fsdecode(self.kernel_file)).stem

  @property
  def options(self) -> KernelOptions:
    """Those that were given."""
    return dict(self._options)

  def replace(self, **options: Unpack[KernelOptions]) -> "Kernel":
    """The same kernel with other options."""
    return Kernel(self.kernel_file, self.name, **{**self.options, **options})

  def __getitem__(self, grid: Grid) -> "Kernel":
    return self.replace(grid=grid)

  def __repr__(self) -> str:
    options = "".join(f", {name}={value!r}" for name, value in self._options)
    return f"Kernel({self.kernel_file!r}, {self.name!r}{options})"

  def _bind(self, args, constants, who, modes):
    bound, arrays = _kernel.bind(self.kernel_file, self.name, Options.make(**self.options), args, constants)
    _kernel.check_mode(bound, who, modes)
    return bound, arrays

  def __call__(self, *args: Any, **constants: Any) -> jax.Array | tuple[jax.Array, ...]:
    """Calls the kernel; under jax.jit the call becomes part of the program.

    Arrays, by position or by name, are operands. Numbers, booleans, strings, None, dtypes and tuples of these are
    constants that the kernel is specialized for. Returns one array, or a tuple when the kernel returned several values
    or a list.

    Raises NkiluaError when the kernel cannot be loaded or traced; what fails while it runs is a JaxRuntimeError.
    """
    return _primitive.run(*self._bind(args, constants, "nkilua_jax.call", _JAX_MODES))

  def dump_config(self, *args: Any, **constants: Any) -> tuple[str, list[str], list[str]]:
    """The backend_config of the call, its input names and its output names. Whatever has shape and dtype will do as an
    array: jax.ShapeDtypeStruct, for one."""
    bound, arrays = self._bind(args, constants, "nkilua_jax.dump_config", (*_JAX_MODES, "torchxla"))
    trace = bound.trace(_arguments.specs(arrays))
    return trace.backend_config, [t.name for t in trace.inputs], [t.name for t in trace.outputs]

  def torch_xla_call(self, *args: Any, **constants: Any) -> TorchXlaCall:
    """The call as torch-xla's builders take it; of arrays only shape and dtype are read."""
    return _torch_xla.describe(*self._bind(args, constants, "nkilua_jax.torch_xla_call", _TORCH_MODES))


def _split(given):
  """Options and constants among keyword arguments."""
  return {k: v for k, v in given.items() if k in NAMES}, {k: v for k, v in given.items() if k not in NAMES}


def call(kernel_file: str | os.PathLike, name: str | None, *args: Any,
         **options_and_constants: Any) -> jax.Array | tuple[jax.Array, ...]:
  """Kernel(kernel_file, name, **options)(*args, **constants). Keyword arguments named like an option (KernelOptions)
  are options; a kernel parameter of such a name is given by position, or by name to a Kernel."""
  options, constants = _split(options_and_constants)
  return Kernel(kernel_file, name, **options)(*args, **constants)


def dump_config(kernel_file: str | os.PathLike, name: str | None, *args: Any,
                **options_and_constants: Any) -> tuple[str, list[str], list[str]]:
  """Kernel.dump_config, with the arguments of call."""
  options, constants = _split(options_and_constants)
  return Kernel(kernel_file, name, **options).dump_config(*args, **constants)


def torch_xla_call(kernel_file: str | os.PathLike, name: str | None, *args: Any,
                   **options_and_constants: Any) -> TorchXlaCall:
  """Kernel.torch_xla_call, with the arguments of call."""
  options, constants = _split(options_and_constants)
  return Kernel(kernel_file, name, **options).torch_xla_call(*args, **constants)


def clear_cache() -> None:
  """Forgets every loaded kernel file and every trace; a call loads and traces again. Functions that jax.jit compiled
  keep running; one that was traced and not yet lowered cannot be lowered any more."""
  _kernel.clear_files()
  _primitive.forget()
