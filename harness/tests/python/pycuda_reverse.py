# mypy: ignore-errors
"""A module, a prepared call and an array by PyCUDA; the kernel reads past the end of its array."""

import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void reverse(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = x[n - i];  // BOUNDS
}
""")
print("doubled:", (2 * gpuarray.arange(4, dtype=np.float32)).get().tolist(), flush=True)
x, y = gpuarray.arange(128, dtype=np.float32), gpuarray.zeros(128, np.float32)
reverse = module.get_function("reverse")
reverse.prepare("PPi")
reverse.prepared_call((1, 1), (128, 1, 1), x.gpudata, y.gpudata, 128)
pycuda.autoinit.context.synchronize()
