// points: 100
// Page-locks the caller's own arrays, so nothing is moved on the host.
#include <algorithm>
#include <vector>

#include "streams.h"

namespace {

// Page-locked until the launcher ends, with as much memory on the device.
class Work {
 public:
  Work(const float* h_in, float* h_out, size_t n) : in_(const_cast<float*>(h_in)), out_(h_out), n_(n) {
    cudaHostRegister(in_, n * sizeof(float), cudaHostRegisterDefault);
    cudaHostRegister(out_, n * sizeof(float), cudaHostRegisterDefault);
    cudaMalloc(&d_, 2 * n * sizeof(float));
  }
  ~Work() {
    cudaFree(d_);  // waits for the device
    cudaHostUnregister(out_);
    cudaHostUnregister(in_);
  }
  size_t Length(size_t first, size_t most) const { return std::min(most, n_ - first); }
  void In(size_t first, size_t most, cudaStream_t s) {
    cudaMemcpyAsync(d_ + first, in_ + first, Length(first, most) * sizeof(float), cudaMemcpyHostToDevice, s);
  }
  void Out(size_t first, size_t most, cudaStream_t s) {
    cudaMemcpyAsync(out_ + first, d_ + n_ + first, Length(first, most) * sizeof(float), cudaMemcpyDeviceToHost, s);
  }
  void Run(size_t first, size_t most, cudaStream_t s) {
    const unsigned length = Length(first, most);
    simulate_kernel<<<(length + 127) / 128, 128, 0, s>>>(d_ + first, d_ + n_ + first, length);
  }
  void RunPiece(size_t first, float* carry, cudaStream_t s) {
    const unsigned length = Length(first, kPiece);
    chain_kernel<<<(length + 127) / 128, 128, 0, s>>>(d_ + first, d_ + n_ + first, length, carry, carry + 1);
  }

 private:
  float *in_, *out_, *d_ = nullptr;
  size_t n_;
};

template <class Body>
void WithStreams(int count, Body body) {
  std::vector<cudaStream_t> streams(count);
  for (auto& s : streams) cudaStreamCreate(&s);
  body(streams);
  for (auto& s : streams) cudaStreamSynchronize(s);
  for (auto& s : streams) cudaStreamDestroy(s);
}

constexpr size_t kPart = 40000;

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Work work(h_in, h_out, n);
  work.In(0, n, 0);
  work.Run(0, n, 0);
  work.Out(0, n, 0);
  cudaStreamSynchronize(0);
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  Work work(h_in, h_out, n);
  WithStreams(streams, [&](auto& s) {
    const size_t part = std::clamp<size_t>(n / 40 + 1, 256, kPart);
    for (size_t k = 0; k * part < n; ++k) {
      work.In(k * part, part, s[k % streams]);
      work.Run(k * part, part, s[k % streams]);
      work.Out(k * part, part, s[k % streams]);
    }
  });
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Work work(h_in, h_out, n);
  WithStreams(3, [&](auto& s) {
    for (size_t k = 0; k * kPart < n; ++k) {
      work.In(k * kPart, kPart, s[k % 3]);
      work.Run(k * kPart, kPart, s[k % 3]);
    }
    for (size_t k = 0; k * kPart < n; ++k) work.Out(k * kPart, kPart, s[k % 3]);
  });
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Work work(h_in, h_out, n);
  float* carries;
  cudaMalloc(&carries, (n / kPiece + 2) * sizeof(float));
  cudaMemset(carries, 0, sizeof(float));
  WithStreams(8, [&](auto& s) {
    cudaEvent_t done[2];
    for (auto& e : done) cudaEventCreate(&e);
    for (size_t k = 0; k * kPiece < n; ++k) {
      work.In(k * kPiece, kPiece, s[k % 8]);
      if (k > 0) cudaStreamWaitEvent(s[k % 8], done[(k - 1) % 2], 0);
      work.RunPiece(k * kPiece, carries + k, s[k % 8]);
      cudaEventRecord(done[k % 2], s[k % 8]);
      work.Out(k * kPiece, kPiece, s[k % 8]);
    }
    for (auto& e : done) cudaEventDestroy(e);
  });
  cudaFree(carries);
}
