# mypy: ignore-errors
"""CuPy's raw, elementwise and reduction kernels; the raw one has a race."""

import cupy

SHIFT = r"""extern "C" __global__ void shift(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) x[i] = x[i + 1];  // RACE
}"""

shift = cupy.RawKernel(SHIFT, "shift", options=("-lineinfo",))
x = cupy.arange(256, dtype=cupy.float32)
shift((2,), (128,), (x, 256))
square = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * x", "square")
norm = cupy.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = a", "0", "norm")
ones = cupy.full(1000, 3, dtype=cupy.float32)
print("square:", float(square(ones)[999]), "norm:", float(norm(ones)), "dot:", float(ones @ ones))
