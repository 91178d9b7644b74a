// The launchers of assignment 06, one per rung. Their names and signatures are fixed: the tests call them.
//
// All take the same arguments:
//   d_in    a matrix of `height` rows of `width` floats in device memory, row after row. Read-only: it must come back
//           unchanged. Aligned to 4 bytes, no better.
//   d_out   room for the transpose, `width` rows of `height` floats. It holds garbage at first. Aligned to 4 bytes.
//   width, height
//           from 0 up, and no multiple of anything in particular. width * height is at most 2^27.
//
// Element (x, y) of the input, column x of row y, is d_in[y * width + x]. It goes to d_out[x * height + y], and arrives
// bit for bit as it was: also -0, infinities, and every NaN. A launcher need not wait for its kernels, and leaves no
// CUDA error behind. What it allocates it frees, or keeps for all later calls: memory in use must not grow from call to
// call.
#pragma once

// A tile is a square of kTile × kTile elements, one for each block of rungs 2 to 4. A warp moves one row of it.
constexpr unsigned kTile = 32;

// Rungs 2 and 3 have blocks of kTile × kTileRows threads, two elements per thread: 512 threads is the most a block
// of the course's GPU has.
constexpr unsigned kTileRows = 16;

// Rung 4 has blocks of kTile × kFewRows threads, four elements per thread.
constexpr unsigned kFewRows = 8;

// Rung 1. One thread per element: coalesced reads, scattered writes.
void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height);

// Rung 2. Through a tile in shared memory: coalesced reads and writes.
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height);

// Rung 3. The tile padded, so that its columns can be read without bank conflicts.
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height);

// Rung 4. Fewer threads, each with several rows: what is computed once serves more elements.
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height);

// Rung 5, bonus. Four elements per request, through a tile without padding.
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height);
