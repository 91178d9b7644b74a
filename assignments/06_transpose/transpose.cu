// Assignment 06: the transpose ladder. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// transpose.h says what the launchers are given. A launch with no blocks is an error: mind matrices without elements.
// A grid ends at 65535 blocks in y, and a matrix of one column may have millions of rows: number the blocks in x alone.

#include "transpose.h"

// Rung 1: one thread per element.
// Goal    every element at its place, for every width and height.
// How     Thread i of the grid moves element i of d_in. In which row and column does it lie?
// Budget  1.15 sectors per element: neighbouring threads have neighbours on one side, d_in or d_out.
__global__ void transpose1_naive_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose1): find x and y, and move the element if it exists.
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose1): launch a thread for each element.
}

// Rung 2: through a tile in shared memory.
// Goal    neighbouring threads have neighbouring elements in d_in and in d_out.
// How     A block loads a tile of kTile × kTile elements, a warp a row, into `__shared__ float s_tile[kTile][kTile]`.
//         After a barrier it stores the tile's columns as rows of d_out: now threadIdx.x walks along a row of d_out.
// Given   blocks of kTile × kTileRows threads: a thread has rows threadIdx.y and threadIdx.y + kTileRows of the tile.
// Mind    tiles that the matrix does not fill. The load and the store need a test each, and every thread must reach the
//         barrier.
// Budget  0.26 sectors per element (rung 1 has 1.125).
__global__ void transpose2_tiled_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose2): find the block's tile, load it, wait, store it.
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose2): launch a block for each tile.
}

// Rung 3: the tile padded.
// Goal    the words of a tile's column lie in 32 different banks.
// How     One word more a row; nothing is ever stored there.
// Budget  no bank conflicts (rung 2 has 31 for each row of 32 elements).
__global__ void transpose3_padded_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose3): rung 2 with the padded tile. Can both rungs share a __device__ function?
}

void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose3): launch a block for each tile.
}

// Rung 4: several rows per thread.
// Goal    what a thread computes before it moves anything serves four elements.
// How     Blocks of kTile × kFewRows threads. Compute the index in d_in and the one in d_out once, and move them on by
//         kFewRows rows; unroll the loops; test a tile's four corners once instead of every element.
// Budget  1.4 warp instructions per element (rung 3 has 1.5; 0.6 is good), and 1.5 times the reference's time.
__global__ void transpose4_rows_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose4): one way for tiles that the matrix fills, another for those at its edges.
}

void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose4): launch a block for each tile.
}

// Rung 5, bonus: four elements per request.
// Goal    a warp moves 512 bytes with one instruction, from d_in, through the tile, and to d_out.
// How     float4 loads and stores, where rows begin at multiples of 16 bytes; rung 4 serves the other matrices. A
//         thread takes 4 × 4 elements out of the tile and turns them in registers. No padding keeps 16-byte words
//         aligned and conflict-free: permute the chunks of each row instead.
// Budget  0.02 global requests per element (rung 4 has 0.0625); no bank conflicts.
// TODO(transpose5): the kernel.

void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // TODO(transpose5): choose between this rung's kernel and rung 4.
}
