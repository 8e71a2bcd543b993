"""Runs the tests of this folder, or those named (test_calls.Aliases ...), and closes with a line that CI counts."""

import pathlib
import sys
import unittest

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
loader = unittest.TestLoader()
tests = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(str(here))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
failed = len(result.failures) + len(result.errors)
skipped = len(result.skipped)
print(f"\n{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
sys.exit(0 if result.testsRun and not failed else 1)
