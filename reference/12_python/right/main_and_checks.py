# points: 100
"""A file that can also be run by itself, with asserts and type annotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.gpuarray import GPUArray, empty, to_gpu


PARTS = 20


@dataclass
class Launch:
    """A kernel with its block's size."""

    name: str
    types: str
    threads: int = 256

    def __post_init__(self) -> None:
        module = drv.module_from_file("kernels.ptx")
        self.function = module.get_function(self.name).prepare(self.types)

    def __matmul__(self, n: int):
        assert n > 0, "a launch of nothing"
        grid = ((n + self.threads - 1) // self.threads, 1)
        return grid, (self.threads, 1, 1)


SHIFT = Launch("circular_shift", "PPII", 160)
SUMS = Launch("block_sums", "PPI")
SUBTRACT = Launch("subtract", "PPPI", 512)


def python1_round_trip(h_in: np.ndarray, h_out: np.ndarray) -> None:
    assert h_in.size == h_out.size
    if h_in.size:
        device = [to_gpu(h_in), empty(h_in.shape, np.int32)]
        drv.memcpy_dtod(device[1].gpudata, device[0].gpudata, h_in.nbytes)
        drv.memcpy_dtoh(h_out, device[1].gpudata)


def python2_shift(d_in: GPUArray, d_out: GPUArray, shift: int) -> None:
    n = d_in.size
    if n:
        SHIFT.function.prepared_call(*SHIFT @ n, d_in.gpudata, d_out.gpudata, n, shift % n)


def python3_sum(d_in: GPUArray, d_sum: GPUArray) -> None:
    match d_in.size:
        case 0:
            drv.memset_d8(d_sum.gpudata, 0, 4)
        case n if n <= SUMS.threads:
            SUMS.function.prepared_call(*SUMS @ n, d_in.gpudata, d_sum.gpudata, n, shared_size=4 * SUMS.threads)
        case n:
            (blocks, _), block = SUMS @ n
            partial = empty(blocks, np.int32)
            SUMS.function.prepared_call(
                (blocks, 1), block, d_in.gpudata, partial.gpudata, n, shared_size=4 * SUMS.threads
            )
            python3_sum(partial, d_sum)


def python4_streams(h_in: np.ndarray, d_background: GPUArray, h_out: np.ndarray) -> None:
    n = h_in.size
    locked = drv.pagelocked_empty(n, np.int32)
    locked[:] = h_in
    pieces: list[tuple[drv.Stream, GPUArray]] = []
    for begin in range(0, n, max(256, n // PARTS)):
        part = slice(begin, begin + max(256, n // PARTS))
        stream = drv.Stream()
        data = empty(locked[part].size, np.int32)
        drv.memcpy_htod_async(data.gpudata, locked[part], stream)
        arguments = (data.gpudata, d_background[part].gpudata, data.gpudata, data.size)
        SUBTRACT.function.prepared_async_call(*SUBTRACT @ data.size, stream, *arguments)
        drv.memcpy_dtoh_async(locked[part], data.gpudata, stream)
        pieces.append((stream, data))
    while pieces:
        stream, _ = pieces.pop()
        stream.synchronize()
    h_out[:] = locked


if __name__ == "__main__":
    values = np.array([3, 1, 7, 0, 4, 1, 6, 3], np.int32)
    result = np.empty_like(values)
    python1_round_trip(values, result)
    print(result)
