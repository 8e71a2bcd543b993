"""The README's example prints what the README says, and every process lowers to the same bytes."""

import json
import os
import re
import subprocess
import sys
import unittest

import support
from support import EXAMPLES, HERE, KERNELS, ROOT

import nkilua_jax as nk

README = HERE.parent / "README.md"


def start(script, cwd, **env):
  env = {**os.environ, "PYTHONPATH": str(HERE.parent), **env}
  return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=env, cwd=cwd)


class Readme(unittest.TestCase):

  def test_the_example(self):
    text = README.read_text()
    script, = re.findall(r"/python - <<'EOF'\n(.*?)\nEOF\n", text, re.S)
    said, = re.findall(r"It prints `([^`]+)`", text)
    out, err = start(script, ROOT).communicate()
    self.assertEqual(out.strip(), said, err)

  def test_every_option_is_in_the_table(self):
    table = README.read_text().split("| option | |")[1].split("\n\n")[0]
    self.assertEqual(sorted(re.findall(r"`(\w+)`(?=[^|]* \| )", table)), sorted(nk.KernelOptions.__annotations__))


SCRIPT = """
import json
import jax, jax.numpy as jnp
import nkilua_jax as nk

examples, kernels = %r
f32 = lambda *dims: jax.ShapeDtypeStruct(dims, jnp.float32)
calls = [(examples + "/softmax.lua", None, [f32(200, 64)], (), {}),
         (examples + "/inplace_update.lua", None, [f32(256, 8), f32(256, 8)], (0.1,), {"opts": {"b": 1, "a": "x"}}),
         (kernels, "choose", [f32(4, 8)], (True, "caf\\u00e9", (3, (4,)), None), {}),
         (kernels, "by_rows", [f32(8, 8)], (), {"grid": nk.nc(2) * 2, "func_name": "rows"})]
texts = []
for file, name, arrays, constants, options in calls:
  traced = jax.jit(lambda *a: nk.call(file, name, *a, *constants, **options)).trace(*arrays)
  texts += [traced.lower().as_text(), traced.lower(lowering_platforms=("neuron",)).as_text()]
print(json.dumps(texts))
"""


class Processes(unittest.TestCase):

  def test_twenty_of_them_lower_to_the_same_bytes(self):
    script = SCRIPT % ((str(EXAMPLES), str(KERNELS)),)
    ways = [{"PYTHONHASHSEED": str(i), "LC_ALL": ("C", "C.UTF-8", "POSIX")[i % 3], "PADDING": "x" * (i * i * 37),
             "TZ": ("UTC", "Asia/Kathmandu")[i % 2]} for i in range(20)]
    seen = set()
    for i in range(0, 20, 2):
      for process in [start(script, ("/", ROOT)[k % 2], **ways[k]) for k in (i, i + 1)]:
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        seen.add(out)
    self.assertEqual(len(seen), 1)
    texts = json.loads(seen.pop())
    self.assertEqual(len(texts), 8)
    for text in texts:
      self.assertEqual(len(re.findall(r'config = "eyJ[^"]+"', text)), 1)
      self.assertNotIn(str(ROOT), text)


if __name__ == "__main__":
  unittest.main()
