// The launchers of assignment 14, one per rung. Their names and signatures are fixed: the tests call them.
//
// All take the same arguments:
//   d_a     `rows` rows of `depth` elements in device memory, row after row. Read-only: it must come back unchanged.
//   d_b     `depth` rows of `columns` elements. Read-only.
//   d_c     room for the product, `rows` rows of `columns` floats. It holds garbage at first.
//   rows, columns, depth
//           from 0 up to 2^19, and no multiple of anything in particular. No matrix has more than 2^27 elements.
//
// The element in row r and column c of the product is the sum of d_a[r * depth + k] * d_b[k * columns + c] over all k
// below depth; with no depth it is 0. Sums may be added up in any order, in float: each of these products is added
// once, and nothing else, not even 0 times another element. Addresses are aligned to one element, no better. A launcher
// need not wait for its kernels, and leaves no CUDA error behind. What it allocates it frees, or keeps for all later
// calls: memory in use must not grow from call to call.
#pragma once

#include <cuda_fp16.h>

// Rung 2 has tiles of kTile × kTile elements, and one thread per element of d_c.
constexpr unsigned kTile = 32;

// Rungs 3 and 4: a block of kSide × kSide threads has kBlockTile × kBlockTile elements of d_c, each thread
// kEach × kEach of them, and goes through the depth in steps of kStep.
constexpr unsigned kBlockTile = 64;
constexpr unsigned kStep = 16;
constexpr unsigned kSide = 16;
constexpr unsigned kEach = kBlockTile / kSide;

// Rung 1. One thread per element of d_c, which reads all that it needs from d_a and d_b.
void matmul1_naive(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth);

// Rung 2. Through tiles in shared memory: a block reads each element once for kTile products.
void matmul2_tiled(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth);

// Rung 3. A thread keeps a tile of sums in registers: each word that it reads from shared memory serves kEach products.
void matmul3_registers(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth);

// Rung 4. Four elements per request, of global and of shared memory.
void matmul4_vectors(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth);

// Rung 5, bonus. Half-precision inputs, multiplied and added up in float by the tensor cores.
void matmul5_tensor(const __half* d_a, const __half* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth);
