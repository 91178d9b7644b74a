// virtual: PASS libraries1_sum, at most 16 points
// The library's loop runs a functor that is a kernel of one's own: it uses the block's shared memory and barriers.
#include <cub/device/device_for.cuh>

#include "libraries.h"

struct Reduce {
  const int* d_in;
  int* d_sum;
  unsigned n, threads;
  __device__ void operator()(unsigned thread) const {
    __shared__ int s_sums[64];
    int* const s_own = s_sums + thread / blockDim.x % 2 * 32;
    int sum = 0;
    for (unsigned i = thread; i < n; i += threads) sum += d_in[i];
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) s_own[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) sum += s_own[warp];
    atomicAdd(d_sum, sum);
  }
};

int libraries1_sum(const int* d_in, unsigned n) {
  int *d_sum, sum;
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  cub::DeviceFor::Bulk(16384u, Reduce{d_in, d_sum, n, 16384});
  cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_sum);
  return sum;
}

float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
