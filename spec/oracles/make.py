#!/usr/bin/env python3
"""make.py -- computes the numeric oracles with NumPy and ml_dtypes and writes them to spec/oracles/data;
the checksums of conversions go to spec/sim/convert_sums.inc. The checksums of combos.py take half a minute.

  make.py           rewrite the files
  make.py --check   recompute and compare with what is committed; exit 1 and name the files that differ

Exact data must agree to the byte. Files named *.near.npz hold results of transcendental functions or of sums whose
order NumPy chooses by processor: --check compares their floats within a tolerance. The specs need only the files, no
Python.
"""
import argparse
import io
import pathlib
import sys

import ml_dtypes
import numpy as np

import combos
import convert
import examples
import kernels
import operators

FOLDER = pathlib.Path(__file__).parent / "data"
SUMS = pathlib.Path(__file__).parents[1] / "sim" / "convert_sums.inc"


def npz_bytes(arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def close(name, old, new):
    """Whether two members of a *.near.npz agree."""
    if old.dtype != new.dtype or old.shape != new.shape:
        return False
    if old.dtype.kind != "f":
        return old.tobytes() == new.tobytes()
    return np.allclose(old, new, rtol=1e-5, atol=1e-6, equal_nan=True)


def same(path, data):
    if not path.exists():
        return False
    if ".near." not in path.name:
        return path.read_bytes() == data
    old, new = np.load(path), np.load(io.BytesIO(data))
    return sorted(old.files) == sorted(new.files) and all(close(k, old[k], new[k]) for k in new.files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    arrays, texts = combos.files()
    wanted = {**examples.files(), **kernels.files(), **operators.files(), **arrays}
    wanted = {**{name: npz_bytes(members) for name, members in wanted.items()}, **texts}
    FOLDER.mkdir(exist_ok=True)
    wrong = [f.name for f in sorted(FOLDER.iterdir()) if f.name not in wanted]
    for name, data in sorted(wanted.items()):
        path = FOLDER / name
        if check:
            if not same(path, data):
                wrong.append(name)
        else:
            path.write_bytes(data)
    with np.errstate(all="ignore"):
        sums = convert.text().encode()
    if not check:
        SUMS.write_bytes(sums)
    elif SUMS.read_bytes() != sums:
        wrong.append(SUMS.name)
    if wrong:
        print("oracles that differ from what is committed or are left over:", ", ".join(wrong), file=sys.stderr)
        return 1
    print(f"{len(wanted) + 1} oracle files {'agree' if check else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
