// The launchers of assignment 16, one per rung. Their names and signatures are fixed: the tests call them.
//
//   d_in      an image of height rows of width floats, row after row: pixel (x, y) is d_in[y * width + x].
//   d_filter  (2 * radius + 1) rows of as many weights.
//   d_row, d_column  2 * radius + 1 weights each: the filter's weight in row j and column i is d_column[j] * d_row[i].
//   d_out     room for as many floats as d_in. It holds garbage at first.
//   width, height  from 0 up to 2^20, together below 2^31, and no multiple of anything in particular.
//   radius    from 0 to kMaxRadius; it may be larger than the image.
//
// Pixel (x, y) of d_out becomes the sum over all rows j and columns i of the filter of weight(j, i) times the pixel
// (x + i - radius, y + j - radius); beyond the image that is the nearest pixel of its edge. Add up in float, in any order.
//
// All of these are in device memory; d_in and the weights are read-only, and d_out overlaps none of them. A launcher need
// not wait for its kernels, and leaves no CUDA error behind. What it allocates it frees, or keeps for all later calls:
// memory in use must not grow from call to call.
#pragma once

constexpr int kMaxRadius = 8, kMaxSteps = 8;

void convolve1_naive(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius);
void convolve2_constant(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius);
void convolve3_tiled(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius);
void convolve4_separable(const float* d_in, const float* d_row, const float* d_column, float* d_out, int width,
                         int height, int radius);

// Does `steps` steps, from 0 to kMaxSteps. In each, every pixel becomes a quarter of the sum of the pixels above,
// below, left and right of it before the step. Beyond the image is the nearest pixel of its edge, anew in each step.
void stencil5_steps(const float* d_in, float* d_out, int width, int height, int steps);
