# points: 40
"""The parts before and behind the place where the array wraps around, each by a launch in a stream of its own."""

from numba import cuda


@cuda.jit("void(int32[::1], int32[::1])")
def copy_kernel(d_from, d_to):
    i = cuda.grid(1)
    if i < d_to.size:
        d_to[i] = d_from[i]


def copy(d_from, d_to, stream):
    if d_to.size:
        copy_kernel[(d_to.size + 255) // 256, 256, stream](d_from, d_to)


def shift1_gather(d_in, d_out, shift):
    rest = d_in.size - shift
    one, other = cuda.stream(), cuda.stream()
    copy(d_in[shift:], d_out[:rest], one)
    copy(d_in[:shift], d_out[rest:], other)
    one.synchronize()
    other.synchronize()


def shift2_any(d_in, d_out, shift):
    if d_in.size:
        shift1_gather(d_in, d_out, shift % d_in.size)
