// Assignment 16: stencil and convolution. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// stencil.h says what the launchers are given. A launch with no blocks is an error: mind images without pixels. A grid has
// at most 65,535 blocks in y, and an image up to 2^20 rows.

#include "stencil.h"

// Rung 1: one thread per pixel. Beyond the image lies the nearest pixel of its edge.
// Budget  0.32 sectors a multiplication: neighbouring threads take neighbouring pixels of a row.
__global__ void convolve1_naive_kernel(const float* d_in, const float* d_filter, float* d_out, int width, int height,
                                       int radius) {
  // TODO(convolve1): two loops over the filter.
}

void convolve1_naive(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius) {
  // TODO(convolve1): launch it.
}

// Rung 2: weights in a __constant__ array for the largest filter, which the launcher fills from d_filter.
// Budget  0.04 warp-wide global loads per multiplication (rung 1 has 0.0625).
__global__ void convolve2_constant_kernel(const float* d_in, float* d_out, int width, int height, int radius) {
  // TODO(convolve2): as rung 1, with other weights.
}

void convolve2_constant(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius) {
  // TODO(convolve2): cudaMemcpyToSymbolAsync from device memory, then launch.
}

// Rung 3: tiles with a halo. A block loads each pixel that it needs once, waits, and adds up.
// Budget  0.014 sectors a multiplication (rung 2 has 0.15), and no bank conflicts.
__global__ void convolve3_tiled_kernel(const float* d_in, float* d_out, int width, int height, int radius) {
  // TODO(convolve3): load the tile and `radius` pixels around it, wait, add up.
}

void convolve3_tiled(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius) {
  // TODO(convolve3): launch it.
}

// Rung 4: sums along the rows first, of the halo's rows too; then the sums of these along the columns.
// Budget  0.065 warp-wide float instructions per multiplication (a pixel has 2 * (2 * radius + 1)); and time.
__global__ void convolve4_separable_kernel(const float* d_in, float* d_out, int width, int height, int radius) {
  // TODO(convolve4): two passes. How many kernels you take is up to you.
}

void convolve4_separable(const float* d_in, const float* d_row, const float* d_column, float* d_out, int width,
                         int height, int radius) {
  // TODO(convolve4): launch it.
}

// Rung 5, bonus: several steps in one launch. A tile has a halo of as many pixels as steps; two arrays take turns.
// Budget  0.15 sectors for each pixel and step (a launch for each step has 0.35).
__global__ void stencil5_steps_kernel(const float* d_in, float* d_out, int width, int height, int steps) {
  // TODO(stencil5): load, step by step, store.
}

void stencil5_steps(const float* d_in, float* d_out, int width, int height, int steps) {
  // TODO(stencil5): launch it.
}
