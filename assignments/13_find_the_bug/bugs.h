// The launchers of assignment 13, one a program. Their names and signatures are fixed: the tests call them.
//
//   d_in   n ints in device memory, from -1000 to 1000. Read only: they must come back unchanged.
//   d_out  room for the result, which holds garbage at first.
//   n      from 0 up, and no multiple of anything in particular.
//
// Both begin anywhere: their addresses are multiples of 4, and of nothing more. A launcher need not wait for its kernels;
// it leaves no CUDA error behind, and frees what it allocates.
#pragma once

void bug1_ranks(const int* d_in, int* d_out, unsigned n);       // d_out[i]: how many elements are less than d_in[i]
void bug2_sums(const int* d_in, int* d_out, unsigned n);        // d_out[b]: the sum of the 256 elements from 256 b on
void bug3_warp_sums(const int* d_in, int* d_out, unsigned n);   // d_out[w]: the sum of the 32 elements from 32 w on
void bug4_totals(const int* d_in, int* d_out, unsigned n);      // d_out[b]: the sum of all elements before 128 (b + 1)
void bug5_polynomial(const int* d_in, int* d_out, unsigned n);  // d_out[i]: x * x + 7, where x is d_in[i]
void bug6_triples(const int* d_in, int* d_out, unsigned n);     // d_out[i]: 3 * d_in[i]
void bug7_steps(const int* d_in, int* d_out, unsigned n);       // d_out[i]: the element at i * 1,000,003 modulo n
void bug8_reverse(const int* d_in, int* d_out, unsigned n);     // each 256 elements, and those left over, in reverse
void bug9_minima(const int* d_in, int* d_out, unsigned n);      // d_out[b]: the least of the 256 elements from 256 b on
void bug10_pairs(const int* d_in, int* d_out, unsigned n);      // d_out[i]: x * x + x, where x is d_in[i]
void bug11_weights(const int* d_in, int* d_out, unsigned n);    // d_out[i]: d_in[i] times 1, 3, 3, 1, 1, 3, 3, 1, …
void bug12_fives(const int* d_in, int* d_out, unsigned n);      // d_out[i]: 5 * d_in[i]
