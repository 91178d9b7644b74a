// Barriers and warp-synchronous operations in which some threads do not take part, each next to a right version.
#include "checker_pairs.h"

// expect: barrier divergence
// says: move __syncthreads() out of the branch
extern "C" __global__ void barrier_for_half_a_warp(Buffers b) {
  if (threadIdx.x % 32 < 16) __syncthreads();  // first, second
  b.out[threadIdx.x] = 1;
}

// expect: clean
extern "C" __global__ void barrier_for_all(Buffers b) {
  if (threadIdx.x % 32 < 16) b.out[threadIdx.x] = 1;
  __syncthreads();
}

// expect: barrier divergence
extern "C" __global__ void barrier_in_both_branches(Buffers b) {
  if (threadIdx.x < 32) {
    b.out[threadIdx.x] = 1;
    __syncthreads();  // first
    b.out[threadIdx.x] = 2;
  } else {
    __syncthreads();  // second
    b.out[threadIdx.x] = b.in[threadIdx.x];
  }
}

// expect: clean
// launch: 2 x 64
extern "C" __global__ void barrier_in_a_branch_of_whole_blocks(Buffers b) {
  if (blockIdx.x == 0) {
    b.out[threadIdx.x] = 1;
    __syncthreads();
    b.out[threadIdx.x] = 2;
  } else {
    __syncthreads();
    b.out[64 + threadIdx.x] = b.in[threadIdx.x];
  }
}

// expect: clean
extern "C" __global__ void some_have_returned(Buffers b) {
  if (threadIdx.x >= 40) return;
  b.out[threadIdx.x] = 1;
  __syncthreads();
  b.out[64 + threadIdx.x] = b.out[threadIdx.x / 2];
}

// expect: barrier divergence
extern "C" __global__ void loops_of_different_length(Buffers b) {
  for (int k = 0; k <= b.in[threadIdx.x / 32]; ++k) {
    b.out[threadIdx.x] += k;
    __syncthreads();  // here, first, second
  }
  b.out[threadIdx.x] += 1;
  __syncthreads();  // second
  b.out[threadIdx.x] += 1;
}

// expect: clean
extern "C" __global__ void loops_of_one_length(Buffers b) {
  for (int k = 0; k <= b.in[3]; ++k) {
    b.out[threadIdx.x] += k;
    __syncthreads();
  }
}

__device__ void sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");  // here, first, second
}

// expect: barrier divergence
extern "C" __global__ void different_counts(Buffers b) {
  if (threadIdx.x < 32) {
    sync(1, 64);  // here, first
  } else {
    sync(1, 32);  // second
  }
  b.out[threadIdx.x] = 1;
}

// expect: clean
extern "C" __global__ void one_count(Buffers b) {
  if (threadIdx.x < 32) {
    sync(1, 64);
  } else {
    sync(1, 64);
  }
  b.out[threadIdx.x] = 1;
}

// expect: barrier divergence
extern "C" __global__ void too_many_expected(Buffers b) {
  sync(1, 96);  // here
  b.out[threadIdx.x] = 1;
}

// Threads that have returned need not come; others must, and here wait elsewhere.

// expect: wrong warp mask
// launch: 1 x 32
extern "C" __global__ void shuffle_with_lanes_away(Buffers b) {
  if (threadIdx.x < 16) b.out[threadIdx.x] = __shfl_down_sync(~0u, b.in[threadIdx.x], 1);  // here, first
  __syncthreads();                                                                         // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void shuffle_of_those_present(Buffers b) {
  if (threadIdx.x < 16) b.out[threadIdx.x] = __shfl_xor_sync(0xffffu, b.in[threadIdx.x], 1);
}

// expect: wrong warp mask
// launch: 1 x 32
// says: thread (16,0,0)
// says: with mask 0x0000ffff, which does not name it
extern "C" __global__ void caller_not_in_the_mask(Buffers b) {
  b.out[threadIdx.x] = __shfl_sync(0xffffu, b.in[threadIdx.x], 0);  // here
}

// expect: wrong warp mask
// launch: 1 x 32
extern "C" __global__ void vote_with_lanes_away(Buffers b) {
  if (threadIdx.x < 20) b.out[threadIdx.x] = __any_sync(~0u, b.in[threadIdx.x] > 18);  // here, first
  __syncthreads();                                                                     // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void vote_of_those_present(Buffers b) {
  const unsigned mask = __ballot_sync(~0u, threadIdx.x < 20);
  if (threadIdx.x < 20) b.out[threadIdx.x] = __any_sync(mask, b.in[threadIdx.x] > 18);
}

// expect: wrong warp mask
// launch: 1 x 32
extern "C" __global__ void syncwarp_with_lanes_away(Buffers b) {
  if (threadIdx.x < 16) {
    b.out[threadIdx.x] = 1;
    __syncwarp();  // here, first
    b.out[16 + threadIdx.x] = b.out[threadIdx.x ^ 1];
  }
  __syncthreads();  // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void syncwarp_of_those_present(Buffers b) {
  if (threadIdx.x < 16) {
    b.out[threadIdx.x] = 1;
    __syncwarp(0xffffu);
    b.out[16 + threadIdx.x] = b.out[threadIdx.x ^ 1];
  }
}

// expect: wrong warp mask
// launch: 1 x 32
extern "C" __global__ void match_with_lanes_away(Buffers b) {
  if (threadIdx.x >= 8)
    b.out[threadIdx.x] = static_cast<int>(__match_any_sync(~0u, b.in[threadIdx.x] / 4));  // here, first
  __syncthreads();                                                                        // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void match_of_those_present(Buffers b) {
  if (threadIdx.x >= 8) b.out[threadIdx.x] = static_cast<int>(__match_any_sync(~0xffu, b.in[threadIdx.x] / 4));
}

// expect: wrong warp mask
// launch: 1 x 32
extern "C" __global__ void reduce_with_lanes_away(Buffers b) {
  if (threadIdx.x >= 8) b.out[threadIdx.x] = __reduce_add_sync(~0u, b.in[threadIdx.x]);  // here, first
  __syncthreads();                                                                       // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void reduce_of_those_present(Buffers b) {
  if (threadIdx.x >= 8) b.out[threadIdx.x] = __reduce_add_sync(~0xffu, b.in[threadIdx.x]);
}

// A reduction within a warp whose upper half skips the barrier and goes on.
// expect: wrong warp mask
// launch: 1 x 32
// says: only some of the threads named in the mask reach this bar.warp.sync
extern "C" __global__ void syncwarp_in_a_shrinking_branch(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = b.in[t];
  __syncwarp();
#pragma unroll 1
  for (int half = b.in[16]; half > 0; half /= 2) {
    if (t < half) {
      s[t] += s[t + half];
      __syncwarp();  // here
    }
  }
  if (t == 0) b.out[0] = s[0];
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void syncwarp_beside_a_shrinking_branch(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = b.in[t];
  __syncwarp();
#pragma unroll 1
  for (int half = b.in[16]; half > 0; half /= 2) {
    int v = 0;
    if (t < half) v = s[t + half];
    __syncwarp();
    if (t < half) s[t] += v;
    __syncwarp();
  }
  if (t == 0) b.out[0] = s[0];
}

// The same with shuffles: the lanes that they read from have gone.
// expect: wrong warp mask | undefined shuffle
// launch: 1 x 32
// says: only some of the threads named in the mask reach this shfl.sync.down.b32
extern "C" __global__ void shuffle_in_a_shrinking_branch(Buffers b) {
  const int t = threadIdx.x;
  int v = b.in[t];
#pragma unroll 1
  for (int half = b.in[16]; half > 0; half /= 2) {
    if (t < half) v += __shfl_down_sync(~0u, v, half);  // here, second
  }
  if (t == 0) b.out[0] = v;  // first
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void shuffle_for_all_in_a_loop(Buffers b) {
  const int t = threadIdx.x;
  int v = b.in[t];
#pragma unroll 1
  for (int half = b.in[16]; half > 0; half /= 2) v += __shfl_down_sync(~0u, v, half);
  if (t == 0) b.out[0] = v;
}

// Lanes leave a loop of barriers at different times.
// expect: wrong warp mask
// launch: 1 x 32
extern "C" __global__ void syncwarp_in_loops_of_different_length(Buffers b) {
  const int t = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < b.in[t % 4]; ++k) {
    b.out[t] += k;
    __syncwarp();  // here
  }
  b.out[32 + t] = b.out[t];
}

// Each branch has its own __syncwarp(), whose mask names all lanes: the guide allows that.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void syncwarp_in_both_branches(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t < 16) {
    s[t] = b.in[t];
    __syncwarp();
    b.out[t] = s[t + 16];
  } else {
    s[t] = b.in[t] * 2;
    __syncwarp();
    b.out[t] = s[t - 16];
  }
}

// One branch ends with its own __syncwarp(), and then returns.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void syncwarp_before_a_return(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = b.in[t];
  if (t < 16) {
    __syncwarp();
    b.out[t] = s[t + 16];
    return;
  }
  b.out[32 + t] = s[t];
  __syncwarp();
  b.out[t] = s[t - 16];
}

// Lanes that have returned need not come.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void syncwarp_after_some_have_returned(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t >= 20) return;
  s[t] = b.in[t];
  __syncwarp();
  if (t < 10) b.out[t] = s[t + 10];
}
