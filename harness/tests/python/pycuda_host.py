# mypy: ignore-errors
"""Checks that a solution of assignment 12 is right with the real PyCUDA too, not only with the worker's stand-in.

nvcc -ptx assignments/12_python/kernels.cu -o kernels.ptx
vgpu-run python pycuda_host.py reference/12_python/host.py
"""

import importlib.util
import sys

import numpy as np
import pycuda.autoinit  # noqa: F401 - makes the context
from pycuda import gpuarray


def solution(path):
    """The module of a file."""
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main():
    """Prints a line for each length."""
    host = solution(sys.argv[1])
    random = np.random.default_rng(1)
    for n in (0, 1, 255, 256, 257, 5000, 70001):
        values, background = (random.integers(-(2**31), 2**31, n, np.int32) for _ in range(2))
        copied, difference = np.zeros(n, np.int32), np.zeros(n, np.int32)
        host.python1_round_trip(values, copied)
        shifted, total = gpuarray.empty(n, np.int32), gpuarray.empty(1, np.int32)
        host.python2_shift(gpuarray.to_gpu(values), shifted, -3)
        host.python3_sum(gpuarray.to_gpu(values), total)
        host.python4_streams(values, gpuarray.to_gpu(background), difference)
        right = [
            (copied == values).all(),
            (shifted.get() == np.roll(values, 3)).all(),
            total.get()[0] == values.sum(dtype=np.int32),
            (difference == values - background).all(),
        ]
        print(n, *("right" if one else "WRONG" for one in right), flush=True)


main()
