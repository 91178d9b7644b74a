# verdict: COMPILE
"""A launcher is missing."""

from numba import cuda

BLOCK = 256


@cuda.jit("void(int32[::1], int32[::1], int64)")
def shift_kernel(d_in, d_out, offset):
    i = cuda.grid(1)
    n = d_out.size
    if i < n:
        source = i + offset
        if source >= n:
            source -= n
        d_out[i] = d_in[source]


def shift1_gather(d_in, d_out, shift):
    n = d_in.size
    if n > 0:
        shift_kernel[(n + BLOCK - 1) // BLOCK, BLOCK](d_in, d_out, shift)


def shift2_all(d_in, d_out, shift):
    if d_in.size > 0:
        shift1_gather(d_in, d_out, shift % d_in.size)
