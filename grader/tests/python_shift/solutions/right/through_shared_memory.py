# points: 40
"""Through shared memory, backwards and back, with a barrier."""

import numpy as np
from numba import cuda

BLOCK = 256


@cuda.jit("void(int32[::1], int32[::1], int64)")
def shift_kernel(d_in, d_out, offset):
    tile = cuda.shared.array(BLOCK, dtype=np.int32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * BLOCK
    count = min(BLOCK, d_out.size - first)
    if t < count:
        tile[count - 1 - t] = d_in[(first + t + offset) % d_out.size]
    cuda.syncthreads()
    if t < count:
        d_out[first + count - 1 - t] = tile[t]


def shift1_gather(d_in, d_out, shift):
    n = d_in.size
    if n > 0:
        shift_kernel[(n + BLOCK - 1) // BLOCK, BLOCK](d_in, d_out, shift)


def shift2_any(d_in, d_out, shift):
    if d_in.size > 0:
        shift1_gather(d_in, d_out, shift % d_in.size)
