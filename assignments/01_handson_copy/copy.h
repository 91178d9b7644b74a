// The launchers of assignment 01, one per rung. Their names and signatures are fixed: the tests call them.
//
// All take the same arguments:
//   h_in    n ints in host memory. Read-only.
//   h_out   n ints in host memory: copy the ints of h_in here, through the device. Garbage at first.
//   n       how many, from 0 to 2^22. A count of ints, not of bytes.
//
// All return cudaSuccess, or the error of the CUDA call that failed. A launcher must free whatever it allocates
// before it returns.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// Rung 1. One buffer: to the device, and back.
cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n);

// Rung 2. Two buffers: host to device, device to device, device to host.
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n);

// Rung 3. The same, and any call may fail: then the error is returned, what was allocated is freed, and h_out stays as
// it was.
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n);

// Rung 4, bonus. Rung 3 with page-locked host memory on the host's side of the copies.
cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n);
