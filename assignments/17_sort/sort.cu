// Assignment 17: compaction and radix sort. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// sort.h says what the launchers are given. Start with your scan of assignment 05, for unsigned numbers: of a block, and of
// an array of any length. A launch with no blocks is an error: mind inputs without keys.

#include "sort.h"

// Rung 1: compaction in one block.
// Goal    keys below the limit to the front of d_out, in their order; how many there are to *d_count.
// How     A flag for each thread, the exclusive scan of the flags, a store where it says.
// Budget  0.4 sectors a key: each key is loaded once, neighbours by neighbouring threads.
__global__ void compact1_block_kernel(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n,
                                      unsigned limit) {
  // TODO(compact1): flag, scan, store. Threads past n take part in the scan.
}

void compact1_block(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n, unsigned limit) {
  // TODO(compact1): launch one block, also where n is 0: *d_count has to be 0 then.
}

// Rung 2: any length.
// Goal    the same for many tiles, without an array in global memory that has a word for each key.
// How     A kernel counts each tile's keys, the counts are scanned, a second kernel does rung 1 from there.
// Budget  0.55 sectors a key (with a flag and a place for each key 1.9).
__global__ void compact2_count_kernel(const unsigned* d_in, unsigned* d_counts, unsigned n, unsigned limit) {
  // TODO(compact2): how many keys of this tile are kept?
}

__global__ void compact2_store_kernel(const unsigned* d_in, const unsigned* d_before, unsigned* d_out,
                                      unsigned* d_count, unsigned n, unsigned limit) {
  // TODO(compact2): the tile's keys begin at its scanned count.
}

void compact2_blocks(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n, unsigned limit) {
  // TODO(compact2): count, scan the counts, store. Allocate what these need (cudaMallocAsync), and free it.
}

// Rung 3: split.
// Goal    keys whose bit is 0 first, then the others, both in their order.
// How     As rung 2. The scan of the zeros also tells where a key with a 1 goes.
// Budget  0.53 sectors a key (split twice 0.89).
void split3_bit(const unsigned* d_in, unsigned* d_out, unsigned n, unsigned bit) {
  // TODO(split3): kernels of your own, or rung 2's with another test.
}

// Rung 4: radix sort.
// Goal    ascending order, by stable passes over 4 bits each, from the last 4 bits to the first.
// How     A pass counts each tile's 16 digits, scans the counts, and scatters the keys of the tile, sorted by digit.
// Budget  3.3 sectors of stores a key (tiles not sorted 4.2, bit by bit 5.8); and time.
void sort4_radix(const unsigned* d_in, unsigned* d_out, unsigned n) {
  // TODO(sort4): eight passes, between two buffers. d_in is read-only, and the last pass stores to d_out.
}

// Rung 5, bonus: keys of 64 bits, with values.
// Goal    ascending order of the keys; each value stays with its key, and pairs with equal keys keep their order.
// Budget  11.5 sectors of stores a pair.
void sort5_pairs(const unsigned long long* d_keys, const unsigned* d_values, unsigned long long* d_keys_out,
                 unsigned* d_values_out, unsigned n) {
  // TODO(sort5): rung 4 as a template.
}
