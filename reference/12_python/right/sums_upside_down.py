# points: 100
"""All levels' lengths are worked out first, and share one allocation; dictionaries of kernels."""

import numpy
import pycuda.driver as drv
import pycuda.autoinit
from pycuda import gpuarray

PARTS = 7
TYPES = {"circular_shift": "PPII", "block_sums": "PPI", "subtract": "PPPI"}
ptx = drv.module_from_file("kernels.ptx")
kernel = {name: ptx.get_function(name).prepare(types) for name, types in TYPES.items()}


def launch(name, n, *arguments, threads=256, **options):
    kernel[name].prepared_call((1 + (n - 1) // threads, 1), (threads, 1, 1), *arguments, **options)


def python1_round_trip(h_in, h_out):
    n = h_in.size
    if n > 0:
        both = gpuarray.empty(2 * n, numpy.int32)
        first, second = both[:n], both[n:]
        first.set(h_in)
        drv.memcpy_dtod(second.gpudata, first.gpudata, first.nbytes)
        second.get(h_out)


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n > 0:
        launch("circular_shift", n, d_in.gpudata, d_out.gpudata, n, shift % n, threads=1024)


def python3_sum(d_in, d_sum):
    lengths = [d_in.size]
    while lengths[-1] > 256:
        lengths.append((lengths[-1] + 255) // 256)
    if lengths[0] == 0:
        drv.memset_d8(d_sum.gpudata, 0, 4)
        return
    scratch = gpuarray.empty(sum(lengths[1:]), numpy.int32)
    arrays, begin = [d_in], 0
    for length in lengths[1:]:
        arrays.append(scratch[begin : begin + length])
        begin += length
    arrays.append(d_sum)
    for source, target in zip(arrays, arrays[1:]):
        launch("block_sums", source.size, source.gpudata, target.gpudata, source.size, shared_size=4 * 256)


def python4_streams(h_in, d_background, h_out):
    n = h_in.size
    locked = drv.pagelocked_empty(n, numpy.int32)
    locked[:] = h_in
    streams = {}
    parts = []
    length = n // PARTS + 1
    for begin in range(0, n, length):
        part = locked[begin : begin + length]
        stream = streams.setdefault(begin // length % 2, drv.Stream())
        data = gpuarray.GPUArray(part.shape, part.dtype)
        data.set_async(part, stream)
        background = d_background[begin : begin + length]
        grid = (1 + (part.size - 1) // 128, 1)
        kernel["subtract"].prepared_async_call(
            grid, (128, 1, 1), stream, data.gpudata, background.gpudata, data.gpudata, part.size
        )
        drv.memcpy_dtoh_async(part, data.gpudata, stream)
        parts.append(data)
    for stream in streams.values():
        while not stream.is_done():
            pass
        stream.synchronize()
    h_out[:] = locked
