// points: 100
// Memory on the device from the pool, allocated and freed in the order of each stream, a chunk at a time. Chunks
// are large, and may be fewer than the streams.
#include <cstring>
#include <utility>
#include <vector>

#include "streams.h"

namespace {

template <class T, size_t kCount>
struct PageLocked {
  T* at[kCount] = {};
  explicit PageLocked(size_t n) {
    for (T*& each : at) cudaHostAlloc(&each, n * sizeof(T), cudaHostAllocPortable);
  }
  ~PageLocked() {
    for (T* each : at) cudaFreeHost(each);
  }
};

// Allocates, copies to the device, launches `kernel`, copies back, frees.
template <class Kernel>
void Chunk(float* up, float* down, size_t length, cudaStream_t stream, Kernel kernel) {
  float* d = nullptr;
  cudaMallocAsync(&d, 2 * length * sizeof(float), stream);
  cudaMemcpyAsync(d, up, length * sizeof(float), cudaMemcpyHostToDevice, stream);
  kernel(d, d + length, dim3(unsigned((length + 319) / 320)), stream);
  cudaMemcpyAsync(down, d + length, length * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(d, stream);
}

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  PageLocked<float, 2> host(n);
  std::memcpy(host.at[0], h_in, n * sizeof(float));
  Chunk(host.at[0], host.at[1], n, nullptr,
        [&](float* in, float* out, dim3 grid, cudaStream_t s) { simulate_kernel<<<grid, 320, 0, s>>>(in, out, n); });
  cudaDeviceSynchronize();
  std::memcpy(h_out, host.at[1], n * sizeof(float));
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  PageLocked<float, 2> host(n);
  std::memcpy(host.at[0], h_in, n * sizeof(float));
  std::vector<cudaStream_t> all;
  while (all.size() < size_t(streams)) cudaStreamCreate(&all.emplace_back());
  size_t length = n / 64 < 131072 ? 131072 : n / 64;
  for (size_t at = 0, turn = 0; at < n; at += length, ++turn) {
    if (n - at < length) length = n - at;
    Chunk(host.at[0] + at, host.at[1] + at, length, all[turn % all.size()],
          [&](float* in, float* out, dim3 grid, cudaStream_t s) {
            simulate_kernel<<<grid, 320, 0, s>>>(in, out, length);
          });
  }
  for (cudaStream_t s : all) cudaStreamSynchronize(s);
  for (cudaStream_t s : all) cudaStreamDestroy(s);
  std::memcpy(h_out, host.at[1], n * sizeof(float));
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  PageLocked<float, 2> host(n);
  std::memcpy(host.at[0], h_in, n * sizeof(float));
  struct Under {
    cudaStream_t stream;
    float* d;
    size_t at, length;
  };
  std::vector<Under> under_way;
  for (size_t at = 0; at < n; at += 100'000) {
    Under one{nullptr, nullptr, at, std::min<size_t>(100'000, n - at)};
    cudaStreamCreate(&one.stream);
    cudaMallocAsync(&one.d, 2 * one.length * sizeof(float), one.stream);
    cudaMemcpyAsync(one.d, host.at[0] + at, one.length * sizeof(float), cudaMemcpyHostToDevice, one.stream);
    simulate_kernel<<<(one.length + 319) / 320, 320, 0, one.stream>>>(one.d, one.d + one.length, one.length);
    under_way.push_back(one);
  }
  for (const Under& one : under_way) {
    cudaMemcpyAsync(host.at[1] + one.at, one.d + one.length, one.length * sizeof(float), cudaMemcpyDeviceToHost,
                    one.stream);
    cudaFreeAsync(one.d, one.stream);
  }
  for (const Under& one : under_way) {
    cudaStreamSynchronize(one.stream);
    cudaStreamDestroy(one.stream);
    std::memcpy(h_out + one.at, host.at[1] + one.at, one.length * sizeof(float));
  }
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  PageLocked<float, 2> host(n);
  std::memcpy(host.at[0], h_in, n * sizeof(float));
  cudaStream_t pair[2];
  cudaEvent_t behind[2];
  for (int k = 0; k < 2; ++k) {
    cudaStreamCreate(&pair[k]);
    cudaEventCreate(&behind[k]);
  }
  float* carries[2];
  cudaMalloc(&carries[0], 2 * sizeof(float));
  carries[1] = carries[0] + 1;
  cudaMemset(carries[0], 0, 2 * sizeof(float));
  // Only two pieces at a time would leave engines idle in turn: each piece's copy is issued two pieces ahead.
  struct Ahead {
    cudaStream_t stream;
    float* d;
  };
  std::vector<Ahead> ahead;
  const size_t pieces = (n + kPiece - 1) / kPiece;
  const auto length_of = [&](size_t p) { return p + 1 == pieces ? n - p * kPiece : kPiece; };
  for (size_t p = 0; p < pieces; ++p) {
    cudaStreamCreate(&ahead.emplace_back().stream);
    cudaMallocAsync(&ahead[p].d, 2 * kPiece * sizeof(float), ahead[p].stream);
    cudaMemcpyAsync(ahead[p].d, host.at[0] + p * kPiece, length_of(p) * sizeof(float), cudaMemcpyHostToDevice,
                    ahead[p].stream);
    if (p > 0) cudaStreamWaitEvent(ahead[p].stream, behind[(p + 1) % 2], 0);
    chain_kernel<<<kPiece / 256, 256, 0, ahead[p].stream>>>(ahead[p].d, ahead[p].d + kPiece, length_of(p),
                                                            carries[p % 2], carries[(p + 1) % 2]);
    cudaEventRecord(behind[p % 2], ahead[p].stream);
    cudaMemcpyAsync(host.at[1] + p * kPiece, ahead[p].d + kPiece, length_of(p) * sizeof(float), cudaMemcpyDeviceToHost,
                    ahead[p].stream);
    cudaFreeAsync(ahead[p].d, ahead[p].stream);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, host.at[1], n * sizeof(float));
  for (Ahead& one : ahead) cudaStreamDestroy(one.stream);
  for (int k = 0; k < 2; ++k) {
    cudaEventDestroy(behind[k]);
    cudaStreamDestroy(pair[k]);
  }
  cudaFree(carries[0]);
}
