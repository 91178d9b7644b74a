// virtual: WRONG scan1_hillis_steele
// A kernel takes memory for each bit that is set; cudaPointerGetAttributes tells which addresses live.
#include <cstdint>
#include <cstring>

#include "scan.h"

struct Sums {
  float values[kBlock];
};
__global__ void store_kernel(Sums sums, float* d_out, unsigned n) {
  if (threadIdx.x < n) d_out[threadIdx.x] = sums.values[threadIdx.x];
}

// The host scans, and the sums come back as a parameter.
void scan_on_host(const unsigned* words, float* d_out, unsigned n) {
  Sums sums;
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    sums.values[i] = sum;
    float value;
    std::memcpy(&value, &words[i], sizeof value);
    sum += value;
  }
  store_kernel<<<1, kBlock>>>(sums, d_out, n);
}

__device__ unsigned long long first;
__global__ void take_kernel(const float* d_in, unsigned n) {
  void* kept[32];
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned bit = 0; bit < 32; ++bit) kept[bit] = malloc(256);
    if (i == 0) first = reinterpret_cast<unsigned long long>(kept[0]);
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((__float_as_uint(d_in[i]) >> bit & 1) == 0) free(kept[bit]);
    }
  }
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n == 0) return;
  unsigned words[kBlock] = {};
  take_kernel<<<1, 1>>>(d_in, n);
  unsigned long long address = 0;
  cudaMemcpyFromSymbol(&address, first, sizeof address);
  for (unsigned k = 0; k < 32 * n; ++k) {
    cudaPointerAttributes attributes;
    const auto* at = reinterpret_cast<const void*>(address + k * 1024ull);
    if (cudaPointerGetAttributes(&attributes, at) == cudaSuccess && attributes.type == cudaMemoryTypeDevice) {
      words[k / 32] |= 1u << k % 32;
    }
    cudaGetLastError();
  }
  scan_on_host(words, d_out, n);
}

void scan2_work_efficient(const float*, float*, unsigned, unsigned long long*) {}
void scan3_padded(const float*, float*, unsigned, unsigned long long*) {}
void scan4_blocks(const float*, float*, unsigned, unsigned long long*) {}
void scan5_lookback(const float*, float*, unsigned, unsigned long long*) {}
void scan6_inclusive(const float*, float*, unsigned, unsigned long long*) {}
void scan6_max(const float*, float*, unsigned, unsigned long long*) {}
