// Exclusive scans: within each block, Hillis and Steele's and Blelloch's tree, padded or not; of an array, in passes.
#include "cases.h"

namespace gpu_cases {
namespace {

constexpr unsigned kScanThreads = 256, kScanTile = 2 * kScanThreads;

__global__ void hillis_steele_kernel(const float* in, float* out) {
  __shared__ float s_data[2][kScanThreads];
  const unsigned tid = threadIdx.x, i = blockIdx.x * kScanThreads + tid;
  unsigned from = 0;
  s_data[0][tid] = tid > 0 ? in[i - 1] : 0;
  __syncthreads();
  for (unsigned d = 1; d < kScanThreads; d *= 2) {
    s_data[1 - from][tid] = s_data[from][tid] + (tid >= d ? s_data[from][tid - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[i] = s_data[from][tid];
}

// The position of element i: with padding, one word is left free after every 32.
template <bool kPadded>
__device__ unsigned place(unsigned i) {
  return kPadded ? i + i / 32 : i;
}

// Scans tiles of kScanTile elements; totals[block], where wanted, is the tile's sum.
template <bool kPadded>
__global__ void tree_kernel(const float* in, float* out, float* totals, unsigned n) {
  __shared__ float s_data[kScanTile + kScanTile / 32];
  const unsigned tid = threadIdx.x, start = blockIdx.x * kScanTile;
  const unsigned a = tid, b = tid + kScanThreads;
  s_data[place<kPadded>(a)] = start + a < n ? in[start + a] : 0;
  s_data[place<kPadded>(b)] = start + b < n ? in[start + b] : 0;
  unsigned offset = 1;
  for (unsigned d = kScanThreads; d > 0; d /= 2) {
    __syncthreads();
    if (tid < d) {
      const unsigned left = place<kPadded>(offset * (2 * tid + 1) - 1);
      const unsigned right = place<kPadded>(offset * (2 * tid + 2) - 1);
      s_data[right] += s_data[left];
    }
    offset *= 2;
  }
  if (tid == 0) {
    const unsigned last = place<kPadded>(kScanTile - 1);
    if (totals != nullptr) totals[blockIdx.x] = s_data[last];
    s_data[last] = 0;
  }
  for (unsigned d = 1; d < kScanTile; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (tid < d) {
      const unsigned left = place<kPadded>(offset * (2 * tid + 1) - 1);
      const unsigned right = place<kPadded>(offset * (2 * tid + 2) - 1);
      const float sum = s_data[left];
      s_data[left] = s_data[right];
      s_data[right] += sum;
    }
  }
  __syncthreads();
  if (start + a < n) out[start + a] = s_data[place<kPadded>(a)];
  if (start + b < n) out[start + b] = s_data[place<kPadded>(b)];
}

__global__ void add_totals_kernel(float* out, const float* totals, unsigned n) {
  const unsigned start = blockIdx.x * kScanTile + threadIdx.x;
  const float total = totals[blockIdx.x];
  if (start < n) out[start] += total;
  if (start + kScanThreads < n) out[start + kScanThreads] += total;
}

// `work` holds the tiles' totals, level by level.
void scan(const float* in, float* out, float* work, unsigned n) {
  const unsigned tiles = (n - 1) / kScanTile + 1;
  tree_kernel<true><<<tiles, kScanThreads>>>(in, out, work, n);
  if (tiles == 1) return;
  scan(work, work, work + tiles, tiles);
  add_totals_kernel<<<tiles, kScanThreads>>>(out, work, n);
}

const Registration registration([] {
  Add("scan, Hillis-Steele", kCounting, [](const Memory& m) { hillis_steele_kernel<<<4, 256>>>(m.in + 64, m.out); });
  Add("scan, tree", kCounting,
      [](const Memory& m) { tree_kernel<false><<<4, 256>>>(m.in, m.out, m.out + 4096, 2000); });
  Add("scan, tree padded", kCounting,
      [](const Memory& m) { tree_kernel<true><<<4, 256>>>(m.in, m.out, m.out + 4096, 2000); });
  Add("scan, add totals", kCounting, [](const Memory& m) { add_totals_kernel<<<4, 256>>>(m.out, m.out + 4096, 2000); });
  constexpr unsigned kN = 1u << 24;
  Add("scan of 2^24: Hillis-Steele", kTiming,
      [](const Memory& m) { hillis_steele_kernel<<<kN / 256, 256>>>(m.in + 64, m.out); });
  Add("scan of 2^24: tree", kTiming,
      [](const Memory& m) { tree_kernel<false><<<kN / kScanTile, 256>>>(m.in, m.out, m.out + kN, kN); });
  Add("scan of 2^24: tree padded", kTiming,
      [](const Memory& m) { tree_kernel<true><<<kN / kScanTile, 256>>>(m.in, m.out, m.out + kN, kN); });
  Add("scan of 2^24: add totals", kTiming,
      [](const Memory& m) { add_totals_kernel<<<kN / kScanTile, 256>>>(m.out, m.out + kN, kN); });
  for (const unsigned log_n : {16u, 20u, 24u}) {
    Add("scan: 2^" + std::to_string(log_n), kCourse,
        [log_n](const Memory& m) { scan(m.in, m.out, m.out + (1u << log_n), 1u << log_n); });
  }
});

}  // namespace
}  // namespace gpu_cases
