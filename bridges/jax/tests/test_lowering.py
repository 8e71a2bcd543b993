"""What a call becomes: for neuron the custom-call that `nkilua hlo --as stablehlo` prints, on the CPU the handler's."""

import os
import subprocess
import unittest
from unittest import mock

import support
from support import EXAMPLES, KERNELS, ROOT, iota, jnp, np

import jax
import ml_dtypes
import nkilua_jax as nk
from jax.interpreters import mlir
from nkilua_jax import _arguments, _kernel, _primitive
from nkilua_jax._options import Options

NKILUA = os.environ.get("NKILUA", str(ROOT / "build" / "bin" / "nkilua"))
RETRACE = "NKI_DONT_CACHE_TRACE_FOR_JAX_LOWERING"
DESYNC = ("NKI trace is not properly cached, use export NKI_DONT_CACHE_TRACE_FOR_JAX_LOWERING=TRUE to workaround the "
          "issue")


def shape(*dims, dtype=jnp.float32):
  return jax.ShapeDtypeStruct(dims, dtype)


def custom_calls(text):
  """The custom-calls of a module: target, attributes that matter, types."""
  found = []
  with mlir.make_ir_context():
    module = mlir.ir.Module.parse(text)
    module.operation.verify()

    def visit(op):
      if op.name == "stablehlo.custom_call":
        defaults = ("has_side_effect", "called_computations")
        attributes = {name: str(op.attributes[name]) for name in sorted(op.attributes) if name not in defaults}
        found.append((attributes, [str(v.type) for v in op.operands], [str(v.type) for v in op.results]))
      return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
  return found


def neuron_text(f, *args):
  return jax.jit(f).trace(*args).lower(lowering_platforms=("neuron",)).as_text()


class Neuron(unittest.TestCase):

  def test_it_is_what_the_command_prints(self):
    cases = [
        ("tensor_add.lua", None, ["a=f32[256,64]", "b=f32[256,64]"], (), [shape(256, 64), shape(256, 64)], {}),
        ("inplace_update.lua", None, ["weights=bf16[256,64]", "grad=bf16[256,64]", "rate=0.5"], (),
         [shape(256, 64, dtype=jnp.bfloat16)] * 2, {"rate": 0.5}),
        ("spmd_scale.lua", None, ["x=f32[384,10]", "factor=2", "-g", "3"], (3,), [shape(384, 10)], {"factor": 2}),
        ("dynamic_sum.lua", None, ["x=f32[50,64]", "n=i32[1,1]"], (),
         [shape(50, 64), shape(1, 1, dtype=jnp.int32)], {}),
        (KERNELS, "parts", ["x=f32[4,8]"], (), [shape(4, 8)], {}),
        (KERNELS, "double", ["x=f16[4,8]"], (), [shape(4, 8, dtype=jnp.float16)], {}),
        (KERNELS, "sequence", ["x=f8e4m3[4,8]"], (), [shape(4, 8, dtype=ml_dtypes.float8_e4m3)], {}),
        (KERNELS, "legacy", ["a=f32[4,8]", "_b=f32[4,8]", "c=f32[4,8]"], (), [shape(4, 8)] * 3, {}),
    ]
    for file, name, words, grid, arrays, constants in cases:
      with self.subTest(f"{file} {name}"):
        command = [NKILUA, "hlo", "--as", "stablehlo", str(EXAMPLES / file), *words, *(["-k", name] if name else [])]
        printed = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        lowered = neuron_text(lambda *a: nk.call(EXAMPLES / file, name, *a, grid=grid, **constants), *arrays)
        want, got = custom_calls(printed.stdout), custom_calls(lowered)
        self.assertEqual(len(want), 1)
        self.assertEqual(got, want)
        self.assertIn("call_target_name", got[0][0])
        self.assertEqual(got[0][0]["call_target_name"], '"AwsNeuronCustomNativeKernel"')
        config = nk.dump_config(EXAMPLES / file, name, *arrays, grid=grid, **constants)[0]
        self.assertEqual(got[0][0]["backend_config"], f'"{config}"')

  def test_aliases(self):
    double = neuron_text(lambda x: nk.call(KERNELS, "double", x), shape(4, 8))
    alias = "output_operand_alias<output_tuple_indices = [%s], operand_index = 0, operand_tuple_indices = []>"
    self.assertIn(alias % "1", double)
    step = lambda w, g: nk.call(EXAMPLES / "inplace_update.lua", None, w, g, 0.5)
    self.assertIn(alias % "", neuron_text(step, shape(128, 8), shape(128, 8)))
    self.assertNotIn("output_operand_alias", neuron_text(lambda x: nk.call(KERNELS, "copy", x), shape(4, 8)))

  def test_donation_reaches_the_entry(self):
    step = jax.jit(lambda w, g: nk.call(EXAMPLES / "inplace_update.lua", None, w, g, 0.5), donate_argnums=0)
    text = step.trace(shape(128, 8), shape(128, 8)).lower(lowering_platforms=("neuron",)).as_text()
    self.assertIn("tf.aliasing_output = 0", text)

  def test_constants_are_trailing_operands_and_collectives_are_said(self):
    """Made up on top of a real trace: tensors whose values belong to the program."""
    f = jax.jit(lambda x: nk.call(KERNELS, "copy", x))
    traced = f.trace(shape(4, 8))
    real = _primitive._trace_for_lowering
    table = (_kernel.Tensor("table", (2, 3), np.dtype(ml_dtypes.bfloat16)), np.ones((2, 3), ml_dtypes.bfloat16))

    def changed(*args):
      trace = real(*args)
      copy = object.__new__(_kernel.Trace)
      copy.__dict__.update(vars(trace), constants=(table,), has_collectives=True)
      return copy

    with mock.patch.object(_primitive, "_trace_for_lowering", changed):
      text = traced.lower(lowering_platforms=("neuron",)).as_text()
    (attributes, operands, _), = custom_calls(text)
    self.assertEqual(operands, ["tensor<4x8xf32>", "tensor<2x3xbf16>"])
    self.assertEqual(attributes["mhlo.frontend_attributes"], '{has_collectives = "1"}')
    self.assertEqual(attributes["operand_layouts"].count("dense<[1, 0]>"), 2)

  def test_export_for_both_platforms(self):
    f = jax.jit(lambda x: nk.call(KERNELS, "copy", x))
    exported = jax.export.export(
        f, platforms=("cpu", "neuron"),
        disabled_checks=[jax.export.DisabledSafetyCheck.custom_call("nkilua_xla_ffi_execute"),
                         jax.export.DisabledSafetyCheck.custom_call("AwsNeuronCustomNativeKernel")])(shape(4, 8))
    text = str(exported.mlir_module())
    self.assertIn("AwsNeuronCustomNativeKernel", text)
    self.assertIn("nkilua_xla_ffi_execute", text)
    np.testing.assert_array_equal(exported.call(iota(4, 8)), iota(4, 8))

  def test_other_platforms_are_refused(self):
    traced = jax.jit(lambda x: nk.call(KERNELS, "copy", x)).trace(shape(4, 8))
    with self.assertRaises(NotImplementedError) as caught:
      traced.lower(lowering_platforms=("cuda",))
    self.assertIn("nkilua kernels run on cpu and lower for neuron, not for cuda", str(caught.exception))


class Cpu(unittest.TestCase):

  def test_it_is_a_call_of_the_handler(self):
    text = jax.jit(lambda x: nk.call(KERNELS, "double", x)).lower(shape(4, 8)).as_text()
    (attributes, _, _), = custom_calls(text)
    self.assertEqual(attributes["call_target_name"], '"nkilua_xla_ffi_execute"')
    self.assertIn(f'{{config = "{nk.dump_config(KERNELS, "double", shape(4, 8))[0]}"}}', text)
    self.assertIn("output_tuple_indices = [1]", attributes["output_operand_aliases"])


class Desync(unittest.TestCase):
  """Lowering trusts what abstract evaluation left behind, and says so when it is gone."""

  def setUp(self):
    os.environ.pop(RETRACE, None)
    self.addCleanup(os.environ.pop, RETRACE, None)

  def test_a_lost_trace_is_an_error_with_a_way_out(self):
    for platform in ("cpu", "neuron"):
      traced = jax.jit(lambda x: nk.call(KERNELS, "copy", x)).trace(shape(4, 8))
      nk.clear_cache()
      with self.assertRaises(nk.NkiluaError) as caught:
        traced.lower(lowering_platforms=(platform,))
      self.assertEqual(caught.exception.message, DESYNC)
      self.assertEqual(caught.exception.id, "err_jax_trace_not_cached")
      os.environ[RETRACE] = "TRUE"
      self.assertEqual(len(custom_calls(traced.lower(lowering_platforms=(platform,)).as_text())), 1)
      del os.environ[RETRACE]

  def test_tracing_again_does_not_trust_the_old_trace(self):
    traced = jax.jit(lambda x: nk.call(KERNELS, "copy", x)).trace(shape(4, 8))
    with mock.patch.object(_kernel.Call, "trace", autospec=True, side_effect=_kernel.Call.trace) as trace:
      traced.lower()
      self.assertEqual(trace.call_count, 0)
      os.environ[RETRACE] = "TRUE"
      traced.lower(lowering_platforms=("neuron",))
      self.assertEqual(trace.call_count, 1)

  def test_a_new_trace_must_fit_what_was_promised(self):
    traced = jax.jit(lambda x: nk.call(KERNELS, "copy", x)).trace(shape(4, 8))
    os.environ[RETRACE] = "TRUE"
    other = _kernel.bind(KERNELS, "parts", Options(), (shape(4, 8),), {})[0].trace(_arguments.specs([shape(4, 8)]))
    with mock.patch.object(_kernel.Call, "trace", return_value=other):
      with self.assertRaises(nk.NkiluaError) as caught:
        traced.lower()
    self.assertIn("float32[4,4], bfloat16[4,8], are not those of the abstract evaluation, float32[4,8]",
                  caught.exception.message)

  def test_clear_cache_leaves_compiled_functions_alone(self):
    f = jax.jit(lambda x: nk.call(KERNELS, "copy", x))
    f(iota(4, 8))
    nk.clear_cache()
    np.testing.assert_array_equal(f(iota(4, 8)), iota(4, 8))
    np.testing.assert_array_equal(f(iota(2, 8)), iota(2, 8))


class TorchXla(unittest.TestCase):

  def test_the_call_as_data(self):
    call = nk.torch_xla_call(KERNELS, "double", shape(4, 8, dtype=jnp.bfloat16))
    config = nk.dump_config(KERNELS, "double", shape(4, 8, dtype=jnp.bfloat16))[0]
    self.assertEqual(call.arguments, ("AwsNeuronNkiKernel", [[4, 8], [4, 8]], ["bfloat16"] * 2, False, config, 0, {}))
    self.assertEqual(call.output_operand_aliasing, [([1], 0, [])])
    self.assertEqual(call.io_map, {1: 0})
    self.assertEqual((call.order, call.constants, call.result_is_sequence), ((0,), (), True))

  def test_one_output_has_no_index(self):
    call = nk.torch_xla_call(EXAMPLES / "inplace_update.lua", None, shape(128, 8), shape(128, 8), rate=0.5)
    self.assertEqual(call.output_operand_aliasing, [([], 0, [])])
    self.assertFalse(call.result_is_sequence)
    self.assertEqual(nk.torch_xla_call(KERNELS, "sequence", shape(4, 8)).output_operand_aliasing, [])

  def test_operands_in_the_kernels_order(self):
    call = nk.torch_xla_call(KERNELS, "affine", shape(4, 8), shift=shape(4, 8), scale=2.0)
    self.assertEqual(call.order, (0, 1))
    self.assertEqual(nk.torch_xla_call(KERNELS, "legacy", *[shape(4, 8)] * 3).order, (0, 1))

  def test_a_dtype_that_torch_lacks(self):
    with self.assertRaises(nk.NkiluaError) as caught:
      nk.torch_xla_call(KERNELS, "copy", shape(4, 8, dtype=ml_dtypes.float8_e4m3))
    self.assertEqual(caught.exception.id, "err_framework_dtype")
    self.assertIn("output_0", caught.exception.message)


if __name__ == "__main__":
  unittest.main()
