// virtual: TIMEOUT shift1_gather
// A printf in a loop prints nothing, but first reads eight strings of 64 KB for each thread: that takes hours, and few
// instructions.
#include <cstdio>

#include "shift.h"

constexpr int kBytes = 1 << 16;
__device__ char text[kBytes];

__global__ void prints_nothing() {
  for (int i = threadIdx.x; i < kBytes - 1; i += blockDim.x) text[i] = 'a';
  __syncthreads();
  for (int i = 0; i < 20'000; ++i) {
    printf("%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s", text, text, text, text, text, text, text, text);
  }
}

void shift1_gather(const int*, int*, unsigned, int) { prints_nothing<<<1, 32>>>(); }
void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
