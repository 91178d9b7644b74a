// Assignment 10: the tuner. The solution, in the stub's order.
#include <climits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "tuning.h"

namespace {

template <int kSize>
bool IsOneOf(int value, const int (&list)[kSize]) {
  for (const int entry : list) {
    if (entry == value) return true;
  }
  return false;
}

bool CanBeBuilt(const Config& c) {
  if (!IsOneOf(c.block, kBlocks) || !IsOneOf(c.tile, kTiles)) return false;
  if (!IsOneOf(c.unroll, kUnrolls) || !IsOneOf(c.items, kItems)) return false;
  return c.block * c.items <= kMostElements && c.tile <= kMostStaged * c.block && c.unroll * c.items <= kMostCompares;
}

// The task's arguments, which all rungs pass on.
struct Task {
  const int* d_in;
  int* d_out;
  unsigned n;
  const int* d_marks;
  unsigned m;
};

}  // namespace

// Rung 1: the family.
template <int kUnroll, int kOwn>
__global__ void tuning1_family_kernel(Task task, unsigned tile) {
  extern __shared__ int s_marks[];
  const unsigned first = blockIdx.x * blockDim.x * kOwn + threadIdx.x;
  int own[kOwn], below[kOwn];
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    const unsigned i = first + k * blockDim.x;
    own[k] = i < task.n ? task.d_in[i] : INT_MIN;
    below[k] = 0;
  }
  for (unsigned begin = 0; begin < task.m; begin += tile) {
    // No element is above the largest int, so the unused places of the last tile add nothing.
    for (unsigned t = threadIdx.x; t < tile; t += blockDim.x) {
      s_marks[t] = begin + t < task.m ? task.d_marks[begin + t] : INT_MAX;
    }
    __syncthreads();
#pragma unroll kUnroll
    for (unsigned t = 0; t < tile; ++t) {
      const int mark = s_marks[t];
#pragma unroll
      for (int k = 0; k < kOwn; ++k) below[k] += mark < own[k];
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    const unsigned i = first + k * blockDim.x;
    if (i < task.n) task.d_out[i] = below[k];
  }
}

namespace {

template <int kUnroll, int kOwn>
int Launch(const Task& task, const Config& c) {
  const unsigned each = static_cast<unsigned>(c.block * c.items);
  const unsigned blocks = (task.n - 1) / each + 1;
  tuning1_family_kernel<kUnroll, kOwn><<<blocks, c.block, c.tile * sizeof(int)>>>(task, c.tile);
  return cudaGetLastError() == cudaSuccess ? kDone : kDoesNotFit;
}

int Run(const Task& task, const Config& c) {
  if (!CanBeBuilt(c)) return kRefused;
  if (task.n == 0) return kDone;
  switch (16 * c.unroll + c.items) {
    case 16 * 1 + 1:
      return Launch<1, 1>(task, c);
    case 16 * 1 + 2:
      return Launch<1, 2>(task, c);
    case 16 * 1 + 4:
      return Launch<1, 4>(task, c);
    case 16 * 4 + 1:
      return Launch<4, 1>(task, c);
    case 16 * 4 + 2:
      return Launch<4, 2>(task, c);
    case 16 * 4 + 4:
      return Launch<4, 4>(task, c);
    case 16 * 8 + 1:
      return Launch<8, 1>(task, c);
    default:
      return Launch<8, 2>(task, c);
  }
}

// Measures launches, and remembers the best.
class Stopwatch {
 public:
  explicit Stopwatch(const Task& task) : task_(task) {
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  // kDone: *milliseconds is the time.
  int Measure(const Config& c, float* milliseconds) {
    cudaEventRecord(begin_);
    const int code = Run(task_, c);
    if (code != kDone) return code;
    cudaEventRecord(end_);
    cudaEventSynchronize(end_);
    cudaEventElapsedTime(milliseconds, begin_, end_);
    return kDone;
  }

  // A configuration that was tried before is not launched again.
  void Try(const Config& c) {
    if (!tried_.emplace(c.block, c.tile, c.unroll, c.items).second) return;
    float milliseconds;
    if (Measure(c, &milliseconds) == kDone) times_.emplace(milliseconds, c);
  }

  std::vector<Config> Fastest(size_t most) const {
    std::vector<Config> fastest;
    for (const auto& [milliseconds, config] : times_) {
      if (fastest.size() < most) fastest.push_back(config);
    }
    return fastest;
  }
  int launches() const { return static_cast<int>(times_.size()); }
  const Config& best() const { return times_.begin()->second; }

 private:
  const Task task_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::set<std::tuple<int, int, int, int>> tried_;
  std::multimap<float, Config> times_;
};

}  // namespace

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  return Run({d_in, d_out, n, d_marks, m}, {block, tile, unroll, items});
}

// Rung 2: the clock.
int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  return Stopwatch({d_in, d_out, n, d_marks, m}).Measure({block, tile, unroll, items}, milliseconds);
}

// Rung 3: every configuration.
int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  Stopwatch stopwatch({d_in, d_out, n, d_marks, m});
  for (const int block : kBlocks) {
    for (const int tile : kTiles) {
      for (const int unroll : kUnrolls) {
        for (const int items : kItems) stopwatch.Try({block, tile, unroll, items});
      }
    }
  }
  *best = stopwatch.best();
  return kDone;
}

// Rung 4: blocks and items decide together how evenly the work is spread, so all pairs of them are tried, unrolled as
// far as the registers allow; then the other tiles for the best few of them, and less unrolling for the best.
int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  Stopwatch stopwatch({d_in, d_out, n, d_marks, m});
  const auto may_launch = [&] { return stopwatch.launches() < kFewLaunches; };
  for (const int block : kBlocks) {
    for (const int items : kItems) stopwatch.Try({block, 128, items == 4 ? 4 : 8, items});
  }
  for (const Config c : stopwatch.Fastest(3)) {
    for (const int tile : {32, 512}) {
      if (may_launch()) stopwatch.Try({c.block, tile, c.unroll, c.items});
    }
  }
  for (const int unroll : {4, 1}) {
    const Config c = stopwatch.best();
    if (may_launch()) stopwatch.Try({c.block, c.tile, unroll, c.items});
  }
  *best = stopwatch.best();
  return kDone;
}
