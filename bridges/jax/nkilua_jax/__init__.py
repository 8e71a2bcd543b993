"""nkilua kernels inside JAX programs: run by simulation on the CPU, lowered to a custom-call for Neuron."""

from ._calls import Kernel, KernelOptions, call, clear_cache, dump_config, torch_xla_call
from ._library import VERSION as __version__
from ._library import NkiluaError
from ._options import Cores, nc
from ._torch_xla import TorchXlaCall

__all__ = ["Cores", "Kernel", "KernelOptions", "NkiluaError", "TorchXlaCall", "call", "clear_cache", "dump_config",
           "nc", "torch_xla_call"]
