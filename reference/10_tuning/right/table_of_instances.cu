// points: 100
// Tiles have their size at compile time too: 24 instances in a table that a fold makes. Frugal: the tile first, for one
// item and for four, then all blocks.
#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "tuning.h"

using Kernel = void (*)(const int*, int*, unsigned, const int*, unsigned);

template <int kTileSize, int kAtOnce, int kEach>
__global__ void tabled(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m) {
  __shared__ int s_tile[kTileSize];
  const unsigned begin = blockIdx.x * (blockDim.x * kEach);
  int value[kEach], count[kEach] = {};
  for (int e = 0; e < kEach; ++e) {
    const unsigned i = begin + e * blockDim.x + threadIdx.x;
    value[e] = i < n ? d_in[i] : INT_MIN;
  }
  for (unsigned base = 0; base < m; base += kTileSize) {
    for (unsigned k = threadIdx.x; k < kTileSize; k += blockDim.x)
      s_tile[k] = base + k < m ? d_marks[base + k] : INT_MAX;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < kTileSize; k += kAtOnce) {
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        const int mark = s_tile[k + u];
#pragma unroll
        for (int e = 0; e < kEach; ++e) count[e] += value[e] > mark ? 1 : 0;
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < kEach; ++e) {
    const unsigned i = begin + e * blockDim.x + threadIdx.x;
    if (i < n) d_out[i] = count[e];
  }
}

template <int kIndex>
constexpr Kernel InstanceOf() {
  constexpr int kTileSize = kTiles[kIndex / 9], kAtOnce = kUnrolls[kIndex / 3 % 3], kEach = kItems[kIndex % 3];
  if constexpr (kAtOnce * kEach <= kMostCompares) return tabled<kTileSize, kAtOnce, kEach>;
  return nullptr;
}

template <int... kIndex>
std::array<Kernel, sizeof...(kIndex)> TableOf(std::integer_sequence<int, kIndex...>) {
  return {InstanceOf<kIndex>()...};
}

template <int kSize>
int PlaceIn(const int (&list)[kSize], int number) {
  const auto found = std::find(list, list + kSize, number);
  return found == list + kSize ? -1 : static_cast<int>(found - list);
}

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  static const auto table = TableOf(std::make_integer_sequence<int, 27>());
  const int t = PlaceIn(kTiles, tile), u = PlaceIn(kUnrolls, unroll), e = PlaceIn(kItems, items);
  if (PlaceIn(kBlocks, block) < 0 || t < 0 || u < 0 || e < 0) return kRefused;
  const Kernel kernel = table[9 * t + 3 * u + e];
  if (kernel == nullptr || block * items > kMostElements || tile > kMostStaged * block) return kRefused;
  if (n == 0) return kDone;
  kernel<<<(n + block * items - 1) / (block * items), block>>>(d_in, d_out, n, d_marks, m);
  return cudaGetLastError() == cudaSuccess ? kDone : kDoesNotFit;
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  cudaEvent_t events[2];
  for (cudaEvent_t& event : events) cudaEventCreate(&event);
  cudaEventRecord(events[0]);
  const int code = tuning1_family(d_in, d_out, n, d_marks, m, block, tile, unroll, items);
  cudaEventRecord(events[1]);
  cudaEventSynchronize(events[1]);
  if (code == kDone) cudaEventElapsedTime(milliseconds, events[0], events[1]);
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  return code;
}

namespace {

struct Search {
  const int* d_in;
  int* d_out;
  unsigned n;
  const int* d_marks;
  unsigned m;
  Config best = {};
  float least = 3e38f;
  int launches = 0;

  float Time(Config c) {
    float milliseconds;
    if (tuning2_clock(d_in, d_out, n, d_marks, m, c.block, c.tile, c.unroll, c.items, &milliseconds) != kDone)
      return 3e38f;
    ++launches;
    if (milliseconds < least) {
      least = milliseconds;
      best = c;
    }
    return milliseconds;
  }
};

}  // namespace

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  Search search{d_in, d_out, n, d_marks, m};
  for (int k = 0; k < 108; ++k) search.Time({kBlocks[k / 27], kTiles[k / 9 % 3], kUnrolls[k / 3 % 3], kItems[k % 3]});
  *best = search.best;
  return kDone;
}

int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  Search search{d_in, d_out, n, d_marks, m};
  // How tiles compare does not depend on much else: so once, for 128 threads.
  float time[2] = {};
  for (int t = 0; t < 2; ++t) {
    for (const Config c : {Config{128, kTiles[t], 8, 1}, {128, kTiles[t], 4, 4}}) time[t] += search.Time(c);
  }
  const int tile = time[0] < time[1] ? kTiles[0] : kTiles[1];
  for (const int block : kBlocks) {
    for (const Config c : {Config{block, tile, 8, 1}, {block, tile, 8, 2}, {block, tile, 4, 4}}) {
      if (block != 128 || c.items == 2) search.Time(c);
    }
  }
  if (search.launches < kFewLaunches)
    search.Time({search.best.block, tile == 32 ? 128 : 32, search.best.unroll, search.best.items});
  if (search.launches < kFewLaunches) search.Time({search.best.block, tile, 4, search.best.items});
  *best = search.best;
  return kDone;
}
