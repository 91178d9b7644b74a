# points: 100
"""Generators yield the remaining work; the launchers are loops over them."""

import pycuda.autoinit
import pycuda.driver as drv
import numpy as np
from pycuda.gpuarray import GPUArray, empty, to_gpu

CHUNKS = 32
m = drv.module_from_file("kernels.ptx")


def chunks(n, count):
    begin = 0
    for left in range(count, 0, -1):
        end = begin + (n - begin) // left
        if end > begin:
            yield begin, end
        begin = end


def levels(n, block):
    while n > 1:
        n = (n + block - 1) // block
        yield n


def python1_round_trip(h_in, h_out):
    for array in [to_gpu(h_in)] if h_in.size else []:
        other = GPUArray(array.shape, array.dtype)
        drv.memcpy_dtod(other.gpudata, array.gpudata, other.nbytes)
        other.get(h_out)


def python2_shift(d_in, d_out, shift):
    f = m.get_function("circular_shift").prepare("PPII")
    for n in filter(None, [d_in.size]):
        places = shift % n
        f.prepared_call(((n + 95) // 96, 1), (96, 1, 1), d_in.gpudata, d_out.gpudata, n, places)


def python3_sum(d_in, d_sum):
    f = m.get_function("block_sums").prepare("PPI")
    arrays = [d_in]
    for blocks in levels(d_in.size, 1024):
        arrays.append(empty(blocks, np.int32) if blocks > 1 else d_sum)
        source, target = arrays[-2:]
        f.prepared_call(
            (blocks, 1), (1024, 1, 1), source.gpudata, target.gpudata, source.size, shared_size=4 * 1024
        )
    if d_in.size == 1:
        drv.memcpy_dtod(d_sum.gpudata, d_in.gpudata, 4)
    if d_in.size == 0:
        drv.memset_d8(d_sum.gpudata, 0, d_sum.nbytes)


def python4_streams(h_in, d_background, h_out):
    f = m.get_function("subtract").prepare("PPPI")
    n = h_in.size
    staged_in, staged_out = drv.pagelocked_empty(n, np.int32), drv.pagelocked_empty(n, np.int32)
    a, b = empty(n, np.int32), empty(n, np.int32)
    streams = [drv.Stream(), drv.Stream(), drv.Stream()]
    for k, (begin, end) in enumerate(chunks(n, CHUNKS)):
        stream = streams[k % 3]
        staged_in[begin:end] = h_in[begin:end]
        drv.memcpy_htod_async(a[begin:end].gpudata, staged_in[begin:end], stream)
        f.prepared_async_call(
            ((end - begin + 255) // 256, 1), (256, 1, 1), stream,
            a[begin:end].gpudata, d_background[begin:end].gpudata, b[begin:end].gpudata, end - begin,
        )
        drv.memcpy_dtoh_async(staged_out[begin:end], b[begin:end].gpudata, stream)
    for stream in streams:
        stream.synchronize()
    h_out[:] = staged_out
