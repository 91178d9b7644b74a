# points: 100
"""Three streams: one copies in, one computes, one copies out; events order them."""

import numpy
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray

functions = drv.module_from_file("kernels.ptx")
BLOCK = (192, 1, 1)
CHUNKS = 12


def grid(n, width=BLOCK[0]):
    count = 0
    while count * width < n:
        count += max(1, (n - count * width) // width)
    return (count, 1)


def python1_round_trip(h_in, h_out):
    if len(h_in) == 0:
        return None
    there = drv.to_device(h_in)
    copy = drv.mem_alloc_like(h_in)
    drv.memcpy_dtod(copy, there, h_in.nbytes)
    h_out[:] = drv.from_device_like(copy, h_in)


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n != 0:
        places = shift % n
        function = functions.get_function("circular_shift")
        function.prepare("PPIi")
        seconds = function.prepared_timed_call(grid(n), BLOCK, d_in.gpudata, d_out.gpudata, n, places)
        seconds()


def python3_sum(d_in, d_sum):
    function = functions.get_function("block_sums").prepare("PPi")
    n, source, kept = d_in.size, d_in.gpudata, []
    if n == 0:
        drv.memcpy_htod(d_sum.gpudata, numpy.zeros(1, numpy.int32))
    while n > 0:
        blocks = (n + 255) // 256
        if blocks > 1:
            kept.append(drv.mem_alloc(blocks * 4))
        target = kept[-1] if blocks > 1 else d_sum.gpudata
        function.prepared_async_call((blocks, 1), (256, 1, 1), None, source, target, n, shared_size=1024)
        n, source = (blocks, target) if blocks > 1 else (0, None)


def python4_streams(h_in, d_background, h_out):
    n = h_in.size
    if n == 0:
        return
    subtract = functions.get_function("subtract").prepare("PPPI")
    copies_in, computes, copies_out = drv.Stream(), drv.Stream(), drv.Stream()
    locked = drv.pagelocked_empty(n, numpy.int32)
    locked[:] = h_in
    a, b = gpuarray.empty(n, numpy.int32), gpuarray.empty(n, numpy.int32)
    size = (n + CHUNKS - 1) // CHUNKS
    for begin in range(0, n, size):
        end = min(n, begin + size)
        drv.memcpy_htod_async(a[begin:end].gpudata, locked[begin:end], copies_in)
        arrived = drv.Event()
        arrived.record(copies_in)
        computes.wait_for_event(arrived)
        subtract.prepared_async_call(
            grid(end - begin), BLOCK, computes, a[begin:end].gpudata, d_background[begin:end].gpudata,
            b[begin:end].gpudata, end - begin,
        )
        computed = drv.Event().record(computes)
        copies_out.wait_for_event(computed)
        drv.memcpy_dtoh_async(locked[begin:end], b[begin:end].gpudata, copies_out)
    copies_out.synchronize()
    h_out[:] = locked
