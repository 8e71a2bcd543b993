"""Arguments of a call: what is an array and what a constant, and how the library gets both. Knows no JAX."""

import ctypes
import dataclasses
import struct
from ctypes import byref
from typing import Any

import numpy as np

from . import _library as nkl
from ._library import NkiluaError


@dataclasses.dataclass(frozen=True)
class Spec:
  """Shape and dtype of a tensor. The dtype may be one that NumPy has not, as that of JAX's random keys."""

  shape: tuple[int, ...]
  dtype: Any

  def __str__(self):
    names = getattr(self.dtype, "names", None)
    name = names[0] if names else getattr(self.dtype, "name", str(self.dtype))
    return f"{name}[{','.join(map(str, self.shape))}]"


def _spec(array):
  try:
    dtype = np.dtype(array.dtype)
  except TypeError:
    dtype = array.dtype
  return Spec(tuple(int(n) for n in array.shape), dtype)


def specs(arrays):
  """The Spec of each array, or of whatever has its shape and dtype."""
  return tuple(_spec(a) for a in arrays)


_KINDS = "arrays, numbers, booleans, strings, None, dtypes and tuples of these"


def is_array(value: Any) -> bool:
  """Arrays, tracers and anything else with a shape and a dtype; NumPy's scalars are numbers, its types are none."""
  other = isinstance(value, (np.generic, np.dtype, type))
  return not other and hasattr(value, "shape") and hasattr(value, "dtype")


def _dtype_of(value):
  """The NumPy dtype that value names, as jnp.bfloat16 and np.dtype("float32") do; None: it is no dtype."""
  if isinstance(value, np.dtype):
    return value
  if not isinstance(value, type):
    return None
  return np.dtype(value) if issubclass(value, np.generic) else getattr(value, "dtype", None)  # jnp's own classes


def _nki_dtype(name, dtype):
  """NKI's name of a dtype: a kernel gets dtypes as strings."""
  text = dtype.name.encode()
  found = nkl.library().nkl_dtype_parse(text, len(text))
  if not nkl.library().nkl_dtype_size(found):
    raise NkiluaError("err_framework_dtype", f"argument {name}: there is no NKI dtype {dtype.name}",
                      status="NKL_ERR_UNSUPPORTED")
  return nkl.library().nkl_dtype_name(found)


def _number_of(value):
  """A NumPy scalar as Python's; others, and those that Python cannot hold exactly, stay what they are."""
  if not isinstance(value, np.generic) or isinstance(value, (float, str, bytes)):
    return value
  if value.dtype.kind in "biu":
    return value.item()
  exact = value.dtype.kind != "c" and value.dtype.itemsize <= 8 and np.can_cast(value.dtype, np.float64)
  return float(value) if exact else value


def freeze(name: str, value: Any) -> tuple[int, Any]:
  """A constant as a hashable (kind, value) in which 1, 1.0, True, 0.0 and -0.0 are five values."""
  dtype = _dtype_of(value)
  if isinstance(dtype, np.dtype):
    return (nkl.ARG_STR, _nki_dtype(name, dtype))
  value = _number_of(value)
  if value is None:
    return (nkl.ARG_NIL, None)
  if isinstance(value, bool):
    return (nkl.ARG_BOOL, value)
  if isinstance(value, int):
    if not -2**63 <= value < 2**63:
      raise NkiluaError("err_nki_param_not_hashable", f"argument {name}: {value} does not fit 64 bits; integers are "
                        f"{-2**63} to {2**63 - 1}", status="NKL_ERR_TRACE")
    return (nkl.ARG_INT, int(value))
  if isinstance(value, float):
    return (nkl.ARG_NUM, struct.pack("<d", value))
  if isinstance(value, str):
    try:
      return (nkl.ARG_STR, value.encode())
    except UnicodeEncodeError:
      raise NkiluaError("err_text", f"argument {name}, {value!r}, is no Unicode text") from None
  if isinstance(value, bytes):
    return (nkl.ARG_STR, bytes(value))
  if isinstance(value, tuple):
    if value and value[-1] is None:
      raise NkiluaError("err_nki_param_not_hashable", f"argument {name}: {value!r} ends with None, and no list of "
                        "Lua's ends with nil", status="NKL_ERR_TRACE")
    return (nkl.ARG_TUPLE, tuple(freeze(f"{name}[{i}]", item) for i, item in enumerate(value)))
  hint = "; use a tuple" if isinstance(value, list) else ""
  raise NkiluaError("err_nki_param_not_hashable", f"argument {name} is of type {type(value).__name__}; a kernel takes "
                    f"{_KINDS}{hint}", status="NKL_ERR_TRACE")


def thaw(frozen):
  """How a frozen constant reads in messages."""
  kind, value = frozen
  if kind == nkl.ARG_NUM:
    return repr(struct.unpack("<d", value)[0])
  if kind == nkl.ARG_STR:
    return repr(value.decode(errors="replace"))
  if kind == nkl.ARG_TUPLE:
    return f"({', '.join(map(thaw, value))}{',' if len(value) == 1 else ''})"
  return repr(value)


def put_constant(arg, frozen, keep):
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
      put_constant(item, part, keep)
    keep.append(items)
    arg.u.tuple.items, arg.u.tuple.n = items, len(value)


def put_tensor(arg, who, spec, keep):
  lib, desc = nkl.library(), nkl.TensorDesc()
  lib.nkl_tensor_desc_init(byref(desc))
  name = getattr(spec.dtype, "name", str(spec.dtype)).encode()
  desc.dtype = lib.nkl_dtype_parse(name, len(name))
  if not lib.nkl_dtype_size(desc.dtype):
    raise NkiluaError("err_framework_dtype", f"argument {who}: framework 'jax' has no NKI dtype for its elements "
                      f"({spec})", status="NKL_ERR_UNSUPPORTED")
  if len(spec.shape) > nkl.MAX_RANK:
    raise NkiluaError("err_framework", f"argument {who}: framework 'jax': rank is not 0 to {nkl.MAX_RANK}")
  if 0 in spec.shape:
    raise NkiluaError("err_framework", f"argument {who}: framework 'jax': {spec} has no elements; the tensors of a "
                      "kernel have sizes from 1 on")
  desc.rank = len(spec.shape)
  desc.shape[:desc.rank] = spec.shape
  keep.append(desc)
  arg.kind, arg.u.decl = nkl.ARG_DECL, ctypes.pointer(desc)
