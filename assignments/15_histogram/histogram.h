// The launchers of assignment 15, one per rung. Their names and signatures are fixed: the tests call them.
//
//   d_in       n elements in device memory, of any value: bytes, and words of 16 bits on rung 5.
//   d_weights  n numbers, of any value: one for each element.
//   d_bins     room for one number for each value that an element may have. It holds garbage at first.
//   n          from 0 up to 2^23, and no multiple of anything in particular.
//
// d_bins[v] becomes the number of elements of value v; on rung 3 the sum of their weights, modulo 2^32. d_in and
// d_weights are read-only, and aligned to one element, no better. A launcher need not wait for its kernels, and leaves no
// CUDA error behind. What it allocates it frees, or keeps for all later calls: memory in use must not grow from call to
// call.
#pragma once

constexpr unsigned kBins = 256;        // of rungs 1 to 4
constexpr unsigned kWideBins = 65536;  // of rung 5

// Rung 1. An atomic addition in global memory for each element.
void histogram1_global(const unsigned char* d_in, unsigned* d_bins, unsigned n);

// Rung 2. A block counts in shared memory, and adds its bins to d_bins at its end.
void histogram2_shared(const unsigned char* d_in, unsigned* d_bins, unsigned n);

// Rung 3. Sums of weights, where nearly all elements may be equal: lanes that want the same bin don't wait for each other.
void histogram3_weighted(const unsigned char* d_in, const unsigned* d_weights, unsigned* d_bins, unsigned n);

// Rung 4. Counts again, with sixteen elements per request.
void histogram4_vectors(const unsigned char* d_in, unsigned* d_bins, unsigned n);

// Rung 5, bonus. More bins than shared memory holds, and skewed inputs.
void histogram5_wide(const unsigned short* d_in, unsigned* d_bins, unsigned n);
