"""The circular shift: d_out[i] is the element `shift` places further on in d_in, wrapping around at the end.

A launcher gets two device arrays of int32 with the same number of elements, which may be 0, and the shift.
"""

from numba import cuda


@cuda.jit("void(int32[::1], int32[::1], int64)")
def shift1_kernel(d_in, d_out, shift):
    pass  # TODO(shift1): which element does thread i load? Not every thread has one.


def shift1_gather(d_in, d_out, shift):
    """Rung 1: 0 <= shift < d_in.size."""
    # TODO(shift1): launch a thread for each element.


def shift2_any(d_in, d_out, shift):
    """Rung 2: any shift, negative and larger than d_in.size in either direction."""
    # TODO(shift2): rung 1's kernel will do.
