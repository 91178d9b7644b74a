// virtual: CRASH shift2_any
// Runs out of stack.
#include "shift.h"

int deeper(volatile int* above) {
  volatile int here[1024] = {*above};
  return deeper(here) + here[1];
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  volatile int top = shift;
  if (deeper(&top) == 7) return;
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
