"""The JAX side: one primitive, its abstract evaluation, its lowerings for cpu and neuron, its batching rule, and the
refusal of derivatives."""

import collections
import functools
import os
import threading

import jax
import jax.extend.core
import jax.ffi
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad, batching, mlir

from . import _arguments, _kernel
from . import _library as nkl
from ._library import NkiluaError

NEURON_TARGET = "AwsNeuronCustomNativeKernel"
CPU_TARGET = "nkilua_xla_ffi_execute"
RETRACE_VARIABLE = "NKI_DONT_CACHE_TRACE_FOR_JAX_LOWERING"

_traces_lock = threading.Lock()
# (Call, digest, specs) -> Trace: what abstract evaluation hands to lowering. The last used come last; more than
# MOST_TRACES are not kept.
_traces = collections.OrderedDict()
MOST_TRACES = 4096


def _traced(call, specs):
  trace = call.trace(specs)
  with _traces_lock:
    _traces[call, trace.digest, specs] = trace
    _traces.move_to_end((call, trace.digest, specs))
    while len(_traces) > MOST_TRACES:
      _traces.popitem(last=False)
  return trace


def _kept(key):
  with _traces_lock:
    if key in _traces:
      _traces.move_to_end(key)
    return _traces.get(key)


def _avals(tensors):
  return [jax.core.ShapedArray(t.shape, t.dtype) for t in tensors]


def forget():
  """Forgets every trace."""
  with _traces_lock:
    _traces.clear()


# ---- the primitive ---------------------------------------------------------------------------------------------------

call_p = jax.extend.core.Primitive("nkilua_call")
call_p.multiple_results = True


@functools.lru_cache(maxsize=4096)
def _compiled(call, digest):
  return jax.jit(lambda *arrays: call_p.bind(*arrays, call=call, digest=digest))


@call_p.def_impl
def _run(*arrays, call, digest):
  return _compiled(call, digest)(*arrays)


@call_p.def_abstract_eval
def _abstract_eval(*avals, call, digest):
  specs = _arguments.specs(avals)
  trace = _kept((call, digest, specs))
  return _avals((trace or _traced(call, specs)).outputs)


def _trace_for_lowering(call, digest, avals_in, avals_out):
  specs = _arguments.specs(avals_in)
  if os.environ.get(RETRACE_VARIABLE, "").upper() in ("TRUE", "1"):
    trace = _traced(call, specs)
    if _arguments.specs(trace.outputs) != _arguments.specs(avals_out):
      raise NkiluaError("err_jax_outputs_changed", f"kernel {trace.name}: the outputs of the new trace, "
                        f"{_text(trace.outputs)}, are not those of the abstract evaluation, {_text(avals_out)}",
                        status="NKL_ERR_TRACE")
    return trace
  trace = _kept((call, digest, specs))
  if trace is None:
    raise NkiluaError("err_jax_trace_not_cached", "NKI trace is not properly cached, use export "
                      f"{RETRACE_VARIABLE}=TRUE to workaround the issue", status="NKL_ERR_TRACE")
  return trace


def _text(avals):
  return ", ".join(f"{np.dtype(a.dtype).name}[{','.join(map(str, a.shape))}]" for a in avals)


def _batch(args, dims, *, call, digest):
  """A kernel is made for its shapes, so a batch is a loop over its members."""
  batched = [None if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(args, dims)]
  mapped = [b for b in batched if b is not None]

  def one(members):
    member = iter(members)
    return call_p.bind(*(a if b is None else next(member) for a, b in zip(args, batched)), call=call, digest=digest)

  outputs = jax.lax.map(one, mapped)
  return outputs, [0] * len(outputs)


batching.primitive_batchers[call_p] = _batch


def _no_derivative(*_, call, **__):
  raise NotImplementedError(f"{call.who()} has no derivative: give it one with jax.custom_vjp or jax.custom_jvp around "
                            "the call (bridges/jax/README.md)")


ad.primitive_jvps[call_p] = _no_derivative
ad.primitive_transposes[call_p] = _no_derivative

# ---- lowerings -------------------------------------------------------------------------------------------------------


def _lower_neuron(ctx, *operands, call, digest):
  """The custom-call that nkilua prints: the constant tensors behind the inputs, aliases ordered by output."""
  others = set(ctx.platforms or ctx.module_context.platforms) - {"neuron"}
  if others:
    raise NotImplementedError(f"nkilua kernels run on cpu and lower for neuron, not for {', '.join(sorted(others))}")
  if call.mode() == "simulation":
    raise NkiluaError("err_kernel_option", f"{call.who()} is of mode 'simulation': it is not lowered for neuron")
  trace = _trace_for_lowering(call, digest, ctx.avals_in, ctx.avals_out)
  order = call.order(trace)
  constants = [mlir.ir_constant(array) for _, array in trace.constants]
  extra = None
  if trace.has_collectives:
    yes = mlir.ir.StringAttr.get("1")
    extra = {"mhlo.frontend_attributes": mlir.ir.DictAttr.get({"has_collectives": yes})}
  rule = jax.ffi.ffi_lowering(NEURON_TARGET, api_version=2, backend_config=trace.backend_config,
                              operand_output_aliases=dict(trace.aliases) or None, extra_attributes=extra)
  avals_in = [ctx.avals_in[i] for i in order] + _avals(tensor for tensor, _ in trace.constants)
  return rule(ctx.replace(avals_in=avals_in), *(operands[i] for i in order), *constants)


_register_lock = threading.Lock()


@functools.cache
def _register_handler_once():
  handler = nkl.library().nkl_xla_ffi_execute
  jax.ffi.register_ffi_target(CPU_TARGET, jax.ffi.pycapsule(handler), platform="cpu")


def _register_handler():
  with _register_lock:
    _register_handler_once()


def _lower_cpu(ctx, *operands, call, digest):
  """The handler of libnkilua: it holds the constants already, so the operands are the inputs alone."""
  _register_handler()
  trace = _trace_for_lowering(call, digest, ctx.avals_in, ctx.avals_out)
  order = call.order(trace)
  rule = jax.ffi.ffi_lowering(CPU_TARGET, operand_output_aliases=dict(trace.aliases) or None)
  strict = {"strict": np.True_} if call.options.strict else {}
  return rule(ctx.replace(avals_in=[ctx.avals_in[i] for i in order]), *(operands[i] for i in order),
              config=trace.backend_config, **strict)


# Without its plugin JAX does not know the name "neuron" and lets no rule be registered for it, although it lowers for
# it: so that rule is the one for all other platforms, and refuses those.
mlir.register_lowering(call_p, _lower_neuron)
mlir.register_lowering(call_p, _lower_cpu, platform="cpu")


# ---- a call ----------------------------------------------------------------------------------------------------------


def _as_jax(call, array):
  try:
    return jnp.asarray(array)
  except TypeError as e:
    raise NkiluaError("err_framework_dtype", f"{call.who()}: JAX takes no array of dtype {array.dtype}: {e}".strip(),
                      status="NKL_ERR_UNSUPPORTED") from None


def run(call, arrays):
  """Traces, and binds the primitive; one array, or a tuple when the kernel returned several values or a list."""
  arrays = [_as_jax(call, a) for a in arrays]
  trace = _traced(call, _arguments.specs(jax.typeof(a) for a in arrays))
  results = call_p.bind(*arrays, call=call, digest=trace.digest)
  return tuple(results) if trace.result_is_sequence else results[0]
