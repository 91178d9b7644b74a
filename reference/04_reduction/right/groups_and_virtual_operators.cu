// points: 100 + 12
// Blocks of three dimensions in a grid of three; coalesced and labelled groups; operators that are objects with virtual
// functions, made on the device, or functions called through pointers; partial results on the device's own heap.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/span>

#include "reduction.h"

namespace cg = cooperative_groups;

namespace {

const dim3 kShape(4, 8, 4);

__device__ unsigned BlockNumber() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
__device__ unsigned ThreadNumber() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

using Words = cuda::std::span<const int>;

template <unsigned kEach>
__device__ int Load(Words in) {
  int sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const size_t i = (size_t{BlockNumber()} * kEach + k) * kBlock + ThreadNumber();
    if (i < in.size()) sum += in[i];
  }
  return sum;
}

__global__ void Interleaved(Words in, int* out) {
  if (BlockNumber() * kBlock >= in.size() && BlockNumber() != 0) return;
  __shared__ cuda::std::array<int, kBlock> s;
  const unsigned t = ThreadNumber();
  s[t] = Load<1>(in);
  cg::thread_block block = cg::this_thread_block();
  for (unsigned step = 1; step < block.size(); step *= 2) {
    block.sync();
    if (t % (2 * step) == 0) s[t] += s[t + step];
  }
  if (t == 0) out[BlockNumber()] = s[0];
}

__global__ void Strided(Words in, int* out) {
  if (BlockNumber() * kBlock >= in.size() && BlockNumber() != 0) return;
  __shared__ cuda::std::array<int, kBlock> s;
  const unsigned t = ThreadNumber();
  s[t] = Load<1>(in);
  for (unsigned step = 1; step < blockDim.x * blockDim.y * blockDim.z; step *= 2) {
    __syncthreads();
    const unsigned i = 2 * step * t;
    if (i < kBlock) s[i] += s[i + step];
  }
  if (t == 0) out[BlockNumber()] = s[0];
}

template <unsigned kEach>
__global__ void Sequential(Words in, int* out) {
  if (BlockNumber() * kEach * kBlock >= in.size() && BlockNumber() != 0) return;
  __shared__ cuda::std::array<int, kBlock> s;
  const unsigned t = ThreadNumber();
  s[t] = Load<kEach>(in);
  unsigned left = blockDim.x * blockDim.y * blockDim.z;
  while (left > 1) {
    __syncthreads();
    left /= 2;
    if (t < left) s[t] += s[t + left];
  }
  if (t == 0) out[BlockNumber()] = s[0];
}

// Quarters of the block add in shared memory, then the first warp goes on as a group of those who are still there.
__global__ void LastWarp(Words in, int* out) {
  if (BlockNumber() * 2 * kBlock >= in.size() && BlockNumber() != 0) return;
  __shared__ cuda::std::array<int, kBlock> s;
  const unsigned t = ThreadNumber();
  int own = Load<2>(in);
  s[t] = own;
  __syncthreads();
  if (t < kBlock / 2) s[t] = own += s[t + kBlock / 2];
  __syncthreads();
  if (t < 32) {
    own += s[t + 32];
    const cg::coalesced_group group = cg::coalesced_threads();
    for (unsigned step = group.size() / 2; step > 0; step /= 2) own += group.shfl_down(own, step);
    if (group.thread_rank() == 0) out[BlockNumber()] = own;
  }
}

template <int kLeft>
struct Unroll {
  __device__ static void Step(int* s, unsigned t) {
    __syncthreads();
    if (t < kLeft) s[t] += s[t + kLeft];
    Unroll<kLeft / 2>::Step(s, t);
  }
};
template <>
struct Unroll<16> {
  __device__ static void Step(int* s, unsigned t) {
    __syncthreads();
    if (t >= 32) return;
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int sum = cg::reduce(warp, s[t], cg::plus<int>());
    if (warp.thread_rank() == 0) s[0] = sum;
  }
};

template <unsigned kThreads>
__global__ void Unrolled(Words in, int* out) {
  if (BlockNumber() * 2 * kThreads >= in.size() && BlockNumber() != 0) return;
  __shared__ int s[kThreads];
  s[ThreadNumber()] = Load<2>(in);
  Unroll<kThreads / 2>::Step(s, ThreadNumber());
  if (ThreadNumber() == 0) out[BlockNumber()] = s[0];
}

// Lanes are grouped by what they have: those with something to add, those without.
template <unsigned kThreads>
__global__ void Many(Words in, int* out) {
  __shared__ int* s_sums;
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  cg::invoke_one(block, [&] { s_sums = new int[kThreads / 32]; });
  int own = 0;
  for (size_t i = size_t{blockIdx.x} * kThreads + ThreadNumber(); i < in.size(); i += size_t{gridDim.x} * kThreads) {
    own += in[i];
  }
  const auto alike = cg::labeled_partition(warp, own != 0);
  int sum = cg::reduce(alike, own, cg::plus<int>());
  sum = warp.any(own != 0) ? warp.shfl(sum, __ffs(warp.ballot(own != 0)) - 1) : 0;
  block.sync();
  if (warp.thread_rank() == 0) s_sums[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    for (unsigned w = 1; w < kThreads / 32; ++w) sum += s_sums[w];
    delete[] s_sums;
    out[blockIdx.x] = sum;
  }
}

struct Operator {
  __device__ virtual ~Operator() {}
  __device__ virtual int Neutral() const = 0;
  __device__ virtual int Apply(int a, int b) const = 0;
};
struct Sum final : Operator {
  __device__ int Neutral() const override { return 0; }
  __device__ int Apply(int a, int b) const override { return a + b; }
};
struct Max final : Operator {
  __device__ int Neutral() const override { return cuda::std::numeric_limits<int>::min(); }
  __device__ int Apply(int a, int b) const override { return a > b ? a : b; }
};
struct Min final : Operator {
  __device__ int Neutral() const override { return cuda::std::numeric_limits<int>::max(); }
  __device__ int Apply(int a, int b) const override { return a < b ? a : b; }
};

__device__ int WarpSum(int v) { return __reduce_add_sync(0xffffffffu, v); }
__device__ int WarpMax(int v) { return __reduce_max_sync(0xffffffffu, v); }
__device__ int WarpMin(int v) { return __reduce_min_sync(0xffffffffu, v); }
using WarpFunction = int (*)(int);
__device__ WarpFunction g_by_number[] = {WarpSum, WarpMax, WarpMin};

template <class Op, int kNumber>
__global__ void Wide(Words in, int* out) {
  __shared__ int s_warps[32];
  const Op made;
  const Op& op = made;
  const WarpFunction warp_reduce = g_by_number[kNumber];
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  const int* const begin = in.data();
  const int* const end = begin + in.size();
  const int* aligned = begin;
  while (aligned < end && reinterpret_cast<uintptr_t>(aligned) % sizeof(int4) != 0) ++aligned;
  const size_t fours = (end - aligned) / 4;
  int own = op.Neutral();
  for (size_t i = me; i < fours; i += gridDim.x * blockDim.x) {
    const int4 v = reinterpret_cast<const int4*>(aligned)[i];
    own = op.Apply(op.Apply(op.Apply(own, v.x), v.y), op.Apply(v.z, v.w));
  }
  if (begin + me < aligned) own = op.Apply(own, begin[me]);
  if (aligned + 4 * fours + me < end) own = op.Apply(own, aligned[4 * fours + me]);
  own = warp_reduce(own);
  if (threadIdx.x % 32 == 0) s_warps[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  own = warp_reduce(threadIdx.x < blockDim.x / 32 ? s_warps[threadIdx.x] : op.Neutral());
  if (threadIdx.x == 0) out[blockIdx.x] = own;
}

// A grid of three dimensions with at least so many blocks.
dim3 Grid(unsigned blocks) {
  if (blocks < 64) return dim3(blocks);
  const unsigned floors = (blocks + 63) / 64;
  if (floors < 1024) return dim3(8, 8, floors);
  return dim3(32, (blocks + 1023) / 1024, 32);
}

void Passes(void (*kernel)(Words, int*), unsigned each, const int* d_in, int* d_out, unsigned n, int* d_work,
            unsigned most = 0xffffffffu) {
  Words in(d_in, n);
  int* room = d_work;
  for (;;) {
    unsigned blocks = in.empty() ? 1 : static_cast<unsigned>((in.size() + each - 1) / each);
    if (blocks > most) blocks = most;
    int* const out = blocks == 1 ? d_out : room;
    kernel<<<most == 0xffffffffu ? Grid(blocks) : dim3(blocks), kShape>>>(in, out);
    if (blocks == 1) return;
    in = Words(out, blocks);
    room = room == d_work ? d_work + BlocksFor(n) : d_work;
  }
}

template <class Op, int kNumber>
void Reduce(const int* d_in, int* d_out, unsigned n, int* d_work) {
  int block = 0, grid = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, Wide<Op, kNumber>);
  const unsigned useful = n / (16 * block) + 1;
  const unsigned blocks = useful < static_cast<unsigned>(grid) ? useful : grid;
  Wide<Op, kNumber><<<blocks, block>>>(Words(d_in, n), d_work);
  Wide<Op, kNumber><<<1, block>>>(Words(d_work, blocks), d_out);
}

}  // namespace

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Interleaved, kBlock, d_in, d_sum, n, d_work);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Strided, kBlock, d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Sequential<1>, kBlock, d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Sequential<2>, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(LastWarp, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Unrolled<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Many<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) { Reduce<Sum, 0>(d_in, d_sum, n, d_work); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) { Reduce<Max, 1>(d_in, d_max, n, d_work); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) { Reduce<Min, 2>(d_in, d_min, n, d_work); }
