// points: 100 + 10
// The shift's parameters are in constant memory; on rung 4 a warp walks along a strip, and the words that its last lane
// lacks are in the int4 that its first lane loads next.
#include <algorithm>
#include <cstdint>

#include "shift.h"

namespace {

struct Shift {
  unsigned n, offset;
};
__constant__ Shift c_shift;

// Element i of the result is element from(i) of the input.
__device__ unsigned from(unsigned i) {
  const unsigned left = c_shift.n - c_shift.offset;
  return i < left ? i + c_shift.offset : i - left;
}

__global__ void gather(const int* d_in, int* d_out) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  if (i < c_shift.n) d_out[i] = d_in[from(i)];
}

// A piece without the wrap: d_out[i] = d_in[i] for i from 0 to count, whatever the two pointers are.
__device__ void piece(const int* d_in, int* d_out, unsigned count, unsigned thread, unsigned threads) {
  for (unsigned i = thread; i < count; i += threads) d_out[i] = d_in[i];
}

__global__ void __launch_bounds__(kBlock) chunks(const int* d_in, int* d_out) {
  const unsigned left = c_shift.n - c_shift.offset;
  const unsigned thread = blockIdx.x * kBlock + threadIdx.x, threads = gridDim.x * kBlock;
  piece(d_in + c_shift.offset, d_out, left, thread, threads);
  piece(d_in, d_out + left, c_shift.offset, thread, threads);
}

constexpr unsigned kRounds = 16, kStrip = kRounds * 32 * 4;

template <unsigned kAway>
__device__ int4 joined(const int4& low, const int4& high) {
  switch (kAway) {
    case 0:
      return low;
    case 1:
      return make_int4(low.y, low.z, low.w, high.x);
    case 2:
      return make_int4(low.z, low.w, high.x, high.y);
    default:
      return make_int4(low.w, high.x, high.y, high.z);
  }
}

__device__ int4 shuffled(const int4& v, unsigned lane) {
  return make_int4(__shfl_sync(~0u, v.x, lane), __shfl_sync(~0u, v.y, lane), __shfl_sync(~0u, v.z, lane),
                   __shfl_sync(~0u, v.w, lane));
}

// A strip of one part of the array. d_out is aligned to 16 bytes, d_in + kAway is where the strip's elements begin.
template <unsigned kAway>
__global__ void __launch_bounds__(kBlock) strips(const int4* d_in, int4* d_out, unsigned fours, unsigned fours_in) {
  const unsigned lane = threadIdx.x % 32, strip = (blockIdx.x * kBlock + threadIdx.x) / 32;
  unsigned i = strip * (kStrip / 4) + lane;
  int4 now = i < fours_in ? d_in[i] : int4{};
  for (unsigned round = 0; round < kRounds; ++round, i += 32) {
    if (i - lane >= fours) return;
    const bool more = kAway != 0 || round + 1 < kRounds;
    int4 next{};
    if (round + 1 < kRounds || lane == 0) {
      if (more && i + 32 < fours_in) next = d_in[i + 32];
    }
    if (kAway == 0) {
      if (i < fours) d_out[i] = now;
    } else {
      const int4 behind = shuffled(now, (lane + 1) % 32), first = shuffled(next, 0);
      if (i < fours) d_out[i] = joined<kAway>(now, lane == 31 ? first : behind);
    }
    now = next;
  }
}

__global__ void few(const int* d_in, int* d_out, unsigned count) {
  if (threadIdx.x < count) d_out[threadIdx.x] = d_in[threadIdx.x];
}

// count elements from d_in to d_out, neither aligned to more than an int.
void part(const int* d_in, int* d_out, unsigned count) {
  const unsigned head = std::min<unsigned>(count, (4 - reinterpret_cast<uintptr_t>(d_out) / 4 % 4) % 4);
  if (head != 0) few<<<1, 32>>>(d_in, d_out, head);
  d_in += head, d_out += head, count -= head;
  const unsigned away = reinterpret_cast<uintptr_t>(d_in) / 4 % 4;
  // The int4 that the last element comes from may reach past the input's end: so the last four go one by one.
  const unsigned fours = away == 0 || count < 4 ? count / 4 : (count - 4 + away) / 4, tail = count - fours * 4;
  if (tail != 0) few<<<1, 32>>>(d_in + fours * 4, d_out + fours * 4, tail);
  if (fours == 0) return;
  const unsigned blocks = (fours + kStrip / 4 * (kBlock / 32) - 1) / (kStrip / 4 * (kBlock / 32));
  const auto kernel = away == 0 ? strips<0> : away == 1 ? strips<1> : away == 2 ? strips<2> : strips<3>;
  kernel<<<blocks, kBlock>>>(reinterpret_cast<const int4*>(d_in - away), reinterpret_cast<int4*>(d_out), fours,
                             away == 0 ? fours : fours + 1);
}

__device__ void swap(int& a, int& b) {
  const int c = a;
  a = b;
  b = c;
}

__global__ void reverse(int* d_begin, unsigned count) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  if (i < count / 2) swap(d_begin[i], d_begin[count - 1 - i]);
}

void reversed(int* d_begin, unsigned count) {
  if (count > 1) reverse<<<(count / 2 + kBlock - 1) / kBlock, kBlock>>>(d_begin, count);
}

unsigned offset_of(unsigned n, int shift) {
  const long long by = shift % static_cast<long long>(n);
  return static_cast<unsigned>(by < 0 ? by + n : by);
}

void tell(unsigned n, int shift) {
  const Shift job{n, offset_of(n, shift)};
  cudaMemcpyToSymbol(c_shift, &job, sizeof job);
}

}  // namespace

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { shift2_any(d_in, d_out, n, shift); }

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  tell(n, shift);
  gather<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out);
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  tell(n, shift);
  chunks<<<std::min((n + kBlock - 1) / kBlock, kMaxBlocks), kBlock>>>(d_in, d_out);
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned offset = offset_of(n, shift);
  part(d_in + offset, d_out, n - offset);
  if (offset != 0) part(d_in, d_out + (n - offset), offset);
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned offset = offset_of(n, shift);
  reversed(d_data, offset);
  reversed(d_data + offset, n - offset);
  reversed(d_data, n);
}
