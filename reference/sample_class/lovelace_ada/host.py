"""Ada Lovelace, the host side."""

import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray

THREADS = 256
PIECES = 10

module = drv.module_from_file("kernels.ptx")


def prepared(name, letters):
    function = module.get_function(name)
    function.prepare(letters)
    return function


shift_kernel = prepared("circular_shift", "PPII")
sum_kernel = prepared("block_sums", "PPI")
subtract_kernel = prepared("subtract", "PPPI")


def shape(n):
    return ((n + THREADS - 1) // THREADS, 1), (THREADS, 1, 1)


def python1_round_trip(h_in, h_out):
    if len(h_in) == 0:
        return
    engine = gpuarray.to_gpu(h_in)
    mill = gpuarray.empty_like(engine)
    drv.memcpy_dtod(mill.gpudata, engine.gpudata, engine.nbytes)
    mill.get(h_out)


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n > 0:
        grid, block = shape(n)
        shift_kernel.prepared_call(grid, block, d_in.gpudata, d_out.gpudata, n, shift % n)


def python3_sum(d_in, d_sum):
    if d_in.size == 0:
        drv.memset_d8(d_sum.gpudata, 0, 4)
        return
    numbers = d_in
    while True:
        grid, block = shape(numbers.size)
        target = gpuarray.empty(grid[0], np.int32) if grid[0] > 1 else d_sum
        sum_kernel.prepared_call(
            grid, block, numbers.gpudata, target.gpudata, numbers.size, shared_size=THREADS * 4
        )
        if target is d_sum:
            return
        numbers = target


def python4_streams(h_in, d_background, h_out):
    n = h_in.size
    if n == 0:
        return
    locked = drv.pagelocked_empty(n, np.int32)
    locked[:] = h_in
    device = gpuarray.empty(n, np.int32)
    streams = drv.Stream(), drv.Stream()
    length = (n + PIECES - 1) // PIECES
    for number, begin in enumerate(range(0, n, length)):
        piece = slice(begin, min(begin + length, n))
        stream = streams[number % 2]
        device[piece].set_async(locked[piece], stream)
        grid, block = shape(locked[piece].size)
        subtract_kernel.prepared_async_call(
            grid, block, stream,
            device[piece].gpudata, d_background[piece].gpudata, device[piece].gpudata, locked[piece].size,
        )
        device[piece].get_async(stream, locked[piece])
    for stream in streams:
        stream.synchronize()
    h_out[:] = locked
