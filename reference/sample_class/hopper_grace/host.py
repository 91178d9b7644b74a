# Grace Hopper. Three rungs, and the streams nearly.
import numpy
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray

BLOCK = 512
kernels = drv.module_from_file("kernels.ptx")


def python1_round_trip(h_in, h_out):
    if h_in.nbytes == 0:
        return
    first, second = drv.mem_alloc(h_in.nbytes), drv.mem_alloc(h_in.nbytes)
    drv.memcpy_htod(first, h_in)
    drv.memcpy_dtod(second, first, h_in.nbytes)
    drv.memcpy_dtoh(h_out, second)


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n == 0:
        return
    kernel = kernels.get_function("circular_shift").prepare("PPII")
    kernel.prepared_call(((n + BLOCK - 1) // BLOCK, 1), (BLOCK, 1, 1), d_in.gpudata, d_out.gpudata, n, shift % n)


def python3_sum(d_in, d_sum):
    kernel = kernels.get_function("block_sums").prepare("PPI")
    source, n = d_in, d_in.size
    if n == 0:
        drv.memset_d8(d_sum.gpudata, 0, 4)
    while n > 0:
        blocks = (n + BLOCK - 1) // BLOCK
        target = gpuarray.empty(blocks, numpy.int32) if blocks > 1 else d_sum
        kernel.prepared_call((blocks, 1), (BLOCK, 1, 1), source.gpudata, target.gpudata, n, shared_size=4 * BLOCK)
        source, n = target, blocks if blocks > 1 else 0


def python4_streams(h_in, d_background, h_out):
    kernel = kernels.get_function("subtract").prepare("PPPI")
    n = h_in.size
    locked = drv.pagelocked_empty(n, numpy.int32)
    locked[:] = h_in
    streams = [drv.Stream(), drv.Stream()]
    length = n // 8 + 1
    buffer = gpuarray.empty(length, numpy.int32)
    for k in range(0, n, length):
        stream = streams[k // length % 2]
        part = locked[k : k + length]
        drv.memcpy_htod_async(buffer.gpudata, part, stream)
        grid = ((part.size + BLOCK - 1) // BLOCK, 1)
        background = d_background[k : k + length]
        kernel.prepared_async_call(
            grid, (BLOCK, 1, 1), stream, buffer.gpudata, background.gpudata, buffer.gpudata, part.size
        )
        drv.memcpy_dtoh_async(part, buffer.gpudata, stream)
    drv.Context.synchronize()
    h_out[:] = locked
