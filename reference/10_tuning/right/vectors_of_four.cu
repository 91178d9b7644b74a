// points: 100
// Marks come from shared memory four at a time if the loop is unrolled by four or eight. Times are read after all
// launches are queued, with one event between each two of them.
#include <climits>
#include <vector>

#include "tuning.h"

template <int U, int I>
__global__ void by_fours(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n,
                         const int* __restrict__ d_marks, unsigned m, int tile) {
  extern __shared__ __align__(16) int s[];
  const unsigned at = blockIdx.x * blockDim.x * I + threadIdx.x;
  int x[I], below[I];
#pragma unroll
  for (int j = 0; j < I; ++j) {
    const unsigned i = at + j * blockDim.x;
    x[j] = INT_MIN;
    if (i < n) x[j] = d_in[i];
    below[j] = 0;
  }
  const int tiles = static_cast<int>((m + tile - 1) / tile);
  for (int k = 0; k < tiles; ++k) {
    for (unsigned t = threadIdx.x; t < static_cast<unsigned>(tile); t += blockDim.x) {
      const unsigned from = k * tile + t;
      s[t] = from < m ? d_marks[from] : INT_MAX;
    }
    __syncthreads();
    if constexpr (U == 1) {
#pragma unroll 1
      for (int t = 0; t < tile; ++t) {
        const int mark = s[t];
#pragma unroll
        for (int j = 0; j < I; ++j) below[j] += mark < x[j];
      }
    } else {
#pragma unroll 1
      for (int t = 0; t < tile; t += U) {
#pragma unroll
        for (int v = 0; v < U; v += 4) {
          const int4 four = *reinterpret_cast<const int4*>(s + t + v);
#pragma unroll
          for (int j = 0; j < I; ++j) {
            below[j] += four.x < x[j];
            below[j] += four.y < x[j];
            below[j] += four.z < x[j];
            below[j] += four.w < x[j];
          }
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < I; ++j) {
    const unsigned i = at + j * blockDim.x;
    if (i < n) d_out[i] = below[j];
  }
}

static bool valid(int block, int tile, int unroll, int items) {
  const bool listed = (block == 64 || block == 128 || block == 256 || block == 512) &&
                      (tile == 32 || tile == 128 || tile == 512) && (unroll == 1 || unroll == 4 || unroll == 8) &&
                      (items == 1 || items == 2 || items == 4);
  return listed && block * items <= 1024 && tile <= 4 * block && unroll * items <= 16;
}

template <int U>
static void launch(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int items) {
  const unsigned grid = (n + block * items - 1) / (block * items), bytes = 4 * tile;
  if (items == 1) by_fours<U, 1><<<grid, block, bytes>>>(d_in, d_out, n, d_marks, m, tile);
  if (items == 2) by_fours<U, 2><<<grid, block, bytes>>>(d_in, d_out, n, d_marks, m, tile);
  if constexpr (U < 8) {
    if (items == 4) by_fours<U, 4><<<grid, block, bytes>>>(d_in, d_out, n, d_marks, m, tile);
  }
}

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  if (!valid(block, tile, unroll, items)) return kRefused;
  if (n == 0) return kDone;
  if (unroll == 1) launch<1>(d_in, d_out, n, d_marks, m, block, tile, items);
  if (unroll == 4) launch<4>(d_in, d_out, n, d_marks, m, block, tile, items);
  if (unroll == 8) launch<8>(d_in, d_out, n, d_marks, m, block, tile, items);
  return cudaGetLastError() != cudaSuccess ? kDoesNotFit : kDone;
}

// Launches all of them, waits once, and returns their times; what does not fit takes forever.
static std::vector<float> measure(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m,
                                  const std::vector<Config>& configs) {
  std::vector<cudaEvent_t> events(configs.size() + 1);
  for (cudaEvent_t& event : events) cudaEventCreate(&event);
  std::vector<float> times(configs.size(), 1e30f);
  std::vector<bool> launched(configs.size());
  cudaEventRecord(events[0]);
  for (size_t k = 0; k < configs.size(); ++k) {
    const Config& c = configs[k];
    launched[k] = tuning1_family(d_in, d_out, n, d_marks, m, c.block, c.tile, c.unroll, c.items) == kDone;
    cudaEventRecord(events[k + 1]);
  }
  cudaEventSynchronize(events.back());
  for (size_t k = 0; k < configs.size(); ++k) {
    if (launched[k]) cudaEventElapsedTime(&times[k], events[k], events[k + 1]);
  }
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  return times;
}

static size_t least(const std::vector<float>& times) {
  size_t place = 0;
  for (size_t k = 1; k < times.size(); ++k) {
    if (times[k] < times[place]) place = k;
  }
  return place;
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  if (!valid(block, tile, unroll, items)) return kRefused;
  const float time = measure(d_in, d_out, n, d_marks, m, {{block, tile, unroll, items}})[0];
  if (time == 1e30f) return kDoesNotFit;
  *milliseconds = time;
  return kDone;
}

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  std::vector<Config> all;
  for (int block = 64; block <= 512; block *= 2) {
    for (int tile = 32; tile <= 512; tile *= 4) {
      for (const int unroll : {1, 4, 8}) {
        for (int items = 1; items <= 4; items *= 2) {
          if (valid(block, tile, unroll, items)) all.push_back({block, tile, unroll, items});
        }
      }
    }
  }
  *best = all[least(measure(d_in, d_out, n, d_marks, m, all))];
  return kDone;
}

int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  std::vector<Config> first;
  for (const int items : {1, 2, 4}) {
    for (const int block : kBlocks) {
      if (block * items <= kMostElements) first.push_back({block, 128, items == 4 ? 4 : 8, items});
    }
  }
  std::vector<float> times = measure(d_in, d_out, n, d_marks, m, first);
  // The three fastest, with smaller and with larger tiles.
  std::vector<Config> second;
  std::vector<float> rest = times;
  for (int rank = 0; rank < 3; ++rank) {
    const size_t place = least(rest);
    rest[place] = 1e30f;
    Config c = first[place];
    second.push_back({c.block, 32, c.unroll, c.items});
    if (rank < 2 && c.block >= 128) second.push_back({c.block, 512, c.unroll, c.items});
  }
  const std::vector<float> others = measure(d_in, d_out, n, d_marks, m, second);
  const size_t a = least(times), b = least(others);
  *best = times[a] <= others[b] ? first[a] : second[b];
  return kDone;
}
