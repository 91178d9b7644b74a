// Copying: an array goes to the device, from buffer to buffer there, and back.
//
// Rungs 1 and 2 are only the calls. On rungs 3 and 4 objects own what is allocated: their destructors free it on every
// return path, and the first error ends the work.

#include <algorithm>

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

// Leaves the function with the error of a call that failed.
#define RETURN_IF_FAILED(call)                                    \
  do {                                                            \
    if (const cudaError_t error = (call); error != cudaSuccess) { \
      return error;                                               \
    }                                                             \
  } while (false)

// n ints in device memory, freed at the end of the scope.
class DeviceInts {
 public:
  DeviceInts() = default;
  ~DeviceInts() { cudaFree(data_); }
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;
  cudaError_t allocate(size_t n) { return cudaMalloc(&data_, n * sizeof(int)); }
  int* data() const { return data_; }

 private:
  int* data_ = nullptr;
};

// n ints in page-locked host memory, likewise.
class PinnedInts {
 public:
  PinnedInts() = default;
  ~PinnedInts() { cudaFreeHost(data_); }
  PinnedInts(const PinnedInts&) = delete;
  PinnedInts& operator=(const PinnedInts&) = delete;
  cudaError_t allocate(size_t n) { return cudaMallocHost(&data_, n * sizeof(int)); }
  int* data() const { return data_; }

 private:
  int* data_ = nullptr;
};

// Rung 3. Every call checked: the first error ends the work, and the destructors free what was allocated.
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  DeviceInts a, b;
  RETURN_IF_FAILED(a.allocate(n));
  RETURN_IF_FAILED(b.allocate(n));
  RETURN_IF_FAILED(cudaMemcpy(a.data(), h_in, bytes, cudaMemcpyHostToDevice));
  RETURN_IF_FAILED(cudaMemcpy(b.data(), a.data(), bytes, cudaMemcpyDeviceToDevice));
  RETURN_IF_FAILED(cudaMemcpy(h_out, b.data(), bytes, cudaMemcpyDeviceToHost));
  return cudaSuccess;
}

// Rung 4. Page-locked host memory: the device fetches it by itself, with no copy by the driver in between. One buffer
// serves both ways.
cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  DeviceInts a, b;
  PinnedInts staging;
  RETURN_IF_FAILED(staging.allocate(n));
  RETURN_IF_FAILED(a.allocate(n));
  RETURN_IF_FAILED(b.allocate(n));
  std::copy_n(h_in, n, staging.data());
  RETURN_IF_FAILED(cudaMemcpy(a.data(), staging.data(), bytes, cudaMemcpyHostToDevice));
  RETURN_IF_FAILED(cudaMemcpy(b.data(), a.data(), bytes, cudaMemcpyDeviceToDevice));
  RETURN_IF_FAILED(cudaMemcpy(staging.data(), b.data(), bytes, cudaMemcpyDeviceToHost));
  std::copy_n(staging.data(), n, h_out);
  return cudaSuccess;
}
