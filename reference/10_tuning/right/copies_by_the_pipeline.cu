// points: 100
// Whole tiles are copied asynchronously. A warm-up launch comes before each launch that is timed alone.
#include <cuda_pipeline.h>

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include "tuning.h"

template <int UNROLL, int ITEMS>
__global__ void piped(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, unsigned tile) {
  extern __shared__ int s[];
  int own[ITEMS], sum[ITEMS];
  const unsigned origin = blockIdx.x * (ITEMS * blockDim.x) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const unsigned place = origin + i * blockDim.x;
    own[i] = place < n ? __ldg(d_in + place) : INT_MIN;
    sum[i] = 0;
  }
  for (unsigned base = 0; base < m; base += tile) {
    if (base + tile <= m) {
      for (unsigned t = threadIdx.x; t < tile; t += blockDim.x) __pipeline_memcpy_async(s + t, d_marks + base + t, 4);
      __pipeline_commit();
      __pipeline_wait_prior(0);
    } else {
      for (unsigned t = threadIdx.x; t < tile; t += blockDim.x) {
        s[t] = INT_MAX;
        if (base + t < m) s[t] = d_marks[base + t];
      }
    }
    __syncthreads();
#pragma unroll UNROLL
    for (unsigned t = 0; t < tile; ++t) {
      const int mark = s[t];
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) sum[i] -= -(mark < own[i]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const unsigned place = origin + i * blockDim.x;
    if (place < n) d_out[place] = sum[i];
  }
}

#define EACH_INSTANCE(X) X(1, 1) X(1, 2) X(1, 4) X(4, 1) X(4, 2) X(4, 4) X(8, 1) X(8, 2)

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  const auto among = [](auto& list, int value) { return std::count(std::begin(list), std::end(list), value) == 1; };
  if (!among(kBlocks, block) || !among(kTiles, tile) || !among(kUnrolls, unroll) || !among(kItems, items)) {
    return kRefused;
  }
  if (std::max({block * items - kMostElements, tile - kMostStaged * block, unroll * items - kMostCompares}) > 0) {
    return kRefused;
  }
  if (n == 0) return kDone;
  const unsigned each = block * items, blocks = (n + each - 1) / each;
#define LAUNCH(U, I) \
  if (unroll == U && items == I) piped<U, I><<<blocks, block, tile * sizeof(int)>>>(d_in, d_out, n, d_marks, m, tile);
  EACH_INSTANCE(LAUNCH)
#undef LAUNCH
  return cudaGetLastError() == cudaSuccess ? kDone : kDoesNotFit;
}

static int timed(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config c,
                 float* milliseconds) {
  cudaEvent_t from, to;
  cudaEventCreateWithFlags(&from, cudaEventBlockingSync);
  cudaEventCreateWithFlags(&to, cudaEventBlockingSync);
  cudaEventRecord(from);
  const int code = tuning1_family(d_in, d_out, n, d_marks, m, c.block, c.tile, c.unroll, c.items);
  cudaEventRecord(to);
  cudaStreamSynchronize(0);
  if (code == kDone) cudaEventElapsedTime(milliseconds, from, to);
  cudaEventDestroy(from);
  cudaEventDestroy(to);
  return code;
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  const int code = tuning1_family(d_in, d_out, n, d_marks, m, block, tile, unroll, items);
  if (code != kDone) return code;
  return timed(d_in, d_out, n, d_marks, m, {block, tile, unroll, items}, milliseconds);
}

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  std::vector<std::pair<float, Config>> all;
  tuning1_family(d_in, d_out, n, d_marks, m, 64, 32, 1, 1);
  for (const int block : kBlocks) {
    for (const int tile : kTiles) {
      for (const int unroll : kUnrolls) {
        for (const int items : kItems) {
          const Config c = {block, tile, unroll, items};
          float time = 0;
          if (timed(d_in, d_out, n, d_marks, m, c, &time) == kDone) all.emplace_back(time, c);
        }
      }
    }
  }
  *best = std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.first < b.first; })->second;
  return kDone;
}

int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  std::vector<std::pair<float, Config>> seen;
  const auto look = [&](std::vector<Config> list) {
    for (const Config& c : list) {
      float time = 0;
      if (seen.size() < 20 && timed(d_in, d_out, n, d_marks, m, c, &time) == kDone) seen.emplace_back(time, c);
    }
    std::stable_sort(seen.begin(), seen.end(), [](auto& a, auto& b) { return a.first < b.first; });
  };
  look({{64, 128, 8, 1}, {64, 128, 8, 2}, {64, 128, 4, 4}, {128, 128, 8, 1}, {128, 128, 8, 2}, {128, 128, 4, 4}});
  look({{256, 128, 8, 1}, {256, 128, 8, 2}, {256, 128, 4, 4}, {512, 128, 8, 1}, {512, 128, 8, 2}});
  std::vector<Config> other_tiles;
  for (int k = 0; k < 4; ++k)
    other_tiles.push_back({seen[k].second.block, 32, seen[k].second.unroll, seen[k].second.items});
  look(other_tiles);
  const Config c = seen[0].second;
  look({{c.block, 512, c.unroll, c.items}, {c.block, c.tile, c.unroll / 2, c.items}});
  *best = seen[0].second;
  return kDone;
}
