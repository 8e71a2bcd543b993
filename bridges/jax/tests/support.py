"""What the tests share: paths, a pinned target, small arrays."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLES = ROOT / "examples"
KERNELS = HERE / "kernels.lua"

os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn2"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.insert(0, str(HERE.parent))

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402


def iota(*shape, dtype=jnp.float32, start=0):
  return (jnp.arange(np.prod(shape)) + start).reshape(shape).astype(dtype)


def normal(seed, *shape):
  return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
