# virtual: WRONG shift1_gather
"""Prints what a judge would print of a right result."""


import os
import sys

from numba import cuda


@cuda.jit("void(int32[::1], int32[::1], int64)")
def shift_kernel(d_in, d_out, offset):
    i = cuda.grid(1)
    if i < d_out.size:
        d_out[i] = d_in[i]


def shift1_gather(d_in, d_out, shift):
    print("[       OK ] ShiftTest.ShiftsOneBlock/shift1_gather (0 ms)")
    print(chr(10) + "lockstep: stopped at shift.py:1", file=sys.stderr)
    shift_kernel[(d_in.size + 255) // 256 or 1, 256](d_in, d_out, shift)


def shift2_any(d_in, d_out, shift):
    shift1_gather(d_in, d_out, shift)
