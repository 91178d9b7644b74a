# points: 100
"""Grids of one, two and three numbers, with types by NumPy's names; locked memory for both directions."""

from array import array

import numpy as np
import pycuda.autoinit
from pycuda import driver as cu
from pycuda import gpuarray as ga

library = cu.module_from_file("kernels.ptx")
ADDRESS = np.uintp
CHUNKS = 9
f1 = library.get_function("circular_shift").prepare([ADDRESS, ADDRESS, np.uint32, np.int32])
f2 = library.get_function("block_sums").prepare([ADDRESS, ADDRESS, np.int32])
f3 = library.get_function("subtract").prepare([ADDRESS, ADDRESS, ADDRESS, np.uint32])


def python1_round_trip(h_in, h_out):
    if h_in.size == 0:
        return
    a, b = (cu.mem_alloc(h_in.nbytes) for _ in "ab")
    locked = cu.pagelocked_empty_like(h_in)
    locked[:] = h_in
    cu.memcpy_htod_async(a, locked)
    cu.memcpy_dtod_async(b, a, locked.nbytes)
    cu.memcpy_dtoh_async(locked, b)
    cu.Context.synchronize()
    h_out[:] = locked


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n < 1:
        return
    f1.prepared_call(((n + 511) // 512,), (512, 1, 1), int(d_in.gpudata), int(d_out.gpudata), n, shift % n)


def python3_sum(d_in, d_sum):
    if d_in.size == 0:
        cu.memcpy_htod(d_sum.gpudata, array("i", [0]))
    source, n = d_in, d_in.size
    while n > 0:
        blocks = (n + 511) // 512
        target = ga.empty(blocks, np.int32) if blocks > 1 else d_sum
        f2.prepared_call((blocks, 1, 1), (512, 1, 1), source.ptr, target.ptr, n, shared_size=2048)
        source, n = target, blocks - (blocks == 1)


def python4_streams(h_in, d_background, h_out):
    n, count = h_in.size, CHUNKS
    outgoing, incoming = cu.pagelocked_empty(n, "int32"), cu.pagelocked_empty(n, "int32")
    outgoing[:] = h_in
    memory = ga.empty(n, np.dtype("int32"))
    streams = [cu.Stream() for _ in range(count)]
    edges = [(k * n) // count for k in range(count)] + [n]
    for stream, begin, end in zip(streams, edges, edges[1:]):
        if end > begin:
            here = memory[begin:end].ptr
            cu.memcpy_htod_async(here, outgoing[begin:end], stream=stream)
            grid = ((end - begin + 63) // 64, 1, 1)
            f3.prepared_async_call(grid, (64, 1, 1), stream, here, d_background[begin:end].ptr, here, end - begin)
            cu.memcpy_dtoh_async(incoming[begin:end], here, stream=stream)
    for stream in streams:
        stream.synchronize()
    h_out[:] = incoming
