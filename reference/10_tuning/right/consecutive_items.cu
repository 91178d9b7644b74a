// points: 100
// A thread's items are consecutive elements. The clock has its own stream, and queries the second event until it is
// done.
#include <limits>

#include "tuning.h"

namespace {

constexpr int kLeast = std::numeric_limits<int>::min();
constexpr int kNone = std::numeric_limits<int>::max();

template <int kPass, int kMine>
__global__ void neighbours(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, unsigned size) {
  extern __shared__ int shared[];
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * kMine;
  int mine[kMine];
  int smaller[kMine];
#pragma unroll
  for (unsigned j = 0; j < kMine; ++j) {
    mine[j] = first + j < n ? d_in[first + j] : kLeast;
    smaller[j] = 0;
  }
  unsigned done = 0;
  while (done < m) {
    if (done > 0) __syncthreads();
    for (unsigned j = threadIdx.x; j < size; j += blockDim.x) {
      int mark = kNone;
      if (done + j < m) mark = d_marks[done + j];
      shared[j] = mark;
    }
    __syncthreads();
#pragma unroll kPass
    for (unsigned j = 0; j < size; ++j) {
      const int mark = shared[j];
#pragma unroll
      for (int k = 0; k < kMine; ++k) {
        if (mark < mine[k]) ++smaller[k];
      }
    }
    done += size;
  }
#pragma unroll
  for (unsigned j = 0; j < kMine; ++j) {
    if (first + j < n) d_out[first + j] = smaller[j];
  }
}

struct Arrays {
  const int* d_in;
  int* d_out;
  unsigned n;
  const int* d_marks;
  unsigned m;
};

bool Allowed(const Config& c) {
  bool block = false, tile = false, unroll = false, items = false;
  for (int b : kBlocks) block |= b == c.block;
  for (int t : kTiles) tile |= t == c.tile;
  for (int u : kUnrolls) unroll |= u == c.unroll;
  for (int i : kItems) items |= i == c.items;
  if (!(block && tile && unroll && items)) return false;
  if (c.block * c.items > kMostElements) return false;
  if (c.tile > kMostStaged * c.block) return false;
  return c.unroll * c.items <= kMostCompares;
}

template <int kMine>
cudaError_t Start(const Arrays& a, const Config& c, cudaStream_t stream) {
  const dim3 grid((a.n + c.block * kMine - 1) / (c.block * kMine));
  const size_t bytes = sizeof(int) * c.tile;
  switch (c.unroll) {
    case 1:
      neighbours<1, kMine><<<grid, c.block, bytes, stream>>>(a.d_in, a.d_out, a.n, a.d_marks, a.m, c.tile);
      break;
    case 4:
      neighbours<4, kMine><<<grid, c.block, bytes, stream>>>(a.d_in, a.d_out, a.n, a.d_marks, a.m, c.tile);
      break;
    default:
      neighbours<8, kMine><<<grid, c.block, bytes, stream>>>(a.d_in, a.d_out, a.n, a.d_marks, a.m, c.tile);
  }
  return cudaGetLastError();
}

int Go(const Arrays& a, const Config& c, cudaStream_t stream) {
  if (!Allowed(c)) return kRefused;
  if (a.n == 0) return kDone;
  cudaError_t error = cudaSuccess;
  if (c.items == 1) error = Start<1>(a, c, stream);
  if (c.items == 2) error = Start<2>(a, c, stream);
  if (c.items == 4) error = Start<4>(a, c, stream);
  return error == cudaSuccess ? kDone : kDoesNotFit;
}

int Clock(const Arrays& a, const Config& c, float* milliseconds) {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  cudaStreamCreate(&stream);
  cudaEventCreateWithFlags(&start, cudaEventDefault);
  cudaEventCreateWithFlags(&stop, cudaEventDefault);
  cudaEventRecord(start, stream);
  const int code = Go(a, c, stream);
  cudaEventRecord(stop, stream);
  while (cudaEventQuery(stop) == cudaErrorNotReady) {
  }
  if (code == kDone) cudaEventElapsedTime(milliseconds, start, stop);
  cudaEventDestroy(stop);
  cudaEventDestroy(start);
  cudaStreamDestroy(stream);
  return code;
}

}  // namespace

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  return Go({d_in, d_out, n, d_marks, m}, {block, tile, unroll, items}, nullptr);
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  return Clock({d_in, d_out, n, d_marks, m}, {block, tile, unroll, items}, milliseconds);
}

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  const Arrays arrays{d_in, d_out, n, d_marks, m};
  float record = -1;
  for (int items : kItems) {
    for (int unroll : kUnrolls) {
      for (int tile : kTiles) {
        for (int block : kBlocks) {
          float milliseconds;
          const Config c{block, tile, unroll, items};
          if (Clock(arrays, c, &milliseconds) != kDone) continue;
          if (record < 0 || milliseconds < record) {
            record = milliseconds;
            *best = c;
          }
        }
      }
    }
  }
  return kDone;
}

// Every pair of block and items with the smallest tile; then the larger tiles, for the four best.
int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  const Arrays arrays{d_in, d_out, n, d_marks, m};
  Config tried[kFewLaunches];
  float times[kFewLaunches];
  int number = 0;
  const auto attempt = [&](const Config& c) {
    if (number == kFewLaunches || Clock(arrays, c, &times[number]) != kDone) return;
    // Keeps them in order: the fastest is the first.
    int place = number++;
    const float time = times[place];
    for (; place > 0 && times[place - 1] > time; --place) {
      times[place] = times[place - 1];
      tried[place] = tried[place - 1];
    }
    times[place] = time;
    tried[place] = c;
  };
  for (int block : kBlocks) {
    for (int items : kItems) attempt({block, 32, items < 4 ? 8 : 4, items});
  }
  Config leaders[4];
  for (int k = 0; k < 4; ++k) leaders[k] = tried[k];
  for (const Config& c : leaders) attempt({c.block, 128, c.unroll, c.items});
  attempt({tried[0].block, 512, tried[0].unroll, tried[0].items});
  *best = tried[0];
  return kDone;
}
