// points: 100 + 10
// One kernel for the four patterns, told by a functor which element is whose; one for structures, told where the
// components are.
#include <algorithm>
#include <array>
#include <vector>

#include "coalescing.h"

namespace {

struct InOrder {
  unsigned n;
  __host__ __device__ unsigned threads() const { return n; }
  __device__ unsigned operator()(unsigned t) const { return t; }
};
struct Moved {
  unsigned n;
  __host__ __device__ unsigned threads() const { return n; }
  __device__ unsigned operator()(unsigned t) const { return t < n - 1 ? t + 1 : 0; }
};
struct Columns {
  unsigned n;
  __host__ __device__ unsigned rows() const { return (n - 1) / kStride + 1; }
  __host__ __device__ unsigned threads() const { return rows() * kStride; }
  __device__ unsigned operator()(unsigned t) const { return t % rows() * kStride + t / rows(); }
};
struct Swapped {
  unsigned n;
  __host__ __device__ unsigned threads() const { return n + (n & 1); }
  __device__ unsigned operator()(unsigned t) const { return (t & 1) ? t - 1 : t + 1; }
};

template <class Pattern>
__global__ void increment(const float* in, float* out, Pattern pattern) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= pattern.threads()) return;
  const unsigned e = pattern(t);
  if (e < pattern.n) out[e] = in[e] + 1.0f;
}

template <class Pattern>
void launch(const float* in, float* out, Pattern pattern) {
  if (pattern.n == 0) return;
  increment<<<(pattern.threads() - 1) / 128 + 1, 128>>>(in, out, pattern);
}

// Component c of structure t is at t * step + c * apart.
__global__ void add_components(const float* in, float* out, unsigned n, unsigned step, unsigned apart) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float component[3];
  for (unsigned c = 0; c < 3; ++c) component[c] = in[t * step + c * apart];
  for (unsigned c = 0; c < 3; ++c) out[t * step + c * apart] = component[c] + component[(c + 1) % 3];
}

constexpr unsigned kPiece = 128;

// x, y and z of the piece each have an array in shared memory, and begin 11 banks apart.
__global__ void add_staged(const float* in, float* out, unsigned n) {
  __shared__ float s_component[3][kPiece + 11];
  const unsigned begin = 3 * kPiece * blockIdx.x, end = min(begin + 3 * kPiece, 3 * n);
  for (unsigned i = begin + threadIdx.x; i < end; i += kPiece) s_component[i % 3][(i - begin) / 3] = in[i];
  __syncthreads();
  for (unsigned i = begin + threadIdx.x; i < end; i += kPiece) {
    const unsigned s = (i - begin) / 3;
    out[i] = s_component[i % 3][s] + s_component[(i + 1) % 3][s];
  }
}

std::vector<long long> active_addresses(const WarpRequest& request, int from, int to) {
  std::vector<long long> addresses;
  for (int t = from; t < to; ++t) {
    if (request.active >> t & 1u) addresses.push_back(request.first + (t ^ request.swap) * (long long)request.stride);
  }
  return addresses;
}

}  // namespace

int coalesce1_predict(const WarpRequest* request) {
  std::vector<long long> sectors = active_addresses(*request, 0, 32);
  for (long long& address : sectors) address /= kSectorBytes;
  std::sort(sectors.begin(), sectors.end());
  return static_cast<int>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) { launch(d_in, d_out, InOrder{n}); }
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) { launch(d_in, d_out, Moved{n}); }
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) { launch(d_in, d_out, Columns{n}); }
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) { launch(d_in, d_out, Swapped{n}); }
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) add_components<<<(n - 1) / 192 + 1, 192>>>(d_in, d_out, n, 3, 1);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) add_components<<<(n - 1) / 192 + 1, 192>>>(d_in, d_out, n, 1, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) add_staged<<<(n - 1) / kPiece + 1, kPiece>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  const auto half = [&](int from) {
    const std::vector<long long> addresses = active_addresses(*request, from, from + 16);
    const long long segment_bytes = 16ll * request->bytes;
    size_t next = 0;
    for (int k = 0; k < 16; ++k) {
      if ((request->active >> (from + k) & 1u) == 0) continue;
      const long long segment = addresses[0] / segment_bytes;
      if (addresses[next++] != segment * segment_bytes + k * request->bytes) return static_cast<int>(addresses.size());
    }
    return addresses.empty() ? 0 : 1;
  };
  return half(0) + half(16);
}
