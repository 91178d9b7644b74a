# ruff: noqa: D103, PLR2004  (kernels count elements)
# mypy: ignore-errors
"""A kernel in Numba whose threads read their neighbours' elements too early: the how-to's example."""

import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def blur(x, y):
    tile = cuda.shared.array(66, dtype=np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x + 1
    tile[t] = x[i]
    if cuda.threadIdx.x == 0:
        tile[0] = x[i - 1] if i > 0 else 0
    if cuda.threadIdx.x == 63:
        tile[65] = x[i + 1] if i + 1 < x.size else 0
    y[i] = tile[t - 1] + tile[t] + tile[t + 1]  # RACE


x = np.arange(640, dtype=np.float32)
y = cuda.device_array_like(x)
blur[10, 64](cuda.to_device(x), y)
padded = np.pad(x, 1)
print("equal:", np.array_equal(y.copy_to_host(), padded[:-2] + padded[1:-1] + padded[2:]))
