// The launchers of assignment 08, one per rung. Their names and signatures are fixed: the tests call them.
//
// Rungs 1 and 9 are ordinary host functions: they launch nothing and call no CUDA function. Rungs 2 to 8 take
//   d_in    floats in device memory, whole numbers of at most 2^23 in size. Read-only: they must come back unchanged.
//   d_out   room for as many floats, apart from d_in. It holds garbage at first.
//   n       how many elements (rungs 2 to 5) or structures of three floats (6 to 8): from 0 up, and no multiple of
//           anything in particular. The arrays have at most 2^27 floats.
//
// d_in and d_out begin at multiples of 256 bytes, as cudaMalloc gives them. A launcher need not wait for its kernels;
// it leaves no CUDA error behind, and frees what it allocates.
#pragma once

// One global load or store instruction of one warp. Thread t of 32 takes part if bit t of `active` is set; then it
// accesses the bytes from address first + stride * (t ^ swap) up to bytes - 1 more.
struct WarpRequest {
  long long first;  // an address, which may be any multiple of `bytes`
  int stride;       // in bytes from a place to the next; a multiple of `bytes`, and may be negative or 0
  int bytes;        // per thread: 4, 8 or 16
  int swap;         // from 0 to 31: in which order the threads have the places. 0: each has its own
  unsigned active;  // not 0
};

// Memory moves in aligned sectors of this size.
constexpr int kSectorBytes = 32;

// A function of rung 1 or 9 that you have not begun returns this.
constexpr int kNotBegun = -1;

// Rung 3: thread t has the element at t + kOffset.
constexpr unsigned kOffset = 1;

// Rung 4: neighbouring threads have elements that are kStride apart.
constexpr unsigned kStride = 32;

// Rung 1. How many sectors the request moves: your prediction, before you measure.
int coalesce1_predict(const WarpRequest* request);

// Rungs 2 to 5: d_out[e] becomes d_in[e] + 1 for all n elements. What differs is which thread has which element.
// Rung 2. Thread t of the grid has element t.
void coalesce2_aligned(const float* d_in, float* d_out, unsigned n);

// Rung 3. Thread t has element t + kOffset, or where that is n or more, element t + kOffset - n.
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n);

// Rung 4. Treat the array as a matrix whose rows have kStride elements; the last row may be shorter. Neighbouring
// threads go down a column: with `rows` rows, thread t has element t % rows * kStride + t / rows, if there is one.
void coalesce4_strided(const float* d_in, float* d_out, unsigned n);

// Rung 5. Thread t has element t ^ 1, if there is one: neighbours swap their elements.
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n);

// Rungs 6 to 8: each of n structures (x, y, z) becomes (x + y, y + z, z + x).
// Rung 6. An array of structures: x, y, z of the first, then those of the second. Thread t has structure t, and reads
// and writes its three floats itself.
void coalesce6_structures(const float* d_in, float* d_out, unsigned n);

// Rung 7. A structure of arrays: n x's, then n y's, then n z's. Thread t has structure t.
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n);

// Rung 8. An array of structures again, staged through shared memory.
void coalesce8_staged(const float* d_in, float* d_out, unsigned n);

// Rung 9, bonus. How many transactions the request takes by the rules of 2006.
int coalesce9_in_2006(const WarpRequest* request);
