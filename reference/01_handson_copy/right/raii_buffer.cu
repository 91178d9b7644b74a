// points: 100 + 10
// A class owns each buffer; an exception carries the first error out.

#include <cstring>
#include <stdexcept>

#include "copy.h"

namespace {

struct CudaFailure : std::runtime_error {
  explicit CudaFailure(cudaError_t what) : std::runtime_error(cudaGetErrorString(what)), error(what) {}
  cudaError_t error;
};

void Must(cudaError_t error) {
  if (error != cudaSuccess) throw CudaFailure(error);
}

class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes) { Must(cudaMalloc(&data_, bytes)); }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void FromHost(const void* host) { Must(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice)); }
  void From(const Buffer& other) { Must(cudaMemcpy(data_, other.data_, bytes_, cudaMemcpyDeviceToDevice)); }
  void ToHost(void* host) const { Must(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost)); }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t bytes) { Must(cudaMallocHost(&data_, bytes)); }
  ~PinnedBuffer() { cudaFreeHost(data_); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

template <class Work>
cudaError_t Guarded(Work work) {
  try {
    work();
  } catch (const CudaFailure& failure) {
    return failure.error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  return Guarded([=] {
    Buffer a(n * sizeof(int));
    a.FromHost(h_in);
    a.ToHost(h_out);
  });
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  return Guarded([=] {
    Buffer a(n * sizeof(int)), b(n * sizeof(int));
    a.FromHost(h_in);
    b.From(a);
    b.ToHost(h_out);
  });
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return copy2_two_buffers(h_in, h_out, n); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  return Guarded([=] {
    const size_t bytes = n * sizeof(int);
    PinnedBuffer staging(bytes);
    Buffer a(bytes), b(bytes);
    std::memcpy(staging.get(), h_in, bytes);
    a.FromHost(staging.get());
    b.From(a);
    b.ToHost(staging.get());
    std::memcpy(h_out, staging.get(), bytes);
  });
}
