// points: 100
// The last tile is not filled up: its marks that make no whole pass are compared one by one. Blocks of two dimensions,
// launched by cudaLaunchKernel.
#include <climits>
#include <map>

#include "tuning.h"

template <int PASS, int EACH>
__global__ void clipped(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, unsigned tile) {
  extern __shared__ int marks[];
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  const unsigned begin = blockIdx.x * threads * EACH;
  int value[EACH];
  int total[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    unsigned i = begin + e * threads + thread;
    value[e] = (i < n) ? d_in[i] : 0;
    total[e] = 0;
  }
  for (unsigned from = 0; from < m; from += tile) {
    const unsigned length = min(tile, m - from);
    for (unsigned j = thread; j < length; j += threads) marks[j] = d_marks[from + j];
    __syncthreads();
    unsigned j = 0;
#pragma unroll 1
    for (; j + PASS <= length; j += PASS) {
#pragma unroll
      for (int p = 0; p < PASS; p++) {
        int mark = marks[j + p];
#pragma unroll
        for (int e = 0; e < EACH; e++) total[e] += (mark < value[e]);
      }
    }
    if (PASS > 1) {
#pragma unroll 1
      for (; j < length; j++) {
        int mark = marks[j];
#pragma unroll
        for (int e = 0; e < EACH; e++) total[e] += (mark < value[e]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    unsigned i = begin + e * threads + thread;
    if (i < n) d_out[i] = total[e];
  }
}

static const void* kernel_for(int unroll, int items) {
  static const std::map<int, const void*> kernels = {
      {11, (const void*)clipped<1, 1>}, {12, (const void*)clipped<1, 2>}, {14, (const void*)clipped<1, 4>},
      {41, (const void*)clipped<4, 1>}, {42, (const void*)clipped<4, 2>}, {44, (const void*)clipped<4, 4>},
      {81, (const void*)clipped<8, 1>}, {82, (const void*)clipped<8, 2>},
  };
  if (unroll < 1 || unroll > 8 || items < 1 || items > 4) return nullptr;
  auto found = kernels.find(10 * unroll + items);
  return found == kernels.end() ? nullptr : found->second;
}

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  const void* kernel = kernel_for(unroll, items);
  const bool block_ok = block == 64 || block == 128 || block == 256 || block == 512;
  const bool tile_ok = tile == 32 || tile == 128 || (tile == 512 && block > 64);
  if (kernel == nullptr || !block_ok || !tile_ok || (block == 512 && items == 4)) return kRefused;
  if (n == 0) return kDone;
  unsigned size = tile;
  void* arguments[] = {&d_in, &d_out, &n, &d_marks, &m, &size};
  const unsigned each = block * items;
  if (cudaLaunchKernel(kernel, dim3((n - 1) / each + 1), dim3(32, block / 32), arguments, tile * sizeof(int), 0) ==
      cudaSuccess) {
    return kDone;
  }
  cudaGetLastError();
  return kDoesNotFit;
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  cudaEvent_t before, after;
  cudaEventCreate(&before);
  cudaEventCreate(&after);
  cudaEventRecord(before, 0);
  int code = tuning1_family(d_in, d_out, n, d_marks, m, block, tile, unroll, items);
  cudaEventRecord(after, 0);
  cudaDeviceSynchronize();
  if (code == kDone) cudaEventElapsedTime(milliseconds, before, after);
  cudaEventDestroy(before);
  cudaEventDestroy(after);
  return code;
}

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  std::multimap<float, Config> times;
  for (int block : {512, 256, 128, 64}) {
    for (int tile : {512, 128, 32}) {
      for (int unroll : {8, 4, 1}) {
        for (int items : {4, 2, 1}) {
          float time;
          if (tuning2_clock(d_in, d_out, n, d_marks, m, block, tile, unroll, items, &time) != kDone) continue;
          times.insert({time, {block, tile, unroll, items}});
        }
      }
    }
  }
  *best = times.begin()->second;
  return kDone;
}

// Without a rest to fill, tiles hardly differ: the smallest is never far behind. So blocks and items first, then two
// tiles and two loops for the three best.
int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  std::multimap<float, Config> times;
  auto measure = [&](Config c) {
    float time;
    if (times.size() < kFewLaunches &&
        tuning2_clock(d_in, d_out, n, d_marks, m, c.block, c.tile, c.unroll, c.items, &time) == kDone) {
      times.insert({time, c});
    }
  };
  for (int block : kBlocks) {
    for (int items : kItems) measure({block, 128, items > 2 ? 4 : 8, items});
  }
  auto leaders = times;
  int number = 0;
  for (auto& [time, c] : leaders) {
    if (++number > 3) break;
    measure({c.block, 32, c.unroll, c.items});
    measure({c.block, 512, c.unroll, c.items});
  }
  Config winner = times.begin()->second;
  for (int unroll : kUnrolls) {
    if (unroll != winner.unroll && unroll * winner.items <= 16)
      measure({winner.block, winner.tile, unroll, winner.items});
  }
  *best = times.begin()->second;
  return kDone;
}
