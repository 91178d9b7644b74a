// Assignment 05: scan. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// Rungs 1 to 3 scan what one block can hold, rungs 4 and 5 any length. scan.h says what the launchers are given, and
// how many elements at most. Nothing to scan (n = 0) means nothing to launch.

#include "scan.h"

// Rung 1: Hillis and Steele.
// Goal    d_out[i] = d_in[0] + … + d_in[i - 1], by one block, one thread per element; n <= kBlock.
// How     Thread tid puts element tid - 1 into shared memory (0 for tid = 0). In steps s = 1, 2, 4 … each thread adds
//         the element s places before its own, where there is one.
// Mind    A step reads what the step itself overwrites: use two arrays that take turns.
// Budget  one barrier per step; 0.40 sectors per element.
__global__ void scan1_hillis_steele_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(scan1): load, log2(kBlock) steps, store the n results.
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan1): one block of kBlock threads, if there is anything to scan.
}

// Rung 2: work-efficient.
// Goal    some 2 * kTile additions instead of kTile * log2(kTile); n <= kTile, two elements per thread.
// How     Up-sweep: in steps s = 1, 2, 4 … add element 2 * s * k + s - 1 to element 2 * s * k + 2 * s - 1: a tree of
//         sums, the root at the end. Set the root to 0. Down-sweep: in steps s = …, 4, 2, 1 the left one of such a pair
//         gets the right one's value, and the right one gets the sum of both. Thread k works on pair k.
// Mind    All kTile words need a value, also where n is smaller.
// Budget  0.17 warp-wide additions per element (rung 1 has 0.28).
__global__ void scan2_work_efficient_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(scan2): load, up-sweep, clear the root, down-sweep, store.
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan2): one block of kBlock threads.
}

// Rung 3: padded.
// Goal    rung 2 without bank conflicts: its strides are powers of two, so its words crowd in a few banks.
// How     Put element i at i + i / 32, everywhere. How long is the array then?
// Budget  150 bank conflicts, for trees of other shapes; this one needs none (rung 2 has 1,085).
__global__ void scan3_padded_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(scan3): rung 2 with padded addresses.
}

void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan3): one block of kBlock threads.
}

// Rung 4: any length.
// Goal    tiles of kTile elements, one a block, each scanned from the sum of all tiles before it.
// How     One kernel sums each tile; scan the sums (with this same launcher: there may be more than kTile of them); a
//         second kernel scans each tile as rung 3 does, and puts its tile's scanned sum where rung 3 puts the root's 0.
// Given   d_work, which you may use as floats: sums, and sums of sums.
// Budget  0.44 sectors per element: two reads and a write are 0.375.
// TODO(scan4): the kernels.

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan4): sum the tiles, scan the sums, scan the tiles. One tile needs the last step alone.
}

// Rung 5: a single pass with decoupled look-back.
// Goal    every element is read once and written once.
// How     A block takes a tile's number from a counter (atomicAdd), scans the tile, and publishes the tile's total in a
//         word of d_work. Its first warp looks at the words before its own, 32 at a time, waits for those that say
//         nothing yet, and adds up totals until one is the total of everything up to there. Then it publishes that of
//         its own tile, and all threads add what came before.
// Mind    A word holds kind and value together, and is read and written as a whole: cuda::atomic_ref from
//         <cuda/atomic>, or volatile. d_work holds garbage: clear it first with cudaMemsetAsync.
// Budget  0.29 sectors and 4 warp instructions per element (rung 4 has 5.4); at most two launches; one atomic
//         per block.
// TODO(scan5): the kernel. Larger tiles than kTile, with 8 or 16 elements per thread, have fewer words to look at.

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan5): clear the counter and the words, launch.
}

// Rung 6, bonus: rung 5 for other scans.
// How     Make the operation and its identity template parameters of rung 5's kernel, and inclusive or exclusive too.
//         The identity of the largest is no number that a float can't be below.
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan6): the inclusive scan.
}

void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan6): the largest so far.
}
