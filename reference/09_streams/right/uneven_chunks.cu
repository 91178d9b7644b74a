// points: 100
// Chunks that are small at both ends and large between: the pipeline fills quickly and has few copies.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "streams.h"

namespace {

struct FreeHost {
  void operator()(float* p) const { cudaFreeHost(p); }
};
struct FreeDevice {
  void operator()(float* p) const { cudaFree(p); }
};
using HostFloats = std::unique_ptr<float[], FreeHost>;
using DeviceFloats = std::unique_ptr<float[], FreeDevice>;

HostFloats MakeHost(size_t n) {
  void* p = nullptr;
  cudaMallocHost(&p, n * sizeof(float));
  return HostFloats(static_cast<float*>(p));
}
DeviceFloats MakeDevice(size_t n) {
  void* p = nullptr;
  cudaMalloc(&p, n * sizeof(float));
  return DeviceFloats(static_cast<float*>(p));
}

// Boundaries: lengths double from `least` up to `most`, and fall again toward the end.
std::vector<size_t> Boundaries(size_t n, size_t least, size_t most) {
  std::vector<size_t> up = {0}, down = {n};
  for (size_t length = least; up.back() < down.back(); length = std::min(2 * length, most)) {
    up.push_back(std::min(up.back() + length, down.back()));
    if (up.back() < down.back()) down.push_back(std::max(down.back() - std::min(length, down.back()), up.back()));
  }
  up.insert(up.end(), down.rbegin(), down.rend());
  up.erase(std::unique(up.begin(), up.end()), up.end());
  return up;
}

class Pipeline {
 public:
  Pipeline(const float* h_in, size_t n, int streams)
      : n_(n), up_(MakeHost(n)), down_(MakeHost(n)), in_(MakeDevice(n)), out_(MakeDevice(n)), streams_(streams) {
    for (cudaStream_t& s : streams_) cudaStreamCreate(&s);
    std::copy(h_in, h_in + n, up_.get());
  }
  void Upload(int k, size_t b, size_t e) {
    cudaMemcpyAsync(&in_[b], &up_[b], (e - b) * sizeof(float), cudaMemcpyHostToDevice, stream(k));
  }
  void Download(int k, size_t b, size_t e) {
    cudaMemcpyAsync(&down_[b], &out_[b], (e - b) * sizeof(float), cudaMemcpyDeviceToHost, stream(k));
  }
  void Simulate(int k, size_t b, size_t e) {
    simulate_kernel<<<unsigned((e - b + 63) / 64), 64, 0, stream(k)>>>(&in_[b], &out_[b], unsigned(e - b));
  }
  void Chain(int k, size_t b, size_t e, const float* from, float* to) {
    chain_kernel<<<unsigned((e - b + 63) / 64), 64, 0, stream(k)>>>(&in_[b], &out_[b], unsigned(e - b), from, to);
  }
  cudaStream_t stream(int k) const { return streams_.empty() ? nullptr : streams_[size_t(k) % streams_.size()]; }
  void Deliver(float* h_out) {
    for (cudaStream_t s : streams_) cudaStreamSynchronize(s);
    if (streams_.empty()) cudaStreamSynchronize(nullptr);
    std::copy(down_.get(), down_.get() + n_, h_out);
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  }

 private:
  size_t n_;
  HostFloats up_, down_;
  DeviceFloats in_, out_;
  std::vector<cudaStream_t> streams_;
};

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Pipeline p(h_in, n, 0);
  p.Upload(0, 0, n);
  p.Simulate(0, 0, n);
  p.Download(0, 0, n);
  p.Deliver(h_out);
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  Pipeline p(h_in, n, streams);
  const auto at = Boundaries(n, std::min<size_t>(16384, (n + 31) / 32), 131072);
  for (int k = 0; k + 1 < int(at.size()); ++k) {
    p.Upload(k, at[k], at[k + 1]);
    p.Simulate(k, at[k], at[k + 1]);
    p.Download(k, at[k], at[k + 1]);
  }
  p.Deliver(h_out);
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Pipeline p(h_in, n, 5);
  const auto at = Boundaries(n, 16384, 262144);
  const int chunks = int(at.size()) - 1;
  for (int k = 0; k < chunks; ++k) p.Upload(k, at[k], at[k + 1]);
  for (int k = 0; k < chunks; ++k) {
    p.Simulate(k, at[k], at[k + 1]);
    p.Download(k, at[k], at[k + 1]);
  }
  p.Deliver(h_out);
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Pipeline p(h_in, n, 6);
  const int pieces = int((n + kPiece - 1) / kPiece);
  const DeviceFloats carry = MakeDevice(size_t(pieces) + 1);
  cudaMemsetAsync(carry.get(), 0, sizeof(float), p.stream(0));
  std::vector<cudaEvent_t> stored(pieces);
  for (int k = 0; k < pieces; ++k) {
    const size_t b = size_t(k) * kPiece, e = std::min(n, b + kPiece);
    p.Upload(k, b, e);
    if (k > 0) cudaStreamWaitEvent(p.stream(k), stored[k - 1], cudaEventWaitDefault);
    p.Chain(k, b, e, carry.get() + k, carry.get() + k + 1);
    cudaEventCreateWithFlags(&stored[k], cudaEventBlockingSync);
    cudaEventRecord(stored[k], p.stream(k));
    p.Download(k, b, e);
  }
  p.Deliver(h_out);
  for (cudaEvent_t event : stored) cudaEventDestroy(event);
}
