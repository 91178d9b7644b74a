# ruff: noqa: S101
# mypy: ignore-errors
"""NVIDIA's cuda.core runs a CUDA C++ kernel, compiled by NVRTC: blocks add to one sum without an atomic operation."""

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
extern "C" __global__ void sum(const int* x, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    total[1] += x[i];  // RACE
    atomicAdd(total, x[i]);
  }
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
kernel = Program(SOURCE, code_type="c++", options=options).compile("cubin").get_kernel("sum")
values = np.arange(1000, dtype=np.int32)
memory = device.memory_resource
x, total = memory.allocate(values.nbytes, stream=stream), memory.allocate(8, stream=stream)
stream.sync()


def copy(to: int, source: int, size: int) -> None:
    """Copies between host and device."""
    from cuda.bindings import driver  # noqa: PLC0415

    (status,) = driver.cuMemcpy(to, source, size)
    assert status == driver.CUresult.CUDA_SUCCESS, status


result = np.zeros(2, np.int32)
copy(int(x.handle), values.ctypes.data, values.nbytes)
copy(int(total.handle), result.ctypes.data, result.nbytes)
launch(stream, LaunchConfig(grid=4, block=256), kernel, x, total, np.int32(values.size))
stream.sync()
copy(result.ctypes.data, int(total.handle), result.nbytes)
print("sum:", result[0], "of", values.sum())
