// points: 100 + 12
// Rung 7 brings its elements to shared memory with asynchronous copies of 16 bytes, in two stages of a cuda::pipeline
// that take turns. Half warps, tiles of 16 lanes, make the trees of all rungs.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <climits>
#include <cuda/pipeline>

#include "reduction.h"

namespace cg = cooperative_groups;

struct Add {
  static constexpr int identity = 0;
  __device__ int operator()(int a, int b) const { return a + b; }
};
struct Larger {
  static constexpr int identity = INT_MIN;
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct Smaller {
  static constexpr int identity = INT_MAX;
  __device__ int operator()(int a, int b) const { return b < a ? b : a; }
};

template <class Op>
__device__ int block_reduce(const cg::thread_block& block, int value) {
  __shared__ int s_part[64];
  const auto half = cg::tiled_partition<16>(block);
  value = cg::reduce(half, value, Op{});
  if (half.thread_rank() == 0) s_part[half.meta_group_rank()] = value;
  block.sync();
  if (half.meta_group_rank() != 0) return value;
  value = Op::identity;
  for (unsigned p = 0; p < half.meta_group_size(); ++p) value = Op{}(value, s_part[p]);
  return value;
}

template <unsigned kEach>
__global__ void simple(const int* d_in, int* d_out, unsigned n) {
  const auto block = cg::this_thread_block();
  const unsigned first = block.group_index().x * block.size() * kEach;
  int sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = first + k * block.size() + block.thread_rank();
    if (i < n) sum += d_in[i];
  }
  sum = block_reduce<Add>(block, sum);
  if (block.thread_rank() == 0) d_out[block.group_index().x] = sum;
}

// A thread waits only for its own copies, so each thread has its own pipeline.
template <class Op, class Word, bool kStaged>
__global__ void staged(const int* d_in, int* d_out, unsigned n) {
  constexpr unsigned kStages = 2, kThreads = 256, kInts = sizeof(Word) / 4;
  __shared__ alignas(16) Word s_stage[kStages][kThreads];
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline();
  const unsigned tid = block.thread_rank();
  const unsigned head = min(n, static_cast<unsigned>(-(reinterpret_cast<size_t>(d_in) / 4) % kInts));
  const Word* d_word = reinterpret_cast<const Word*>(d_in + head);
  const size_t words = (n - head) / kInts, step = size_t{gridDim.x} * kThreads;
  const size_t first = size_t{blockIdx.x} * kThreads + tid;

  auto bring = [&](size_t i, unsigned stage) {
    pipe.producer_acquire();
    if (i < words)
      cuda::memcpy_async(&s_stage[stage][tid], d_word + i, cuda::aligned_size_t<sizeof(Word)>(sizeof(Word)), pipe);
    pipe.producer_commit();
  };
  int value = Op::identity;
  if constexpr (!kStaged) {
    for (size_t i = first; i < words; i += step) {
      const Word word = d_word[i];
      value = Op{}(Op{}(value, Op{}(word.x, word.y)), Op{}(word.z, word.w));
    }
  }
  if constexpr (kStaged) bring(first, 0);
  unsigned stage = 0;
  for (size_t i = first; kStaged && i < words; i += step, stage ^= 1) {
    bring(i + step, stage ^ 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    const Word word = s_stage[stage][tid];
    const int* part = reinterpret_cast<const int*>(&word);
#pragma unroll
    for (unsigned k = 0; k < kInts; ++k) value = Op{}(value, part[k]);
    pipe.consumer_release();
  }
  if (blockIdx.x == 0) {
    const unsigned tail = head + static_cast<unsigned>(words) * kInts;
    if (tid < head) value = Op{}(value, d_in[tid]);
    if (tid < n - tail) value = Op{}(value, d_in[tail + tid]);
  }
  value = block_reduce<Op>(block, value);
  if (tid == 0) d_out[blockIdx.x] = value;
}

// d_other: where the next pass leaves its results.
template <unsigned kEach>
void by_passes(const int* d_in, int* d_out, unsigned n, int* d_work, int* d_other) {
  constexpr unsigned kPerBlock = kEach * kBlock;
  const unsigned blocks = std::max(1u, n / kPerBlock + (n % kPerBlock != 0));
  simple<kEach><<<blocks, kBlock>>>(d_in, blocks == 1 ? d_out : d_work, n);
  if (blocks > 1) by_passes<kEach>(d_work, d_out, blocks, d_other, d_work);
}

template <class Op, class Word, bool kStaged>
void by_stages(const int* d_in, int* d_out, unsigned n, int* d_work, unsigned most) {
  const unsigned blocks = std::min<unsigned>(n / 8192 + 1, most);
  staged<Op, Word, kStaged><<<blocks, 256>>>(d_in, blocks == 1 ? d_out : d_work, n);
  if (blocks > 1) staged<Op, Word, kStaged><<<1, 256>>>(d_work, d_out, blocks);
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_passes<1>(d_in, d_sum, n, d_work, d_work + BlocksFor(n));
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_passes<1>(d_in, d_sum, n, d_work, d_work + BlocksFor(n));
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_passes<1>(d_in, d_sum, n, d_work, d_work + BlocksFor(n));
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_passes<2>(d_in, d_sum, n, d_work, d_work + BlocksFor(n));
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_passes<2>(d_in, d_sum, n, d_work, d_work + BlocksFor(n));
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_passes<4>(d_in, d_sum, n, d_work, d_work + BlocksFor(n));
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_stages<Add, int4, true>(d_in, d_sum, n, d_work, kMaxBlocks);
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  by_stages<Add, int4, false>(d_in, d_sum, n, d_work, 256);
}
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) {
  by_stages<Larger, int4, false>(d_in, d_max, n, d_work, 256);
}
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) {
  by_stages<Smaller, int4, false>(d_in, d_min, n, d_work, 256);
}
