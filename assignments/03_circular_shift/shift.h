// The launchers of assignment 03, one per rung. Their names and signatures are fixed: the tests call them.
//
// Rungs 1 to 4 take the same arguments:
//   d_in    n ints in device memory. Read-only: they must come back unchanged.
//   d_out   room for n ints in device memory, apart from d_in. It holds garbage at first.
//   n       how many ints, from 0 to 2^27, and no multiple of anything in particular.
//   shift   how far: by `shift` places toward the beginning, or by -shift places toward the end if it is negative. What
//           falls off one end enters at the other. Rung 1 gets 0 <= shift < n (or 0, if n is 0), the others any int.
//
// d_in and d_out begin at multiples of 256 bytes, as cudaMalloc gives them. A launcher need not wait for its kernels;
// it leaves no CUDA error behind, and frees what it allocates.
#pragma once

// Threads per block, on every rung.
constexpr unsigned kBlock = 256;

// How many blocks rung 3 may launch at once.
constexpr unsigned kMaxBlocks = 1024;

// Rung 1. One thread per element fetches it from where it is, for 0 <= shift < n.
void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift);

// Rung 2. Every int as shift: negative, zero, and larger than n in either direction.
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift);

// Rung 3. At most kMaxBlocks blocks: each thread moves many elements, a whole grid apart.
void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift);

// Rung 4. Four elements per request, loads and stores aligned to 16 bytes whatever the shift.
void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift);

// Rung 5, bonus. In place, with no second buffer.
void shift5_in_place(int* d_data, unsigned n, int shift);
