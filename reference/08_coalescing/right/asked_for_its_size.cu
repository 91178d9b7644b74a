// points: 100 + 10
// Block sizes and grids that the runtime proposes; one kernel, which gets the pattern's number. Rung 8 keeps the sums
// in a second array of shared memory, so that nothing is put back where others may still read.
#include <cstring>

#include "coalescing.h"

enum class Order : unsigned { kPlain, kFurther, kColumns, kSwapped };

__global__ void in_some_order(const float* d_in, float* d_out, unsigned n, unsigned threads, Order order) {
  const unsigned all = gridDim.x * blockDim.x;
  for (unsigned t = blockIdx.x * blockDim.x + threadIdx.x; t < threads; t += all) {
    unsigned e = t;
    if (order == Order::kFurther) {
      e = t + kOffset;
      if (e >= n) e -= n;
    } else if (order == Order::kColumns) {
      const unsigned rows = threads / kStride;
      e = t % rows * kStride + t / rows;
    } else if (order == Order::kSwapped) {
      e = t % 2 == 0 ? t + 1 : t - 1;
    }
    if (e < n) d_out[e] = 1.0f + d_in[e];
  }
}

template <bool kApart>
__global__ void three_sums(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  const unsigned all = gridDim.x * blockDim.x;
  for (unsigned t = blockIdx.x * blockDim.x + threadIdx.x; t < n; t += all) {
    const unsigned x = kApart ? t : 3 * t, y = kApart ? n + t : 3 * t + 1, z = kApart ? 2 * n + t : 3 * t + 2;
    const float sum_x = d_in[x] + d_in[y], sum_y = d_in[y] + d_in[z], sum_z = d_in[z] + d_in[x];
    d_out[x] = sum_x;
    d_out[y] = sum_y;
    d_out[z] = sum_z;
  }
}

constexpr unsigned kStaged = 320;

__global__ void __launch_bounds__(kStaged) through_two_arrays(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_in[3 * kStaged], s_sums[3 * kStaged];
  const unsigned structures = min(kStaged, n - blockIdx.x * kStaged);
  const float* in = d_in + 3 * kStaged * blockIdx.x;
  float* out = d_out + 3 * kStaged * blockIdx.x;
  for (unsigned i = threadIdx.x; i < 3 * structures; i += kStaged) s_in[i] = in[i];
  __syncthreads();
  if (threadIdx.x < structures) {
    const unsigned at = 3 * threadIdx.x;
    s_sums[at] = s_in[at] + s_in[at + 1];
    s_sums[at + 1] = s_in[at + 1] + s_in[at + 2];
    s_sums[at + 2] = s_in[at + 2] + s_in[at];
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 3 * structures; i += kStaged) out[i] = s_sums[i];
}

namespace {

struct Shape {
  int grid = 0, block = 0;
};

template <class Kernel>
Shape proposed(Kernel kernel) {
  Shape shape;
  cudaOccupancyMaxPotentialBlockSize(&shape.grid, &shape.block, kernel, 0, 512);
  return shape;
}

void run(const float* d_in, float* d_out, unsigned n, unsigned threads, Order order) {
  const Shape shape = proposed(in_some_order);
  in_some_order<<<shape.grid, shape.block>>>(d_in, d_out, n, threads, order);
}

// The numbers of a request, thread by thread, in a table that is made first.
struct Table {
  long long address[32];
  bool active[32];
  explicit Table(const WarpRequest& request) {
    for (int t = 0; t < 32; ++t) {
      active[t] = (request.active >> t & 1u) != 0;
      address[t] = request.first + static_cast<long long>(t ^ request.swap) * request.stride;
    }
  }
};

}  // namespace

int coalesce1_predict(const WarpRequest* request) {
  const Table table(*request);
  bool counted[32];
  std::memset(counted, 0, sizeof counted);
  int sectors = 0;
  for (int t = 0; t < 32; ++t) {
    if (!table.active[t] || counted[t]) continue;
    ++sectors;
    for (int k = t; k < 32; ++k) counted[k] |= table.address[k] / 32 == table.address[t] / 32;
  }
  return sectors;
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) { run(d_in, d_out, n, n, Order::kPlain); }
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) { run(d_in, d_out, n, n, Order::kFurther); }
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  run(d_in, d_out, n, (n + kStride - 1) / kStride * kStride, Order::kColumns);
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) { run(d_in, d_out, n, n + 1, Order::kSwapped); }
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  const Shape shape = proposed(three_sums<false>);
  three_sums<false><<<shape.grid, shape.block>>>(d_in, d_out, n);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  const Shape shape = proposed(three_sums<true>);
  three_sums<true><<<shape.grid, shape.block>>>(d_in, d_out, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) through_two_arrays<<<(n + kStaged - 1) / kStaged, kStaged>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  const Table table(*request);
  int transactions = 0;
  for (int first = 0; first < 32; first += 16) {
    int active = 0, out_of_place = 0;
    long long segment = -1;
    for (int k = 0; k < 16; ++k) {
      if (!table.active[first + k]) continue;
      ++active;
      const long long own = table.address[first + k] / (16 * request->bytes);
      if (segment < 0) segment = own;
      out_of_place += own != segment || table.address[first + k] % (16 * request->bytes) != k * request->bytes;
    }
    transactions += active > 0 && out_of_place == 0 ? 1 : active;
  }
  return transactions;
}
