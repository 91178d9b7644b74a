// verdict: CRASH libraries1_sum
// Plain pointers, and no policy: Thrust adds up on the host.
#include <thrust/reduce.h>

#include "libraries.h"

int libraries1_sum(const int* d_in, unsigned n) { return thrust::reduce(d_in, d_in + n, 0); }

float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
