// The launchers of assignment 11, one per rung. Names and signatures are fixed: the tests call them.
//
// All arrays are in device memory, and what a launcher only reads has to come back unchanged; out arrays hold garbage
// at first. A launcher gives back whatever it took: device memory, handles, plans. It need not wait for its work.
// Lengths may be 0, 1, and no multiple of anything, unless it says otherwise.
#pragma once

// Rung 1, Thrust. Returns the sum of n ints, which wraps around as ints on the device do.
int libraries1_sum(const int* d_in, unsigned n);

// Rung 2, Thrust. Returns the Euclidean norm: the square root of the sum of the squares.
float libraries2_norm(const float* d_in, unsigned n);

// Rung 3, CUB. d_out[i] = d_in[0] + ... + d_in[i].
void libraries3_scan(const int* d_in, int* d_out, unsigned n);

// Rung 4, cuBLAS. d_in has so many rows and columns, in row order: element (r, c) is d_in[r * columns + c]. d_out gets
// the transpose, in row order too: element (c, r) is d_out[c * rows + r].
void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns);

// Rung 5, cuFFT. The circular convolution of a signal with a filter of the same length:
//   d_out[i] = sum over k of d_filter[k] * d_signal[(i - k) mod n]
// A filter that is 1 at s and 0 elsewhere shifts the signal by s, as in assignment 03. n has no prime factors but 2, 3,
// 5 and 7.
void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n);

// Bonus. `count` signals of n floats, one after the other in d_signals, each with the same filter.
void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count);
