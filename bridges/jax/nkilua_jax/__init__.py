"""nkilua kernels inside JAX programs: run by simulation on the CPU, lowered to a custom-call for Neuron."""

from ._library import VERSION as __version__
from ._library import NkiluaError
from ._primitive import call, clear_cache, dump_config
from .torch_xla import TorchXlaCall, torch_xla_call

__all__ = ["NkiluaError", "TorchXlaCall", "call", "clear_cache", "dump_config", "torch_xla_call"]
