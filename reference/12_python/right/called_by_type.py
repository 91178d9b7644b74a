# points: 100
"""Kernels are called without preparation, with NumPy's numbers; everything is in streams and awaited by events."""

import pycuda.autoinit
import numpy as np
from pycuda import driver, gpuarray

module = driver.module_from_file("kernels.ptx")
THREADS = 1024
PARTS = 6


def grid_of(n):
    return (int((n + THREADS - 1) / THREADS), 1)


def python1_round_trip(h_in, h_out):
    if h_in.size < 1:
        return
    stream = driver.Stream()
    a = gpuarray.to_gpu_async(h_in, stream=stream)
    b = gpuarray.empty(h_in.shape, h_in.dtype)
    driver.memcpy_dtod_async(b.gpudata, a.gpudata, b.nbytes, stream)
    b.get_async(stream, h_out)
    stream.synchronize()


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n > 0:
        while_in_range = (shift % n + n) % n
        shift_kernel = module.get_function("circular_shift")
        shift_kernel(d_in, d_out, np.uint32(n), np.uint32(while_in_range), grid=grid_of(n), block=(THREADS, 1, 1))


def python3_sum(d_in, d_sum):
    sums = module.get_function("block_sums")
    levels = [d_in]
    while levels[-1].size > 1 or len(levels) == 1 and d_in.size > 0:
        n = levels[-1].size
        levels.append(gpuarray.empty(grid_of(n)[0], np.int32))
        sums(levels[-2], levels[-1], np.uint32(n), grid=grid_of(n), block=(THREADS, 1, 1), shared=THREADS * 4)
    if d_in.size == 0:
        levels.append(gpuarray.zeros(1, np.int32))
    driver.memcpy_dtod(d_sum.gpudata, levels[-1].gpudata, 4)


def python4_streams(h_in, d_background, h_out):
    n = h_in.size
    subtract = module.get_function("subtract")
    locked = driver.pagelocked_zeros(n, np.int32)
    locked[:] = h_in
    done = []
    step = max(1, n // PARTS + 1)
    for first in range(0, n, step):
        stream = driver.Stream()
        part = locked[first : first + step]
        data = gpuarray.to_gpu_async(part, stream=stream)
        subtract(
            data, d_background[first : first + step], data, np.uint32(part.size),
            grid=grid_of(part.size), block=(THREADS, 1, 1), stream=stream,
        )
        data.get_async(stream, part)
        done.append((driver.Event().record(stream), stream, data))
    for event, *_ in done:
        event.synchronize()
    h_out[:] = locked
