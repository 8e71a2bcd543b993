#!/usr/bin/env python3
"""jaxlib_check.py PROGRAM FORMS -- XLA's own readers take what nkilua emits.

HLO text, HloModuleProto and StableHLO of every example, of a pass-through of every element type and of the modules
that the program FORMS writes, 200 of them drawn at random, are read by jaxlib; what XLA prints of them must be what the
decoded backend_config says: target, config, aliases, shapes, names. The three forms must be one module. The config must
fit the JSON Schema of docs/.
"""
import base64
import codecs
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
from jax._src.interpreters import mlir
from jaxlib import _hlo, _jax
from jaxlib.mlir import ir

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/backend_config.schema.json").read_text()))
NATIVE = "AwsNeuronCustomNativeKernel"
HLO = {
    "bool_": "pred", "uint8": "u8", "int8": "s8", "uint16": "u16", "int16": "s16", "uint32": "u32", "int32": "s32",
    "float32": "f32", "bfloat16": "bf16", "float16": "f16", "tfloat32": "f32", "float8_e4m3": "f8e4m3",
    "float8_e5m2": "f8e5m2", "float8_e4m3fn": "f8e4m3fn", "float8_e8m0fnu": "f8e8m0fnu", "float8_e5m2_x4": "u32",
    "float8_e4m3fn_x4": "u32", "float4_e2m1fn_x4": "u16",
}


def shape(tensor):
    dims = tensor["shape"]
    layout = "{%s}" % ",".join(str(i) for i in reversed(range(len(dims)))) if dims else ""
    return f"{HLO[tensor['dtype']]}[{','.join(map(str, dims))}]{layout}"


def expect(name, what, found, wanted):
    if found != wanted:
        cut = [re.sub(r'backend_config="[^"]*"', 'backend_config="..."', str(x)) for x in (found, wanted)]
        sys.exit(f"{name}: {what} is\n  {cut[0]}\nand should be\n  {cut[1]}")


def aliases(config, tupled, kind):
    """The list as XLA prints it inside its braces; "" when nothing is aliased."""
    pairs = config["operand_output_aliases"]
    return ", ".join("{%s}: (%d, {}%s)" % (output if tupled else "", operand, kind) for operand, output in pairs)


def braces(text, key):
    """What is between the braces after key, and "" where there is no such key."""
    found = re.search(re.escape(key) + r"=\{ ?((?:[^{}]|\{[^{}]*\})*?) ?\}[,\s]", text)
    return found[1] if found else ""


def check_module(name, config, target, text, tupled):
    """One printed HloModule against the config."""
    operands = config["serialize_dims"]["operands"]
    constants = [c for c in config["constant_values"] if c["kind"] == "tensor"]
    results = ", ".join(shape(t) for t in config["kernel_return"])
    result = f"({results})" if tupled else results
    calls = re.findall(r"= (.*?) custom-call\((.*?)\), (custom_call_target=.*)", text)
    expect(name, "the number of custom-calls", len(calls), 1)
    found_result, found_operands, attributes = calls[0]
    attributes += "\n"
    expect(name, "the call's result", re.sub(r"/\*index=\d+\*/", "", found_result), result)
    expect(name, "the number of operands", len(found_operands.split(", ")), len(operands) + len(constants))
    expect(name, "the target", re.search(r'custom_call_target="([^"]*)"', attributes)[1], target)
    payload = re.search(r'backend_config="([^"]*)"', attributes)[1]
    expect(name, "the config", json.loads(base64.b64decode(payload, validate=True)), config)
    expect(name, "the call's aliases", braces(attributes, "output_to_operand_aliasing"),
           aliases(config, tupled, "") if target == NATIVE else "")
    expect(name, "the entry's aliases", braces(text, "input_output_alias"), aliases(config, tupled, ", may-alias"))
    expect(name, "the API version", re.findall(r"api_version=(\w+)", attributes),
           ["API_VERSION_STATUS_RETURNING"] if target == NATIVE else [])
    expect(name, "frontend attributes", re.findall(r"frontend_attributes=(\{.*?\})", attributes),
           ['{has_collectives="1"}'] if config["has_collectives"] else [])
    layout = re.search(r"entry_computation_layout=\{(.*)\}\n", text)[1]
    expect(name, "the layout of the entry", re.sub(r"/\*index=\d+\*/", "", layout),
           f"({', '.join(map(shape, operands))})->{result}")
    expect(name, "the constants' shapes", re.findall(r"= (\S+) constant\(", text), [shape(c) for c in constants])


def reprint(module):
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return module.to_string(options)


def without_values(text):
    """XLA rounds the constants that it prints."""
    return re.sub(r" constant\(.*\)", " constant()", text)


def metadata(text):
    """What stands in metadata={}, unescaped: both print strings with C's escapes, but not always the same ones."""
    found = re.findall(r'metadata=\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\}', text)
    return [codecs.escape_decode(fields.encode())[0] for fields in found]


def names_of(text):
    return re.findall(r"^  (?:ROOT )?%(\S+) = ", text, re.M)


def check(name, config, target, text, proto, stablehlo):
    SCHEMA.validate(config)
    tupled = len(config["kernel_return"]) != 1 or config["result_is_sequence"]
    printed = reprint(_hlo.hlo_module_from_text(text))
    check_module(name + ", HLO text", config, target, printed, tupled)
    expect(name, "the list of names in XLA's text", names_of(printed), names_of(text))
    expect(name, "metadata in XLA's text", metadata(printed), metadata(text))
    op = "xla___op_NkiKernelCallImpl"
    expect(name, "metadata", text.count('metadata={op_type="%s" op_name="%s"' % (op, op)), 1)
    again = reprint(_hlo.hlo_module_from_text(printed))
    expect(name, "XLA's text read again", without_values(again), without_values(printed))
    module = _hlo.HloModule.from_serialized_hlo_module_proto(proto)
    expect(name, "XLA's text of the proto", reprint(module), printed)
    with mlir.make_ir_context():
        ir.Module.parse(stablehlo).operation.verify()
    lowered = _jax.mlir.mlir_module_to_xla_computation(stablehlo, use_tuple_args=False, return_tuple=False)
    several = len(config["kernel_return"]) != 1
    lowered_text = lowered.as_hlo_text(print_large_constants=True)
    check_module(name + ", StableHLO", config, target, lowered_text, several)
    values = r" constant\((.*)\)"
    expect(name, "the constants of the StableHLO", re.findall(values, lowered_text), re.findall(values, printed))


def emitted(program, arguments):
    def run(*words):
        answer = subprocess.run([program, *words, *arguments], cwd=ROOT, capture_output=True)
        if answer.returncode:
            sys.exit(f"{' '.join([*words, *arguments])}: {answer.stderr.decode()}")
        return answer.stdout

    config = json.loads(run("config", "--decode"))
    return config, NATIVE, run("hlo").decode(), run("hlo", "--as", "proto"), run("hlo", "--as", "stablehlo").decode()


def usage(path):
    """The words of the example's own usage line; files of indices become any tensor of that shape."""
    line = re.search(r"\n--   nkilua run ([^\n]+)", path.read_text())[1]
    line = re.sub(r"=[\w]+\.npy", "=i32[200,1]", line)
    return [word.strip("'") for word in line.split()]


def main():
    program, forms = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
    os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn3"
    count = 0
    for path in sorted((ROOT / "examples").glob("*.lua")):
        check(path.name, *emitted(program, usage(path)))
        count += 1
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "same.lua"
        script.write_text('return require("nki").jit(function(x, f32, __y) return x, f32, __y end)\n')
        for dtype in HLO:
            words = [f"{name}={dtype}[{dims}]" for name, dims in (("x", "4,8"), ("f32", "3"), ("__y", "2,3,4,5"))]
            check(dtype, *emitted(program, [str(script), *words]))
            count += 1
        subprocess.run([forms, folder, "200"], check=True)
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            form = json.loads(path.read_text())
            read = path.with_suffix
            check(path.stem, form["config"], form["target"], read(".hlo").read_text(), read(".pb").read_bytes(),
                  read(".mlir").read_text())
            count += 1
    SCHEMA.check_schema(SCHEMA.schema)
    print(f"XLA reads {count} modules as HLO text, HloModuleProto and StableHLO")


if __name__ == "__main__":
    main()
