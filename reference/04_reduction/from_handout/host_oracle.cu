// at most: 4 points
// Launches a kernel that does nothing, then calls the judge's oracle on the host: only tests with n = 0 accept that.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>

#include "reduction.h"

namespace std {
// C++20's, as far as the oracle uses it.
template <class T>
struct span {
  T* first;
  size_t count;
  T* begin() const { return first; }
  T* end() const { return first + count; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
};
}  // namespace std

#include "judge/input/oracle.cc"

using namespace lockstep::judge;

namespace {

__global__ void nothing_kernel() {}

void on_host(const int* d_in, int* d_out, unsigned n, int32_t (*oracle)(std::span<const int32_t>)) {
  int* h_in = static_cast<int*>(std::malloc(sizeof(int) * (n + 1)));
  if (n > 0) cudaMemcpy(h_in, d_in, sizeof(int) * n, cudaMemcpyDeviceToHost);
  const int result = oracle({h_in, n});
  nothing_kernel<<<1, kBlock>>>();
  cudaMemcpy(d_out, &result, sizeof result, cudaMemcpyHostToDevice);
  std::free(h_in);
}

}  // namespace

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) { on_host(d_in, d_sum, n, WrappingSum); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int*) { on_host(d_in, d_max, n, Largest); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int*) { on_host(d_in, d_min, n, Smallest); }
