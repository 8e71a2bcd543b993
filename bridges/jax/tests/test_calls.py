"""Calls that succeed: eagerly, under jit, in other transformations, in place, from threads."""

import concurrent.futures
import enum
import functools
import math
import tempfile
import unittest

import support
from support import EXAMPLES, KERNELS, iota, jnp, normal, np

import jax
import ml_dtypes
import nkilua_jax as nk
from nkilua_jax import _arguments, _kernel
from nkilua_jax._options import Options

ADD = EXAMPLES / "tensor_add.lua"


class Programs(unittest.TestCase):

  def test_three_kernels_in_one_program(self):
    x, w, b = normal(1, 128, 64), normal(2, 64, 256), normal(3, 128, 256)

    @jax.jit
    def network(x, w, b):
      h = jnp.tanh(nk.call(EXAMPLES / "softmax.lua", None, x) @ w)
      h = nk.call(ADD, None, h, b * 0.5)
      return nk.call(EXAMPLES / "rmsnorm.lua", None, h, jnp.full((1, 256), 2.0), 1e-5).sum(axis=0)

    e = np.exp(x - x.max(axis=1, keepdims=True))
    h = np.tanh(e / e.sum(axis=1, keepdims=True) @ w) + b * np.float32(0.5)
    want = (2 * h / np.sqrt((h * h).mean(axis=1, keepdims=True) + 1e-5)).sum(axis=0)
    np.testing.assert_allclose(network(x, w, b), want, rtol=2e-4, atol=2e-4)

  def test_eager_and_jit_give_the_same_bytes(self):
    x = normal(4, 200, 96)
    call = functools.partial(nk.call, EXAMPLES / "softmax.lua", None)
    np.testing.assert_array_equal(call(x), jax.jit(call)(x))

  def test_a_kernel_works_in_loops_and_branches(self):
    x = iota(4, 8)

    @jax.jit
    def f(x, flag):
      step = lambda carry, _: (nk.call(ADD, None, carry, x), None)
      total, _ = jax.lax.scan(step, x, length=3)
      return jax.lax.cond(flag, lambda t: nk.call(KERNELS, "affine", t, 0.5), lambda t: t, total)

    np.testing.assert_array_equal(f(x, True), 2 * x)
    np.testing.assert_array_equal(f(x, False), 4 * x)

  def test_loops_that_jax_counts_and_programs_in_programs(self):
    x = iota(4, 8)
    inner = jax.jit(lambda x: nk.call(ADD, None, x, x))
    outer = jax.jit(lambda x: jax.jit(inner)(x) - x)
    np.testing.assert_array_equal(outer(x), x)
    loop = jax.jit(lambda x: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, inner(c[1])), (0, x))[1])
    np.testing.assert_array_equal(loop(x), 8 * x)
    np.testing.assert_array_equal(jax.lax.fori_loop(0, 2, lambda _, c: inner(c), x), 4 * x)
    np.testing.assert_array_equal(jax.lax.map(inner, jnp.stack([x, 3 * x]))[1], 6 * x)
    np.testing.assert_array_equal(jax.checkpoint(inner)(x), 2 * x)
    self.assertEqual(jax.eval_shape(inner, jax.ShapeDtypeStruct((4, 8), jnp.bfloat16)).dtype, jnp.bfloat16)
    np.testing.assert_array_equal(inner.lower(x).compile()(x), 2 * x)

  def test_the_grid_is_passed_on(self):
    x = iota(384, 20)
    for grid in (3, (3,), [3]):
      np.testing.assert_array_equal(nk.call(EXAMPLES / "spmd_scale.lua", None, x, 0.5, grid=grid), x / 2)

  def test_several_outputs(self):
    x = iota(4, 8) + 0.3
    half, narrow = jax.jit(lambda x: nk.call(KERNELS, "parts", x))(x)
    np.testing.assert_array_equal(half, x[:, :4])
    self.assertEqual(narrow.dtype, jnp.bfloat16)
    np.testing.assert_array_equal(narrow, x.astype(jnp.bfloat16))

  def test_a_list_of_one_is_a_sequence(self):
    results = nk.call(KERNELS, "sequence", iota(4, 8))
    self.assertIsInstance(results, tuple)
    self.assertEqual(len(results), 1)
    np.testing.assert_array_equal(results[0], iota(4, 8))

  def test_targets_differ_in_the_config_alone(self):
    x = iota(4, 8)
    configs = [nk.dump_config(KERNELS, "copy", x, platform_target=t)[0] for t in ("trn1", "trn2", None)]
    self.assertNotEqual(configs[0], configs[1])
    self.assertEqual(configs[1], configs[2])
    np.testing.assert_array_equal(nk.call(KERNELS, "copy", x, platform_target="trn1"), x)


class Arguments(unittest.TestCase):

  def test_constants_specialize(self):
    x = iota(4, 8)
    for scale, kind in ((2, "integer"), (2.0, "float"), (np.int32(2), "integer"), (np.float32(2), "float"),
                        (ml_dtypes.bfloat16(2), "float")):
      np.testing.assert_array_equal(nk.call(KERNELS, "affine", x, scale, None, kind), 2 * x)

  def test_constants_arrive_bit_by_bit(self):
    x = iota(4, 8)
    e = enum.IntEnum("E", "A B")
    for value, kind, text in (
        (True, "boolean", "true"), (False, "boolean", "false"), (np.True_, "boolean", "true"), (0, "number", "0"),
        ((1 << 63) - 1, "number", "9223372036854775807"), (-(1 << 63), "number", "-9223372036854775808"),
        (np.uint8(255), "number", "255"), (np.int64(-1), "number", "-1"), (e.B, "number", "2"),
        (0.1, "number", "0x1.999999999999ap-4"), (np.float64(0.1), "number", "0x1.999999999999ap-4"),
        (np.float32(0.1), "number", "0x1.99999ap-4"), (ml_dtypes.bfloat16(0.1), "number", "0x1.9ap-4"),
        (np.float16(0.5), "number", "0x1p-1"), (5e-324, "number", "0x0.0000000000001p-1022"),
        (math.inf, "number", "inf"), (-math.inf, "number", "-inf"), (math.nan, "number", "nan"),
        (-0.0, "number", "-0x0p+0"),
        ("", "string", ""), ("a\n\"\u00e9\U0001f600", "string", "a\n\"\u00e9\U0001f600"), (np.str_("q"), "string", "q"),
        (b"bytes", "string", "bytes"), ((), "table", "{}"), (("a", (None, 1)), "table", "{a, {nil, 1}}"),
        (jnp.bfloat16, "string", "bfloat16"), (np.float32, "string", "float32"), (np.dtype("uint8"), "string", "uint8"),
        (jnp.dtype("float8_e5m2"), "string", "float8_e5m2"), (ml_dtypes.float8_e4m3fn, "string", "float8_e4m3fn"),
        (np.bool_, "string", "bool_"), (None, "nil", "nil")):
      with self.subTest(repr(value)):
        nk.dump_config(KERNELS, "told", x, kind, text, value=value)
        np.testing.assert_array_equal(nk.call(KERNELS, "told", x, kind, text, value), x)

  def test_a_dtype_is_a_constant(self):
    for dtype in (jnp.bfloat16, np.float16, jnp.dtype("float32"), "int32"):
      self.assertEqual(nk.call(KERNELS, "cast", iota(4, 8), dtype).dtype, jnp.dtype(dtype))

  def test_no_array_at_all(self):
    call = lambda: nk.call(KERNELS, "constant", 8)
    for f in (call, jax.jit(call)):
      np.testing.assert_array_equal(f(), jnp.full((4, 8), 3.0))

  def test_zero_has_a_sign(self):
    x = jnp.ones((4, 8))
    self.assertFalse(np.signbit(nk.call(KERNELS, "affine", x, 0.0)).any())
    self.assertTrue(np.signbit(nk.call(KERNELS, "affine", x, -0.0)).all())

  def test_constants_of_every_kind(self):
    got = nk.call(KERNELS, "choose", iota(4, 8), True, "caf\u00e9", (3, (4,)), None)
    np.testing.assert_array_equal(got, 304 * iota(4, 8))

  def test_arguments_by_name_in_any_order(self):
    x, shift = iota(4, 8), iota(4, 8, start=5)
    want = 3 * x + shift
    np.testing.assert_array_equal(nk.call(KERNELS, "affine", x, 3.0, shift), want)
    np.testing.assert_array_equal(nk.call(KERNELS, "affine", x, shift=shift, scale=3.0), want)
    np.testing.assert_array_equal(jax.jit(lambda s: nk.call(KERNELS, "affine", shift=s, x=x, scale=3.0))(shift), want)

  def test_numpy_arrays_are_arrays(self):
    got = nk.call(ADD, None, np.ones((4, 8), np.float32), iota(4, 8))
    self.assertIsInstance(got, jax.Array)
    np.testing.assert_array_equal(got, iota(4, 8) + 1)

  def test_parameters_that_are_not_read(self):
    a, b, c = iota(4, 8), iota(4, 8, start=100), iota(4, 8, start=7)
    np.testing.assert_array_equal(nk.call(KERNELS, "unused", a, b, c), a - c)
    np.testing.assert_array_equal(nk.call(KERNELS, "legacy", a, b, c), 3 * a)  # c is written and never read: no operand


class Dtypes(unittest.TestCase):

  def test_every_dtype_passes_through_with_its_bytes(self):
    for name in ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float16", "bfloat16",
                 "float8_e4m3", "float8_e5m2", "float8_e4m3fn"):
      with self.subTest(name):
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        raw = np.arange(4 * 8 * dtype.itemsize, dtype=np.uint8)
        x = (raw % 2 if name == "bool" else raw % 100).view(dtype).reshape(4, 8)
        got = jax.jit(lambda x: nk.call(KERNELS, "copy", x))(x)
        self.assertEqual(got.dtype, dtype)
        self.assertEqual(np.asarray(got).tobytes(), x.tobytes())

  def test_scales_of_gen4(self):
    x = np.arange(32, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu).reshape(4, 8)
    got = nk.call(KERNELS, "copy", x, platform_target="trn3")
    self.assertEqual(np.asarray(got).tobytes(), x.tobytes())

  def test_bf16_is_rounded_once(self):
    a, b = (normal(seed, 128, 32).astype(ml_dtypes.bfloat16) for seed in (5, 6))
    got = jax.jit(lambda a, b: nk.call(ADD, None, a, b))(a, b)
    want = (a.astype(np.float32) + b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(np.asarray(got).view(np.uint16), want.view(np.uint16))


class Aliases(unittest.TestCase):

  def test_a_donated_array_is_updated_in_place(self):
    step = jax.jit(lambda w, g: nk.call(EXAMPLES / "inplace_update.lua", None, w, g, 0.5), donate_argnums=0)
    w, g = iota(256, 64) + 0, iota(256, 64, start=3)
    want, address = w - 0.5 * g, w.unsafe_buffer_pointer()
    compiled = step.lower(w, g).compile().as_text()
    self.assertIn("output_to_operand_aliasing={{}: (0, {})}", compiled)
    self.assertNotIn(" copy(", compiled)
    got = step(w, g)
    self.assertTrue(w.is_deleted())
    self.assertEqual(got.unsafe_buffer_pointer(), address)
    np.testing.assert_array_equal(got, want)

  def test_an_array_that_is_not_donated_keeps_its_value(self):
    x = iota(4, 8)
    was, now = nk.call(KERNELS, "double", x)
    np.testing.assert_array_equal(x, iota(4, 8))
    np.testing.assert_array_equal(was, x)
    np.testing.assert_array_equal(now, 2 * x)

  def test_an_operand_that_is_used_later_is_copied_first(self):

    @jax.jit
    def f(x):
      y = x + 1
      was, now = nk.call(KERNELS, "double", y)
      return was + now + y

    np.testing.assert_array_equal(f(iota(4, 8)), 4 * (iota(4, 8) + 1))

  def test_one_array_twice(self):
    x = iota(256, 64)
    np.testing.assert_array_equal(nk.call(EXAMPLES / "inplace_update.lua", None, x, x, 0.5), x / 2)


class Batches(unittest.TestCase):

  def test_vmap_is_a_loop_over_the_members(self):
    x, y = iota(5, 4, 8), iota(4, 8, start=9)
    add = lambda a, b: nk.call(ADD, None, a, b)
    np.testing.assert_array_equal(jax.vmap(add)(x, 2 * x), 3 * x)
    np.testing.assert_array_equal(jax.vmap(add, in_axes=(0, None))(x, y), x + y)
    np.testing.assert_array_equal(jax.jit(jax.vmap(add, in_axes=(None, 0)))(y, x), x + y)
    np.testing.assert_array_equal(jax.vmap(add, in_axes=(2, 0))(jnp.moveaxis(x, 0, 2), x), 2 * x)
    np.testing.assert_array_equal(jax.vmap(add, out_axes=1)(x, x), 2 * jnp.moveaxis(x, 0, 1))

  def test_batches_of_every_form(self):
    x = iota(3, 4, 8)
    copy = lambda x: nk.call(KERNELS, "copy", x)
    back = jnp.moveaxis(x, 0, 2)
    np.testing.assert_array_equal(jax.vmap(copy, in_axes=-1, out_axes=-1)(back), back)
    np.testing.assert_array_equal(jax.vmap(copy, in_axes=None, axis_size=3)(x[0]), jnp.stack([x[0]] * 3))
    self.assertEqual(jax.vmap(copy)(jnp.zeros((0, 4, 8))).shape, (0, 4, 8))
    np.testing.assert_array_equal(jax.vmap(lambda n: nk.call(KERNELS, "constant", 8) + n)(jnp.arange(3.0))[2],
                                  jnp.full((4, 8), 5.0))
    pair = jax.vmap(lambda p: nk.call(ADD, None, p["a"], p["b"]), in_axes=({"a": 0, "b": None},))
    np.testing.assert_array_equal(pair({"a": x, "b": x[0]}), x + x[0])
    scanned = jax.jit(lambda x: jax.lax.scan(lambda c, m: (nk.call(ADD, None, c, m), copy(m)), x[0], x))
    np.testing.assert_array_equal(jax.vmap(scanned)(x[None])[0][0], x[0] + x.sum(0))

  def test_nested_and_with_aliases_and_several_outputs(self):
    x = iota(2, 3, 4, 8)
    was, now = jax.vmap(jax.vmap(lambda x: nk.call(KERNELS, "double", x)))(x)
    np.testing.assert_array_equal(was, x)
    np.testing.assert_array_equal(now, 2 * x)
    np.testing.assert_array_equal(x, iota(2, 3, 4, 8))


class Threads(unittest.TestCase):

  def test_eight_threads_trace_compile_and_run_at_once(self):

    def work(number):
      for i in range(4):
        x = iota(4 + number, 8 + i)
        scale = float(number * 10 + i)
        eager = nk.call(KERNELS, "affine", x, scale)
        jitted = jax.jit(lambda x: nk.call(ADD, None, nk.call(KERNELS, "affine", x, scale), x))(x)
        np.testing.assert_array_equal(eager, x * scale)
        np.testing.assert_array_equal(jitted, x * scale + x)
      return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      self.assertEqual(list(pool.map(work, range(8))), [True] * 8)

  def test_errors_and_cleared_caches_between_threads(self):

    def work(number):
      for i in range(12):
        x = iota(2 + number % 2, 8)
        if number == 0 and i % 4 == 0:
          nk.clear_cache()
        if number % 4 == 1:
          with self.assertRaises(nk.NkiluaError):
            nk.call(KERNELS, "fails", x)
        else:
          np.testing.assert_array_equal(nk.dump_config(KERNELS, "affine", x, 2.0, x)[1], ["x", "shift"])
      return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      self.assertEqual(list(pool.map(work, range(8))), [True] * 8)

  def test_one_compiled_program_runs_in_eight_threads(self):
    f = jax.jit(lambda x: nk.call(EXAMPLES / "softmax.lua", None, x))
    inputs = [normal(seed, 64, 32) for seed in range(4)]
    want = [np.asarray(f(x)) for x in inputs]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      for got, x in zip(pool.map(lambda i: np.asarray(f(inputs[i % 4])), range(40)), range(40)):
        np.testing.assert_array_equal(got, want[x % 4])


class Caching(unittest.TestCase):

  def test_a_changed_file_is_a_new_kernel(self):
    x = iota(4, 8)
    source = ADD.read_text()
    with tempfile.TemporaryDirectory() as folder:
      path = f"{folder}/k.lua"
      for operator, want in (("+", 4 * x), ("-", 2 * x), ("*", 3 * x * x)):
        with open(path, "w") as file:
          file.write(source.replace("(a[part]) + nl", f"(a[part]) {operator} nl"))
        np.testing.assert_array_equal(nk.call(path, None, 3 * x, x), want)

  def test_a_file_that_changed_before_its_trace_is_not_taken_for_the_old_one(self):
    with tempfile.TemporaryDirectory() as folder:
      path = f"{folder}/k.lua"
      with open(path, "w") as file:
        file.write(ADD.read_text())
      call, _ = _kernel.bind(path, None, Options(), [iota(4, 8)] * 2, {})
      with open(path, "a") as file:
        file.write("-- another one\n")
      with self.assertRaises(nk.NkiluaError) as caught:
        call.trace(_arguments.specs([iota(4, 8)] * 2))
      self.assertEqual(caught.exception.id, "err_script_changed")
      np.testing.assert_array_equal(nk.call(path, None, iota(4, 8), iota(4, 8)), 2 * iota(4, 8))

  def test_files_are_read_as_lua_reads_them(self):
    with tempfile.TemporaryDirectory() as folder:
      path = f"{folder}/k.lua"
      for head in (b"", b"#!/usr/bin/env nkilua\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf# here\n"):
        with open(path, "wb") as file:
          file.write(head + ADD.read_bytes())
        np.testing.assert_array_equal(nk.call(path, None, iota(4, 8), iota(4, 8)), 2 * iota(4, 8))

  def test_equal_calls_compile_once(self):
    x = iota(4, 8)
    count = 0

    @jax.jit
    def f(x):
      nonlocal count
      count += 1
      return nk.call(KERNELS, "affine", x, 2)

    for _ in range(3):
      f(x)
    self.assertEqual(count, 1)
    self.assertEqual(f._cache_size(), 1)
    f(iota(4, 4))
    self.assertEqual(count, 2)


if __name__ == "__main__":
  unittest.main()
