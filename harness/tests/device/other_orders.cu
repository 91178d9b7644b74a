// Locks whose mistakes only some orders of warps and blocks show; with the lock at words[0], data at words[1].
#include <cuda_runtime.h>

__device__ void Take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}
__device__ void Give(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// kFirst, kSecond: whether block 0 and block 1 have a fence after taking the lock.
template <bool kFirst, bool kSecond>
__device__ void AddByBlocks(int* words) {
  if (threadIdx.x != 0) return;
  Take(words);
  if (blockIdx.x == 0 ? kFirst : kSecond) __threadfence();
  words[1] += 1;
  Give(words);
}
extern "C" __global__ void blocks_right(int* words) { AddByBlocks<true, true>(words); }
extern "C" __global__ void blocks_first_without(int* words) { AddByBlocks<false, true>(words); }
extern "C" __global__ void blocks_second_without(int* words) { AddByBlocks<true, false>(words); }

template <bool kFirst, bool kSecond>
__device__ void AddByWarps(int* words) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS_block(words, 0, 1) != 0) {
  }
  if (threadIdx.x == 0 ? kFirst : kSecond) __threadfence_block();
  words[1] += 1;
  __threadfence_block();
  atomicExch_block(words, 0);
}
extern "C" __global__ void warps_right(int* words) { AddByWarps<true, true>(words); }
extern "C" __global__ void warps_first_without(int* words) { AddByWarps<false, true>(words); }
extern "C" __global__ void warps_second_without(int* words) { AddByWarps<true, false>(words); }

// Allocates memory, which can't be undone before another order is tried.
extern "C" __global__ void allocates(int* words) {
  if (threadIdx.x == 0) {
    int* const own = static_cast<int*>(malloc(4));
    *own = 1;
    atomicAdd(words + 1, *own);
    free(own);
  }
}
