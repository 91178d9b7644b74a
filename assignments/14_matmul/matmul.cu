// Assignment 14: the matrix product. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
//
// matmul.h says what the launchers are given. A launch with no blocks is an error: mind products without elements. A
// grid ends at 65535 blocks in y, and a product of one column may have 2^19 rows: number the blocks in x alone.

#include "matmul.h"

// Rung 1: one thread per element.
// Goal    every element of d_c, for every shape.
// How     A block has a tile of d_c. A thread goes along its row of d_a and down its column of d_b, adds up in a
//         register, and stores once.
// Budget  1.3 times the reference's sectors: neighbouring threads have neighbouring columns.
__global__ void matmul1_naive_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                                     unsigned depth) {
  // TODO(matmul1): find the thread's row and column, add up, store.
}

void matmul1_naive(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  // TODO(matmul1): launch a thread for each element.
}

// Rung 2: through tiles in shared memory.
// Goal    a block reads each element once for kTile products.
// How     Steps of kTile along the depth. In each the block loads a tile of d_a and one of d_b, waits, multiplies from
//         shared memory, and waits again before the next step overwrites the tiles.
// Given   blocks of kTile × kTile threads, one for each element of the block's tile of d_c.
// Mind    edges of all three matrices. Every thread must reach both barriers.
// Budget  2.2 times the reference's sectors (rung 1 has 16 times), and wavefronts of shared memory.
__global__ void matmul2_tiled_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                                     unsigned depth) {
  // TODO(matmul2): load the tiles, wait, multiply, wait; store at the end.
}

void matmul2_tiled(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  // TODO(matmul2): launch a block for each tile.
}

// Rung 3: a tile of sums in registers.
// Goal    a word that a thread reads from shared memory serves kEach products.
// How     A block of kSide × kSide threads has kBlockTile × kBlockTile elements of d_c, a thread kEach × kEach of them.
//         For each k it reads kEach words of either tile, and adds all their products.
// Budget  1.8 times the reference's passes of shared memory (rung 2 has 4 times).
__global__ void matmul3_registers_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows,
                                         unsigned columns, unsigned depth) {
  // TODO(matmul3): as rung 2, with an array of sums. Unroll the loops that index it.
}

void matmul3_registers(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                       unsigned depth) {
  // TODO(matmul3): launch a block for each tile of kBlockTile × kBlockTile.
}

// Rung 4: four elements per request.
// Goal    float4s from d_a and d_b into the tiles, from the tiles into registers, and from registers to d_c.
// How     Where all rows and addresses are multiples of 16 bytes; rung 3 serves the other products.
// Budget  1.5 times the reference's requests of global memory and 1.25 times its loads from shared memory (rung 3 has 4
//         times both), and 4 times its time.
__global__ void matmul4_vectors_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                                       unsigned depth) {
  // TODO(matmul4): as rung 3, in float4s.
}

void matmul4_vectors(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  // TODO(matmul4): choose between this rung's kernel and rung 3's.
}

// Rung 5, bonus: tensor cores.
// Goal    all products by wmma::mma_sync (#include <mma.h>), added up in float.
// How     Tiles of halves in shared memory, 0 past the edges; fragments of 16 × 16 × 16; the sums by way of shared
//         memory to d_c, which promises no alignment.
// Budget  as many multiplications on tensor cores as the product has, and 3 times the reference's time.
// TODO(matmul5): the kernel.

void matmul5_tensor(const __half* d_a, const __half* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  // TODO(matmul5): launch it.
}
