// tests CRASH, timing CRASH: an assertion fails on the device.
#include <cassert>

#include "reduction_with.h"

__global__ void failing_kernel(const int* d_in) { assert(d_in == nullptr); }

void reduce4_first_add(const int* d_in, int*, unsigned, int*) { failing_kernel<<<1, 64>>>(d_in); }
