# points: 100
"""One class that knows how to launch; breadth first over the chunks of the last rung."""

import numpy
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray


class Kernel:
    module = cuda.module_from_file("kernels.ptx")

    def __init__(self, name, types, threads=256, shared_ints=0):
        self.function = self.module.get_function(name)
        self.function.prepare(types)
        self.threads = threads
        self.options = {"shared_size": 4 * shared_ints} if shared_ints else {}

    def blocks(self, n):
        return (n + self.threads - 1) // self.threads

    def __call__(self, n, *arguments, stream=None):
        grid, block = (self.blocks(n), 1), (self.threads, 1, 1)
        pointers = [one.gpudata if isinstance(one, gpuarray.GPUArray) else one for one in arguments]
        if stream is None:
            self.function.prepared_call(grid, block, *pointers, **self.options)
        else:
            self.function.prepared_async_call(grid, block, stream, *pointers, **self.options)


shift_by = Kernel("circular_shift", "PPII")
sums = Kernel("block_sums", "PPI", threads=128, shared_ints=128)
subtract = Kernel("subtract", "PPPI", threads=32)


def python1_round_trip(h_in, h_out):
    source = gpuarray.to_gpu(h_in)
    copy = gpuarray.empty_like(source)
    if source.size:
        cuda.memcpy_dtod(copy.ptr, source.ptr, source.nbytes)
    copy.get(h_out)


def python2_shift(d_in, d_out, shift):
    if d_in.size:
        shift_by(d_in.size, d_in, d_out, d_in.size, shift % d_in.size)


def python3_sum(d_in, d_sum):
    if not d_in.size:
        d_sum.set(numpy.zeros(1, numpy.int32))
        return
    values = d_in
    while sums.blocks(values.size) > 1:
        less = gpuarray.empty(sums.blocks(values.size), numpy.int32)
        sums(values.size, values, less, values.size)
        values = less
    sums(values.size, values, d_sum, values.size)


def python4_streams(h_in, d_background, h_out):
    n = h_in.size
    locked = cuda.pagelocked_empty_like(h_in)
    for i in range(0, n, 65536):
        locked[i : i + 65536] = h_in[i : i + 65536]
    device = gpuarray.empty(n, numpy.int32)
    bounds = [n * k // 16 for k in range(17)]
    parts = [slice(a, b) for a, b in zip(bounds, bounds[1:]) if a < b]
    streams = [cuda.Stream() for _ in range(4)]
    lanes = [(part, streams[k % 4]) for k, part in enumerate(parts)]
    for part, stream in lanes:
        device[part].set_async(locked[part], stream)
    for part, stream in lanes:
        subtract(device[part].size, device[part], d_background[part], device[part], device[part].size, stream=stream)
    for part, stream in lanes:
        device[part].get_async(stream, locked[part])
    for stream in streams:
        stream.synchronize()
    h_out[:] = locked
