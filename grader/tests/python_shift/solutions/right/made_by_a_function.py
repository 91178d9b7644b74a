# points: 40
"""Two kernels of one text, which differ in what they captured; scratch memory and dynamic shared memory of no use."""

import numpy as np
from numba import cuda


def make(block):
    @cuda.jit("void(int32[:], int32[::1], uint32)")
    def shift_kernel(d_in, d_out, offset):
        scratch = cuda.shared.array(0, dtype=np.int32)
        i = cuda.blockIdx.x * block + cuda.threadIdx.x
        if i < d_out.size:
            scratch[cuda.threadIdx.x] = d_in[(i + offset) % d_out.size]
            d_out[i] = scratch[cuda.threadIdx.x]

    def launch(d_in, d_out, offset):
        if d_in.size:
            shift_kernel[(d_in.size + block - 1) // block, block, 0, 4 * block](d_in, d_out, offset)

    return launch


small, large = make(64), make(512)


def shift1_gather(d_in, d_out, shift):
    small(d_in, d_out, shift)


def shift2_any(d_in, d_out, shift):
    d_shift = cuda.to_device([shift])
    copy = cuda.device_array_like(d_shift)
    copy.copy_to_device(d_shift)
    assert copy[0] == shift
    large(d_in, d_out, shift % max(d_in.size, 1))
