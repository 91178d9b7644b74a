// The launchers of assignment 09, one per rung, and the two kernels, which are given. Names and signatures are fixed:
// the tests call them.
//
// All take:
//   h_in    n floats in host memory, between 0 and 1. Read-only.
//   h_out   n floats in host memory: the results go here. Garbage at first.
//   n       how many, from 0 to 2^22. A count of floats, not of bytes.
// Both arrays are ordinary, pageable memory. When a launcher returns, h_out has to be complete, and whatever it took is
// given back: memory on the device and page-locked memory freed, streams and events destroyed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// Steps of the simulation of each element.
constexpr int kSteps = 6;
// Rung 4: elements in a piece; the last piece may be shorter.
constexpr size_t kPiece = 32768;

// Rung 1. h_out[i] = Simulate(h_in[i]), with one copy each way, from and to page-locked memory.
void streams1_pinned(const float* h_in, float* h_out, size_t n);

// Rung 2. The same in chunks, which take turns in this many streams: 1, 2, 4 or 8.
void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams);

// Rung 3. The same for a GPU with one copy engine and one queue: the order of issue matters.
void streams3_one_engine(const float* h_in, float* h_out, size_t n);

// Rung 4. Each piece depends on the one before: chain_kernel, with events.
void streams4_events(const float* h_in, float* h_out, size_t n);

#ifdef __CUDACC__

// A population from one year to the next, as a fraction of what the island feeds.
__device__ inline float Simulate(float value) {
  double x = value;
  for (int step = 0; step < kSteps; ++step) x = 3.99 * fma(-x, x, x);
  return static_cast<float>(x);
}

// Rungs 1 to 3: out[i] = Simulate(in[i]), a thread for each element.
__global__ void simulate_kernel(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Simulate(in[i]);
}

// Rung 4: a piece of n elements. out[i] is the mean of Simulate(in[i]) and of *carry_in, which is 0 for the first piece
// and what the piece before stored in *carry_out for every other: its last result.
__global__ void chain_kernel(const float* in, float* out, unsigned n, const float* carry_in, float* carry_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float result = 0.5f * (Simulate(in[i]) + *carry_in);
  out[i] = result;
  if (i == n - 1) *carry_out = result;
}

#endif
