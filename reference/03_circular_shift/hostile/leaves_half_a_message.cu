// virtual: CRASH shift2_any
// Sends half of a header and ends, with status 0.
#include <unistd.h>

#include "shift.h"

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  write(3, "half", 4);
  _exit(0);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
