// verdict: WRONG launch1_fill
// Launches blocks of 256, whatever block size was requested.
#include "launch.h"

// Used by the other rungs: right, and within every budget.
__global__ void good_kernel(int* d_a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_a[i] = FilledValue(blockIdx.x, threadIdx.x);
}

cudaError_t good(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  good_kernel<<<BlocksFor(n, block), block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t good_copy_back(int* h_out, unsigned n, unsigned block) {
  int* a_d = nullptr;
  cudaError_t error = cudaMalloc(&a_d, n * sizeof(int));
  if (error == cudaSuccess) error = good(a_d, n, block);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, a_d, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(a_d);
  return error;
}

__global__ void good_verify_kernel(const int* d_a, unsigned n, unsigned* d_wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int wrong = __syncthreads_count(i < n && d_a[i] != FilledValue(blockIdx.x, threadIdx.x));
  if (threadIdx.x == 0 && wrong > 0) atomicAdd(d_wrong, wrong);
}

cudaError_t good_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  cudaMemset(d_wrong, 0, sizeof *d_wrong);
  if (n > 0) good_verify_kernel<<<BlocksFor(n, block), block>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) { return good(d_a, n, 256); }

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) { return good(d_a, n, block); }
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) { return good_copy_back(h_out, n, block); }
cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  return good_verify(d_a, n, block, d_wrong);
}
cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) { return cudaErrorNotReady; }
cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) { return cudaErrorNotReady; }
