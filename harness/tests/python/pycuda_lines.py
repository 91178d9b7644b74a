# mypy: ignore-errors
"""Prints what PyCUDA does: the real one and the stand-in in a worker have to print the same lines.

As a program it needs a kernels.ptx of assignment 12 in its folder. As a submission of that assignment it prints them
when the first rung is called with one element.
"""

import numpy
import pycuda.autoinit  # noqa: F401 - makes the context
import pycuda.driver as drv
from pycuda import gpuarray

module = drv.module_from_file("kernels.ptx")
subtract = module.get_function("subtract")


def raised(function, *arguments):
    """The class of what a call raises."""
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__
    return "nothing"


def called():
    """Calls without preparation, with arrays that the call copies."""
    a, b = numpy.array([5, 6, 7], numpy.int32), numpy.array([1, 2, 3], numpy.int32)
    out = numpy.zeros(3, numpy.int32)
    subtract(drv.In(a), drv.In(b), drv.Out(out), numpy.uint32(3), block=(32, 1, 1), grid=(1, 1))
    yield "In, Out", out.tolist()
    subtract(drv.InOut(a), gpuarray.to_gpu(b), drv.to_device(out), numpy.uint32(3), block=(32, 1, 1), stream=None)
    yield "InOut", a.tolist()
    yield "plain int", raised(lambda: subtract(drv.In(a), drv.In(b), drv.Out(out), 3, block=(32, 1, 1)))
    yield "no block", raised(lambda: subtract(drv.In(a), drv.In(b), drv.Out(out), numpy.uint32(3)))


def arrays():
    """Arrays on the device and on the host, and parts of them."""
    a = gpuarray.to_gpu(numpy.array(list(range(10)), numpy.int32))
    yield "part", a[3:6].get().tolist(), a[3:6].size, a[8:20].shape, a[4:].nbytes
    yield "address", a[3:6].ptr - a.ptr, int(a.gpudata) == a.ptr
    a[2:4].set(numpy.array([-1, -2], numpy.int32))
    yield "set", a.get().tolist(), len(a), a.ndim, a.itemsize
    locked = drv.pagelocked_zeros(4, numpy.int32)
    drv.memcpy_dtoh(locked[1:3], a[2:4].gpudata)
    yield "page-locked", locked.tolist(), locked[1:3].nbytes
    locked[:2] = 9
    locked[3:] = numpy.array([8], numpy.int32)
    yield "host", [int(one) for one in locked], drv.pagelocked_empty_like(locked).size
    yield "other length", raised(a.set, locked)
    yield "other type", raised(a[:4].set, numpy.zeros(4, numpy.float32))
    empty = gpuarray.empty(0, numpy.int32)
    yield "empty", empty.gpudata, empty.get().tolist(), raised(lambda: empty[0:0])
    yield "no zeros", raised(gpuarray.zeros, 0, numpy.int32) != "nothing"


def memory():
    """Memory, bytes and what can't be done with them."""
    m = drv.mem_alloc(16)
    drv.memset_d8(m, 1, 16)
    yield "memset", drv.from_device(m, 4, numpy.int32).tolist()
    n = drv.mem_alloc_like(numpy.zeros(2, numpy.float64))
    drv.memcpy_dtod(n, m, 16)
    yield "copied", drv.from_device_like(n, numpy.zeros(2, numpy.int32)).tolist()
    m.free()
    yield "freed twice", raised(m.free)
    yield "nothing", raised(drv.mem_alloc, 0)
    yield "no kernel", raised(module.get_function, "add")
    yield "no file", raised(drv.module_from_file, "other.ptx") in ("LogicError", "RuntimeError")
    yield "classes", issubclass(drv.MemoryError, drv.Error), issubclass(drv.LogicError, drv.Error)


def streams():
    """Streams and events."""
    stream, other = drv.Stream(), drv.Stream()
    a = gpuarray.to_gpu_async(drv.pagelocked_zeros(3, numpy.int32), stream=stream)
    event = drv.Event()
    yield "event", event.record(stream) is event
    other.wait_for_event(event)
    result = a.get_async(other)
    other.synchronize()
    yield "waited", result.tolist(), stream.is_done(), event.query(), event.synchronize() is event
    later = drv.Event().record(other)
    later.synchronize()
    yield "time", later.time_since(event) >= 0, event.time_till(later) >= 0
    subtract.prepare("PPPI")
    seconds = subtract.prepared_timed_call((1, 1), (32, 1, 1), a.gpudata, a.gpudata, a.gpudata, 3)
    yield "timed", seconds() >= 0, raised(subtract.prepared_call, (1, 1), (2048, 1, 1), 0, 0, 0, 3)


def show():
    """Prints the lines."""
    for part in (called, arrays, memory, streams):
        for name, *values in part():
            print(name, *values, flush=True)


def python1_round_trip(h_in, h_out):
    """A submission's first rung: prints the lines when it is called with one element."""
    if h_in.size == 1:
        show()


def python2_shift(d_in, d_out, shift):
    """Not begun."""


def python3_sum(d_in, d_sum):
    """Not begun."""


def python4_streams(h_in, d_background, h_out):
    """Not begun."""


if __name__ == "__main__":
    show()
