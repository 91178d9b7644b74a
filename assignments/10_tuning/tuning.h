// The launchers of assignment 10, one a rung. Their names and signatures are fixed: the tests call them.
//
//   d_in     n ints in device memory, of any value
//   d_marks  m ints in device memory, of any value and in any order
//   d_out    room for n ints; it holds garbage at first
//   n, m     from 0 up, and no multiples of anything in particular
//
// The task of the kernels: d_out[i] becomes the number of marks that are less than d_in[i]. d_in and d_marks are read
// only. Every launcher returns one of the codes below, and leaves no CUDA error, no event and no stream behind.
#pragma once

// How the kernel does it.
struct Config {
  int block;   // threads of a block
  int tile;    // marks that a block holds in shared memory at one time
  int unroll;  // marks that one pass through the innermost loop compares with
  int items;   // elements of d_in for each thread
};

constexpr int kBlocks[] = {64, 128, 256, 512};
constexpr int kTiles[] = {32, 128, 512};
constexpr int kUnrolls[] = {1, 4, 8};
constexpr int kItems[] = {1, 2, 4};

// A configuration is valid if each number is in its list and all three of these hold. 82 of the 108 are.
constexpr int kMostElements = 1024;  // block * items is at most this: elements of a block
constexpr int kMostStaged = 4;       // tile is at most this times block: marks that a thread copies into a tile
constexpr int kMostCompares = 16;    // unroll * items is at most this: comparisons in the innermost loop

constexpr int kNotBegun = -1;   // a rung that you have not begun returns this
constexpr int kDone = 0;        // all went well
constexpr int kRefused = 1;     // the configuration is not valid: nothing was launched, nothing written
constexpr int kDoesNotFit = 2;  // it is valid, but this device can't launch it: too many registers for a block, say

// Rung 1. Does the task with one launch, in exactly this configuration: blocks of `block` threads, as many as n
// elements need, each with `tile` ints of shared memory. Nothing to launch where n is 0.
int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items);

// Rung 2. Measures one launch in this configuration with two events, and writes its time to *milliseconds where it
// returns kDone.
int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds);

// Rung 3. Measures every valid configuration, and writes the fastest to *best.
int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best);

// Rung 4. Writes to *best a configuration that is nearly as fast as the best. The number of launches earns full marks
// up to kFewLaunches, and none from kMostLaunches on.
constexpr int kFewLaunches = 20, kMostLaunches = 40;
int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best);
