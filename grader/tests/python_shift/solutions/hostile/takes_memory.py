# virtual: CRASH shift1_gather
"""Takes all memory that it can get."""


import os
import sys

from numba import cuda


@cuda.jit("void(int32[::1], int32[::1], int64)")
def shift_kernel(d_in, d_out, offset):
    i = cuda.grid(1)
    if i < d_out.size:
        d_out[i] = d_in[i]


def shift1_gather(d_in, d_out, shift):
    taken = []
    while True:
        taken.append(b"x" * (256 << 20))


def shift2_any(d_in, d_out, shift):
    shift1_gather(d_in, d_out, shift)
