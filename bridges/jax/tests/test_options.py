"""Options of kernels and launches: each one works, or is refused by its name."""

import base64
import json
import unittest

import support
from support import EXAMPLES, KERNELS, iota, jnp, np

import jax
import nkilua_jax as nk
from nkilua_jax import _arguments, _kernel, _options, _primitive


def config(name, *args, **given):
  return json.loads(base64.b64decode(nk.dump_config(KERNELS, name, *args, **given)[0]))


class Options(unittest.TestCase):

  def refused(self, id, part, f, *args, error=nk.NkiluaError, **given):
    with self.assertRaises(error) as caught:
      f(*args, **given)
    self.assertIn(part, str(caught.exception))
    if error is nk.NkiluaError:
      self.assertEqual(caught.exception.id, id)

  def test_they_reach_the_config(self):
    got = config("copy", iota(4, 8), func_name="other name", platform_target="trn3",
                 opts={"b": True, "a": 3, "c": 0.5, "d": "x"})
    self.assertEqual((got["func_name"], got["platform_target"]), ("other name", "trn3"))
    self.assertEqual(list(got["opts"].items()), [("a", 3), ("b", True), ("c", 0.5), ("d", "x")])

  def test_options_are_part_of_the_call(self):
    x = iota(4, 8)
    traces = {json.dumps(config("copy", x, opts={"level": level})["opts"]) for level in (1, 1.0, True, "1")}
    self.assertEqual(len(traces), 4)
    text = jax.jit(lambda x: nk.call(KERNELS, "copy", x, opts={"level": 7})).lower(x).as_text()
    self.assertIn(nk.dump_config(KERNELS, "copy", x, opts={"level": 7})[0], text)

  def test_the_kernels_own_target_goes_before_the_environment(self):
    x = iota(4, 8)  # support.py sets the variable to trn2
    self.assertEqual(config("for_trn1", x)["platform_target"], "trn1")
    self.assertEqual(config("for_trn1", x, platform_target="trn3")["platform_target"], "trn3")
    self.assertEqual(config("copy", x)["platform_target"], "trn2")

  def test_legacy_kernels_return_what_they_write(self):
    a, c = iota(4, 8), jnp.zeros((4, 8))
    self.refused("err_tensor_output_not_written_to", "it returns no tensor", nk.call, KERNELS, "by_reference", a, c)
    np.testing.assert_array_equal(nk.call(KERNELS, "by_reference", a, c, mode="legacy"), 3 * a)

  def test_modes(self):
    x = iota(4, 8)
    for mode in ("auto", "jax", "simulation"):
      np.testing.assert_array_equal(nk.call(KERNELS, "copy", x, mode=mode), x)
    for name, mode in (("copy", "simulation"), ("only_simulated", None)):
      traced = jax.jit(lambda x: nk.call(KERNELS, name, x, mode=mode)).trace(x)
      traced.lower()
      self.refused("err_kernel_option", "is of mode 'simulation': it is not lowered for neuron", traced.lower,
                   lowering_platforms=("neuron",))
    for mode in ("torchxla", "benchmark", "baremetal", "tpu"):
      self.refused("err_kernel_option", f"nkilua_jax.call has no mode '{mode}'; its modes are auto, simulation, jax, "
                   "legacy", nk.call, KERNELS, "copy", x, mode=mode)
    for mode in ("jax", "simulation"):
      self.refused("err_kernel_option", f"nkilua_jax.torch_xla_call has no mode '{mode}'; its modes are auto, torchxla",
                   nk.torch_xla_call, KERNELS, "copy", x, mode=mode)
    self.refused("err_kernel_option", "kernels.lua is of mode 'torchxla'; mode= gives it another one", nk.call, KERNELS,
                 "for_torch", x)
    np.testing.assert_array_equal(nk.call(KERNELS, "for_torch", x, mode="jax"), x)
    self.refused("err_kernel_option", "is of mode 'simulation'; mode= gives it another one", nk.torch_xla_call, KERNELS,
                 "only_simulated", x)
    self.assertEqual(nk.torch_xla_call(KERNELS, "for_torch", x), nk.torch_xla_call(KERNELS, "for_torch", x,
                                                                                    mode="torchxla"))

  def test_without_a_cache_every_call_traces(self):
    specs = _arguments.specs([iota(4, 8)])
    for option, same in (({}, True), ({"enable_cache": False}, False), ({"enable_cache": True}, True),
                         ({"cache_size": 1}, True)):
      call, _ = _kernel.bind(KERNELS, "copy", _options.Options.make(**option), [iota(4, 8)], {})
      first = call.trace(specs)
      self.assertIs(call.trace(specs) is first, same, option)
      np.testing.assert_array_equal(nk.call(KERNELS, "copy", iota(4, 8), **option), iota(4, 8))

  def test_a_small_cache_forgets(self):
    one, two = _arguments.specs([iota(4, 8)]), _arguments.specs([iota(2, 8)])
    call, _ = _kernel.bind(KERNELS, "copy", _options.Options.make(cache_size=1), [iota(4, 8)], {})
    first = call.trace(one)
    call.trace(two)
    self.assertIsNot(call.trace(one), first)

  def test_traces_do_not_grow_without_end(self):
    most = _primitive.MOST_TRACES
    self.addCleanup(setattr, _primitive, "MOST_TRACES", most)
    nk.clear_cache()
    _primitive.MOST_TRACES = 2
    for rows in (1, 2, 3):
      nk.call(KERNELS, "copy", iota(rows, 8))
    self.assertEqual(len(_primitive._traces), 2)
    np.testing.assert_array_equal(nk.call(KERNELS, "copy", iota(1, 8)), iota(1, 8))

  def test_strict_runs(self):
    x = iota(4, 8)
    nk.call(KERNELS, "reads_unwritten", x)
    nk.call(KERNELS, "copy", x, strict=True)
    for f in (nk.call, jax.jit(nk.call, static_argnums=(0, 1), static_argnames="strict")):
      with self.assertRaises(jax.errors.JaxRuntimeError) as caught:
        jax.block_until_ready(f(KERNELS, "reads_unwritten", x, strict=True))
      self.assertRegex(str(caught.exception), r"kernels\.lua:\d+: .* never written.*\[err_unwritten\]")

  def test_values_of_another_kind(self):
    x = iota(4, 8)
    for given, id, part in (
        ({"grid": "2"}, "err_kernel_grid", "an axis of the grid must be a positive integer, got '2'"),
        ({"grid": 2.0}, "err_kernel_grid", "got 2.0"),
        ({"grid": True}, "err_kernel_grid", "got True"),
        ({"grid": (2, -1)}, "err_kernel_grid", "below 2^63, got -1"),
        ({"grid": 1 << 63}, "err_kernel_grid", "below 2^63"),
        ({"grid": (1,) * 9}, "err_kernel_grid", "up to 8 axes, got 9"),
        ({"grid": (1 << 32, 1 << 32)}, "err_kernel_grid", "2^63 programs or more"),
        ({"cache_size": 0}, "err_kernel_option", "cache_size must be a positive integer"),
        ({"func_name": ""}, "err_func_name", "it is empty"),
        ({"func_name": "a\0b"}, "err_text", "holds a NUL"),
        ({"func_name": "\ud800"}, "err_text", "no Unicode text"),
        ({"platform_target": ""}, "err_unknown_platform_target", "targets are trn1"),
        ({"opts": {"a": (1,)}}, "err_kernel_option", "opts['a'] must be a boolean, a number or a string"),
        ({"opts": {"a": None}}, "err_kernel_option", "opts['a'] must be"),
        ({"opts": {"a\0": 1}}, "err_text", "a key of opts"),
        ({"opts": {"a": 1 << 63}}, "err_nki_param_not_hashable", "opts['a']: 9223372036854775808 does not fit"),
    ):
      with self.subTest(given):
        self.refused(id, part, nk.call, KERNELS, "copy", x, **given)
    for given, part in (
        ({"platform_target": 3}, "platform_target must be a str, got int"), ({"mode": b"jax"}, "mode must be a str"),
        ({"enable_cache": 1}, "enable_cache must be True or False, got 1"), ({"strict": None}, "strict must be"),
        ({"opts": [1]}, "opts must be a dict"), ({"opts": {1: 1}}, "a key of opts must be a str")):
      with self.subTest(given):
        self.refused(None, part, nk.call, KERNELS, "copy", x, error=TypeError, **given)


class Grids(unittest.TestCase):

  def test_physical_cores(self):
    x = iota(8, 8)
    for grid, sizes, cores in ((nk.nc(2), [2], [[2, 1]]), ((nk.nc(2) * 4,), [8], [[2, 4]]),
                               ([4 * nk.nc(2)], [8], [[2, 1]]), ((3, nk.nc(2)), [3, 2], [[1, 1], [2, 1]])):
      with self.subTest(str(grid)):
        got = config("copy", x, grid=grid)
        self.assertEqual(got["grid"], sizes)
        self.assertEqual(got["cores"], cores)
    for grid in (nk.nc(2), nk.nc(2) * 4, 4 * nk.nc(2), 8):
      np.testing.assert_array_equal(jax.jit(lambda x: nk.call(KERNELS, "by_rows", x, grid=grid))(x), 2 * x)

  def test_cores_that_there_are_not(self):
    x = iota(8, 8)
    for grid, given, id, part in (
        (nk.nc(2), {"platform_target": "trn1"}, "err_multi_cores_spmd_not_supported", "the target is trn1"),
        (nk.nc(3), {}, "err_grid_cores", "the grid spans 3 physical cores; trn2 has 2")):
      with self.assertRaises(nk.NkiluaError) as caught:
        nk.call(KERNELS, "by_rows", x, grid=grid, **given)
      self.assertEqual(caught.exception.id, id)
      self.assertIn(part, caught.exception.message)
    for make in (lambda: nk.nc(0), lambda: nk.nc(2.0), lambda: nk.nc(2) * 0, lambda: nk.nc(2) * 2 * 2,
                 lambda: nk.nc(2) * nk.nc(2)):
      with self.assertRaises(nk.NkiluaError) as caught:
        make()
      self.assertEqual(caught.exception.id, "err_kernel_grid")

  def test_they_read_as_they_are_written(self):
    self.assertEqual([str(c) for c in (nk.nc(2), nk.nc(2) * 4, 4 * nk.nc(2))], ["nc(2)", "nc(2) * 4", "4 * nc(2)"])


class Kernels(unittest.TestCase):

  def test_a_kernel_is_called_like_a_function(self):
    scale = nk.Kernel(EXAMPLES / "spmd_scale.lua")
    x = iota(384, 20)
    for k in (scale[3], scale[3,], scale.replace(grid=3)):
      np.testing.assert_array_equal(k(x, 0.5), x / 2)
      np.testing.assert_array_equal(jax.jit(k, static_argnums=1)(x, 0.5), x / 2)
      np.testing.assert_array_equal(k(x=x, factor=0.5), x / 2)
    self.assertIn("module @jit_spmd_scale", jax.jit(scale[3], static_argnums=1).lower(x, 0.5).as_text())
    self.assertEqual(scale[3].dump_config(x, 0.5), nk.dump_config(EXAMPLES / "spmd_scale.lua", None, x, 0.5, grid=3))
    self.assertEqual(scale[3].torch_xla_call(x, 0.5).backend_config, scale[3].dump_config(x, 0.5)[0])

  def test_copies_leave_the_original_alone(self):
    copy = nk.Kernel(KERNELS, "copy", platform_target="trn2")
    other = copy.replace(platform_target="trn3", func_name="c")
    self.assertEqual(copy.options, {"platform_target": "trn2"})
    self.assertEqual(other.options, {"platform_target": "trn3", "func_name": "c"})
    self.assertEqual(repr(other[2]), f"Kernel({str(KERNELS)!r}, 'copy', platform_target='trn3', func_name='c', grid=2)")

  def test_parameters_named_like_options(self):
    x = iota(4, 8)
    np.testing.assert_array_equal(nk.Kernel(KERNELS, "named")(x, grid=3.0, mode=2.0), 6 * x)
    np.testing.assert_array_equal(nk.call(KERNELS, "named", x, 3.0, 2.0), 6 * x)

  def test_unknown_options(self):
    with self.assertRaises(TypeError) as caught:
      nk.Kernel(KERNELS, "copy", target="trn2")
    self.assertIn("there is no option 'target'; options are mode, func_name, platform_target", str(caught.exception))


if __name__ == "__main__":
  unittest.main()
