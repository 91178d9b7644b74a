// Assignment 01: copying. Fill in the TODOs, one rung at a time; README.md has the task.
//
// No kernel is needed here: only the host code that every CUDA program has around its kernels. copy.h says what the
// launchers are given.

#include "copy.h"

// Rung 1: there and back.
// Goal    the n ints of h_in arrive in h_out, by way of one buffer on the device.
// How     cudaMalloc; cudaMemcpy to the device; cudaMemcpy to the host; cudaFree.
// Mind    CUDA counts bytes. Destination comes first, source second, direction last.
// Budget  one copy each way, of n ints; nothing left allocated.
cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  // TODO(copy1): allocate a_d, copy h_in to it, copy it to h_out, free it.
  return cudaErrorNotReady;
}

// Rung 2: two buffers.
// Goal    h_in goes to a_d, a_d to b_d, b_d to h_out.
// How     The middle copy has both its ends on the device: the data does not pass through the host.
// Budget  one copy of each kind; two allocations.
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  // TODO(copy2): rung 1 with a second buffer b_d, and a copy from device to device between the two.
  return cudaErrorNotReady;
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
