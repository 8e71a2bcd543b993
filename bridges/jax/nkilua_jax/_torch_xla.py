"""The same call for torch-xla, as data: what torch_xla's custom-call builders take. Needs no torch."""

import dataclasses

import numpy as np

from . import _arguments, _kernel
from ._library import NkiluaError

TARGET = "AwsNeuronNkiKernel"
_NO_TORCH_DTYPE = {"float8_e4m3"}


@dataclasses.dataclass(frozen=True)
class TorchXlaCall:
  """One custom-call.

  order: for each operand the position of its tensor among those given; constants: arrays to append behind them.
  output_dtypes: names of torch dtypes, getattr(torch, name). backend_config, target, has_side_effect, api_version and
  frontend_attributes go to the builder as they are. output_operand_aliasing: (output_shape_index, operand_index,
  operand_shape_index) of each alias, for builders that take aliases. io_map: {output: operand}, for builders that take
  none and alias whole programs instead. result_is_sequence: the kernel returned several values or a list.
  """

  target: str
  order: tuple[int, ...]
  constants: tuple[np.ndarray, ...]
  output_shapes: list[list[int]]
  output_dtypes: list[str]
  has_side_effect: bool
  backend_config: str
  api_version: int
  frontend_attributes: dict[str, str]
  output_operand_aliasing: list[tuple[list[int], int, list[int]]]
  io_map: dict[int, int]
  result_is_sequence: bool

  @property
  def arguments(self):
    """What follows the list of operands in torch_xla._XLAC._xla_custom_call, but for the dtypes as names."""
    return (self.target, self.output_shapes, self.output_dtypes, self.has_side_effect, self.backend_config,
            self.api_version, self.frontend_attributes)


def _torch_dtype(tensor):
  name = np.dtype(tensor.dtype).name
  if name in _NO_TORCH_DTYPE:
    raise NkiluaError("err_framework_dtype", f"output {tensor.name}: framework 'torch' has no dtype {name}",
                      status="NKL_ERR_UNSUPPORTED")
  return name


def describe(call: _kernel.Call, arrays: list) -> TorchXlaCall:
  trace = call.trace(_arguments.specs(arrays))
  tuple_result = len(trace.outputs) != 1 or trace.result_is_sequence
  return TorchXlaCall(
      target=TARGET,
      order=call.order(trace),
      constants=tuple(array for _, array in trace.constants),
      output_shapes=[list(t.shape) for t in trace.outputs],
      output_dtypes=[_torch_dtype(t) for t in trace.outputs],
      has_side_effect=False,
      backend_config=trace.backend_config,
      api_version=0,
      frontend_attributes={"has_collectives": "1"} if trace.has_collectives else {},
      output_operand_aliasing=[([output] if tuple_result else [], operand, []) for operand, output in trace.aliases],
      io_map={output: operand for operand, output in trace.aliases},
      result_is_sequence=trace.result_is_sequence)
