// The launchers of assignment 17, one per rung. Their names and signatures are fixed: the tests call them.
//
//   d_in, d_keys  n keys in device memory, of any value. Read-only.
//   d_out         room for n keys. It holds garbage at first.
//   n             from 0 up to 2^27, on rung 1 up to kBlockKeys, and no multiple of anything in particular.
//
// All arrays are aligned to one element, no better, and none overlaps another. A launcher need not wait for its kernels,
// and leaves no CUDA error behind. What it allocates it frees, or keeps for all later calls: memory in use must not grow
// from call to call.
#pragma once

constexpr unsigned kBlockKeys = 1024;  // the most keys of rung 1

// Rungs 1 and 2. Compaction: the keys below `limit`, in the order in which they stand in d_in, to the front of d_out, and
// their number to *d_count. The rest of d_out keeps its contents. Keys are unsigned: 0x80000000 is a large one.
void compact1_block(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n, unsigned limit);
void compact2_blocks(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n, unsigned limit);

// Rung 3. Split: first the keys whose bit number `bit`, from 0 to 31, is 0, then those where it is 1. Within both
// groups the keys keep the order that they have in d_in.
void split3_bit(const unsigned* d_in, unsigned* d_out, unsigned n, unsigned bit);

// Rung 4. The keys in ascending order.
void sort4_radix(const unsigned* d_in, unsigned* d_out, unsigned n);

// Rung 5, bonus. Keys of 64 bits in ascending order, each with its value. Pairs whose keys are equal keep their order.
void sort5_pairs(const unsigned long long* d_keys, const unsigned* d_values, unsigned long long* d_keys_out,
                 unsigned* d_values_out, unsigned n);
