// The launchers of assignment 05, one per rung. Their names and signatures are fixed: the tests call them.
//
// All take the same arguments:
//   d_in    n floats in device memory. Read-only: they must come back unchanged. Aligned to 4 bytes, no better.
//   d_out   n floats in device memory, for the result. They hold garbage at first. Aligned to 4 bytes, no better.
//   n       how many floats, from 0 to the rung's limit, and no multiple of anything in particular.
//   d_work  WorkWords(n) words of 64 bits of scratch in device memory, aligned to 8 bytes. They hold garbage at first,
//           such as what the call before left there.
//
// The exclusive scan of x is 0, x[0], x[0] + x[1], …: element i is the sum of the i elements before it, and of nothing
// else. d_in and d_out do not overlap. A launcher need not wait for its kernels, and leaves no CUDA error behind.
#pragma once

#include <cstddef>

// Threads per block on rungs 1 to 4, and how many elements such a block scans on rungs 2 to 4.
constexpr unsigned kBlock = 512;
constexpr unsigned kTile = 2 * kBlock;

// How many tiles n elements fill, the last one perhaps in part.
constexpr size_t TilesFor(size_t n) { return (n + kTile - 1) / kTile; }

// Scratch that a scan of n floats gets: a word for each tile, for each tile of tiles, and two more.
constexpr size_t WorkWords(size_t n) { return TilesFor(n) + TilesFor(TilesFor(n)) + 2; }

// Rung 1. Hillis and Steele's scan by one block; n is at most kBlock.
void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);

// Rung 2. Blelloch's work-efficient scan, up-sweep and down-sweep, by one block; n is at most kTile.
void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);

// Rung 3. The same with padded shared memory, so that no two lanes of a warp meet in a bank; n is at most kTile.
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);

// Rung 4. Any n up to 2^27: the tiles' sums are scanned, and are where the tiles' own scans begin.
void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);

// Rung 5. Any n up to 2^27 in one pass over the data: a tile learns from the tiles before it where it begins.
void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);

// Rung 6, bonus. Rung 5 for an inclusive scan (element i is the sum of x[0] to x[i]), and for the largest so far
// (element i is the largest of x[0] to x[i]).
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);
