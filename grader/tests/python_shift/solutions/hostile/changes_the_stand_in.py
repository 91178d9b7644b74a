# virtual: WRONG shift1_gather
"""Launches are made to do nothing."""


import os
import sys

from numba import cuda


@cuda.jit("void(int32[::1], int32[::1], int64)")
def shift_kernel(d_in, d_out, offset):
    i = cuda.grid(1)
    if i < d_out.size:
        d_out[i] = d_in[i]


def shift1_gather(d_in, d_out, shift):
    type(shift_kernel).__getitem__ = lambda *_: lambda *_: None
    shift_kernel[1, 32](d_in, d_out, shift)
    sys.modules["numba.cuda"].synchronize = lambda: None


def shift2_any(d_in, d_out, shift):
    shift1_gather(d_in, d_out, shift)
