#!/usr/bin/env python3
# ruff: noqa: PLR2004  (kernels count elements)
# mypy: ignore-errors
"""Puzzles of puzzles.py, each with a mistake that often goes unnoticed on a GPU; --check names its line.

vgpu-run --check python faulty_puzzles.py PUZZLE
"""

import sys
from typing import Any

import puzzles
from numba import cuda, float32
from puzzles import BLOCK, POOLED, TILE, jit


@jit
def unguarded(out, a, size):
    """Blocks: threads past the end read and write too."""
    i = cuda.grid(1)
    out[i] = a[i] + 10  # BOUNDS


@jit
def pool_without_barrier(out, a, size):
    """Pooling: a thread reads its neighbours' elements before they are written."""
    tile = cuda.shared.array(POOLED, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t + 2] = a[i] if i < size else 0
    if t < 2:
        tile[t] = a[i - 2] if i >= 2 else 0
    if i < size:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # RACE


@jit
def sums_of_unwritten(out, a, size):
    """Prefix sum: the last block's cache past the end has no zeros."""
    cache = cuda.shared.array(BLOCK, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        cache[t] = a[i]
    step = 1
    while step < BLOCK:
        cuda.syncthreads()
        if t % (2 * step) == 0:
            cache[t] += cache[t + step]  # UNINIT
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = cache[0]


@jit
def multiply_with_one_barrier(out, a, b, size):
    """Matrix multiply: the next tile is written while others still read this one."""
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    total = float32(0)
    for first in range(0, size, TILE):
        a_tile[y, x] = a[row, first + x] if row < size and first + x < size else 0
        b_tile[y, x] = b[first + y, column] if first + y < size and column < size else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[y, k] * b_tile[k, x]  # RACE
    if row < size and column < size:
        out[row, column] = total


FAULTY = {
    "blocks": unguarded,
    "pooling": pool_without_barrier,
    "prefix sum": sums_of_unwritten,
    "matrix multiply": multiply_with_one_barrier,
}


def faulty(size: int) -> dict[str, tuple[Any, ...]]:
    """As puzzles.puzzles, with the kernels of this file."""
    right = puzzles.puzzles(size)
    return {name: (kernel, *right[name][1:]) for name, kernel in FAULTY.items()}


if __name__ == "__main__":
    sys.exit(puzzles.main(sys.argv[1:], faulty))
