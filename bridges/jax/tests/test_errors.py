"""What goes wrong: while tracing NkiluaError, while running JAX's own error with nkilua's text."""

import base64
import enum
import pathlib
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
    self.raises("err_nki_param_not_hashable", "argument scale is of type list", nk.call, KERNELS, "affine", x,
                scale=[1])
    self.raises("err_nki_param_not_hashable", "argument scale is of type dict", nk.call, KERNELS, "affine", x, {})
    self.raises("err_nki_param_not_hashable", "does not fit 64 bits", nk.call, KERNELS, "affine", x, 1 << 63)
    self.raises("err_framework_dtype", "argument x: framework 'jax' has no NKI dtype for its elements (complex64[4,8])",
                nk.call, KERNELS, "copy", x.astype(jnp.complex64))
    self.raises("err_framework_dtype", "(float64[4,8])", nk.dump_config, KERNELS, "copy", np.zeros((4, 8)))
    self.raises("err_framework", "rank is not 0 to 8", nk.call, KERNELS, "copy", jnp.zeros((1,) * 9))
    self.raises("err_kernel_surplus", "copy", nk.call, KERNELS, "copy", x, 1, 2)
    self.raises("err_kernel_keyword", "scales", nk.call, KERNELS, "affine", x, scales=1)

  def test_an_error_names_the_kernel_and_what_it_got(self):
    x = iota(4, 8)
    for name, args, given, id, what in (
        ("affine", (x,), {"scale": 2.0, "shift": x[:2]}, "err_num_partition_mismatch",
         "x = float32[4,8], scale = 2.0, shift = float32[2,8], kind is not given"),
        ("copy", (), {}, "err_lua", "x is not given"),
        ("copy", (3,), {}, "err_lua", "x = 3"),
        ("copy", (x, x), {}, "err_kernel_surplus", "x = float32[4,8], #1 = float32[4,8]"),
        ("copy", (x,), {"x": x}, "err_kernel_twice", "x = float32[4,8]"),
        ("copy", (x,), {"grid": (2, nk.nc(3)), "y": ("a", (None, True))}, "err_kernel_keyword",
         "x = float32[4,8], y = ('a', (None, True)), grid 2, nc(3)"),
        ("nothing", (x,), {}, "err_tensor_output_not_written_to", "_x = float32[4,8]"),
        ("cast", (x, "flaot32"), {}, "err_unknown_dtype", "x = float32[4,8], dtype = 'flaot32'"),
    ):
      line = f"in the call of kernel {name!r} of {KERNELS.resolve()}: {what}"
      with self.subTest(name):
        error = self.raises(id, "", nk.call, KERNELS, name, *args, **given)
        self.assertEqual(error.call, line)
        self.assertEqual(str(error).splitlines()[-1], line)

  def test_what_a_kernel_raises(self):
    lines = KERNELS.read_text().splitlines()
    number = 1 + next(i for i, line in enumerate(lines) if "error(what ==" in line)
    for what, part in (("boom", "boom"), ("table", "(error object is a table value)"),
                       (None, "(error object is a nil value)")):
      error = self.raises("err_lua", part, nk.call, KERNELS, "stops", iota(4, 8), what)
      self.assertIn(f"kernels.lua:{number}", str(error))
      self.assertIn("in the call of kernel 'stops'", str(error))

  def test_arguments_that_are_no_constants(self):
    x = iota(4, 8)
    kinds = "arrays, numbers, booleans, strings, None, dtypes and tuples of these"
    for value in ({}, {1}, [1], range(3), slice(1), 1j, np.complex64(1), np.datetime64("2020"), np.longdouble(1),
                  object(), len, (1, None), bool, int, Exception, (1, [2])):
      with self.subTest(repr(value)):
        for given in ((KERNELS, "affine", x, value), (KERNELS, "affine", value)):
          part = "ends with None, and no list of Lua's ends with nil"
          part = part if isinstance(value, tuple) and value[1] is None else kinds
          error = self.raises("err_nki_param_not_hashable", part, nk.call, *given)
          self.assertRegex(error.message, r"^argument (x|scale)(\[1\])?(: | is of type )")
          self.assertIn("kernels.lua, whose parameters are x, scale, shift, kind", str(error))
    for value in (1 << 63, -(1 << 63) - 1, np.uint64(1 << 63), 1 << 700):
      self.raises("err_nki_param_not_hashable", "integers are -9223372036854775808 to 9223372036854775807", nk.call,
                  KERNELS, "affine", x, value)
    self.raises("err_text", "argument scale, '\\udc80', is no Unicode text", nk.call, KERNELS, "affine", x, "\udc80")
    for dtype in (np.float64, np.dtype("int64"), jnp.int4, jnp.complex64):
      self.raises("err_framework_dtype", f"argument dtype: there is no NKI dtype {np.dtype(dtype).name}", nk.call,
                  KERNELS, "cast", x, dtype)

  def test_arrays_that_no_kernel_takes(self):
    for array, what in ((jnp.zeros((4, 8), jnp.int4), "(int4[4,8])"), (jax.random.key(0), "(key<fry>[])"),
                        (np.zeros((4, 8), jax.dtypes.float0), "(float0[4,8])"),
                        (jnp.zeros((4, 8), jnp.float8_e4m3b11fnuz), "(float8_e4m3b11fnuz[4,8])")):
      self.raises("err_framework_dtype", f"argument x: framework 'jax' has no NKI dtype for its elements {what}",
                  nk.call, KERNELS, "copy", array)
    for array in (np.array(["a"]), np.array([object()]), np.zeros(3, "M8[s]")):
      self.raises("err_framework_dtype", "JAX takes no array of dtype", nk.call, KERNELS, "copy", array)
    for shape in ((0,), (4, 0), (0, 8)):
      self.raises("err_framework", f"argument x: framework 'jax': float32[{','.join(map(str, shape))}] has no "
                  "elements; the tensors of a kernel have sizes from 1 on", nk.call, KERNELS, "copy", jnp.zeros(shape))
    with jax.enable_x64(True):
      for dtype in ("float64", "int64", "uint64"):
        self.raises("err_framework_dtype", f"({dtype}[4,8])", nk.call, KERNELS, "copy", np.zeros((4, 8), dtype))

  def test_names_and_files_of_another_kind(self):
    x = iota(4, 8)
    for args, part in (((KERNELS, 3), "the name of a kernel must be a str, got int"),
                       ((KERNELS, b"copy"), "the name of a kernel must be a str, got bytes"),
                       ((None, "copy"), "NoneType"), ((3, "copy"), "int")):
      with self.assertRaises(TypeError) as caught:
        nk.call(*args, x)
      self.assertIn(part, str(caught.exception))
    self.raises("err_text", "'copy\\x00s', holds a NUL", nk.call, KERNELS, "copy\0s", x)
    self.raises("err_text", "kernel_file, 'a\\x00b', holds a NUL", nk.call, "a\0b", "copy", x)
    self.raises("err_script_file", "Is a directory", nk.call, KERNELS.parent, None, x)
    self.raises("err_kernel_choice", "it returns one kernel", nk.call, EXAMPLES / "softmax.lua", "softmax", x)

  def test_a_target_or_grid_that_does_not_exist(self):
    self.raises("err_unknown_platform_target", "trn9", nk.call, KERNELS, "copy", iota(4, 8), platform_target="trn9")
    self.raises("err_kernel_grid", "an axis of the grid must be a positive integer", nk.call, KERNELS, "copy",
                iota(4, 8), grid=0)

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

  def test_there_is_no_derivative(self):
    with self.assertRaises(NotImplementedError) as caught:
      jax.grad(lambda x: nk.call(KERNELS, "copy", x).sum())(iota(4, 8))
    self.assertRegex(str(caught.exception), r"kernel 'copy' of .*kernels\.lua has no derivative: give it one with "
                     "jax.custom_vjp or jax.custom_jvp")

  def test_there_is_none_in_forward_mode_either(self):
    copy, x = lambda x: nk.call(KERNELS, "copy", x), iota(4, 8)
    for f in (lambda: jax.jvp(copy, (x,), (x,)), lambda: jax.linearize(copy, x), lambda: jax.jacfwd(copy)(x),
              lambda: jax.linear_transpose(copy, x)(x)):
      with self.assertRaises(NotImplementedError) as caught:
        f()
      self.assertIn("has no derivative", str(caught.exception))
    # What is not the kernel's has one.
    np.testing.assert_array_equal(jax.grad(lambda y: (y * copy(x)).sum())(x), x)

  def test_custom_vjp_gives_one(self):
    copy = jax.custom_vjp(lambda x: nk.call(KERNELS, "affine", x, 3.0))
    copy.defvjp(lambda x: (copy(x), None), lambda _, g: (nk.call(KERNELS, "affine", g, 3.0),))
    np.testing.assert_array_equal(jax.grad(lambda x: copy(x).sum())(iota(4, 8)), jnp.full((4, 8), 3.0))


class Handler(unittest.TestCase):
  """Custom-calls of the handler that nothing in this package would write."""

  def setUp(self):
    nk.call(KERNELS, "copy", iota(4, 8))  # registers the handler
    self.config, _, _ = nk.dump_config(KERNELS, "copy", iota(4, 8))

  def refused(self, part, *arrays, results=None, aliases=None, **attributes):
    results = jax.ShapeDtypeStruct((4, 8), jnp.float32) if results is None else results
    call = jax.ffi.ffi_call("nkilua_xla_ffi_execute", results, input_output_aliases=aliases)
    with self.assertRaises(jax.errors.JaxRuntimeError) as caught:
      jax.block_until_ready(jax.jit(lambda *a: call(*a, **attributes))(*arrays))
    text = str(caught.exception)
    self.assertTrue(text.startswith(("INVALID_ARGUMENT: ", "UNIMPLEMENTED: ")), text)
    self.assertIn(part, text)

  def test_buffers_of_another_program(self):
    x, config = iota(4, 8), self.config
    for array, what in ((iota(4, 9), "f32[4,9]"), (iota(32), "f32[32]"), (jnp.float32(3), "f32[]"),
                        (iota(4, 8, 1, 1, 1, 1, 1, 1, 1), "f32[4,8,1,1,1,1,1,1,...]"), (jnp.zeros((0, 8)), "f32[0,8]"),
                        (x.astype(jnp.bfloat16), "bf16[4,8]"),
                        (x.astype(jnp.complex64), "XLA type 15 [4,8]"), (x.astype(jnp.int4), "XLA type 21 [4,8]"),
                        (x > 3, "pred[4,8]"), (x.astype(jnp.float8_e4m3b11fnuz), "XLA type 23 [4,8]")):
      self.refused(f"copy: 'x' is {what}", array, config=config)
    for shape, dtype, what in (((4, 9), jnp.float32, "f32[4,9]"), ((4, 8), jnp.float16, "f16[4,8]"),
                               ((), jnp.int32, "s32[]")):
      self.refused(f"copy: 'output_0' is {what}", x, results=jax.ShapeDtypeStruct(shape, dtype), config=config)
    f32 = jax.ShapeDtypeStruct((4, 8), jnp.float32)
    self.refused("copy: wrong number of tensors: it takes 1, got 0", config=config)
    self.refused("copy: wrong number of tensors: it takes 1, got 2", x, x, config=config)
    self.refused("has 1, and there is room for 2", x, results=[f32, f32], config=config)

  def test_other_attributes(self):
    x, config = iota(4, 8), self.config
    self.refused("there is no attribute 'config'", x)
    self.refused("there is no attribute 'configs'; there are 'config' and 'strict'", x, configs=config)
    self.refused("there is no attribute 'more'", x, config=config, more=np.int32(3))
    for value in (np.int32(3), np.float32(1), True, np.arange(4, dtype=np.int32), {"config": config}):
      self.refused("the attribute 'config' is no string", x, config=value)
    for value in (np.int32(1), "yes", np.arange(2), {"a": np.True_}):
      self.refused("the attribute 'strict' is no truth value", x, config=config, strict=value)

  def test_damaged_configs(self):
    x, config = iota(4, 8), self.config
    json_text = base64.b64decode(config).decode()
    again = lambda text: base64.b64encode(text.encode()).decode()
    for damaged in ("", "=", config[:-4], config[:40], config + "\n\n", config + " ", config + config, config[::-1],
                    config.lower(), again("null"), again("[]"), again("{}"), again(json_text[:-1]),
                    again(json_text + " x"),
                    again(json_text.replace('"kernel_version":1', '"kernel_version":2')),
                    again(json_text.replace("nkilua-mlir", "bir")),
                    again(json_text.replace("nisa.dma_copy", "nisa.dma_cop")),
                    again(json_text.replace('"shape":[4,8]', '"shape":[4,-8]')),
                    again(json_text.replace("float32", "float31"))):
      with self.subTest(damaged[:60]):
        self.assertNotEqual(damaged, config)
        self.refused("[err_", x, config=damaged)
    generator = np.random.default_rng(7)
    for at in generator.integers(0, len(config), 40):
      self.refused("[err_", x, config=config[:at] + "*" + config[at + 1:])

  def test_aliases_that_the_program_does_not_know(self):
    """XLA then shares a buffer, or copies it; the numbers are right either way."""
    call = jax.ffi.ffi_call("nkilua_xla_ffi_execute", jax.ShapeDtypeStruct((4, 8), jnp.float32),
                            input_output_aliases={0: 0})
    x = iota(4, 8)
    np.testing.assert_array_equal(jax.jit(lambda x: call(x, config=self.config))(x), x)
    np.testing.assert_array_equal(x, iota(4, 8))


if __name__ == "__main__":
  unittest.main()
