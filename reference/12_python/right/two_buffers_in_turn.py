# points: 100
"""Sums alternate between two arrays; chunks go through two buffers, each of which waits for its own stream."""

import numpy
import pycuda.autoprimaryctx
from pycuda.driver import (
    Stream, mem_alloc, memcpy_dtod, memcpy_dtoh, memcpy_dtoh_async, memcpy_htod, memcpy_htod_async, memset_d8,
    module_from_file, pagelocked_empty,
)
from pycuda.gpuarray import empty

ptx = module_from_file("kernels.ptx")
move = ptx.get_function("circular_shift").prepare(["P", "P", numpy.uint32, numpy.uint32])
add = ptx.get_function("block_sums").prepare(["P", "P", numpy.uint32])
subtract = ptx.get_function("subtract").prepare(["P", "P", "P", numpy.uint32])

WIDTH = 64
CHUNKS = 10


def ceil_div(a, b):
    quotient, rest = divmod(a, b)
    return quotient + (rest > 0)


def python1_round_trip(h_in, h_out):
    if h_in.nbytes == 0:
        return
    buffers = [mem_alloc(h_in.nbytes) for _ in range(2)]
    memcpy_htod(buffers[0], h_in)
    memcpy_dtod(buffers[1], buffers[0], h_in.nbytes)
    memcpy_dtoh(h_out, buffers[1])


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n == 0:
        return
    places = shift - n * (shift // n)
    move.prepared_call((ceil_div(n, WIDTH), 1), (WIDTH, 1, 1), d_in.ptr, d_out.ptr, n, places)


def python3_sum(d_in, d_sum):
    n = d_in.size
    if n == 0:
        memset_d8(d_sum.gpudata, 0, 4)
        return
    spare = [empty(ceil_div(n, WIDTH), numpy.int32), empty(ceil_div(ceil_div(n, WIDTH), WIDTH), numpy.int32)]
    source = d_in
    while True:
        blocks = ceil_div(n, WIDTH)
        target = d_sum if blocks == 1 else spare[0]
        add.prepared_call((blocks, 1), (WIDTH, 1, 1), source.gpudata, target.gpudata, n, shared_size=4 * WIDTH)
        if blocks == 1:
            return
        source, n = target, blocks
        spare.reverse()


def python4_streams(h_in, d_background, h_out):
    n = h_in.size
    if n == 0:
        return
    length = ceil_div(n, CHUNKS)
    lanes = [(Stream(), pagelocked_empty(length, numpy.int32), mem_alloc(4 * length)) for _ in (0, 1)]
    waiting = [None, None]

    def collect(lane):
        if waiting[lane] is not None:
            stream, host, _ = lanes[lane]
            stream.synchronize()
            begin, end = waiting[lane]
            h_out[begin:end] = host[: end - begin]

    for k, begin in enumerate(range(0, n, length)):
        lane = k % 2
        collect(lane)
        stream, host, device = lanes[lane]
        end = min(begin + length, n)
        part = host[: end - begin]
        part[:] = h_in[begin:end]
        memcpy_htod_async(device, part, stream)
        background = d_background[begin:end].gpudata
        subtract.prepared_async_call(
            (ceil_div(part.size, WIDTH), 1), (WIDTH, 1, 1), stream, device, background, device, part.size
        )
        memcpy_dtoh_async(part, device, stream)
        waiting[lane] = (begin, end)
    collect(0)
    collect(1)
