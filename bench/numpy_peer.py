"""numpy_peer.py NAME... -- median processor seconds NumPy needs for the mathematics of each named benchmark, as lines
`name seconds`. One thread; every result is a fresh array, as ours are. f32, 4096 x 512; matmul 1024^3."""
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
import numpy as np  # noqa: E402  (after the thread settings)


def normal(seed, *shape):
    return np.random.Generator(np.random.PCG64(seed)).standard_normal(shape).astype(np.float32)


X, Y, GAMMA = normal(1, 4096, 512), normal(2, 4096, 512), normal(3, 1, 512)
A, B = normal(4, 1024, 1024), normal(5, 1024, 1024)


def softmax():
    e = np.exp(X - X.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rmsnorm():
    return X / np.sqrt((X * X).mean(axis=1, keepdims=True) + np.float32(1e-6)) * GAMMA


WORK = {"add": lambda: X + Y, "softmax": softmax, "rmsnorm": rmsnorm, "matmul": lambda: A.T @ B}


def median(work, budget=0.25):
    times, stop = [], time.perf_counter() + budget
    work()
    while len(times) < 5 or time.perf_counter() < stop:
        t = time.process_time()
        work()
        times.append(time.process_time() - t)
    return sorted(times)[len(times) // 2]


for name in sys.argv[1:]:
    print(name, f"{median(WORK[name]):.9f}", flush=True)
