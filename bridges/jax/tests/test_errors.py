"""What goes wrong: while tracing NkiluaError, while running JAX's own error with nkilua's text."""

import pickle
import tempfile
import unittest

import support
from support import EXAMPLES, KERNELS, iota, jnp, np

import jax
import nkilua_jax as nk


class Tracing(unittest.TestCase):

  def raises(self, id, part, f, *args, **kwargs):
    with self.assertRaises(nk.NkiluaError) as caught:
      f(*args, **kwargs)
    error = caught.exception
    self.assertEqual(error.id, id)
    self.assertIn(part, error.message)
    self.assertIn(error.message, str(error))
    return error

  def test_a_wrong_kernel_is_blamed_with_its_line(self):
    lines = KERNELS.read_text().splitlines()
    for name, id, part, code in (
        ("fails", "err_no_such_name", "no nl.laod; did you mean nl.load?", "return nl.laod(x)"),
        ("wrong", "err_shape_mismatch", "have different shapes", "nl.load(x[nl.ds(0, 2)])")):
      for call in (nk.call, jax.jit(nk.call, static_argnums=(0, 1))):
        error = self.raises(id, part, call, KERNELS, name, iota(4, 8))
        self.assertEqual(error.file, "kernels.lua")
        self.assertIn(code, lines[error.line - 1])
        self.assertEqual(str(error).splitlines()[0], f"kernels.lua:{error.line}: {error.message} [{id}]")

  def test_an_error_of_the_kernel_itself(self):
    error = self.raises("err_lua", "shapes differ", nk.call, EXAMPLES / "tensor_add.lua", None, iota(4, 8), iota(4, 9))
    self.assertEqual(error.status, "NKL_ERR_SCRIPT")
    self.assertIn("stack traceback", error.traceback)

  def test_a_kernel_that_is_not_there(self):
    self.raises("err_kernel_choice", "there is no kernel 'sofmax'", nk.call, KERNELS, "sofmax", iota(4, 8))
    self.raises("err_kernel_several", "several kernels", nk.call, KERNELS, None, iota(4, 8))
    self.raises("err_script_file", "no_such.lua", nk.call, "no_such.lua", None, iota(4, 8))

  def test_a_file_that_does_not_load(self):
    with tempfile.TemporaryDirectory() as folder:
      for source, id in (("return 3", "err_no_kernel"), ("return nki.jit(", "err_lua_syntax"),
                         ("error('no')", "err_lua")):
        with open(f"{folder}/k.lua", "w") as file:
          file.write(source)
        with self.assertRaises(nk.NkiluaError) as caught:
          nk.call(f"{folder}/k.lua", None, iota(4, 8))
        self.assertEqual(caught.exception.id, id)

  def test_arguments_that_no_kernel_takes(self):
    x = iota(4, 8)
    self.raises("err_nki_param_not_hashable", "argument scale is a list", nk.call, KERNELS, "affine", x, scale=[1])
    self.raises("err_nki_param_not_hashable", "is a dict", nk.call, KERNELS, "affine", x, {})
    self.raises("err_nki_param_not_hashable", "does not fit 64 bits", nk.call, KERNELS, "affine", x, 1 << 63)
    self.raises("err_framework_dtype", "argument x: framework 'jax' has no NKI dtype for its elements (complex64)",
                nk.call, KERNELS, "copy", x.astype(jnp.complex64))
    self.raises("err_framework_dtype", "(float64)", nk.dump_config, KERNELS, "copy", np.zeros((4, 8)))
    self.raises("err_framework", "rank is not 0 to 8", nk.call, KERNELS, "copy", jnp.zeros((1,) * 9))
    self.raises("err_kernel_surplus", "copy", nk.call, KERNELS, "copy", x, 1, 2)
    self.raises("err_kernel_keyword", "scales", nk.call, KERNELS, "affine", x, scales=1)

  def test_a_target_or_grid_that_does_not_exist(self):
    self.raises("err_unknown_platform_target", "trn9", nk.call, KERNELS, "copy", iota(4, 8), target="trn9")
    self.raises("err_kernel_grid", "positive integers", nk.call, KERNELS, "copy", iota(4, 8), grid=0)

  def test_errors_can_be_pickled(self):
    error = self.raises("err_no_such_name", "", nk.call, KERNELS, "fails", iota(4, 8))
    copy = pickle.loads(pickle.dumps(error))
    self.assertEqual(vars(copy), vars(error))
    self.assertEqual(str(copy), str(error))

  def test_a_failed_call_leaves_the_kernels_usable(self):
    self.raises("err_no_such_name", "", nk.call, KERNELS, "fails", iota(4, 8))
    np.testing.assert_array_equal(nk.call(KERNELS, "copy", iota(4, 8)), iota(4, 8))


class Running(unittest.TestCase):

  def test_a_fault_of_the_simulation_names_the_line(self):
    table, index = jnp.ones((100, 16)), jnp.full((10, 1), 500, jnp.int32)
    call = lambda t, i: nk.call(EXAMPLES / "embedding.lua", None, t, i)
    for f in (call, jax.jit(call)):
      with self.assertRaises(jax.errors.JaxRuntimeError) as caught:
        jax.block_until_ready(f(table, index))
      text = str(caught.exception)
      self.assertRegex(text, r"INVALID_ARGUMENT: embedding\.lua:\d+: nisa\.dma_copy: .*index 500 of dimension 0")
      self.assertIn("[err_tensor_access_out_of_bound]", text)
    np.testing.assert_array_equal(call(table, index * 0), jnp.ones((10, 16)))  # and it goes on

  def test_a_config_of_other_shapes_is_refused(self):
    config, _, _ = nk.dump_config(KERNELS, "copy", iota(4, 8))
    nk.call(KERNELS, "copy", iota(4, 8))  # registers the handler
    for config, x, part in ((config, iota(4, 9), "copy: 'x' is f32[4,9]; it must be f32[4,8]"),
                            (config[:-4], iota(4, 8), "[err_"), ("", iota(4, 8), "err_")):
      call = jax.ffi.ffi_call("nkilua_xla_ffi_execute", jax.ShapeDtypeStruct((4, 8), jnp.float32))
      with self.assertRaises(jax.errors.JaxRuntimeError) as caught:
        jax.block_until_ready(call(x, config=config))
      self.assertIn(part, str(caught.exception))

  def test_there_is_no_derivative(self):
    with self.assertRaises(NotImplementedError) as caught:
      jax.grad(lambda x: nk.call(KERNELS, "copy", x).sum())(iota(4, 8))
    self.assertIn("nkilua_call", str(caught.exception))

  def test_custom_vjp_gives_one(self):
    copy = jax.custom_vjp(lambda x: nk.call(KERNELS, "affine", x, 3.0))
    copy.defvjp(lambda x: (copy(x), None), lambda _, g: (nk.call(KERNELS, "affine", g, 3.0),))
    np.testing.assert_array_equal(jax.grad(lambda x: copy(x).sum())(iota(4, 8)), jnp.full((4, 8), 3.0))


if __name__ == "__main__":
  unittest.main()
