// points: 100 + 10
// The two parts are two launches on every rung; a shift of zero is a copy by cudaMemcpy.

#include <cuda_runtime.h>

#include <cstdint>

#include "shift.h"

enum class Mode { kOneEach, kBounded };

template <Mode kMode>
__global__ void copy_part(const int* from, int* to, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (kMode == Mode::kOneEach) {
    if (i < count) to[i] = from[i];
  } else {
    for (; i < count; i += blockDim.x * gridDim.x) to[i] = from[i];
  }
}

template <Mode kMode>
void shift_by(const int* d_in, int* d_out, unsigned n, std::int64_t shift) {
  if (n == 0) return;
  const auto offset = static_cast<unsigned>((shift % n + n) % n);
  if (offset == 0) {
    cudaMemcpyAsync(d_out, d_in, sizeof(int) * n, cudaMemcpyDeviceToDevice);
    return;
  }
  const auto part = [](const int* from, int* to, unsigned count) {
    unsigned blocks = (count + kBlock - 1) / kBlock;
    if (kMode == Mode::kBounded && blocks > kMaxBlocks) blocks = kMaxBlocks;
    copy_part<kMode><<<blocks, kBlock>>>(from, to, count);
  };
  part(d_in + offset, d_out, n - offset);
  part(d_in, d_out + (n - offset), offset);
}

// int4s of d_out, with a warp's first load at a multiple of sixteen bytes; `last` is the last int4 that may be loaded.
__global__ void vector_part(const int4* d_in, int4* d_out, unsigned count, unsigned phase, unsigned last) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const int4 a = d_in[i < last ? i : last];
  int4 b = {__shfl_down_sync(0xffffffffu, a.x, 1), __shfl_down_sync(0xffffffffu, a.y, 1),
            __shfl_down_sync(0xffffffffu, a.z, 1), 0};
  if (lane == 31 && phase != 0) b = d_in[i < last ? i + 1 : last];
  if (i >= count) return;
  d_out[i] = phase == 0   ? a
             : phase == 1 ? make_int4(a.y, a.z, a.w, b.x)
             : phase == 2 ? make_int4(a.z, a.w, b.x, b.y)
                          : make_int4(a.w, b.x, b.y, b.z);
}

// d_out[begin..end) from d_in[begin + delta..): single elements up to a multiple of four and from the last one on.
void vectors_by_parts(const int* d_in, int* d_out, unsigned n, unsigned begin, unsigned end, std::int64_t delta) {
  const auto single = [&](unsigned from, unsigned to) {
    if (from < to)
      copy_part<Mode::kOneEach><<<1 + (to - from) / kBlock, kBlock>>>(d_in + from + delta, d_out + from, to - from);
  };
  const unsigned first = (begin + 3) / 4 * 4;
  const std::int64_t source = std::int64_t{first} + delta;
  const unsigned phase = static_cast<unsigned>(source % 4), aligned = static_cast<unsigned>(source - phase);
  const unsigned whole = n / 4;  // int4s of d_in
  if (first >= end || aligned / 4 >= whole) return single(begin, end);
  unsigned count = (end - first) / 4;
  const unsigned readable = whole - aligned / 4;
  if (phase != 0 && count >= readable) count = readable - 1;
  if (phase == 0 && count > readable) count = readable;
  if (count == 0) return single(begin, end);
  single(begin, first);
  vector_part<<<(count + kBlock - 1) / kBlock, kBlock>>>(reinterpret_cast<const int4*>(d_in + aligned),
                                                         reinterpret_cast<int4*>(d_out + first), count, phase,
                                                         readable - 1);
  single(first + 4 * count, end);
}

__global__ void turn(int* d_data, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
    const int front = d_data[i], back = d_data[n - 1 - i];
    d_data[i] = back, d_data[n - 1 - i] = front;
  }
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  shift_by<Mode::kOneEach>(d_in, d_out, n, shift);
}
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) { shift_by<Mode::kOneEach>(d_in, d_out, n, shift); }
void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  shift_by<Mode::kBounded>(d_in, d_out, n, shift);
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const auto offset = static_cast<unsigned>((shift % std::int64_t{n} + n) % n);
  const unsigned wrap = n - offset;
  vectors_by_parts(d_in, d_out, n, 0, wrap, offset);
  if (offset > 0) vectors_by_parts(d_in, d_out, n, wrap, n, -std::int64_t{wrap});
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n < 2) return;
  const auto offset = static_cast<unsigned>((shift % std::int64_t{n} + n) % n);
  if (offset == 0) return;
  turn<<<kMaxBlocks, kBlock>>>(d_data, offset);
  turn<<<kMaxBlocks, kBlock>>>(d_data + offset, n - offset);
  turn<<<kMaxBlocks, kBlock>>>(d_data, n);
}
