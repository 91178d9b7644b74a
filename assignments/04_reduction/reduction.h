// The launchers of assignment 04, one per rung. Their names and signatures are fixed: the tests call them.
//
// All take the same arguments:
//   d_in    n ints in device memory. Read-only: they must come back unchanged. Aligned to 4 bytes, no better.
//   d_sum   one int in device memory: where the result goes. It holds garbage at first.
//   n       how many ints, from 0 to 2^27, and no multiple of anything in particular.
//   d_work  WorkInts(n) ints of scratch in device memory, for the blocks' results. They hold garbage at first.
//
// A sum is that of 32-bit ints that wrap around (as `int` adds on the device), so that it does not depend on the order.
// The sum of nothing is 0. A launcher need not wait for its kernels, and leaves no CUDA error behind. What it allocates
// it frees, or keeps for all later calls: memory in use must not grow from call to call.
#pragma once

#include <cstddef>

// Threads per block, on every rung; the course's choice.
constexpr unsigned kBlock = 128;

// How many blocks (of at most kMaxBlocks) rung 7 may launch at once; the course's choice.
constexpr unsigned kMaxBlocks = 64;

// How many blocks it takes to have one thread per element.
constexpr size_t BlocksFor(size_t n) { return (n + kBlock - 1) / kBlock; }

// Scratch that a reduction of n ints gets: the results of a first pass, then those of a second. Enough to reduce from
// one part into the other, turn by turn, until one result is left.
constexpr size_t WorkInts(size_t n) { return n == 0 ? 2 : BlocksFor(n) + BlocksFor(BlocksFor(n)); }

// Rung 1. Interleaved addressing: thread t works where t is a multiple of twice the stride.
void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Rung 2. The same additions by neighbouring threads: a strided index instead of the divergent branch.
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Rung 3. Sequential addressing: the stride is halved from step to step, and threads read side by side.
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Rung 4. Each thread adds two elements while it loads them: half the blocks.
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Rung 5. The last warp's steps unrolled, ordered by __syncwarp() instead of block-wide barriers.
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Rung 6. All steps unrolled: the block size is a template parameter.
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Rung 7. At most kMaxBlocks blocks, however many elements: each thread adds many before the block's tree begins.
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Rung 8, bonus. The tree done by shuffles, the loads 16 bytes wide, and no bound on the blocks: the sum, the largest,
// and the smallest. The largest of nothing is INT_MIN, the smallest INT_MAX.
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work);
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work);
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work);
