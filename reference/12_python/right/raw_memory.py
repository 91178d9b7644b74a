# points: 100
"""Device memory by mem_alloc alone; sums by recursion; a stream for each chunk."""

import numpy
import pycuda.driver as drv
import pycuda.autoinit

PARTS = 5
MODULE = drv.module_from_file("kernels.ptx")


def kernel(name, types):
    found = MODULE.get_function(name)
    found.prepare(types)
    return found


SHIFT, SUMS, SUBTRACT = kernel("circular_shift", "PPII"), kernel("block_sums", "PPI"), kernel("subtract", "PPPI")


def python1_round_trip(h_in, h_out):
    size = h_in.nbytes
    if not size:
        return
    first = drv.mem_alloc(size)
    second = drv.mem_alloc(size)
    drv.memcpy_htod(first, h_in)
    drv.memcpy_dtod(second, first, size)
    first.free()
    drv.memcpy_dtoh(h_out, second)
    second.free()


def python2_shift(d_in, d_out, shift):
    n = len(d_in)
    if n:
        grid = -(-n // 128)
        SHIFT.prepared_call((grid,), (128, 1, 1), d_in.gpudata, d_out.gpudata, n, shift % n)


def add_up(source, n, d_sum):
    blocks = (n - 1) // 512 + 1
    target = d_sum.gpudata if blocks == 1 else drv.mem_alloc(4 * blocks)
    SUMS.prepared_call((blocks, 1, 1), (512, 1, 1), source, target, n, shared_size=512 * 4)
    if blocks > 1:
        add_up(target, blocks, d_sum)


def python3_sum(d_in, d_sum):
    if len(d_in) == 0:
        drv.memset_d8(d_sum.gpudata, 0, 4)
    else:
        add_up(d_in.gpudata, len(d_in), d_sum)


def python4_streams(h_in, d_background, h_out):
    n = len(h_in)
    if n == 0:
        return
    source, result = drv.pagelocked_empty(n, numpy.int32), drv.pagelocked_empty(n, numpy.int32)
    source[:] = h_in
    memory = drv.mem_alloc(4 * n)
    streams = []
    for part in range(PARTS):
        begin, end = n * part // PARTS, n * (part + 1) // PARTS
        if begin == end:
            continue
        stream = drv.Stream()
        at = int(memory) + 4 * begin
        drv.memcpy_htod_async(at, source[begin:end], stream)
        SUBTRACT.prepared_async_call(
            ((end - begin + 63) // 64, 1), (64, 1, 1), stream, at, d_background[begin:end].gpudata, at, end - begin
        )
        drv.memcpy_dtoh_async(result[begin:end], at, stream)
        streams.append(stream)
    drv.Context.synchronize()
    h_out[:] = result
