// The launchers of assignment 18, one per rung, and the kernels, which are given. Names and signatures are fixed: the
// tests call them.
//
//   h_in     in host memory. Read-only.
//   h_out    as large, in host memory: the result goes here. Garbage at first.
//   devices  how many devices share the work, from 1 to 4: those with the ordinals 0 to devices - 1, which all exist.
// Both arrays are ordinary, pageable memory. Any device may be current at the call. When a launcher returns, h_out is
// complete, and whatever it took is given back: memory of all devices, streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// Rung 1. h_out[i] is h_in[i] after as many stages as there are devices: stage s, from 0 on, is device s's work.
void gpus1_stages(const unsigned* h_in, unsigned* h_out, size_t n, int devices);

// Rung 2. A field of height rows with width cells each, after so many steps (0: as it was). In a step each cell becomes
// the sum of itself and its four neighbours, modulo 2^32; outside of the field there are zeros. The rows are divided
// among the devices: each computes height / devices of them, or one more.
void gpus2_halo(const unsigned* h_in, unsigned* h_out, int width, int height, int steps, int devices);

// Rung 3. h_in has a row of n words for each device: the first n are device 0's. In the end each device has the sum of
// all rows, modulo 2^32, and row d of h_out is a copy of what device d has.
void gpus3_ring(const unsigned* h_in, unsigned* h_out, size_t n, int devices);

// Rung 4, bonus. As rung 2, with an exchange that overlaps the kernels.
void gpus4_overlap(const unsigned* h_in, unsigned* h_out, int width, int height, int steps, int devices);

#ifdef __CUDACC__

// Rung 1: a stage, a thread for each word.
__global__ void stage_kernel(const unsigned* in, unsigned* out, size_t n, int stage) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2654435761u + stage + 1;
}

// Rungs 2 and 4: a step for rows first to last - 1 of `in`, into the same rows of `out`, a thread for each cell. Reads
// the rows first - 1 and last too.
__global__ void step_kernel(const unsigned* in, unsigned* out, int width, int first, int last) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= size_t(last - first) * width) return;
  const size_t at = size_t(first) * width + i, x = i % width;
  unsigned sum = in[at] + in[at - width] + in[at + width];
  if (x > 0) sum += in[at - 1];
  if (x + 1 < width) sum += in[at + 1];
  out[at] = sum;
}

// Rung 3: adds n words to n others, a thread for each.
__global__ void add_kernel(const unsigned* from, unsigned* to, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

#endif
