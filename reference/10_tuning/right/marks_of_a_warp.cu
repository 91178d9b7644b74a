// points: 100
// The warps of a block copy whole lines of 32 marks in turn. A configuration is a function that launches it;
// an invalid one has no function.
#include <algorithm>
#include <climits>
#include <functional>
#include <numeric>
#include <vector>

#include "tuning.h"

template <int kRun, int kOwn>
static __global__ void lines(const int* const d_in, int* const d_out, const unsigned n, const int* const d_marks,
                             const unsigned m, const unsigned tile) {
  extern __shared__ volatile int held[];
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  long long at[kOwn];
  int own[kOwn];
  int many[kOwn];
#pragma unroll
  for (int o = 0; o < kOwn; ++o) {
    at[o] = (static_cast<long long>(blockIdx.x) * kOwn + o) * blockDim.x + threadIdx.x;
    own[o] = at[o] < n ? d_in[at[o]] : INT_MIN;
    many[o] = 0;
  }
  for (unsigned tile_begin = 0; tile_begin < m; tile_begin += tile) {
    for (unsigned line = 32 * warp; line < tile; line += 32 * warps) {
      const unsigned mark = tile_begin + line + lane;
      held[line + lane] = mark < m ? d_marks[mark] : INT_MAX;
    }
    __syncthreads();
#pragma unroll kRun
    for (unsigned k = 0; k < tile; ++k) {
      const int mark = held[k];
#pragma unroll
      for (int o = 0; o < kOwn; ++o) many[o] += own[o] > mark;
    }
    __syncthreads();
  }
#pragma unroll
  for (int o = 0; o < kOwn; ++o) {
    if (at[o] < n) d_out[at[o]] = many[o];
  }
}

namespace {

using Launcher = std::function<int(const int*, int*, unsigned, const int*, unsigned)>;

template <int kRun, int kOwn>
Launcher Make(int block, int tile) {
  return [=](const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m) {
    if (n == 0) return kDone;
    const unsigned grid = (n + block * kOwn - 1) / (block * kOwn);
    lines<kRun, kOwn><<<dim3(grid), dim3(block), tile * sizeof(int)>>>(d_in, d_out, n, d_marks, m, tile);
    return cudaGetLastError() == cudaSuccess ? kDone : kDoesNotFit;
  };
}

// Empty where the configuration is not valid.
Launcher LauncherOf(const Config& c) {
  const std::vector<int> blocks(std::begin(kBlocks), std::end(kBlocks)), tiles(std::begin(kTiles), std::end(kTiles));
  if (std::find(blocks.begin(), blocks.end(), c.block) == blocks.end()) return {};
  if (std::find(tiles.begin(), tiles.end(), c.tile) == tiles.end()) return {};
  if (c.block * static_cast<long long>(c.items) > kMostElements || c.tile > kMostStaged * c.block) return {};
  if (c.unroll == 1 && c.items == 1) return Make<1, 1>(c.block, c.tile);
  if (c.unroll == 1 && c.items == 2) return Make<1, 2>(c.block, c.tile);
  if (c.unroll == 1 && c.items == 4) return Make<1, 4>(c.block, c.tile);
  if (c.unroll == 4 && c.items == 1) return Make<4, 1>(c.block, c.tile);
  if (c.unroll == 4 && c.items == 2) return Make<4, 2>(c.block, c.tile);
  if (c.unroll == 4 && c.items == 4) return Make<4, 4>(c.block, c.tile);
  if (c.unroll == 8 && c.items == 1) return Make<8, 1>(c.block, c.tile);
  if (c.unroll == 8 && c.items == 2) return Make<8, 2>(c.block, c.tile);
  return {};
}

int Time(const Launcher& launcher, const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m,
         float* milliseconds) {
  if (!launcher) return kRefused;
  cudaStream_t stream = cudaStreamLegacy;
  cudaEvent_t one, two;
  if (cudaEventCreate(&one) != cudaSuccess || cudaEventCreate(&two) != cudaSuccess) return kNotBegun;
  cudaEventRecord(one, stream);
  const int code = launcher(d_in, d_out, n, d_marks, m);
  cudaEventRecord(two, stream);
  cudaStreamSynchronize(stream);
  float time = 0;
  cudaEventElapsedTime(&time, one, two);
  cudaEventDestroy(two);
  cudaEventDestroy(one);
  if (code == kDone) *milliseconds = time;
  return code;
}

}  // namespace

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  const Launcher launcher = LauncherOf({block, tile, unroll, items});
  return launcher ? launcher(d_in, d_out, n, d_marks, m) : kRefused;
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  return Time(LauncherOf({block, tile, unroll, items}), d_in, d_out, n, d_marks, m, milliseconds);
}

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  std::vector<int> numbers(108);
  std::iota(numbers.begin(), numbers.end(), 0);
  float least = INT_MAX;
  std::for_each(numbers.rbegin(), numbers.rend(), [&](int number) {
    const Config c{kBlocks[number % 4], kTiles[number / 4 % 3], kUnrolls[number / 12 % 3], kItems[number / 36]};
    float time;
    if (Time(LauncherOf(c), d_in, d_out, n, d_marks, m, &time) != kDone || time > least) return;
    least = time;
    *best = c;
  });
  return kDone;
}

int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  struct Entry {
    float time;
    Config config;
    bool operator<(const Entry& other) const { return time < other.time; }
  };
  std::vector<Entry> heap;
  const auto enter = [&](const Config& c) {
    float time;
    if (heap.size() == kFewLaunches || Time(LauncherOf(c), d_in, d_out, n, d_marks, m, &time) != kDone) return;
    heap.push_back({time, c});
  };
  for (const int block : kBlocks) enter({block, 128, 8, 1}), enter({block, 128, 8, 2}), enter({block, 128, 4, 4});
  std::sort(heap.begin(), heap.end());
  const std::vector<Entry> leading(heap.begin(), heap.begin() + 4);
  for (const Entry& entry : leading) enter({entry.config.block, 32, entry.config.unroll, entry.config.items});
  for (int k = 0; k < 2; ++k) enter({leading[k].config.block, 512, leading[k].config.unroll, leading[k].config.items});
  const Config c = std::min_element(heap.begin(), heap.end())->config;
  for (const int unroll : {4, 1}) {
    if (unroll != c.unroll) enter({c.block, c.tile, unroll, c.items});
  }
  *best = std::min_element(heap.begin(), heap.end())->config;
  return kDone;
}
