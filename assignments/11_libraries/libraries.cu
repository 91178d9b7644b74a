// Assignment 11: libraries. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// You write no kernel here: Thrust, CUB, cuBLAS and cuFFT have them all. Where a library lets you say what is done to
// one element, a functor says it, a struct with a __device__ operator().
//
// Each header takes the compiler some seconds. Include the ones that you need:
//   <thrust/execution_policy.h>, <thrust/reduce.h>, <thrust/transform_reduce.h>, <thrust/transform.h>
//   <cub/device/device_scan.cuh>
//   <cublas_v2.h>
//   <cufft.h>, which has cufftComplex and cuCmulf too
#include "libraries.h"

// Rung 1: a sum by Thrust.
// Goal    the sum of n ints.
// Mind    d_in is an ordinary pointer: what says that it points to device memory?
// Budget  one pass over d_in, and no copy of it; no kernel of your own.
int libraries1_sum(const int* d_in, unsigned n) {
  // TODO(libraries1): call thrust::reduce.
  return 0;
}

// Rung 2: a norm by Thrust.
// Goal    the square root of the sum of the squares.
// Mind    the type of the initial value is the type of the sum.
// Budget  one pass over d_in; the squares are never stored.
float libraries2_norm(const float* d_in, unsigned n) {
  // TODO(libraries2): square and add in one algorithm; the root is taken on the host.
  return 0;
}

// Rung 3: a scan by CUB.
// Goal    d_out[i] = d_in[0] + ... + d_in[i].
// How     call the function twice: the first time, without memory, it only says how many bytes it needs.
// Mind    give the memory back.
// Budget  one read and one write per element.
void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  // TODO(libraries3): call cub::DeviceScan::InclusiveSum.
}

// Rung 4: a transpose by cuBLAS.
// Goal    element (r, c) of d_in becomes element (c, r) of d_out; both in row order.
// How     cublasSgeam computes C = alpha * op(A) + beta * op(B), of m rows and n columns.
// Mind    cuBLAS has matrices in column order: what is d_in for it, and what d_out?
// Budget  one read and one write per element.
void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  // TODO(libraries4): call cublasSgeam, with a handle that you create and destroy.
}

// Rung 5: a filter by cuFFT.
// Goal    d_out is the circular convolution of the signal with the filter.
// How     the spectrum of a convolution is the product of the spectra: transform both, multiply, transform back.
// Mind    there and back, cuFFT leaves a factor of n. A spectrum of n real numbers has n / 2 + 1 complex ones.
// Budget  transforms of real numbers, not of complex ones; no copies.
void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  // TODO(libraries5): two transforms, a product, and the transform back.
}

// Bonus: many signals.
// Goal    rung 5 for `count` signals, one after the other in memory, with the same filter.
// How     a plan may be of many transforms.
// Budget  as many launches as for one signal.
void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  // TODO(libraries6): rung 5 with plans of `count` transforms.
}
