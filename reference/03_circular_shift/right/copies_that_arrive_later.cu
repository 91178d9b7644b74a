// points: 100 + 10
// Rung 4 brings int4s to shared memory by cuda::memcpy_async, two stages ahead, and reads them there one place on; rung
// 5 is one launch of a grid that meets between the reversals.
#include <cooperative_groups.h>

#include <algorithm>
#include <cuda/pipeline>

#include "shift.h"

namespace cg = cooperative_groups;

namespace {

using Whole = long long;

Whole offset_of(Whole n, Whole shift) { return ((shift % n) + n) % n; }
Whole blocks_for(Whole n, Whole each = 1) { return (n + kBlock * each - 1) / (kBlock * each); }

__global__ void one_each(const int* d_in, int* d_out, Whole n, Whole offset) {
  const Whole i = Whole{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Whole from = i + offset;
  d_out[i] = d_in[from >= n ? from - n : from];
}

__global__ void many_each(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned all = gridDim.x * blockDim.x, split = n - offset;
  const int* from = d_in + offset;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < split; i += all) d_out[i] = from[i];
  for (from = d_in; i < n; i += all) d_out[i] = from[i - split];
}

constexpr unsigned kStages = 2;

// The int4 of the result number k, elements 4 k on, is four ints of the two int4s of the input that begin at
// 4 k + offset, rounded down. `fours` of them do not reach past the part's end; the rest is `single`'s.
__global__ void __launch_bounds__(kBlock)
    staged(const int* d_in, int* d_out, unsigned first, unsigned fours, Whole away) {
  __shared__ alignas(16) int s_in[kStages][4 * (kBlock + 1)];
  auto pipe = cuda::make_pipeline();
  const unsigned t = threadIdx.x;
  // away may be negative: & ~3 rounds down then, too.
  const Whole start = Whole{4} * first + away, low = start & ~Whole{3};
  const unsigned skip = static_cast<unsigned>(start - low);
  const int4* d_from = reinterpret_cast<const int4*>(d_in) + low / 4;
  int4* d_to = reinterpret_cast<int4*>(d_out) + first;
  const unsigned step = gridDim.x * kBlock;
  const auto bring = [&](unsigned base, unsigned stage) {
    pipe.producer_acquire();
    if (base < fours) {
      int4* s = reinterpret_cast<int4*>(s_in[stage]);
      if (base + t < fours) cuda::memcpy_async(s + t, d_from + base + t, cuda::aligned_size_t<16>(16), pipe);
      const unsigned count = min(kBlock, fours - base);
      if (t == 0 && skip != 0) cuda::memcpy_async(s + count, d_from + base + count, cuda::aligned_size_t<16>(16), pipe);
    }
    pipe.producer_commit();
  };
  unsigned base = blockIdx.x * kBlock;
  bring(base, 0);
  for (unsigned stage = 0; base < fours; base += step, stage ^= 1) {
    bring(base + step, stage ^ 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();
    const int* s = s_in[stage] + 4 * t + skip;
    if (base + t < fours) d_to[base + t] = make_int4(s[0], s[1], s[2], s[3]);
    pipe.consumer_release();
    __syncthreads();
  }
}

__global__ void single(const int* d_in, int* d_out, unsigned begin, unsigned end, Whole away) {
  for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x) d_out[i] = d_in[i + away];
}

// Elements begin to end of the result, which lie `away` further on in the input.
void part(const int* d_in, int* d_out, unsigned begin, unsigned end, Whole away) {
  if (begin >= end) return;
  const Whole first = (begin + 3) / 4, skip = (4 * first + away) & 3;
  // The second int4 of the last pair has to be inside the array.
  const Whole last = skip == 0 ? end / 4 : first + std::max<Whole>(0, (end + skip - 4 - 4 * first) / 4);
  if (first >= last) {
    single<<<1, 32>>>(d_in, d_out, begin, end, away);
    return;
  }
  if (begin != first * 4) single<<<1, 32>>>(d_in, d_out, begin, static_cast<unsigned>(first * 4), away);
  if (last * 4 != end) single<<<1, 32>>>(d_in, d_out, static_cast<unsigned>(last * 4), end, away);
  const unsigned blocks = static_cast<unsigned>(std::min<Whole>(blocks_for(last - first), 8192));
  staged<<<blocks, kBlock>>>(d_in, d_out, static_cast<unsigned>(first), static_cast<unsigned>(last - first), away);
}

__device__ void turn(int* d_from, Whole count, Whole me, Whole all) {
  for (Whole i = me; i < count / 2; i += all) {
    const int kept = d_from[i];
    d_from[i] = d_from[count - 1 - i];
    d_from[count - 1 - i] = kept;
  }
}

__global__ void rotate(int* d_data, Whole n, Whole offset) {
  const cg::grid_group grid = cg::this_grid();
  const Whole me = static_cast<Whole>(grid.thread_rank()), all = static_cast<Whole>(grid.num_threads());
  turn(d_data, offset, me, all);
  turn(d_data + offset, n - offset, me, all);
  grid.sync();
  turn(d_data, n, me, all);
}

}  // namespace

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) one_each<<<static_cast<unsigned>(blocks_for(n)), kBlock>>>(d_in, d_out, n, shift);
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) one_each<<<static_cast<unsigned>(blocks_for(n)), kBlock>>>(d_in, d_out, n, offset_of(n, shift));
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned blocks = static_cast<unsigned>(std::min<Whole>(blocks_for(n, 8), kMaxBlocks));
  many_each<<<blocks, kBlock>>>(d_in, d_out, n, static_cast<unsigned>(offset_of(n, shift)));
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const Whole offset = offset_of(n, shift);
  const unsigned split = static_cast<unsigned>(n - offset);
  part(d_in, d_out, 0, split, offset);
  part(d_in, d_out, split, n, -Whole{split});
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n < 2) return;
  Whole count = n, offset = offset_of(n, shift);
  int device = 0, processors = 0, each = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, rotate, kBlock, 0);
  const Whole blocks = std::min<Whole>(Whole{processors} * each, blocks_for(count, 2));
  void* arguments[] = {&d_data, &count, &offset};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(rotate), dim3(static_cast<unsigned>(blocks)), dim3(kBlock),
                              arguments, 0, nullptr);
}
