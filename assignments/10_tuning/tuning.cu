// Assignment 10: the tuner. Fill in the TODOs, one rung at a time; README.md has the task, the rules and the budgets.
#include "tuning.h"

// Rung 1: a family of kernels.
// Goal    d_out[i] is the number of marks that are less than d_in[i], in each of the 82 valid configurations.
// Given   block is blockDim.x; tile is the size of the array in shared memory. What the compiler has to know, the
//         kernel gets as template parameters.
// Budget  a mark is loaded from shared memory once for all items of a thread; unroll marks for each branch.
template <int kUnroll, int kItemsEach>
__global__ void tuning1_family_kernel(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m,
                                      unsigned tile) {
  // TODO(tuning1): load the thread's items; for each tile of marks: copy it to shared memory, compare, add up.
}

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  // TODO(tuning1): refuse what is not valid, choose the instance for unroll and items, launch it, look for an error.
  return kNotBegun;
}

// Rung 2: the clock.
// Goal    the time of one launch, by two events.
// Mind    a launch returns at once. Ask for the time only after the host has waited for the second event.
int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  // TODO(tuning2): record, launch, record, wait, ask.
  return kNotBegun;
}

// Rung 3: every configuration.
// Goal    the fastest of all that are valid and fit the device.
int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  // TODO(tuning3): measure each, keep the best.
  return kNotBegun;
}

// Rung 4: few launches.
// Goal    nearly as fast a configuration as rung 3's.
// Budget  kFewLaunches launches.
int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  // TODO(tuning4): decide after each measurement which one comes next.
  return kNotBegun;
}
