// Assignment 03: the circular shift. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// shift.h says what the launchers are given. A launch with no blocks is an error, and so is a division by n where n is
// 0: mind arrays without elements.

#include "shift.h"

// Rung 1: one thread per element.
// Goal    d_out[i] is the element `shift` places further on in d_in, wrapping around at the end.
// Given   0 <= shift < n.
// Budget  0.29 sectors per element: neighbouring threads move neighbouring elements.
__global__ void shift1_gather_kernel(const int* d_in, int* d_out, unsigned n, unsigned shift) {
  // TODO(shift1): which element does thread i load? Not every thread has one.
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  // TODO(shift1): launch a thread for each element.
}

// Goal    the offset from 0 to n - 1 with which rung 1 gives the same result as this shift.
// Mind    C++ rounds a quotient toward 0, so that -1 % 5 is -1; int % unsigned is computed as unsigned; -INT_MIN is no
//         int; and n may be 0.
unsigned offset_of(unsigned n, int shift) {
  // TODO(shift2): once, on the host.
  return 0;
}

// Rung 2: any shift.
// Goal    rung 1 for negative shifts and for shifts larger than n.
// Budget  0.29 sectors per element.
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  // TODO(shift2): rung 1's kernel will do.
}

// Rung 3: many elements per thread.
// Goal    at most kMaxBlocks blocks for any n, and no test for the end of d_in at each element.
// How     Thread i moves elements i, i + the grid's threads, and so on. Up to the place where d_in wraps around, they
//         come from `offset` further on; after it, from n - offset further back: two loops, one after the other.
// Budget  1024 blocks; 0.52 warp instructions per element (rung 2 has 0.72).
__global__ void shift3_grid_stride_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  // TODO(shift3): the two loops.
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  // TODO(shift3): no more blocks than there is work for, and at most kMaxBlocks.
}

// Rung 4: four elements per request.
// Goal    a warp moves 512 bytes with one load and one store, and loads no sector twice.
// How     A thread stores an int4 of d_out. Its four elements lie in two neighbouring int4 of d_in: one it loads, the
//         other is what the next lane has loaded, and a shuffle brings it. The few elements at the ends go one by one.
// Budget  0.009 store requests per element (rung 3 has 0.031); 0.275 sectors per element (rung 3 has 0.28).
// TODO(shift4): the kernel.

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  // TODO(shift4): one int4 per thread; the grid may be as large as needed.
}

// Rung 5, bonus: in place.
// Goal    the same result within the array itself, with no second buffer.
// How     Reverse both parts, then the whole: three reversals make a rotation. In a reversal each thread swaps a pair.
// Budget  0.6 sectors per element; nothing allocated.
// TODO(shift5): the kernel.

void shift5_in_place(int* d_data, unsigned n, int shift) {
  // TODO(shift5): three reversals.
}
