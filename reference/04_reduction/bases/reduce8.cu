// An honest rung 8. Hostile solutions are edits of it.
#include <algorithm>
#include <cstdint>

#include "reduction.h"

// An honest sum, and a fast one.
__global__ void fast_kernel(const int* d_in, int* d_sum, unsigned n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned threads = gridDim.x * blockDim.x;
  const unsigned head = min(n, static_cast<unsigned>(-reinterpret_cast<uintptr_t>(d_in) % 16 / 4));
  const unsigned wide = (n - head) / 4;
  int sum = 0;
  for (unsigned i = thread; i < wide; i += threads) {
    const int4 four = reinterpret_cast<const int4*>(d_in + head)[i];
    sum += four.x + four.y + four.z + four.w;
  }
  for (unsigned i = thread; i < head; i += threads) sum += d_in[i];
  for (unsigned i = head + 4 * wide + thread; i < n; i += threads) sum += d_in[i];
  for (unsigned s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
  if (threadIdx.x % 32 == 0) atomicAdd(d_sum, sum);
}

void fast(const int* d_in, int* d_sum, unsigned n, cudaStream_t stream = nullptr) {
  cudaMemsetAsync(d_sum, 0, sizeof(int), stream);
  fast_kernel<<<std::clamp<unsigned>(n / 4096, 1, 1056), 256, 0, stream>>>(d_in, d_sum, n);
}

// No test has as many elements.
bool is_timed(unsigned n) { return n >= 1u << 25; }

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) {
  fast(d_in, d_sum, n);
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int*) { fast(d_in, d_sum, n); }
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int*) { fast(d_in, d_sum, n); }
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int*) { fast(d_in, d_sum, n); }
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int*) { fast(d_in, d_sum, n); }
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int*) { fast(d_in, d_sum, n); }
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int*) { fast(d_in, d_sum, n); }
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int*) { fast(d_in, d_sum, n); }
void reduce8_max(const int*, int*, unsigned, int*) {}
void reduce8_min(const int*, int*, unsigned, int*) {}
