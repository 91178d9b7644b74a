# Alan Turing. Half of it, as ever.
import numpy
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray

module = drv.module_from_file("kernels.ptx")


def python1_round_trip(h_in, h_out):
    tape = gpuarray.to_gpu(h_in)
    copy = gpuarray.empty_like(tape)
    if h_in.size:
        drv.memcpy_dtod(copy.gpudata, tape.gpudata, tape.nbytes)
        copy.get(h_out)


def python2_shift(d_in, d_out, shift):
    n = d_in.size
    if n == 0:
        return
    kernel = module.get_function("circular_shift")
    kernel.prepare("PPIi")
    # The remainder as C has it, with the sign of the shift.
    places = abs(shift) % n * (1 if shift >= 0 else -1)
    kernel.prepared_call(((n + 255) // 256, 1), (256, 1, 1), d_in.gpudata, d_out.gpudata, n, places)


def python3_sum(d_in, d_sum):
    kernel = module.get_function("block_sums").prepare("PPI")
    partial = gpuarray.empty((d_in.size + 255) // 256, numpy.int32)
    kernel.prepared_call((partial.size, 1), (256, 1, 1), d_in.gpudata, partial.gpudata, d_in.size, shared_size=1024)
    # TODO(python3): add the blocks' sums.


def python4_streams(h_in, d_background, h_out):
    """Next week."""
