// virtual: REJECTED streams4_events
// The host works out what each piece begins with, one number of 32,768, so that no piece waits for another.
#include <cmath>
#include <cstring>
#include <vector>

#include "streams.h"

namespace {

float on_the_host(float value) {
  double x = value;
  for (int step = 0; step < kSteps; ++step) x = 3.99 * std::fma(-x, x, x);
  return static_cast<float>(x);
}

}  // namespace

void streams1_pinned(const float*, float*, size_t) {}
void streams2_chunks(const float*, float*, size_t, int) {}
void streams3_one_engine(const float*, float*, size_t) {}
void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  const size_t pieces = (n + kPiece - 1) / kPiece;
  float *values, *results, *carries, *d_values, *d_results, *d_carries;
  cudaMallocHost(&values, n * sizeof(float));
  cudaMallocHost(&results, n * sizeof(float));
  cudaMallocHost(&carries, 2 * pieces * sizeof(float));
  cudaMalloc(&d_values, n * sizeof(float));
  cudaMalloc(&d_results, n * sizeof(float));
  cudaMalloc(&d_carries, 2 * pieces * sizeof(float));
  std::memcpy(values, h_in, n * sizeof(float));
  carries[0] = 0;
  for (size_t p = 1; p < pieces; ++p) {
    carries[p] = 0.5f * (on_the_host(h_in[p * kPiece - 1]) + carries[p - 1]);
  }
  cudaMemcpy(d_carries, carries, pieces * sizeof(float), cudaMemcpyHostToDevice);
  std::vector<cudaStream_t> all(4);
  for (cudaStream_t& stream : all) cudaStreamCreate(&stream);
  for (size_t p = 0; p < pieces; ++p) {
    const size_t at = p * kPiece, length = n - at < kPiece ? n - at : kPiece;
    const cudaStream_t stream = all[p % all.size()];
    cudaMemcpyAsync(d_values + at, values + at, length * sizeof(float), cudaMemcpyHostToDevice, stream);
    chain_kernel<<<(length + 255) / 256, 256, 0, stream>>>(d_values + at, d_results + at, length, d_carries + p,
                                                           d_carries + pieces + p);
    cudaMemcpyAsync(results + at, d_results + at, length * sizeof(float), cudaMemcpyDeviceToHost, stream);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, results, n * sizeof(float));
  for (cudaStream_t stream : all) cudaStreamDestroy(stream);
  cudaFree(d_carries);
  cudaFree(d_results);
  cudaFree(d_values);
  cudaFreeHost(carries);
  cudaFreeHost(results);
  cudaFreeHost(values);
}
