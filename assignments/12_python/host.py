"""Assignment 12: the host side, in PyCUDA. Fill in the TODOs, one rung at a time; README.md has the task.

h_… are NumPy arrays of int32 in host memory, d_… are GPUArrays of int32 in device memory. A launcher gives back all
memory that it allocates: device memory and page-locked memory are freed when nothing refers to them any more.
"""

import numpy
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray

kernels = drv.module_from_file("kernels.ptx")


def python1_round_trip(h_in, h_out):
    """Rung 1: there and back.

    Goal    copy h_in to h_out by way of the device: to one array there, from it to a second one, and back.
    Mind    h_in may be empty, and mem_alloc(0) is an error.
    Budget  one copy of each kind, two allocations.
    """
    # TODO(python1): allocate two arrays on the device, and make the three copies.


def python2_shift(d_in, d_out, shift):
    """Rung 2: a prepared launch.

    Goal    d_out[i] = d_in[(i + shift) % n] for any shift, also a negative one. n is d_in.size, and may be 0.
    How     get_function, prepare once, prepared_call; the kernel is circular_shift.
    Budget  one launch, of as many blocks as it takes.
    """
    # TODO(python2): prepare the kernel with the types of its parameters, work out places and the grid, launch.


def python3_sum(d_in, d_sum):
    """Rung 3: launches on results of launches.

    Goal    d_sum[0] becomes the sum of d_in, modulo 2^32; 0 where d_in is empty. d_in stays as it is.
    How     block_sums makes one number of each block; launch it again on those until one is left.
    Budget  a launch for each level, nothing copied to the host, three allocations.
    """
    # TODO(python3): launch block_sums with shared_size, until a single block is left, which writes d_sum.


def python4_streams(h_in, d_background, h_out):
    """Rung 4: copies and kernels in streams.

    Goal    h_out[i] = h_in[i] - d_background[i], modulo 2^32, by the kernel subtract.
    How     at least four chunks in two or more streams; page-locked memory; copies and launches that don't wait.
    Mind    the host may read a result once it has waited for the stream.
    Budget  4 to 64 chunks, and no waiting between the first two.
    """
    # TODO(python4): for each chunk put its copy, its launch and its copy back into a stream; wait; fill h_out.
