// verdict: REJECTED libraries1_sum
// Copies the array to the host, and adds it up there.
#include <numeric>
#include <vector>

#include "libraries.h"

int libraries1_sum(const int* d_in, unsigned n) {
  std::vector<int> values(n);
  cudaMemcpy(values.data(), d_in, n * sizeof(int), cudaMemcpyDeviceToHost);
  return std::accumulate(values.begin(), values.end(), 0);
}

float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
