// The launchers of assignment 02, one per rung. Their names and signatures are fixed: the tests call them.
//
//   d_a     n ints in device memory, garbage at first.
//   n       how many, from 0 to 2^24.
//   block   threads per block, from 1 up.
//
// Element i belongs to thread i % block of block i / block: FilledValue(i, block) is what the thread stores there.
// All return cudaSuccess, or the error of the launch or call that failed. None needs to wait for its kernel.
#pragma once

#include <cuda_runtime_api.h>

// What a thread stores: 1000 times its block's index, plus its own index in the block. Large products wrap around, as
// unsigned numbers do.
__host__ __device__ constexpr int FilledValue(unsigned block_index, unsigned thread_index) {
  return static_cast<int>(1000u * block_index + thread_index);
}

// How many blocks of `block` threads it takes to have one thread per element.
constexpr unsigned BlocksFor(unsigned n, unsigned block) { return n / block + (n % block != 0 ? 1 : 0); }

// Rung 1. n is a multiple of block, and not 0: as many threads as elements.
cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block);

// Rung 2. Any n, any block. A block that the device can't launch (of more than 1024 threads) is reported.
cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block);

// Rung 3. The whole task: allocate, fill, copy the n ints to h_out, free. Any error ends it and is returned.
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block);

// Rung 4. Verifies on the device: *d_wrong, in device memory and garbage at first, becomes the number of elements of
// d_a that are not what rung 2 would have stored. d_a is read-only.
cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong);

// Rung 5, bonus. What rung 2 stores, by at most kMaxBlocks blocks: each thread takes many elements.
constexpr unsigned kMaxBlocks = 64;
cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block);

// Rung 6, bonus. A 2-D grid of 2-D blocks, 16 by 16 threads: element (row, column) of d_a, height rows of width ints
// one after the other, belongs to the thread with these global indices. It stores FilledValue of its block's number,
// counted row by row through the grid, and its own number in the block, counted likewise.
constexpr unsigned kTile = 16;
cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height);
