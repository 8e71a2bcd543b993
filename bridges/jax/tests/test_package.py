"""The package itself: which library it loads, and that its C side agrees with jaxlib's header."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import support
from support import HERE, ROOT

import jax.ffi
from nkilua_jax import _library

LIBRARY = pathlib.Path(_library._find()).resolve()
SCRIPT = "from nkilua_jax._library import library; print(library()._name)"


class Library(unittest.TestCase):
  """Found by NKILUA_LIBRARY, else beside the package, else in the build folder."""

  def run_in(self, folder, **env):
    inherited = {name: value for name, value in os.environ.items() if name != "NKILUA_LIBRARY"}
    env = {**inherited, "PYTHONPATH": str(folder), **env}
    return subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=env, cwd=folder)

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.root = pathlib.Path(folder.name).resolve()
    self.package = self.root / "bridges" / "jax" / "nkilua_jax"
    shutil.copytree(HERE.parent / "nkilua_jax", self.package, ignore=shutil.ignore_patterns("*.so*", "__pycache__"))

  def put(self, place):
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(LIBRARY, place / "libnkilua.so")
    return str(place / "libnkilua.so")

  def test_the_places_in_order(self):
    build = self.put(self.root / "build" / "lib")
    self.assertEqual(self.run_in(self.package.parent).stdout.strip(), build)
    beside = self.put(self.package)
    self.assertEqual(self.run_in(self.package.parent).stdout.strip(), beside)
    named = self.put(self.root / "elsewhere")
    self.assertEqual(self.run_in(self.package.parent, NKILUA_LIBRARY=named).stdout.strip(), named)

  def test_a_wrong_name_is_not_passed_over(self):
    self.put(self.package)
    result = self.run_in(self.package.parent, NKILUA_LIBRARY="/nowhere/libnkilua.so")
    self.assertIn("ImportError: NKILUA_LIBRARY is /nowhere/libnkilua.so, and there is no such file", result.stderr)

  def test_no_library_at_all(self):
    if self.run_in(self.package.parent).returncode == 0:
      self.skipTest("the system has a libnkilua")
    self.assertIn("libnkilua.so is not in", self.run_in(self.package.parent).stderr)

  def test_another_version_is_refused(self):
    self.put(self.package)
    file = self.package / "_library.py"
    file.write_text(file.read_text().replace(f'VERSION = "{_library.VERSION}"', 'VERSION = "9.9.9"'))
    self.assertRegex(self.run_in(self.package.parent).stderr,
                     r"ImportError: .* is nkilua .*; this package goes with 9\.9\.9")

  def test_the_structs_have_the_librarys_sizes(self):
    lib = _library.library()
    for struct, init in ((_library.Options, lib.nkl_options_init), (_library.TensorDesc, lib.nkl_tensor_desc_init),
                         (_library.Request, lib.nkl_request_init)):
      value = struct()
      init(value)
      self.assertEqual(value.struct_size, ctypes.sizeof(struct), struct.__name__)

  def test_versions_agree(self):
    header = (ROOT / "include" / "nkilua.h").read_text()
    self.assertIn(f'#define NKL_VERSION_STRING "{_library.VERSION}"', header)
    self.assertIn(f'version = "{_library.VERSION}"', (HERE.parent / "pyproject.toml").read_text())


class Abi(unittest.TestCase):

  def compile(self, *more):
    include = pathlib.Path(jax.ffi.include_dir())
    self.assertTrue((include / "xla" / "ffi" / "api" / "c_api.h").exists())
    paths = [*more, include, ROOT / "src" / "api"]
    return subprocess.run(["cc", "-std=c11", "-fsyntax-only", *(f"-I{p}" for p in paths), str(HERE / "abi.c")],
                          capture_output=True, text=True)

  def test_the_handlers_layouts_are_those_of_jaxlibs_header(self):
    result = self.compile()
    self.assertEqual(result.returncode, 0, result.stderr)

  def test_the_check_sees_a_difference(self):
    header = (ROOT / "src" / "api" / "xla_ffi.h").read_text()
    for ours, other in (("int64_t rank;", "int32_t rank;"), ("XLA_STAGE_EXECUTE = 3", "XLA_STAGE_EXECUTE = 2")):
      self.assertIn(ours, header)
      with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "xla_ffi.h").write_text(header.replace(ours, other))
        self.assertIn("static assertion failed", self.compile(folder).stderr)


if __name__ == "__main__":
  unittest.main()
