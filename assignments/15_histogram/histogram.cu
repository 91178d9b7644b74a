// Assignment 15: the histogram. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// histogram.h says what the launchers are given. d_bins holds garbage: clear it, by cudaMemsetAsync or in a kernel that
// ends before the next begins. A launch with no blocks is an error: mind inputs without elements.

#include "histogram.h"

// Rung 1: atomics in global memory.
// Goal    d_bins[v] is the number of elements of value v, for every n.
// How     One thread per element, one atomicAdd.
// Budget  1.25 times the reference's sectors: neighbouring threads read neighbouring elements.
__global__ void histogram1_global_kernel(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram1): read an element, add 1 to its bin.
}

void histogram1_global(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram1): clear the bins, launch.
}

// Rung 2: bins of the block's own.
// Goal    a block has one global atomic for each bin, not for each element.
// How     A block clears bins in shared memory, counts many elements in them, and adds them to d_bins.
// Mind    Three parts, with a barrier between each and the next that all threads reach.
// Budget  0.01 warp-wide global atomics per element (rung 1 has 0.031).
__global__ void histogram2_shared_kernel(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram2): clear, count, add.
}

void histogram2_shared(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram2): launch a few blocks for each SM (cudaDevAttrMultiProcessorCount); each goes through the input in steps.
}

// Rung 3: sums of weights.
// Goal    lanes of a warp whose elements are equal don't add one after the other.
// How     One lane adds for all that have its value (__match_any_sync, __reduce_add_sync), or lanes have bins of their own.
// Budget  0.4 wasted passes an element where nearly all elements are equal (rung 2's way has 0.9).
__global__ void histogram3_weighted_kernel(const unsigned char* d_in, const unsigned* d_weights, unsigned* d_bins,
                                           unsigned n) {
  // TODO(histogram3): as rung 2, without the waiting. Which lanes of the last warp have an element?
}

void histogram3_weighted(const unsigned char* d_in, const unsigned* d_weights, unsigned* d_bins, unsigned n) {
  // TODO(histogram3): launch it.
}

// Rung 4: sixteen elements per request.
// Goal    uint4s from d_in, wherever it begins.
// How     Elements in front of the first multiple of 16 bytes one by one, then uint4s, then what is left.
// Budget  0.016 warp-wide global loads and atomics per element (rung 2 has 0.033); and time.
__global__ void histogram4_vectors_kernel(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram4): as rung 2, by uint4s. Bins that belong to one lane have no conflicts.
}

void histogram4_vectors(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram4): launch it.
}

// Rung 5, bonus: 65,536 bins.
// Goal    counts of skewed inputs, where a block's bins would take 256 KiB.
// Budget  0.4 wasted passes an element, loading the input no more than twelve times.
__global__ void histogram5_wide_kernel(const unsigned short* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram5): what of rung 3 works without bins in shared memory?
}

void histogram5_wide(const unsigned short* d_in, unsigned* d_bins, unsigned n) {
  // TODO(histogram5): launch it.
}
