// Assignment 08: the coalescing experiment. Fill in the TODOs, one rung at a time; README.md has the task and the
// budgets, coalescing.h says what the launchers are given.
//
// A launch with no blocks is an error: mind arrays without elements.

#include "coalescing.h"

// Rung 1: the prediction.
// Goal    how many sectors of kSectorBytes bytes the request's active threads touch, each sector counted once.
// Mind    where the request begins, idle threads, threads that share a sector, and threads in another order.
int coalesce1_predict(const WarpRequest* request) {
  // TODO(coalesce1): in which sector is each active thread's access? How many different ones are there?
  return kNotBegun;
}

// Rung 2: aligned and in order.
// Goal    thread t of the grid loads d_in[t], adds 1, and stores d_out[t].
// Budget  4 sectors per request, 0.25 per element.
__global__ void coalesce2_aligned_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce2): find the thread's element, and move it if it exists.
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce2): launch a thread for each element.
}

// Rung 3: misaligned by one element.
// Goal    thread t has element t + kOffset; the last kOffset threads go back to the beginning.
// Predict how many sectors a request has now, before you run it.
__global__ void coalesce3_misaligned_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce3): rung 2 with another element.
}

void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce3): launch a thread for each element.
}

// Rung 4: strided.
// Goal    neighbouring threads have elements kStride apart; coalescing.h has the formula.
// Mind    the last row: if n is not a multiple of kStride, some threads have no element.
__global__ void coalesce4_strided_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce4): how many rows are there? Which element has the thread?
}

void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce4): launch a thread for each place of the matrix, the empty ones too.
}

// Rung 5: permuted within the warp.
// Goal    thread t has element t ^ 1.
// Mind    an odd n: which thread has the last element?
__global__ void coalesce5_permuted_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce5): rung 2 with another element.
}

void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce5): launch enough threads.
}

// Rung 6: an array of structures, a thread for each structure.
// Goal    (x, y, z) becomes (x + y, y + z, z + x). Structure t begins at d_in[3 * t].
// Predict sectors per request: neighbouring threads are 12 bytes apart.
__global__ void coalesce6_structures_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce6): load three floats, store three sums.
}

void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce6): launch a thread for each structure.
}

// Rung 7: a structure of arrays.
// Goal    the same sums, with the x's at d_in[0] to d_in[n - 1], then the y's, then the z's.
// Budget  1.13 sectors per structure (rung 6 has 2.25; 0.75 is the best).
__global__ void coalesce7_arrays_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce7): rung 6 with other indices.
}

void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce7): launch a thread for each structure.
}

// Rung 8: staged through shared memory.
// Goal    rung 6's result, with rung 7's sectors.
// How     The block's structures are one piece of d_in. Load it as if it were plain floats, neighbouring threads
//         neighbouring floats, into shared memory; let each thread take its structure from there and put the sums
//         back; then store the piece.
// Mind    the last block's piece is shorter. All threads must reach every barrier.
// Budget  0.76 sectors per structure, and no bank conflicts.
__global__ void coalesce8_staged_kernel(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce8): load the piece, wait, add, wait, store the piece.
}

void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  // TODO(coalesce8): launch a thread for each structure.
}

// Rung 9, bonus: the rules of 2006.
// Goal    how many transactions the request takes, half-warp by half-warp; README.md has the rules.
int coalesce9_in_2006(const WarpRequest* request) {
  // TODO(coalesce9): one transaction for a half-warp that obeys all rules, one per active thread for any other.
  return kNotBegun;
}
