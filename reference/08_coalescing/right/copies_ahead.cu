// points: 100 + 10
// Rung 8 by asynchronous copies to shared memory, two pieces in flight; threads are numbered by cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <map>

#include "coalescing.h"

namespace cg = cooperative_groups;

constexpr unsigned kGroup = 192;
constexpr unsigned kPieces = 2;  // of kGroup structures, for each block

static unsigned ceil_div(unsigned a, unsigned b) { return a == 0 ? 0 : (a - 1) / b + 1; }

template <int kPattern>
__global__ void group_increment(const float* in, float* out, unsigned n) {
  const auto t = static_cast<unsigned>(cg::this_grid().thread_rank());
  if constexpr (kPattern == 2) {
    if (t < n) out[t] = in[t] + 1;
  } else if constexpr (kPattern == 3) {
    if (t < n) {
      const unsigned e = t == n - 1 ? 0 : t + 1;
      out[e] = in[e] + 1;
    }
  } else if constexpr (kPattern == 4) {
    const unsigned rows = (n + 31) / 32, column = t / rows, e = 32 * (t - rows * column) + column;
    if (column < 32 && e < n) out[e] = in[e] + 1;
  } else {
    const unsigned e = t % 2 == 0 ? t + 1 : t - 1;
    if (e < n) out[e] = in[e] + 1;
  }
}

struct Vector {
  float x, y, z;
};

__device__ Vector grown(Vector v) { return {v.x + v.y, v.y + v.z, v.z + v.x}; }

__global__ void group_structures(const Vector* in, Vector* out, unsigned n) {
  const auto t = cg::this_grid().thread_rank();
  if (t < n) out[t] = grown(in[t]);
}

__global__ void group_arrays(const float* in, float* out, unsigned n) {
  const auto t = cg::this_grid().thread_rank();
  if (t >= n) return;
  const Vector sums = grown({in[t], in[t + n], in[t + 2ull * n]});
  out[t] = sums.x;
  out[t + n] = sums.y;
  out[t + 2ull * n] = sums.z;
}

__global__ void group_staged(const Vector* in, Vector* out, unsigned n) {
  __shared__ Vector s_piece[kPieces][kGroup];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned first = blockIdx.x * kPieces * kGroup;
  unsigned size[kPieces];
  for (unsigned k = 0; k < kPieces; ++k) {
    const unsigned begin = first + k * kGroup;
    size[k] = begin < n ? min(kGroup, n - begin) : 0;
    cg::memcpy_async(block, reinterpret_cast<float*>(s_piece[k]), reinterpret_cast<const float*>(in + begin),
                     size[k] * sizeof(Vector));
  }
  for (unsigned k = 0; k < kPieces; ++k) {
    if (k + 1 < kPieces) {
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    if (threadIdx.x < size[k]) s_piece[k][threadIdx.x] = grown(s_piece[k][threadIdx.x]);
    block.sync();
    const float* floats = reinterpret_cast<const float*>(s_piece[k]);
    float* to = reinterpret_cast<float*>(out + first + k * kGroup);
    for (unsigned i = threadIdx.x; i < 3 * size[k]; i += kGroup) to[i] = floats[i];
  }
}

int coalesce1_predict(const WarpRequest* request) {
  std::map<long long, int> threads_in;
  for (unsigned t = 0; t < 32; ++t) {
    const long long at = request->first + static_cast<long long>(request->stride) * (t ^ request->swap);
    if (request->active & (1u << t)) ++threads_in[at / kSectorBytes];
  }
  return static_cast<int>(threads_in.size());
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n) group_increment<2><<<ceil_div(n, kGroup), kGroup>>>(d_in, d_out, n);
}
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n) group_increment<3><<<ceil_div(n, kGroup), kGroup>>>(d_in, d_out, n);
}
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  if (n) group_increment<4><<<ceil_div(ceil_div(n, 32) * 32, kGroup), kGroup>>>(d_in, d_out, n);
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n) group_increment<5><<<ceil_div(n + 1, kGroup), kGroup>>>(d_in, d_out, n);
}
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  const auto* in = reinterpret_cast<const Vector*>(d_in);
  if (n) group_structures<<<ceil_div(n, kGroup), kGroup>>>(in, reinterpret_cast<Vector*>(d_out), n);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n) group_arrays<<<ceil_div(n, kGroup), kGroup>>>(d_in, d_out, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  const auto* in = reinterpret_cast<const Vector*>(d_in);
  if (n) group_staged<<<ceil_div(n, kPieces * kGroup), kGroup>>>(in, reinterpret_cast<Vector*>(d_out), n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  int all = 0;
  for (unsigned half = 0; half < 2; ++half) {
    std::map<long long, int> threads_of;  // by the segment that would hold each thread's word
    int active = 0;
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned t = 16 * half + k;
      if (!(request->active & (1u << t))) continue;
      const long long at = request->first + static_cast<long long>(request->stride) * (t ^ request->swap);
      ++threads_of[at - static_cast<long long>(k) * request->bytes];
      ++active;
    }
    if (active == 0) continue;
    const bool aligned = threads_of.begin()->first % (16ll * request->bytes) == 0;
    all += threads_of.size() == 1 && aligned ? 1 : active;
  }
  return all;
}
