// Assignment 04: the reduction ladder. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// Every kernel reduces the elements of its block to one result, d_out[blockIdx.x]. A launcher launches it in passes:
// the results of one pass are what the next pass reduces, until one is left. reduction.h says what the launchers are
// given.

#include <climits>

#include "reduction.h"

using Kernel = void (*)(const int* d_in, int* d_out, unsigned n);

// Goal    d_out[0] is the reduction of d_in[0..n): `kernel` is launched pass after pass, with kBlock threads per block.
// Given   per_block: how many elements a block reduces. max_blocks: rung 7 allows no more in one launch; the rungs
//         before it set no limit. d_work: room for the results of a pass, BlocksFor(n) ints, then for those of the
//         next.
// Mind    n = 0 (one block still has to write the sum of nothing), and n = 1.
void run_passes(Kernel kernel, unsigned per_block, const int* d_in, int* d_out, unsigned n, int* d_work,
                unsigned max_blocks = UINT_MAX) {
  // TODO(reduce1): launch `kernel` until one result is left. The last pass has one block, and writes d_out.
}

// Rung 1: interleaved addressing.
// Goal    d_out[b] is the sum of block b's kBlock elements, or of as many of them as there are.
// How     Each thread loads one element to shared memory. In steps s = 1, 2, 4 …, threads with tid % (2 * s) == 0 add
//         the element s places further on to their own. Every step ends with a barrier.
// Given   nothing: declare `__shared__ int s_data[kBlock]`. Take the block size from blockDim.x until rung 6.
// Budget  none but the right sum at every n.
__global__ void reduce1_interleaved_kernel(const int* d_in, int* d_out, unsigned n) {
  // TODO(reduce1): load (0 past the end), reduce, let one thread write the result.
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce1): one call of run_passes.
}

// Rung 2: strided index.
// Goal    the same additions, done by neighbouring threads: whole warps are busy or idle.
// How     In step s, thread tid adds for element 2 * s * tid.
// Budget  3.5 divergent branches per warp (rung 1 has 6).
__global__ void reduce2_strided_kernel(const int* d_in, int* d_out, unsigned n) {
  // TODO(reduce2): rung 1 with the strided index.
}

void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce2): one call of run_passes.
}

// Rung 3: sequential addressing.
// Goal    neighbouring threads access neighbouring words: no bank conflicts.
// How     Count s down from half the block; the threads below s add the element s places further on.
// Budget  4 bank conflicts per block (rung 2 has 45; none are needed).
__global__ void reduce3_sequential_kernel(const int* d_in, int* d_out, unsigned n) {
  // TODO(reduce3): reverse rung 2's loop.
}

void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce3): one call of run_passes.
}

// Rung 4: first add during the load.
// Goal    half as many blocks: in rung 3 half of the threads never add.
// How     A block takes 2 * blockDim.x elements; each thread adds two of them while it loads. Which two, so that the
//         loads of a warp stay side by side?
// Budget  240 elements per block, of the 256 that it takes.
__global__ void reduce4_first_add_kernel(const int* d_in, int* d_out, unsigned n) {
  // TODO(reduce4): load two elements, each only where it exists; the rest is rung 3.
}

void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce4): one call of run_passes. How many elements does a block take now?
}

// Rung 5: last warp unrolled.
// Goal    from s = 32 down only one warp has work: write its six steps out, with no block-wide barrier.
// How     After the step for s = 64 the first warp continues alone. Its lanes need not run in lockstep, so a step is:
//         read, __syncwarp(), write, __syncwarp(). Every lane of the warp must reach each __syncwarp().
// Budget  5 barriers per warp (rung 4 has 8).
__global__ void reduce5_warp_unrolled_kernel(const int* d_in, int* d_out, unsigned n) {
  // TODO(reduce5): rung 4 with its loop stopped at s > 32, then the last warp's steps.
}

void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce5): one call of run_passes.
}

// Rung 6: completely unrolled.
// Goal    no loop is left: the block size is a template parameter, and the compiler writes the steps out.
// How     Use kThreads wherever rung 5 used blockDim.x, and `#pragma unroll` or `if constexpr`.
// Budget  no barrier inside a loop (rung 5 has 4 per block, counted once per warp).
template <unsigned kThreads>
__global__ void reduce6_unrolled_kernel(const int* d_in, int* d_out, unsigned n) {
  // TODO(reduce6): rung 5 for a block size known to the compiler.
}

void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce6): one call of run_passes, with reduce6_unrolled_kernel<kBlock>.
}

// Rung 7: many elements per thread.
// Goal    at most kMaxBlocks blocks for any n: each thread adds up many elements, then the block's tree runs once.
// How     Begin where rung 6 does, and move on by the whole grid's share, gridDim.x * 2 * kThreads, while below n.
// Budget  64 blocks per launch; 0.45 warp instructions per element (rung 6 has 0.70).
template <unsigned kThreads>
__global__ void reduce7_many_kernel(const int* d_in, int* d_out, unsigned n) {
  // TODO(reduce7): a loop over the thread's elements, then rung 6's tree.
}

void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce7): one call of run_passes, with kMaxBlocks for the limit.
}

// Rung 8, bonus: shuffles, wide loads, and other operations than the sum.
// Goal    as fast as a current GPU's memory; the same kernel for sum, max and min.
// How     Each warp reduces with __shfl_down_sync, its lane 0 puts the result into shared memory, and after one barrier
//         the first warp reduces these. Make the operation a template parameter: a struct with `apply` and an identity.
//         Load 16 bytes at a time (int4), several loads before the first is used; d_in is aligned to 4 bytes only.
//         The grid may be as large as suits the GPU.
// Budget  1.2 shared-memory wavefronts for 8 threads (rung 7 has 1.5); a load for 80 elements (rung 7 has 2.5).
// TODO(reduce8): the operations and the kernel.

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  // TODO(reduce8): the sum.
}

void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) {
  // TODO(reduce8): the maximum.
}

void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) {
  // TODO(reduce8): the minimum.
}
