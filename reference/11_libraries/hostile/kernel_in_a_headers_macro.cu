// virtual: REJECTED libraries1_sum
// CUB's headers open their namespace by a macro that a program may define. Here the macro contains a kernel, which then
// has a line of the header.
#define CUB_NS_PREFIX                                                                                            \
  __global__ void sum_kernel(const int* d_in, int* d_sum, unsigned n) {                                          \
    int sum = 0;                                                                                                 \
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += d_in[i]; \
    sum = __reduce_add_sync(~0u, sum);                                                                           \
    if (threadIdx.x % 32 == 0) atomicAdd(d_sum, sum);                                                            \
  }                                                                                                              \
  namespace once {
#define CUB_NS_POSTFIX }
#define CUB_NS_QUALIFIER ::once::cub
#include <cub/util_namespace.cuh>

#include "libraries.h"

int libraries1_sum(const int* d_in, unsigned n) {
  int *d_sum, sum;
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  sum_kernel<<<64, 256>>>(d_in, d_sum, n);
  cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_sum);
  return sum;
}

float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
