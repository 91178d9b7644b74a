// points: 100 + 10
// A template over "does this range wrap around?", a range class, iostream, and the main that it was tried out with.

#include <cuda_runtime.h>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include "shift.h"

using namespace std;

#define CHECK(x)                                                                                \
  do {                                                                                          \
    cudaError_t e = (x);                                                                        \
    if (e != cudaSuccess) cerr << "line " << __LINE__ << ": " << cudaGetErrorString(e) << endl; \
  } while (0)

int positive_remainder(long long a, long long n) { return static_cast<int>(((a % n) + n) % n); }

template <bool kGridStride>
__global__ void shift_kernel(const int* in, int* out, int n, int wrap, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!kGridStride) {
    if (i < wrap)
      out[i] = in[i + offset];
    else if (i < n)
      out[i] = in[i - wrap];
    return;
  }
  const int step = gridDim.x * blockDim.x;
  for (; i < wrap; i += step) out[i] = in[i + offset];
  for (; i < n; i += step) out[i] = in[i - wrap];
}

template <int kPhase>
__device__ int4 joined(int4 a, int4 b) {
  if (kPhase == 0) return a;
  if (kPhase == 1) return {a.y, a.z, a.w, b.x};
  if (kPhase == 2) return {a.z, a.w, b.x, b.y};
  return {a.w, b.x, b.y, b.z};
}

// kPhase: how far the source is past a multiple of four, the same for all int4s of a part. Parts are [0, wrap) and
// [wrap, n) of out; single elements at both ends bring out to a multiple of four.
template <int kPhase>
__global__ void shift_part(const int* in, int* out, int begin, int end, int delta) {
  const int first = (begin + 3) / 4 * 4, last = end / 4 * 4;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32, i = first + 4 * thread;
  if (thread < first - begin && begin + thread < end) out[begin + thread] = in[begin + thread + delta];
  if (thread < end - last && last + thread >= first) out[last + thread] = in[last + thread + delta];
  const int from = (i + delta) / 4;
  int4 a = {}, b = {};
  const bool stores = i < last;
  if (stores) a = reinterpret_cast<const int4*>(in)[from];
  if (kPhase != 0) {
    b.x = __shfl_down_sync(0xffffffff, a.x, 1);
    b.y = __shfl_down_sync(0xffffffff, a.y, 1);
    b.z = __shfl_down_sync(0xffffffff, a.z, 1);
    // What follows the last int4 may lie past the array: by single elements then.
    if (stores && (lane == 31 || i + 4 >= last)) {
      const int* next = in + 4 * (from + 1);
      b.x = next[0];
      if (kPhase > 1) b.y = next[1];
      if (kPhase > 2) b.z = next[2];
    }
  }
  if (stores) reinterpret_cast<int4*>(out)[i / 4] = joined<kPhase>(a, b);
}

void launch_part(const int* in, int* out, int begin, int end, int delta) {
  if (begin >= end) return;
  const int blocks = ((end - begin + 3) / 4 + kBlock) / kBlock;
  switch (positive_remainder(delta, 4)) {
    case 0:
      shift_part<0><<<blocks, kBlock>>>(in, out, begin, end, delta);
      break;
    case 1:
      shift_part<1><<<blocks, kBlock>>>(in, out, begin, end, delta);
      break;
    case 2:
      shift_part<2><<<blocks, kBlock>>>(in, out, begin, end, delta);
      break;
    default:
      shift_part<3><<<blocks, kBlock>>>(in, out, begin, end, delta);
      break;
  }
  CHECK(cudaGetLastError());
}

__global__ void reverse_kernel(int* first, int* last) {
  first += blockIdx.x * blockDim.x + threadIdx.x;
  last -= blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (first < last) {
    int a = *first, b = *last;
    *first = b;
    *last = a;
  }
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  shift_kernel<false><<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, n - shift, shift);
  CHECK(cudaGetLastError());
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) shift1_gather(d_in, d_out, n, positive_remainder(shift, n));
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const int offset = positive_remainder(shift, n);
  shift_kernel<true><<<min((n + kBlock - 1) / kBlock, kMaxBlocks), kBlock>>>(d_in, d_out, n, n - offset, offset);
  CHECK(cudaGetLastError());
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const int offset = positive_remainder(shift, n), wrap = static_cast<int>(n) - offset;
  launch_part(d_in, d_out, 0, wrap, offset);
  launch_part(d_in, d_out, wrap, static_cast<int>(n), -wrap);
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n == 0) return;
  const int offset = positive_remainder(shift, n);
  for (auto [begin, end] : {pair{0, offset}, {offset, static_cast<int>(n)}, {0, static_cast<int>(n)}}) {
    const unsigned pairs = (end - begin) / 2;
    if (pairs > 0) reverse_kernel<<<(pairs + kBlock - 1) / kBlock, kBlock>>>(d_data + begin, d_data + end);
  }
  CHECK(cudaGetLastError());
}

int main() {
  vector<int> in = {1, 2, 3, 4, 5, 6, 7, 8}, out(8);
  int *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, 32));
  CHECK(cudaMalloc(&d_out, 32));
  CHECK(cudaMemcpy(d_in, in.data(), 32, cudaMemcpyHostToDevice));
  shift2_any(d_in, d_out, 8, -3);
  CHECK(cudaMemcpy(out.data(), d_out, 32, cudaMemcpyDeviceToHost));
  for (int v : out) cout << v << " ";
  cout << endl;
}
