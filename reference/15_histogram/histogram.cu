// The histogram in five steps: fewer atomics in global memory, fewer lanes that wait for each other, fewer requests.
//
// From rung 2 on a grid has no more blocks than a large device holds, and goes through the input in steps: the bins of
// a block are cleared and added up once, however many elements it counts.

#include <cstdint>

#include "histogram.h"

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 32;
constexpr unsigned kMostBlocks = 1056;  // eight for each multiprocessor of an H200

// Blocks whose threads take at least `each` elements, but no more than `most` blocks.
unsigned blocks_for(unsigned n, unsigned each, unsigned most = kMostBlocks) {
  const unsigned blocks = (n - 1) / (kThreads * each) + 1;
  return blocks < most ? blocks : most;
}

// Clears d_bins. False where there is nothing to count: a grid of no blocks would be an error.
bool begin(unsigned* d_bins, unsigned bins, unsigned n) {
  cudaMemsetAsync(d_bins, 0, bins * sizeof *d_bins);
  return n > 0;
}

__device__ void clear(unsigned* s_bins, unsigned bins) {
  for (unsigned b = threadIdx.x; b < bins; b += kThreads) s_bins[b] = 0;
  __syncthreads();
}

// Whether the calling lane is the first of these.
__device__ bool is_first(unsigned lanes) { return threadIdx.x % kLanes == __ffs(lanes) - 1u; }

}  // namespace

// Rung 1.
__global__ void histogram1_global_kernel(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&d_bins[d_in[i]], 1u);
}

void histogram1_global(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  if (begin(d_bins, kBins, n)) histogram1_global_kernel<<<blocks_for(n, 1, ~0u), kThreads>>>(d_in, d_bins, n);
}

// Rung 2.
__global__ void histogram2_shared_kernel(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  __shared__ unsigned s_bins[kBins];
  clear(s_bins, kBins);
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    atomicAdd(&s_bins[d_in[i]], 1u);
  }
  __syncthreads();
  if (s_bins[threadIdx.x] > 0) atomicAdd(&d_bins[threadIdx.x], s_bins[threadIdx.x]);
}

void histogram2_shared(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  if (begin(d_bins, kBins, n)) histogram2_shared_kernel<<<blocks_for(n, 16), kThreads>>>(d_in, d_bins, n);
}

// Rung 3. The first of the lanes that have the same bin adds for all of them. Whole warps go through the loop, so that
// all lanes take part in the match.
__global__ void histogram3_weighted_kernel(const unsigned char* d_in, const unsigned* d_weights, unsigned* d_bins,
                                           unsigned n) {
  __shared__ unsigned s_bins[kBins];
  clear(s_bins, kBins);
  for (unsigned first = blockIdx.x * kThreads; first < n; first += gridDim.x * kThreads) {
    const unsigned i = first + threadIdx.x;
    const unsigned bin = i < n ? d_in[i] : kBins, weight = i < n ? d_weights[i] : 0;
    const unsigned same = __match_any_sync(~0u, bin), sum = __reduce_add_sync(same, weight);
    if (i < n && is_first(same)) atomicAdd(&s_bins[bin], sum);
  }
  __syncthreads();
  if (s_bins[threadIdx.x] > 0) atomicAdd(&d_bins[threadIdx.x], s_bins[threadIdx.x]);
}

void histogram3_weighted(const unsigned char* d_in, const unsigned* d_weights, unsigned* d_bins, unsigned n) {
  if (begin(d_bins, kBins, n)) histogram3_weighted_kernel<<<blocks_for(n, 16), kThreads>>>(d_in, d_weights, d_bins, n);
}

// Rung 4. Each lane has its own bins, all in one bank: no lane waits for another, whatever the values.
constexpr unsigned kVector = 16;  // bytes

__global__ void histogram4_vectors_kernel(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  __shared__ unsigned s_bins[kBins][kLanes];
  clear(&s_bins[0][0], kBins * kLanes);
  const unsigned lane = threadIdx.x % kLanes, thread = blockIdx.x * kThreads + threadIdx.x;
  const auto add = [&](unsigned bin) { atomicAdd(&s_bins[bin][lane], 1u); };
  const unsigned past = reinterpret_cast<uintptr_t>(d_in) % kVector, before = past == 0 ? 0 : min(n, kVector - past);
  const unsigned vectors = (n - before) / kVector, rest = before + vectors * kVector;
  if (thread < before) add(d_in[thread]);
  if (thread < n - rest) add(d_in[rest + thread]);
  const auto* const d_vectors = reinterpret_cast<const uint4*>(d_in + before);
  for (unsigned i = thread; i < vectors; i += gridDim.x * kThreads) {
    const uint4 vector = d_vectors[i];
    for (const unsigned word : {vector.x, vector.y, vector.z, vector.w}) {
      for (unsigned shift = 0; shift < 32; shift += 8) add(word >> shift & 255);
    }
  }
  __syncthreads();
  // The lanes of a warp begin with different copies of their bins, in different banks.
  unsigned sum = 0;
  for (unsigned k = 0; k < kLanes; ++k) sum += s_bins[threadIdx.x][(lane + k) % kLanes];
  if (sum > 0) atomicAdd(&d_bins[threadIdx.x], sum);
}

void histogram4_vectors(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  if (begin(d_bins, kBins, n)) histogram4_vectors_kernel<<<blocks_for(n, 64), kThreads>>>(d_in, d_bins, n);
}

// Rung 5. The bins stay in global memory; equal elements of a warp cost one addition.
__global__ void histogram5_wide_kernel(const unsigned short* d_in, unsigned* d_bins, unsigned n) {
  for (unsigned first = blockIdx.x * kThreads; first < n; first += gridDim.x * kThreads) {
    const unsigned i = first + threadIdx.x;
    const unsigned bin = i < n ? d_in[i] : kWideBins, same = __match_any_sync(~0u, bin);
    if (i < n && is_first(same)) atomicAdd(&d_bins[bin], __popc(same));
  }
}

void histogram5_wide(const unsigned short* d_in, unsigned* d_bins, unsigned n) {
  if (begin(d_bins, kWideBins, n)) histogram5_wide_kernel<<<blocks_for(n, 4), kThreads>>>(d_in, d_bins, n);
}
