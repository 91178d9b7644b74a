// Assignment 01: copying. Fill in the TODOs, one rung at a time; README.md has the task.
//
// No kernel is needed here: only the host code that every CUDA program has around its kernels. copy.h says what the
// launchers are given.

#include "copy.h"

// Rung 1: there and back.
// Goal    copy the n ints of h_in to h_out, through one buffer on the device.
// How     cudaMalloc; cudaMemcpy to the device; cudaMemcpy to the host; cudaFree.
// Mind    CUDA counts bytes. Destination comes first, source second, direction last.
// Budget  one copy each way, of n ints; nothing left allocated.
cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  // TODO(copy1): allocate a_d, copy h_in to it, copy it to h_out, free it.
  return cudaErrorNotReady;
}

// Rung 2: two buffers.
// Goal    h_in goes to a_d, a_d to b_d, b_d to h_out.
// How     The middle copy stays on the device: the data does not pass through the host.
// Budget  one copy of each kind; two allocations.
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  // TODO(copy2): rung 1 with a second buffer b_d, and a copy from device to device between the two.
  return cudaErrorNotReady;
}

// Rung 3: every call checked.
// Goal    rung 2, but stop at the first call that fails: return its error, free what was allocated before it,
//         and leave h_out unchanged.
// How     Every CUDA function returns a cudaError_t. Check each; continue only after cudaSuccess. Free in one place
//         that every return path reaches: cudaFree(nullptr) does nothing and succeeds.
// Budget  two allocations, freed on every return path.
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) {
  // TODO(copy3): rung 2, checking the result of each call.
  return cudaErrorNotReady;
}

// Rung 4, bonus: page-locked memory.
// Goal    rung 3, with page-locked host memory for the copies between host and device.
// How     cudaMallocHost instead of malloc, cudaFreeHost instead of free. h_in and h_out are ordinary memory: the
//         host moves the ints between them and the page-locked buffer itself.
// Budget  nothing left allocated, on the device or page-locked, on any return path.
cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  // TODO(copy4): allocate page-locked memory, and use it for the copies.
  return cudaErrorNotReady;
}
