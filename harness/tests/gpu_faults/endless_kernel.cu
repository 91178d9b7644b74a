// tests TIMEOUT, timing TIMEOUT: a kernel waits for what never comes.
#include "reduction_with.h"

__global__ void endless_kernel(volatile int* d_sum) {
  while (*d_sum != 0x12345678) {
  }
}

void reduce4_first_add(const int*, int* d_sum, unsigned, int*) { endless_kernel<<<1, 1>>>(d_sum); }
