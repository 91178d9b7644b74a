// Assignment 08: the coalescing experiment. The solution, in the stub's order.
#include <set>

#include "coalescing.h"

namespace {

constexpr unsigned kBlock = 256;
constexpr int kWarp = 32;

unsigned blocks_for(unsigned threads) { return (threads + kBlock - 1) / kBlock; }

long long address_of(const WarpRequest& request, int thread) {
  return request.first + static_cast<long long>(request.stride) * (thread ^ request.swap);
}

}  // namespace

// Rung 1: each sector once.
int coalesce1_predict(const WarpRequest* request) {
  std::set<long long> sectors;
  for (int thread = 0; thread < kWarp; ++thread) {
    if (request->active >> thread & 1) sectors.insert(address_of(*request, thread) / kSectorBytes);
  }
  return static_cast<int>(sectors.size());
}

// Rung 2: thread t has element t.
__global__ void coalesce2_aligned_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) d_out[t] = d_in[t] + 1;
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce2_aligned_kernel<<<blocks_for(n), kBlock>>>(d_in, d_out, n);
}

// Rung 3: every thread's element is kOffset further on.
__global__ void coalesce3_misaligned_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const unsigned e = t + kOffset < n ? t + kOffset : t + kOffset - n;
  d_out[e] = d_in[e] + 1;
}

void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce3_misaligned_kernel<<<blocks_for(n), kBlock>>>(d_in, d_out, n);
}

// Rung 4: down the columns of a matrix with rows of kStride elements.
__global__ void coalesce4_strided_kernel(const float* d_in, float* d_out, unsigned n, unsigned rows) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned column = t / rows;
  const unsigned e = (t - column * rows) * kStride + column;
  if (column < kStride && e < n) d_out[e] = d_in[e] + 1;
}

void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  const unsigned rows = (n + kStride - 1) / kStride;
  if (n > 0) coalesce4_strided_kernel<<<blocks_for(rows * kStride), kBlock>>>(d_in, d_out, n, rows);
}

// Rung 5: neighbours swap. With an odd n, thread n has the last element.
__global__ void coalesce5_permuted_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned e = (blockIdx.x * blockDim.x + threadIdx.x) ^ 1;
  if (e < n) d_out[e] = d_in[e] + 1;
}

void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce5_permuted_kernel<<<blocks_for(n + 1), kBlock>>>(d_in, d_out, n);
}

// Rung 6: a thread for each structure.
__global__ void coalesce6_structures_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const float x = d_in[3 * t], y = d_in[3 * t + 1], z = d_in[3 * t + 2];
  d_out[3 * t] = x + y;
  d_out[3 * t + 1] = y + z;
  d_out[3 * t + 2] = z + x;
}

void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce6_structures_kernel<<<blocks_for(n), kBlock>>>(d_in, d_out, n);
}

// Rung 7: the same with three arrays.
__global__ void coalesce7_arrays_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const float x = d_in[t], y = d_in[n + t], z = d_in[2 * n + t];
  d_out[t] = x + y;
  d_out[n + t] = y + z;
  d_out[2 * n + t] = z + x;
}

void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce7_arrays_kernel<<<blocks_for(n), kBlock>>>(d_in, d_out, n);
}

// Rung 8: in and out as plain floats, structures in shared memory alone.
__global__ void coalesce8_staged_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_piece[3 * kBlock];
  const unsigned first = blockIdx.x * 3 * kBlock;
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned i = k * kBlock + threadIdx.x;
    if (first + i < 3 * n) s_piece[i] = d_in[first + i];
  }
  __syncthreads();
  if (blockIdx.x * kBlock + threadIdx.x < n) {
    float* own = s_piece + 3 * threadIdx.x;
    const float x = own[0], y = own[1], z = own[2];
    own[0] = x + y;
    own[1] = y + z;
    own[2] = z + x;
  }
  __syncthreads();
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned i = k * kBlock + threadIdx.x;
    if (first + i < 3 * n) d_out[first + i] = s_piece[i];
  }
}

void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce8_staged_kernel<<<blocks_for(n), kBlock>>>(d_in, d_out, n);
}

// Rung 9: a half-warp either obeys all rules, or its threads go one by one.
int coalesce9_in_2006(const WarpRequest* request) {
  constexpr int kHalf = kWarp / 2;
  int transactions = 0;
  for (int begin = 0; begin < kWarp; begin += kHalf) {
    int active = 0;
    std::set<long long> segments;
    for (int k = 0; k < kHalf; ++k) {
      if (!(request->active >> (begin + k) & 1)) continue;
      ++active;
      segments.insert(address_of(*request, begin + k) - static_cast<long long>(k) * request->bytes);
    }
    const bool obeys = segments.size() == 1 && *segments.begin() % (kHalf * request->bytes) == 0;
    transactions += obeys ? 1 : active;
  }
  return transactions;
}
