// virtual: REJECTED coalesce1_predict
// Launches a kernel to find out what it should predict.
#include "coalescing.h"

__global__ void find_sectors(WarpRequest request, unsigned long long* d_sectors) {
  const long long place = threadIdx.x ^ request.swap;
  d_sectors[threadIdx.x] = (request.first + request.stride * place) / kSectorBytes;
}

int coalesce1_predict(const WarpRequest* request) {
  unsigned long long* d_sectors;
  unsigned long long sectors[32];
  cudaMalloc(&d_sectors, sizeof sectors);
  find_sectors<<<1, 32>>>(*request, d_sectors);
  cudaMemcpy(sectors, d_sectors, sizeof sectors, cudaMemcpyDeviceToHost);
  cudaFree(d_sectors);
  int count = 0;
  for (int t = 0; t < 32; ++t) {
    bool is_new = request->active >> t & 1;
    for (int k = 0; k < t; ++k) is_new = is_new && !(request->active >> k & 1 && sectors[k] == sectors[t]);
    count += is_new;
  }
  return count;
}

// Left out.
int coalesce9_in_2006(const WarpRequest*) { return kNotBegun; }
void coalesce2_aligned(const float*, float*, unsigned) {}
void coalesce3_misaligned(const float*, float*, unsigned) {}
void coalesce4_strided(const float*, float*, unsigned) {}
void coalesce5_permuted(const float*, float*, unsigned) {}
void coalesce6_structures(const float*, float*, unsigned) {}
void coalesce7_arrays(const float*, float*, unsigned) {}
void coalesce8_staged(const float*, float*, unsigned) {}
