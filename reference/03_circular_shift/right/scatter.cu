// points: 100 + 10
// Every thread asks where its element goes, not where it comes from; two streams move the two parts on rung 3.

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#include "shift.h"

class Rotation {
 public:
  Rotation(unsigned n, int shift) : n_(n) {
    const long long length = n;
    long long left = static_cast<long long>(shift) % length;
    if (left < 0) left += length;
    left_ = static_cast<unsigned>(left);
  }
  unsigned left() const { return left_; }
  unsigned right() const { return left_ == 0 ? 0 : n_ - left_; }

 private:
  unsigned n_, left_;
};

__global__ void scatter(const int* d_in, int* d_out, unsigned n, unsigned right) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i < n - right ? i + right : i - (n - right)] = d_in[i];
}

__global__ void copy(const int* from, int* to, unsigned count) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) to[i] = from[i];
}

// Each lane has four neighbours of d_out; it loads the int4 in which they begin, and gets the rest by shuffles from
// the next lane.
__global__ void vectors(const int* d_in, int* d_out, unsigned n, unsigned left) {
  constexpr unsigned kLanes = 32, kInts = 4 * kLanes;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % kLanes;
  const unsigned first = thread / kLanes * kInts;
  const unsigned source = first + left < n ? first + left : first + left - n;
  const unsigned aligned = source / 4 * 4, rest = source - aligned;
  const bool simple = n >= kInts && first <= n - kInts && aligned + kInts + 4 <= n;
  if (!simple) {
    for (unsigned i = first + lane; i < min(n, first + kInts); i += kLanes) {
      d_out[i] = d_in[i + left < n ? i + left : i + left - n];
    }
    return;
  }
  const int4 low = reinterpret_cast<const int4*>(d_in)[aligned / 4 + lane];
  int v[8] = {low.x, low.y, low.z, low.w};
  for (int k = 0; k < 3; ++k) v[4 + k] = __shfl_down_sync(0xffffffffu, v[k], 1);
  if (lane == kLanes - 1 && rest != 0) {
    const int4 high = reinterpret_cast<const int4*>(d_in)[aligned / 4 + kLanes];
    v[4] = high.x, v[5] = high.y, v[6] = high.z;
  }
  int4 out;
  if (rest == 0) out = make_int4(v[0], v[1], v[2], v[3]);
  if (rest == 1) out = make_int4(v[1], v[2], v[3], v[4]);
  if (rest == 2) out = make_int4(v[2], v[3], v[4], v[5]);
  if (rest == 3) out = make_int4(v[3], v[4], v[5], v[6]);
  reinterpret_cast<int4*>(d_out)[first / 4 + lane] = out;
}

__global__ void swap_ends(int* first, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = n - 1 - i;
  if (i < n / 2) {
    const int kept = first[i];
    first[i] = first[j];
    first[j] = kept;
  }
}

static unsigned blocks_of(unsigned n) { return n / kBlock + (n % kBlock > 0); }

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { shift2_any(d_in, d_out, n, shift); }

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  scatter<<<blocks_of(n), kBlock>>>(d_in, d_out, n, Rotation(n, shift).right());
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned left = Rotation(n, shift).left();
  cudaStream_t other;
  if (cudaStreamCreate(&other) != cudaSuccess) return;
  copy<<<std::min(blocks_of(n - left), kMaxBlocks), kBlock>>>(d_in + left, d_out, n - left);
  if (left > 0) copy<<<std::min(blocks_of(left), kMaxBlocks), kBlock, 0, other>>>(d_in, d_out + (n - left), left);
  cudaStreamSynchronize(other);
  cudaStreamDestroy(other);
  cudaDeviceSynchronize();
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  vectors<<<blocks_of(n / 4 + (n % 4 > 0)), kBlock>>>(d_in, d_out, n, Rotation(n, shift).left());
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n < 2) return;
  const unsigned left = Rotation(n, shift).left();
  const auto reverse = [](int* data, unsigned count) {
    if (count > 1) swap_ends<<<blocks_of(count / 2), kBlock>>>(data, count);
  };
  reverse(d_data, left);
  reverse(d_data + left, n - left);
  reverse(d_data, n);
}
