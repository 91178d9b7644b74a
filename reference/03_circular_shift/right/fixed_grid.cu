// points: 100 + 10
// The grid depends on the device, not on the array: 32 blocks for each multiprocessor, whatever n is.

#include <cuda_runtime.h>

#include "shift.h"

static int multiprocessors() {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  return count;
}

static unsigned reduced(unsigned n, int shift) {
  const long long length = n, rest = shift % length;
  return static_cast<unsigned>(rest >= 0 ? rest : rest + length);
}

#define FOR_EACH(i, n) for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

__global__ void gather(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n, unsigned offset) {
  FOR_EACH(i, n) {
    unsigned from = i + offset;
    if (from >= n) from -= n;
    d_out[i] = d_in[from];
  }
}

__global__ void gather_in_two(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n, unsigned offset) {
  FOR_EACH(i, n - offset) d_out[i] = d_in[i + offset];
  FOR_EACH(i, offset) d_out[n - offset + i] = d_in[i];
}

// A warp stores 32 int4s at a time, the grid's warps one after the other.
__global__ void gather_vectors(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n, unsigned offset) {
  const unsigned lane = threadIdx.x & 31, wrap = n - offset;
  const unsigned warps = gridDim.x * blockDim.x / 32;
  const unsigned shares = (n + 127) / 128;
  for (unsigned share = (blockIdx.x * blockDim.x + threadIdx.x) / 32; share < shares; share += warps) {
    const unsigned begin = 128 * share;
    const unsigned from = begin < wrap ? begin + offset : begin - wrap;
    const unsigned down = from & ~3u, phase = from & 3u;
    if (begin + 128 <= n && down + 132 <= n) {
      const int4* in = reinterpret_cast<const int4*>(d_in + down);
      const int4 v = in[lane];
      int4 w = {__shfl_down_sync(~0u, v.x, 1), __shfl_down_sync(~0u, v.y, 1), __shfl_down_sync(~0u, v.z, 1), 0};
      if (phase > 0 && lane == 31) w = in[32];
      int4 r = v;
      if (phase == 1) r = {v.y, v.z, v.w, w.x};
      if (phase == 2) r = {v.z, v.w, w.x, w.y};
      if (phase == 3) r = {v.w, w.x, w.y, w.z};
      reinterpret_cast<int4*>(d_out + begin)[lane] = r;
    } else {
      for (unsigned i = begin + lane; i < begin + 128 && i < n; i += 32)
        d_out[i] = d_in[i < wrap ? i + offset : i - wrap];
    }
  }
}

__global__ void mirror(int* d_data, unsigned n) {
  FOR_EACH(i, n / 2) {
    const int low = d_data[i], high = d_data[n - 1 - i];
    d_data[i] = high;
    d_data[n - 1 - i] = low;
  }
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  gather<<<32 * multiprocessors(), kBlock>>>(d_in, d_out, n, static_cast<unsigned>(shift));
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n != 0) gather<<<32 * multiprocessors(), kBlock>>>(d_in, d_out, n, reduced(n, shift));
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n != 0) gather_in_two<<<kMaxBlocks, kBlock>>>(d_in, d_out, n, reduced(n, shift));
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n != 0) gather_vectors<<<32 * multiprocessors(), kBlock>>>(d_in, d_out, n, reduced(n, shift));
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned offset = reduced(n, shift), blocks = 32 * multiprocessors();
  mirror<<<blocks, kBlock>>>(d_data, offset);
  mirror<<<blocks, kBlock>>>(d_data + offset, n - offset);
  mirror<<<blocks, kBlock>>>(d_data, n);
}
