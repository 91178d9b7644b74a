// points: 100 + 10
// Grids of a bounded size: every thread strides over its elements. Sectors are counted without a container.
#include "coalescing.h"

namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kMostBlocks = 1056;

unsigned grid_of(unsigned long long work) {
  const unsigned long long blocks = (work + kThreads - 1) / kThreads;
  return blocks < kMostBlocks ? static_cast<unsigned>(blocks) : kMostBlocks;
}

long long place(const WarpRequest* r, int t) { return r->first + 1ll * r->stride * (t ^ r->swap); }

}  // namespace

int coalesce1_predict(const WarpRequest* request) {
  int count = 0;
  for (int t = 0; t < 32; ++t) {
    if ((request->active & 1u << t) == 0) continue;
    bool is_new = true;
    for (int before = 0; before < t; ++before) {
      const bool same = place(request, before) / kSectorBytes == place(request, t) / kSectorBytes;
      if ((request->active & 1u << before) != 0 && same) is_new = false;
    }
    count += is_new;
  }
  return count;
}

__global__ void stride_aligned(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) d_out[i] = d_in[i] + 1;
}

__global__ void stride_misaligned(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned e = (i + kOffset) % n;
    d_out[e] = d_in[e] + 1;
  }
}

__global__ void stride_columns(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  const unsigned rows = n / kStride + (n % kStride != 0);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * kStride; i += gridDim.x * blockDim.x) {
    const unsigned e = i % rows * kStride + i / rows;
    if (e < n) d_out[e] = d_in[e] + 1;
  }
}

__global__ void stride_swapped(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x) {
    const unsigned e = i ^ 1;
    if (e < n) d_out[e] = d_in[e] + 1;
  }
}

__global__ void stride_structures(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float* from = d_in + 3 * i;
    float* to = d_out + 3 * i;
    const float x = from[0], y = from[1], z = from[2];
    to[0] = x + y;
    to[1] = y + z;
    to[2] = z + x;
  }
}

__global__ void stride_arrays(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  const float *xs = d_in, *ys = d_in + n, *zs = d_in + 2 * n;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    d_out[i] = xs[i] + ys[i];
    d_out[n + i] = ys[i] + zs[i];
    d_out[2 * n + i] = zs[i] + xs[i];
  }
}

// Pieces of three floats a thread, one after the other.
__global__ void stride_staged(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n) {
  __shared__ float s_in[3 * kThreads];
  for (unsigned first = blockIdx.x * kThreads; first < n; first += gridDim.x * kThreads) {
    const unsigned floats = 3 * min(kThreads, n - first);
    for (unsigned i = threadIdx.x; i < floats; i += kThreads) s_in[i] = d_in[3 * first + i];
    __syncthreads();
    // A float's partner is in the same piece.
    for (unsigned i = threadIdx.x; i < floats; i += kThreads) {
      d_out[3 * first + i] = s_in[i] + s_in[i % 3 == 2 ? i - 2 : i + 1];
    }
    __syncthreads();
  }
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n != 0) stride_aligned<<<grid_of(n), kThreads>>>(d_in, d_out, n);
}
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n != 0) stride_misaligned<<<grid_of(n), kThreads>>>(d_in, d_out, n);
}
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  stride_columns<<<grid_of(n + 31ull), kThreads>>>(d_in, d_out, n);
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n != 0) stride_swapped<<<grid_of(n + 1ull), kThreads>>>(d_in, d_out, n);
}
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n != 0) stride_structures<<<grid_of(n), kThreads>>>(d_in, d_out, n);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n != 0) stride_arrays<<<grid_of(n), kThreads>>>(d_in, d_out, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n != 0) stride_staged<<<grid_of(n), kThreads>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  int total = 0;
  for (int half = 0; half < 32; half += 16) {
    int threads = 0, in_order = 0;
    long long segment = -1;
    for (int k = 0; k < 16; ++k) {
      if ((request->active & 1u << (half + k)) == 0) continue;
      const long long begins = place(request, half + k) - k * request->bytes;
      if (threads == 0) segment = begins;
      in_order += begins == segment;
      ++threads;
    }
    const bool fits = threads > 0 && in_order == threads && segment % (16 * request->bytes) == 0;
    total += fits ? 1 : threads;
  }
  return total;
}
