// The reference's reductions without rung 4, which the including file replaces: real_reduce4_first_add is the
// reference's. A fault in rung 4 must cost the points of rung 4 only.
#pragma once

#define reduce4_first_add real_reduce4_first_add
#include "../../../reference/04_reduction/reduction.cu"
#undef reduce4_first_add

#include <unistd.h>

#include <cstdlib>

void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work);

// Whether a call is one of a timed batch: no test has as many elements.
inline bool is_timed(unsigned n) { return n > 1u << 24; }

// The clock of the GPU counts nanoseconds.
__global__ void wait_kernel(unsigned long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

inline cudaStream_t other_stream() {
  static cudaStream_t stream = [] {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  return stream;
}
