#!/usr/bin/env python3
# ruff: noqa: PLR2004  (kernels count elements)
# mypy: ignore-errors
"""Solutions in Numba to the tasks of the public GPU puzzles, each compared with NumPy.

    vgpu-run --check python puzzles.py [--size N] [PUZZLE ...]    on the virtual GPU
    NUMBA_ENABLE_CUDASIM=1 python puzzles.py [--size N]           in Numba's simulator on the CPU

Prints a line for each puzzle: its name, whether the result is right, and with --seconds the time, which is mostly the
compiler's. --size makes the inputs of puzzles with several blocks N long, and matrices of about N elements. The tasks
are those of https://github.com/srush/GPU-Puzzles; the solutions were written for this project.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config, cuda, float32

warnings.filterwarnings("ignore", message=".*(under-utilization|copy overhead).*")

Array = np.ndarray[Any, Any]
BLOCK = 8  # threads of a block in one dimension
TILE = 3  # side of a matrix's tile; a block in two dimensions has TILE x TILE threads
MOST_TAPS = 4  # of a convolution
POOLED = BLOCK + 2  # elements that a block reads for pooling, and for a convolution
CONVOLVED = BLOCK + MOST_TAPS
# The simulator does not take lineinfo.
jit = cuda.jit if config.ENABLE_CUDASIM else cuda.jit(lineinfo=True)


@jit
def add_ten(out, a):
    """Puzzle 1: a thread for each element."""
    i = cuda.threadIdx.x
    out[i] = a[i] + 10


@jit
def add_pairs(out, a, b):
    """Puzzle 2."""
    i = cuda.threadIdx.x
    out[i] = a[i] + b[i]


@jit
def add_ten_guarded(out, a, size):
    """Puzzle 3: more threads than elements."""
    i = cuda.threadIdx.x
    if i < size:
        out[i] = a[i] + 10


@jit
def add_ten_2d(out, a, size):
    """Puzzle 4: a square matrix."""
    column = cuda.threadIdx.x
    row = cuda.threadIdx.y
    if row < size and column < size:
        out[row, column] = a[row, column] + 10


@jit
def broadcast(out, a, b, size):
    """Puzzle 5: a column and a row make a matrix."""
    column = cuda.threadIdx.x
    row = cuda.threadIdx.y
    if row < size and column < size:
        out[row, column] = a[row, 0] + b[0, column]


@jit
def add_ten_blocks(out, a, size):
    """Puzzle 6: more elements than a block has threads."""
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] + 10


@jit
def add_ten_blocks_2d(out, a, size):
    """Puzzle 7."""
    column, row = cuda.grid(2)
    if row < size and column < size:
        out[row, column] = a[row, column] + 10


@jit
def add_ten_shared(out, a, size):
    """Puzzle 8: through shared memory. Every thread meets the barrier, also those past the end."""
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] + 10


@jit
def pool(out, a, size):
    """Puzzle 9: each element and the two before it. A block also reads the last two of the block before."""
    tile = cuda.shared.array(POOLED, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t + 2] = a[i] if i < size else 0
    if t < 2:
        tile[t] = a[i - 2] if i >= 2 else 0
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@jit
def dot(out, a, b, size):
    """Puzzle 10: one block; half of the threads add, then half of those."""
    products = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    products[t] = a[t] * b[t] if t < size else 0
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            products[t] += products[t + half]
        half //= 2
    if t == 0:
        out[0] = products[0]


@jit
def convolve(out, a, b, a_size, b_size):
    """Puzzle 11: a block's elements, those after them, and the taps, in shared memory."""
    tile = cuda.shared.array(CONVOLVED, float32)
    taps = cuda.shared.array(MOST_TAPS, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = a[i] if i < a_size else 0
    if t < MOST_TAPS:
        taps[t] = b[t] if t < b_size else 0
        tile[BLOCK + t] = a[i + BLOCK] if i + BLOCK < a_size else 0
    cuda.syncthreads()
    if i < a_size:
        total = float32(0)
        for k in range(b_size):
            total += tile[t + k] * taps[k]
        out[i] = total


@jit
def block_sums(out, a, size):
    """Puzzle 12: the sum of each block's elements, added in pairs, then pairs of pairs."""
    cache = cuda.shared.array(BLOCK, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    cache[t] = a[i] if i < size else 0
    step = 1
    while step < BLOCK:
        cuda.syncthreads()
        if t % (2 * step) == 0:
            cache[t] += cache[t + step]
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = cache[0]


@jit
def row_sums(out, a, size):
    """Puzzle 13: a block for each row; each thread first adds every BLOCK-th element."""
    cache = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.y
    total = float32(0)
    for column in range(t, size, BLOCK):
        total += a[row, column]
    cache[t] = total
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            cache[t] += cache[t + half]
        half //= 2
    if t == 0:
        out[row, 0] = cache[0]


@jit
def multiply(out, a, b, size):
    """Puzzle 14: tile after tile of both matrices through shared memory."""
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
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    if row < size and column < size:
        out[row, column] = total


def launch(kernel: Any, shape: Any, inputs: list[Array], sizes: list[int], blocks: Any, threads: Any) -> Array:
    """What a kernel stores into an array of this shape."""
    out = cuda.to_device(np.zeros(shape, np.float32))
    kernel[blocks, threads](out, *[cuda.to_device(each) for each in inputs], *sizes)
    result: Array = out.copy_to_host()
    return result


def numbers(*shape: int) -> Array:
    """Small whole numbers, whose sums are exact."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 7) % 11).astype(np.float32).reshape(shape)


def ceil_div(count: int, by: int) -> int:
    """count / by, rounded up."""
    return -(-count // by)


def puzzles(size: int) -> dict[str, tuple[Any, ...]]:
    """By name: kernel, shape of the result, inputs, sizes, blocks, threads, right result."""
    side = max(2, round(size**0.5))
    a, b, taps = numbers(size), numbers(size) + 1, numbers(MOST_TAPS)
    few, small, square = numbers(BLOCK), numbers(2, 2), numbers(side, side)
    blocks, tiles = ceil_div(size, BLOCK), (ceil_div(side, TILE), ceil_div(side, TILE))
    padded = np.pad(a, (2, MOST_TAPS))
    pooled = padded[:size] + padded[1 : size + 1] + padded[2 : size + 2]
    convolved = sum(taps[k] * padded[2 + k : 2 + k + size] for k in range(MOST_TAPS))
    summed = np.pad(a, (0, blocks * BLOCK - size)).reshape(blocks, BLOCK).sum(1)
    two = (TILE, TILE)
    return {
        "map": (add_ten, BLOCK, [few], [], 1, BLOCK, few + 10),
        "zip": (add_pairs, BLOCK, [few, few], [], 1, BLOCK, few + few),
        "guards": (add_ten_guarded, 4, [few[:4]], [4], 1, BLOCK, few[:4] + 10),
        "map 2D": (add_ten_2d, (2, 2), [small], [2], 1, two, small + 10),
        "broadcast": (broadcast, (2, 2), [small[:, :1], small[:1]], [2], 1, two, small[:, :1] + small[:1]),
        "blocks": (add_ten_blocks, size, [a], [size], blocks, BLOCK, a + 10),
        "blocks 2D": (add_ten_blocks_2d, (side, side), [square], [side], tiles, two, square + 10),
        "shared": (add_ten_shared, size, [a], [size], blocks, BLOCK, a + 10),
        "pooling": (pool, size, [a], [size], blocks, BLOCK, pooled),
        "dot product": (dot, 1, [few, few], [BLOCK], 1, BLOCK, few @ few),
        "1D convolution": (convolve, size, [a, taps], [size, MOST_TAPS], blocks, BLOCK, convolved),
        "prefix sum": (
            block_sums,
            blocks,
            [b],
            [size],
            blocks,
            BLOCK,
            summed + np.minimum(BLOCK, size - BLOCK * np.arange(blocks)),
        ),
        "axis sum": (row_sums, (side, 1), [square], [side], (1, side), BLOCK, square.sum(1, keepdims=True)),
        "matrix multiply": (multiply, (side, side), [square, square.T], [side], tiles, two, square @ square.T),
    }


def main(arguments: list[str], make: Callable[[int], dict[str, tuple[Any, ...]]] = puzzles) -> int:
    """Run the program; returns its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="PUZZLE", help="only these")
    parser.add_argument("--size", type=int, default=15)
    parser.add_argument("--seconds", action="store_true", help="print the seconds of each")
    options = parser.parse_args(arguments)
    wrong = 0
    begin = time.perf_counter()
    for name, (kernel, shape, inputs, sizes, blocks, threads, right) in make(options.size).items():
        if options.names and name not in options.names:
            continue
        at = time.perf_counter()
        result = launch(kernel, shape, [np.ascontiguousarray(each) for each in inputs], sizes, blocks, threads)
        same = np.array_equal(result, np.reshape(right, result.shape))
        wrong += not same
        taken = f"  {time.perf_counter() - at:.2f} s" if options.seconds else ""
        print(f"{name:<16} {'right' if same else 'WRONG'}{taken}", flush=True)
    if options.seconds:
        print(f"{'all':<22}  {time.perf_counter() - begin:.2f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
