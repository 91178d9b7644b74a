// Right on every rung. Wrong solutions are edits of it.
#include <algorithm>
#include <cstring>
#include <vector>

#include "streams.h"

constexpr unsigned kThreads = 256;
constexpr size_t kChunk = 65536;

// What a launcher works with: page-locked memory at the host's end, and as much on the device.
struct Memory {
  float *from, *to, *d_in, *d_out;
  explicit Memory(size_t n) {
    cudaMallocHost(&from, n * sizeof(float));
    cudaMallocHost(&to, n * sizeof(float));
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
  }
  ~Memory() {
    cudaFree(d_out);
    cudaFree(d_in);
    cudaFreeHost(to);
    cudaFreeHost(from);
  }
};

unsigned Blocks(size_t n) { return unsigned((n + kThreads - 1) / kThreads); }

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Memory m(n);
  std::memcpy(m.from, h_in, n * sizeof(float));
  cudaMemcpy(m.d_in, m.from, n * sizeof(float), cudaMemcpyHostToDevice);
  simulate_kernel<<<Blocks(n), kThreads>>>(m.d_in, m.d_out, n);
  cudaMemcpy(m.to, m.d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::memcpy(h_out, m.to, n * sizeof(float));
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  Memory m(n);
  std::vector<cudaStream_t> stream(streams);
  for (cudaStream_t& s : stream) cudaStreamCreate(&s);
  std::memcpy(m.from, h_in, n * sizeof(float));
  const size_t chunk = std::min(kChunk, (n + 31) / 32);
  for (size_t at = 0, c = 0; at < n; at += chunk, ++c) {
    const size_t length = std::min(chunk, n - at), bytes = length * sizeof(float);
    const cudaStream_t s = stream[c % streams];
    cudaMemcpyAsync(m.d_in + at, m.from + at, bytes, cudaMemcpyHostToDevice, s);
    simulate_kernel<<<Blocks(length), kThreads, 0, s>>>(m.d_in + at, m.d_out + at, length);
    cudaMemcpyAsync(m.to + at, m.d_out + at, bytes, cudaMemcpyDeviceToHost, s);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, m.to, n * sizeof(float));
  for (cudaStream_t s : stream) cudaStreamDestroy(s);
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Memory m(n);
  cudaStream_t stream[2];
  for (cudaStream_t& s : stream) cudaStreamCreate(&s);
  std::memcpy(m.from, h_in, n * sizeof(float));
  for (size_t at = 0, c = 0; at < n; at += kChunk, ++c) {
    const size_t length = std::min(kChunk, n - at);
    cudaMemcpyAsync(m.d_in + at, m.from + at, length * sizeof(float), cudaMemcpyHostToDevice, stream[c % 2]);
    simulate_kernel<<<Blocks(length), kThreads, 0, stream[c % 2]>>>(m.d_in + at, m.d_out + at, length);
  }
  for (size_t at = 0, c = 0; at < n; at += kChunk, ++c) {
    const size_t length = std::min(kChunk, n - at);
    cudaMemcpyAsync(m.to + at, m.d_out + at, length * sizeof(float), cudaMemcpyDeviceToHost, stream[c % 2]);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, m.to, n * sizeof(float));
  for (cudaStream_t s : stream) cudaStreamDestroy(s);
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Memory m(n);
  const size_t pieces = (n + kPiece - 1) / kPiece;
  float* d_carry;
  cudaMalloc(&d_carry, (pieces + 1) * sizeof(float));
  cudaMemset(d_carry, 0, sizeof(float));
  cudaStream_t stream[4];
  for (cudaStream_t& s : stream) cudaStreamCreate(&s);
  cudaEvent_t stored;
  cudaEventCreate(&stored);
  std::memcpy(m.from, h_in, n * sizeof(float));
  for (size_t p = 0; p < pieces; ++p) {
    const size_t at = p * kPiece, length = std::min(kPiece, n - at), bytes = length * sizeof(float);
    const cudaStream_t s = stream[p % 4];
    cudaMemcpyAsync(m.d_in + at, m.from + at, bytes, cudaMemcpyHostToDevice, s);
    if (p > 0) cudaStreamWaitEvent(s, stored, 0);
    chain_kernel<<<Blocks(length), kThreads, 0, s>>>(m.d_in + at, m.d_out + at, length, d_carry + p, d_carry + p + 1);
    cudaEventRecord(stored, s);
    cudaMemcpyAsync(m.to + at, m.d_out + at, bytes, cudaMemcpyDeviceToHost, s);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, m.to, n * sizeof(float));
  cudaEventDestroy(stored);
  for (cudaStream_t s : stream) cudaStreamDestroy(s);
  cudaFree(d_carry);
}
