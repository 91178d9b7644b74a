// virtual: WRONG scan1_hillis_steele
// A kernel takes as much from its heap as a byte says; cudaMemGetInfo tells the host.
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

__device__ void* taken;
__global__ void take_kernel(const float* d_in, unsigned i, unsigned bit) {
  const unsigned byte = __float_as_uint(d_in[i]) >> bit & 255;
  taken = malloc((byte + 1) << 12);
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n == 0) return;
  unsigned words[kBlock] = {};
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned bit = 0; bit < 32; bit += 8) {
      size_t before = 0, after = 0, all = 0;
      cudaMemGetInfo(&before, &all);
      take_kernel<<<1, 1>>>(d_in, i, bit);
      cudaDeviceSynchronize();
      cudaMemGetInfo(&after, &all);
      words[i] |= static_cast<unsigned>(((before - after) >> 12) - 1 & 255) << bit;
    }
  }
  scan_on_host(words, d_out, n);
}

void scan2_work_efficient(const float*, float*, unsigned, unsigned long long*) {}
void scan3_padded(const float*, float*, unsigned, unsigned long long*) {}
void scan4_blocks(const float*, float*, unsigned, unsigned long long*) {}
void scan5_lookback(const float*, float*, unsigned, unsigned long long*) {}
void scan6_inclusive(const float*, float*, unsigned, unsigned long long*) {}
void scan6_max(const float*, float*, unsigned, unsigned long long*) {}
