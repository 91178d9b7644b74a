// tests *, timing *: right, but a kernel that is not waited for faults some time after each answer. Which call of this
// rung finds its worker broken is a matter of chance; calls of other rungs must not.
#include "reduction_with.h"

extern "C" cudaError_t cudaDeviceSynchronize() { return cudaStreamSynchronize(nullptr); }

__global__ void wild_kernel() { *reinterpret_cast<int*>(16) = 1; }

void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  real_reduce4_first_add(d_in, d_sum, n, d_work);
  cudaStreamSynchronize(nullptr);
  wait_kernel<<<1, 1, 0, other_stream()>>>(5'000'000);
  wild_kernel<<<1, 1, 0, other_stream()>>>();
}
