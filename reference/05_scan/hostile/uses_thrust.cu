// gpu: REJECTED scan5_lookback; virtual: REJECTED
// Calls Thrust, in one line.
#include <thrust/execution_policy.h>
#include <thrust/scan.h>

#include "scan.h"

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  thrust::exclusive_scan(thrust::device, d_in, d_in + n, d_out);
}

void scan1_hillis_steele(const float*, float*, unsigned, unsigned long long*) {}
void scan2_work_efficient(const float*, float*, unsigned, unsigned long long*) {}
void scan3_padded(const float*, float*, unsigned, unsigned long long*) {}
void scan4_blocks(const float*, float*, unsigned, unsigned long long*) {}
void scan6_inclusive(const float*, float*, unsigned, unsigned long long*) {}
void scan6_max(const float*, float*, unsigned, unsigned long long*) {}
