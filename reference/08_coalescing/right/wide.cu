// points: 100 + 10
// float4s where the task leaves the pattern free: rungs 2, 7 and 8 move 16 bytes per thread and request, and what is
// left over float by float.
#include <cstdint>
#include <unordered_set>

#include "coalescing.h"

namespace {

constexpr unsigned kThreads = 128;

unsigned up(unsigned a, unsigned b) { return a / b + (a % b != 0); }

}  // namespace

__device__ float4 plus_one(float4 v) { return make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1); }
__device__ float4 plus(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

__global__ void wide_increment(const float4* d_in, float4* d_out, unsigned n) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x;
  if (t < n / 4) {
    d_out[t] = plus_one(d_in[t]);
  } else if (t == n / 4) {
    const float* rest = reinterpret_cast<const float*>(d_in);
    for (unsigned e = n / 4 * 4; e < n; ++e) reinterpret_cast<float*>(d_out)[e] = rest[e] + 1;
  }
}

__global__ void strided_increment(const float* d_in, float* d_out, unsigned n, unsigned rows) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x;
  const unsigned e = t / rows < kStride ? t % rows * kStride + t / rows : n;
  if (e < n) d_out[e] = d_in[e] + 1;
}

__global__ void moved_increment(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x + kOffset;
  if (t < n) d_out[t] = d_in[t] + 1;
  if (t >= n && t < n + kOffset) d_out[t - n] = d_in[t - n] + 1;
}

__global__ void swapped_increment(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x;
  const unsigned e = t + 1 - 2 * (t & 1);
  if (e < n) d_out[e] = d_in[e] + 1;
}

__global__ void structures(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x;
  if (t < n) {
    const float a = d_in[3 * t], b = d_in[3 * t + 1], c = d_in[3 * t + 2];
    d_out[3 * t] = a + b;
    d_out[3 * t + 1] = b + c;
    d_out[3 * t + 2] = c + a;
  }
}

// The y's and the z's are aligned if n is a multiple of 4.
__global__ void wide_arrays(const float4* d_in, float4* d_out, unsigned quads) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x;
  if (t >= quads) return;
  const float4 x = d_in[t], y = d_in[quads + t], z = d_in[2 * quads + t];
  d_out[t] = plus(x, y);
  d_out[quads + t] = plus(y, z);
  d_out[2 * quads + t] = plus(z, x);
}
__global__ void narrow_arrays(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x;
  if (t >= n) return;
  const float x = d_in[t], y = d_in[n + t], z = d_in[2 * n + t];
  d_out[t] = x + y;
  d_out[n + t] = y + z;
  d_out[2 * n + t] = z + x;
}

// A block has 4 * kThreads structures: three float4s per thread each way, and four structures between.
__global__ void wide_staged(const float* d_in, float* d_out, unsigned n) {
  __shared__ float4 s_wide[3 * kThreads];
  float* s_floats = reinterpret_cast<float*>(s_wide);
  const unsigned first = blockIdx.x * 12 * kThreads, count = 3 * n - first;
  if (count >= 12 * kThreads) {
    const float4* in = reinterpret_cast<const float4*>(d_in + first);
    float4* out = reinterpret_cast<float4*>(d_out + first);
    for (unsigned k = 0; k < 3; ++k) s_wide[k * kThreads + threadIdx.x] = in[k * kThreads + threadIdx.x];
    __syncthreads();
    for (unsigned k = 0; k < 4; ++k) {
      float* own = s_floats + 3 * (k * kThreads + threadIdx.x);
      const float x = own[0], y = own[1], z = own[2];
      own[0] = x + y;
      own[1] = y + z;
      own[2] = z + x;
    }
    __syncthreads();
    for (unsigned k = 0; k < 3; ++k) out[k * kThreads + threadIdx.x] = s_wide[k * kThreads + threadIdx.x];
  } else {
    for (unsigned i = threadIdx.x; i < count; i += kThreads) s_floats[i] = d_in[first + i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += kThreads) {
      d_out[first + i] = s_floats[i] + s_floats[i % 3 == 2 ? i - 2 : i + 1];
    }
  }
}

int coalesce1_predict(const WarpRequest* request) {
  std::unordered_set<long long> sectors;
  unsigned left = request->active;
  while (left != 0) {
    const int t = __builtin_ctz(left);
    left &= left - 1;
    sectors.insert((request->first + static_cast<long long>(request->stride) * (t ^ request->swap)) / 32);
  }
  return static_cast<int>(sectors.size());
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n == 0) return;
  wide_increment<<<up(n / 4 + 1, kThreads), kThreads>>>(reinterpret_cast<const float4*>(d_in),
                                                        reinterpret_cast<float4*>(d_out), n);
}
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) moved_increment<<<up(n, kThreads), kThreads>>>(d_in, d_out, n);
}
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) strided_increment<<<up(up(n, kStride) * kStride, kThreads), kThreads>>>(d_in, d_out, n, up(n, kStride));
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) swapped_increment<<<up(n + 1, kThreads), kThreads>>>(d_in, d_out, n);
}
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) structures<<<up(n, kThreads), kThreads>>>(d_in, d_out, n);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n == 0) return;
  if (n % 4 == 0) {
    wide_arrays<<<up(n / 4, kThreads), kThreads>>>(reinterpret_cast<const float4*>(d_in),
                                                   reinterpret_cast<float4*>(d_out), n / 4);
  } else {
    narrow_arrays<<<up(n, kThreads), kThreads>>>(d_in, d_out, n);
  }
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) wide_staged<<<up(n, 4 * kThreads), kThreads>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  int transactions = 0;
  for (const unsigned half : {0x0000ffffu, 0xffff0000u}) {
    std::unordered_set<long long> begins;
    for (unsigned left = request->active & half; left != 0; left &= left - 1) {
      const int t = __builtin_ctz(left);
      const long long address = request->first + static_cast<long long>(request->stride) * (t ^ request->swap);
      begins.insert(address - t % 16 * request->bytes);
    }
    const bool one = begins.size() == 1 && *begins.begin() % (16 * request->bytes) == 0;
    transactions += one ? 1 : __builtin_popcount(request->active & half);
  }
  return transactions;
}
