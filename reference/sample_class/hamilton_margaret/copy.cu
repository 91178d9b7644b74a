// Margaret Hamilton. Two rungs so far.

#include "copy.h"

// Rung 1. One buffer: to the device, and back.
cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  int* a_d = nullptr;
  cudaMalloc(&a_d, bytes);
  cudaMemcpy(a_d, h_in, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(h_out, a_d, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a_d);
  return cudaGetLastError();
}

// Rung 2. Two buffers: the copy in the middle stays on the device.
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  int* a_d = nullptr;
  int* b_d = nullptr;
  cudaMalloc(&a_d, bytes);
  cudaMalloc(&b_d, bytes);
  cudaMemcpy(a_d, h_in, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b_d, a_d, bytes, cudaMemcpyDeviceToDevice);
  cudaMemcpy(h_out, b_d, bytes, cudaMemcpyDeviceToHost);
  cudaFree(b_d);
  cudaFree(a_d);
  return cudaGetLastError();
}

// Rung 3: every call checked.
// Goal    rung 2, but a call that fails ends the work: its error is returned, what was allocated before it is freed,
//         and h_out is as it was.
// How     Every CUDA function returns a cudaError_t. Look at each; go on only after cudaSuccess. Free in one place that
//         every way out passes: cudaFree(nullptr) does nothing and succeeds.
// Budget  two allocations, freed on every way out.
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) {
  // TODO(copy3): rung 2 with each call's result looked at.
  return cudaErrorNotReady;
}

// Rung 4, bonus: page-locked memory.
// Goal    rung 3, with the copies between host and device going from and to page-locked host memory.
// How     cudaMallocHost in place of malloc, cudaFreeHost in place of free. h_in and h_out are ordinary memory: the
//         host moves the ints between them and the page-locked buffer itself.
// Budget  nothing left allocated, on the device or page-locked, on every way out.
cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  // TODO(copy4): allocate page-locked memory, and let the copies use it.
  return cudaErrorNotReady;
}
