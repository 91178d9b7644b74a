# points: 100
"""An array for each chunk, page-locked and on the device; kernels are found when they are launched."""

import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from numpy import empty_like, int32, uint32, zeros


def function(name):
    return drv.module_from_file("kernels.ptx").get_function(name)


def python1_round_trip(h_in, h_out):
    a = gpuarray.empty(h_in.size, int32)
    a.set(h_in)
    b = gpuarray.empty(h_in.size, int32)
    result = empty_like(h_in)
    if a.size > 0:
        drv.memcpy_dtod(dest=b.gpudata, src=a.gpudata, size=a.nbytes)
        b.get(result)
    h_out[:] = result


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n == 0:
        return
    threads = min(n, 256)
    blocks = n // threads + (1 if n % threads else 0)
    kernel = function("circular_shift")
    kernel(d_in.gpudata, d_out.gpudata, uint32(n), uint32(shift % n), block=(threads, 1, 1), grid=(blocks, 1))


def python3_sum(d_in, d_sum):
    if d_in.size == 0:
        d_sum.set(zeros(1, int32))
        return
    kernel = function("block_sums").prepare("PPI")

    def reduce(source):
        threads = 1024 if source.size > 512 else 512
        blocks = (source.size + threads - 1) // threads
        target = d_sum if blocks == 1 else gpuarray.empty(blocks, int32)
        arguments = (source.gpudata, target.gpudata, source.size)
        kernel.prepared_call((blocks, 1), (threads, 1, 1), *arguments, shared_size=threads * int32(0).dtype.itemsize)
        return target

    left = reduce(d_in)
    while left is not d_sum:
        left = reduce(left)


def python4_streams(h_in, d_background, h_out):
    kernel = function("subtract").prepare("PPPI")
    n = h_in.size
    count = min(n, 4)
    streams = [drv.Stream() for _ in range(count)]
    parts, begin = [], 0
    for k in range(count):
        size = n // count + (1 if k < n % count else 0)
        parts.append((begin, begin + size, streams[k]))
        begin += size
    locked = [drv.pagelocked_empty(end - begin, int32) for begin, end, _ in parts]
    device = []
    for host, (begin, end, stream) in zip(locked, parts):
        host[:] = h_in[begin:end]
        data = gpuarray.to_gpu_async(host, stream=stream)
        kernel.prepared_async_call(
            ((host.size + 255) // 256, 1), (256, 1, 1), stream,
            data.gpudata, d_background[begin:end].gpudata, data.gpudata, host.size,
        )
        data.get_async(stream, host)
        device.append(data)
    drv.Context.synchronize()
    for host, (begin, end, _) in zip(locked, parts):
        h_out[begin:end] = host
