"""What a call is besides its arguments: the options of nki.jit, of a launch and of the simulator. Knows no library."""

import dataclasses
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from ._library import NkiluaError


# ---- grids -----------------------------------------------------------------------------------------------------------


def _count(value: Any, what: str) -> int:
  """A positive integer; True is none, and neither is 2.0."""
  try:
    if isinstance(value, bool):
      raise TypeError
    n = operator.index(value)
  except TypeError:
    raise NkiluaError("err_kernel_grid", f"{what} must be a positive integer, got {value!r}") from None
  if not 1 <= n < 2**63:
    raise NkiluaError("err_kernel_grid", f"{what} must be a positive integer below 2^63, got {n}")
  return n


@dataclasses.dataclass(frozen=True)
class Cores:
  """An axis of a grid that is spread over physical cores; made by nc.

  size: programs on the axis. count: cores. block: how many neighbours are on one core before the next one's turn.
  """

  size: int
  count: int
  block: int = 1

  def _spread(self, n: Any, block: int) -> "Cores":
    if self.size != self.count:
      raise NkiluaError("err_kernel_grid", f"{self} has several programs per core already")
    return Cores(_count(self.size * _count(n, "the programs of a core"), "the axis"), self.count, block)

  def __mul__(self, inner: int) -> "Cores":
    """inner programs on each core, neighbours on one core."""
    return self._spread(inner, _count(inner, "the programs of a core"))

  def __rmul__(self, outer: int) -> "Cores":
    """outer programs on each core, neighbours on different cores."""
    return self._spread(outer, 1)

  def __str__(self) -> str:
    n = self.size // self.count
    if n == 1:
      return f"nc({self.count})"
    return f"{n} * nc({self.count})" if self.block == 1 else f"nc({self.count}) * {n}"


def nc(cores: int) -> Cores:
  """So many physical cores as an axis of a grid, as nl.nc: nc(2), nc(2) * 4 (blocks of four), 4 * nc(2) (in turn)."""
  n = _count(cores, "nc: cores")
  return Cores(n, n)


Grid = int | Cores | Sequence[int | Cores]


def freeze_grid(grid: Grid | None) -> tuple[int | Cores, ...]:
  if grid is None:
    return ()
  axes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
  if len(axes) > 8:
    raise NkiluaError("err_kernel_grid", f"a grid has up to 8 axes, got {len(axes)}")
  axes = tuple(axis if isinstance(axis, Cores) else _count(axis, "an axis of the grid") for axis in axes)
  if math.prod(a.size if isinstance(a, Cores) else a for a in axes) >= 2**63:
    raise NkiluaError("err_kernel_grid", "the grid has 2^63 programs or more")
  return axes


# ---- the others ------------------------------------------------------------------------------------------------------


def check_text(what: str, value: Any, status: str = "NKL_ERR_ARG") -> str:
  """A string that C can read."""
  if not isinstance(value, str):
    raise TypeError(f"{what} must be a str, got {type(value).__name__}")
  try:
    value.encode()
  except UnicodeEncodeError:
    raise NkiluaError("err_text", f"{what}, {value!r}, is no Unicode text", status=status) from None
  if "\0" in value:
    raise NkiluaError("err_text", f"{what}, {value!r}, holds a NUL", status=status)
  return value


def _check_bool(what: str, value: Any) -> bool:
  if not isinstance(value, bool):
    raise TypeError(f"{what} must be True or False, got {value!r}")
  return value


def _freeze_opts(opts: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
  if opts is None:
    return ()
  if not isinstance(opts, Mapping):
    raise TypeError(f"opts must be a dict of names and values, got {type(opts).__name__}")
  return tuple(sorted((check_text("a key of opts", key), value) for key, value in opts.items()))


@dataclasses.dataclass(frozen=True)
class Options:
  """Options of a kernel; None leaves what the kernel's file says. opts: (key, value) by key; grid: () is no grid."""

  mode: str | None = None
  func_name: str | None = None
  platform_target: str | None = None
  enable_cache: bool | None = None
  cache_size: int | None = None
  opts: tuple[tuple[str, Any], ...] = ()
  grid: tuple[int | Cores, ...] = ()
  strict: bool = False

  @classmethod
  def make(cls, *, grid: Grid | None = None, platform_target: str | None = None, mode: str | None = None,
           func_name: str | None = None, enable_cache: bool | None = None, cache_size: int | None = None,
           opts: Mapping[str, Any] | None = None, strict: bool = False) -> "Options":
    for what, value in (("platform_target", platform_target), ("mode", mode), ("func_name", func_name)):
      if value is not None:
        check_text(what, value)
    if enable_cache is not None:
      _check_bool("enable_cache", enable_cache)
    if cache_size is not None:
      try:
        cache_size = _count(cache_size, "cache_size")
      except NkiluaError as e:
        raise NkiluaError("err_kernel_option", e.message) from None
    return cls(mode, func_name, platform_target, enable_cache, cache_size, _freeze_opts(opts), freeze_grid(grid),
               _check_bool("strict", strict))

  @property
  def of_kernel(self) -> "Options":
    """Those that make another kernel, not another call."""
    return dataclasses.replace(self, opts=(), grid=(), strict=False)


NAMES = tuple(field.name for field in dataclasses.fields(Options))
