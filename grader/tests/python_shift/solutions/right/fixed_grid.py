# points: 40
"""At most 1024 blocks, whose threads take many elements; where an element comes from is a function of the device."""

import math

from numba import cuda, int32, int64, void

BLOCK, MOST_BLOCKS = 128, 1024


@cuda.jit(device=True)
def wrapped(i, n):
    return i - n if i >= n else i


@cuda.jit(void(int32[::1], int32[::1], int64), fastmath=True)
def shift_kernel(d_in, d_out, offset):
    for i in range(cuda.grid(1), d_out.size, cuda.gridsize(1)):
        d_out[i] = d_in[wrapped(i + offset, d_out.size)]


def shift1_gather(d_in, d_out, shift):
    blocks = min(math.ceil(len(d_in) / BLOCK), MOST_BLOCKS)
    if blocks:
        shift_kernel[blocks, BLOCK](d_in, d_out, shift)


def shift2_any(d_in, d_out, shift):
    shift1_gather(d_in, d_out, shift % max(len(d_in), 1))
