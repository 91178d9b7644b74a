// virtual: WRONG shift1_gather
// 200,000 branches back to one place: the time to find loops, and waits among them, was quadratic in their number.
#include "shift.h"

#define TEN(text) text text text text text text text text text text
#define BRANCHES TEN(TEN(TEN(TEN("@p bra Z;\n"))))

__global__ void branches(const int* d_in, int* d_out) {
  asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, %0, 7;\nZ:\n" BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES
                   BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES BRANCHES
                       BRANCHES BRANCHES BRANCHES "}\n" ::"r"(d_in[threadIdx.x]));
  d_out[threadIdx.x] = d_in[threadIdx.x];
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int) {
  if (n != 0) branches<<<1, 1>>>(d_in, d_out);
}
void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
