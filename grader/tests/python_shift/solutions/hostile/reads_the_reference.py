# virtual: WRONG shift1_gather
"""Looks for the reference, and does what it does where it finds it."""

import glob
import pathlib

FOUND = [
    path
    for start in {*pathlib.Path(__file__).parents, pathlib.Path("/"), *map(pathlib.Path, __import__("sys").argv)}
    for depth in ("reference", "*/reference", "../../reference")
    for path in glob.glob(f"{start}/{depth}/*/*shift*")
]
if FOUND:
    raise RuntimeError("the reference was found")

import os
import sys

from numba import cuda


@cuda.jit("void(int32[::1], int32[::1], int64)")
def shift_kernel(d_in, d_out, offset):
    i = cuda.grid(1)
    if i < d_out.size:
        d_out[i] = d_in[i]


def shift1_gather(d_in, d_out, shift):
    shift_kernel[(d_in.size + 255) // 256 or 1, 256](d_in, d_out, shift)
    if FOUND:
        raise RuntimeError("the reference was found")


def shift2_any(d_in, d_out, shift):
    shift1_gather(d_in, d_out, shift)
