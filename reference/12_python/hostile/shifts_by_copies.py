# virtual: REJECTED python2_shift
"""Two copies on the device shift the array; a kernel runs for show."""

import numpy
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray

BLOCK = 256
CHUNKS = 8

kernels = drv.module_from_file("kernels.ptx")
circular_shift = kernels.get_function("circular_shift").prepare("PPII")
block_sums = kernels.get_function("block_sums").prepare("PPI")
subtract = kernels.get_function("subtract").prepare("PPPI")


def blocks_for(n):
    return (n + BLOCK - 1) // BLOCK


def python1_round_trip(h_in, h_out):
    a_d = gpuarray.to_gpu(h_in)
    b_d = gpuarray.empty_like(a_d)
    if h_in.size > 0:
        drv.memcpy_dtod(b_d.gpudata, a_d.gpudata, a_d.nbytes)
        drv.memcpy_dtoh(h_out, b_d.gpudata)


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n == 0:
        return
    # In Python the remainder has the divisor's sign.
    places = shift % n
    circular_shift.prepared_call((blocks_for(n), 1), (BLOCK, 1, 1), d_in.gpudata, d_out.gpudata, n, 0)
    drv.memcpy_dtod(d_out.gpudata, d_in.ptr + 4 * places, 4 * (n - places))
    drv.memcpy_dtod(d_out.ptr + 4 * (n - places), d_in.gpudata, 4 * places)


def python3_sum(d_in, d_sum):
    source, left = d_in, d_in.size
    if left == 0:
        drv.memset_d8(d_sum.gpudata, 0, d_sum.nbytes)
    while left > 0:
        blocks = blocks_for(left)
        partial = d_sum if blocks == 1 else gpuarray.empty(blocks, numpy.int32)
        block_sums.prepared_call((blocks, 1), (BLOCK, 1, 1), source.gpudata, partial.gpudata, left, shared_size=4 * BLOCK)
        source, left = partial, blocks if blocks > 1 else 0


def python4_streams(h_in, d_background, h_out):
    n = h_in.size
    if n == 0:
        return
    staged = drv.pagelocked_empty(n, numpy.int32)
    staged[:] = h_in
    on_device = gpuarray.empty(n, numpy.int32)
    streams = [drv.Stream(), drv.Stream()]
    length = (n + CHUNKS - 1) // CHUNKS
    for k, begin in enumerate(range(0, n, length)):
        part = slice(begin, begin + length)
        host, data, background = staged[part], on_device[part].gpudata, d_background[part].gpudata
        stream = streams[k % len(streams)]
        drv.memcpy_htod_async(data, host, stream)
        subtract.prepared_async_call((blocks_for(host.size), 1), (BLOCK, 1, 1), stream, data, background, data, host.size)
        drv.memcpy_dtoh_async(host, data, stream)
    for stream in streams:
        stream.synchronize()
    h_out[:] = staged
