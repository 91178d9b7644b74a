// Values that a shuffle reads from lanes that take no part in it: used, and not used.
#include "checker_pairs.h"

__device__ int sum_of_half(int v) {
  for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);
  return v;
}

// The upper lanes of the half read from lanes outside it, and no thread uses their sums.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void tree_of_half_a_warp(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    const int v = sum_of_half(b.in[t]);
    if (t == 0) b.out[0] = v;
  }
}

// expect: undefined shuffle
// launch: 1 x 32
// says: the kernel uses a value that a shuffle read from lane 16, which takes no part in it
extern "C" __global__ void tree_of_half_a_warp_stored_by_all(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    int v = b.in[t];
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);  // second
    b.out[t] = v;                                                         // first
  }
}

// A tree over more lanes than take part: even lane 0's result is wrong.
// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void tree_one_step_too_high(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    int v = b.in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);  // second
    if (t == 0) b.out[0] = v;                                              // first
  }
}

// expect: undefined shuffle
// launch: 1 x 32
// says: from lane 16, which has returned
extern "C" __global__ void shuffle_when_others_have_returned(Buffers b) {
  if (threadIdx.x >= 16) return;
  b.out[threadIdx.x] = __shfl_down_sync(~0u, b.in[threadIdx.x], 1);  // first, second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void others_have_returned_and_are_not_wanted(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 16) return;
  const int other = __shfl_down_sync(~0u, b.in[t], 1);
  b.out[t] = t < 15 ? other : 0;
}

// A sum of 20 elements: the threads without an element return before the tree.
// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void lanes_gone_before_a_tree(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 20) return;
  int v = b.in[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);  // second
  if (t == 0) b.out[0] = v;                                          // first
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void lanes_stay_with_the_neutral_element(Buffers b) {
  const int t = threadIdx.x;
  int v = t < 20 ? b.in[t] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (t == 0) b.out[0] = v;
}

// The last warp of a block of 48 threads has 16.
// expect: undefined shuffle
// launch: 1 x 48
// says: which the block of 48 threads does not have
extern "C" __global__ void tree_in_a_partial_warp(Buffers b) {
  const int t = threadIdx.x;
  int v = b.in[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);  // second
  if (t % 32 == 0) b.out[t / 32] = v;                                // first
}

// expect: clean
// launch: 1 x 48
extern "C" __global__ void guarded_tree_in_a_partial_warp(Buffers b) {
  const int t = threadIdx.x, lane = t % 32, active = min(32, 48 - t / 32 * 32);
  int v = b.in[t];
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_down_sync(~0u, v, d);
    v += lane + d < active ? other : 0;
  }
  if (lane == 0) b.out[t / 32] = v;
}

// The condition is a factor, 0 or 1.
// expect: clean
// launch: 1 x 48
extern "C" __global__ void guarded_by_a_factor(Buffers b) {
  const int t = threadIdx.x, lane = t % 32, active = min(32, 48 - t / 32 * 32);
  int v = b.in[t];
  for (int d = 16; d > 0; d /= 2) {
    int there;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.s32 %0, 1, 0, p; }"
                 : "=r"(there)
                 : "r"(lane + d), "r"(active));
    v += there * __shfl_down_sync(~0u, v, d);
  }
  if (lane == 0) b.out[t / 32] = v;
}

// Segments of 16: no lane reads past its own.
// expect: clean
// launch: 1 x 48
extern "C" __global__ void trees_of_width_16(Buffers b) {
  const int t = threadIdx.x;
  int v = b.in[t];
  for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d, 16);
  b.out[t] = v;
}

// expect: undefined shuffle
// launch: 1 x 40
extern "C" __global__ void tree_of_width_16_with_8_lanes(Buffers b) {
  const int t = threadIdx.x;
  int v = b.in[t];
  for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d, 16);  // second
  if (t % 16 == 0) b.out[t] = v;                                        // first
}

// A lane without a left neighbour at that distance keeps its own value, in or out of the shuffle.
// expect: clean
// launch: 1 x 48
extern "C" __global__ void scan_up(Buffers b) {
  const int t = threadIdx.x, lane = t % 32;
  int v = b.in[t];
  for (int d = 1; d < 32; d *= 2) {
    const int left = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += left;
  }
  b.out[t] = v;
}

// The lower lanes don't take part, but the scan of the upper ones needs their values.
// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void scan_up_without_the_lower_lanes(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 8) {
    int v = b.in[t];
    for (int d = 1; d < 32; d *= 2) {
      const int left = __shfl_up_sync(0xffffff00u, v, d);  // second
      if (t >= d) v += left;
    }
    b.out[t] = v;  // first
  }
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void scan_up_from_lane_8_on(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 8) {
    int v = b.in[t];
    for (int d = 1; d < 32; d *= 2) {
      const int left = __shfl_up_sync(0xffffff00u, v, d);
      if (t - 8 >= d) v += left;
    }
    b.out[t] = v;
  }
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void butterfly_of_half_a_warp(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 16) {
    int v = b.in[t];
    for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(0xffff0000u, v, d);
    b.out[t] = v;
  }
}

// expect: undefined shuffle
// launch: 1 x 32
// says: which takes no part in it
extern "C" __global__ void butterfly_across_the_mask(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 16) {
    int v = b.in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffff0000u, v, d);  // second
    b.out[t] = v;                                                             // first
  }
}

// A mask of the lanes that have an element; all read from the first of them.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void mask_by_ballot(Buffers b) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, b.in[t] % 3 == 0);
  if (b.in[t] % 3 == 0) b.out[t] = __shfl_sync(mask, b.in[t], __ffs(static_cast<int>(mask)) - 1);
}

// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void mask_by_ballot_read_from_lane_1(Buffers b) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, b.in[t] % 3 == 0);
  if (b.in[t] % 3 == 0) b.out[t] = __shfl_sync(mask, b.in[t], 1);  // first, second
}

// Groups that run at the same time, each with its own mask: lanes of the other one take no part.
// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void mask_of_the_own_half_only(Buffers b) {
  const int t = threadIdx.x;
  const unsigned mask = t < 16 ? 0xffffu : 0xffff0000u;
  b.out[t] = __shfl_down_sync(mask, b.in[t], 1);  // first, second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void mask_and_width_of_the_own_half(Buffers b) {
  const int t = threadIdx.x;
  const unsigned mask = t < 16 ? 0xffffu : 0xffff0000u;
  b.out[t] = __shfl_down_sync(mask, b.in[t], 1, 16);
}

// Warps' sums go through shared memory; the last warp is half full.
// expect: undefined shuffle
// launch: 1 x 48
extern "C" __global__ void sums_of_warps_through_shared_memory(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t < 32) s[t] = 0;
  __syncthreads();
  int v = b.in[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);  // second
  if (t % 32 == 0) s[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = s[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (t == 0) b.out[0] = v;  // first
  }
}

// All lanes store their values, and only lane 0's is read; then the words are reused.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void garbage_in_shared_memory(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t < 16) s[t] = sum_of_half(b.in[t]);
  __syncthreads();
  b.out[t] = s[0];
  __syncthreads();
  s[t] = b.in[t];
  __syncthreads();
  b.out[32 + t] = s[31 - t];
}

// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void garbage_in_shared_memory_read(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  int v = b.in[t];
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);  // second
    s[t] = v;
  }
  __syncthreads();
  b.out[t] = s[31 - t];  // first
}

// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void garbage_added_to_shared_memory(Buffers b) {
  __shared__ int s;
  const int t = threadIdx.x;
  if (t == 0) s = 0;
  __syncthreads();
  if (t < 16) atomicAdd(&s, __shfl_down_sync(0xffffu, b.in[t], 1));  // second
  __syncthreads();
  if (t == 0) b.out[0] = s;  // first
}

// A shuffle of a double is two shuffles, one of each 32-bit half, whose results are packed again.
// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void tree_of_doubles_with_lanes_gone(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 20) return;
  double v = b.in[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);  // second
  if (t == 0) b.out[0] = static_cast<int>(v);                        // first
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void tree_of_doubles_of_half_a_warp(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    double v = b.in[t];
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);
    if (t == 0) b.out[0] = static_cast<int>(v);
  }
}

// Two words in one: the half that is used is the lane's own.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void key_and_garbage_in_one_word(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    const unsigned other = static_cast<unsigned>(__shfl_down_sync(0xffffu, b.in[t], 8));
    unsigned long long both = static_cast<unsigned long long>(other) << 32 | static_cast<unsigned>(t);
    asm volatile("" : "+l"(both));
    b.out[t] = static_cast<int>(both);
    if (t < 8) b.out[32 + t] = static_cast<int>(both >> 32);
  }
}

__device__ __noinline__ int larger(int a, int c) { return a > c ? a : c; }

// Through a function that is not inlined.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void maximum_by_a_function(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    int v = b.in[t];
    for (int d = 8; d > 0; d /= 2) v = larger(v, __shfl_down_sync(0xffffu, v, d));
    if (t == 0) b.out[0] = v;
  }
}

// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void maximum_by_a_function_of_those_gone(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 20) return;
  int v = b.in[t];
  for (int d = 16; d > 0; d /= 2) v = larger(v, __shfl_down_sync(~0u, v, d));  // second
  if (t == 0) b.out[0] = v;                                                    // first
}

// The place of the greatest element, with a branch that the compiler keeps.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void place_of_the_greatest_by_branches(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    int v = b.in[t], at = t;
#pragma unroll 1
    for (int d = 8; d > 0; d /= 2) {
      const int other = __shfl_down_sync(0xffffu, v, d), other_at = __shfl_down_sync(0xffffu, at, d);
      if (other > v || (other == v && other_at < at)) {
        v = other;
        at = other_at;
        asm volatile("" : "+r"(v));
      }
    }
    if (t == 0) b.out[0] = at;
  }
}

// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void place_of_the_greatest_of_those_gone(Buffers b) {
  const int t = threadIdx.x;
  if (t >= 20) return;
  int v = b.in[t], at = t;
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_down_sync(~0u, v, d), other_at = __shfl_down_sync(~0u, at, d);  // second
    if (other > v || (other == v && other_at < at)) {
      v = other;
      at = other_at;
      asm volatile("" : "+r"(v));
    }
  }
  if (t == 0) b.out[0] = at;  // first
}

// A garbage value decides which lanes store.
// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void store_by_condition(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    const int other = __shfl_down_sync(0xffffu, b.in[t], 1);  // second
    if (other > 7) b.out[t] = 1;                              // first
  }
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void store_by_condition_of_those_there(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    const int other = __shfl_down_sync(0xffffu, b.in[t], 1);
    if (t < 15 && other > 7) b.out[t] = 1;
  }
}

// The condition that hides the garbage is tested after the condition on the garbage.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void store_by_two_conditions(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    int other = __shfl_down_sync(0xffffu, b.in[t], 1);
    bool greater = other > 7;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 7; @!p bra DONE; mov.b32 %0, %0; DONE: }"
                 : "+r"(other)
                 : "r"(other));
    if (greater && t < 15) b.out[t] = 1;
  }
}

// expect: undefined shuffle
// launch: 1 x 32
extern "C" __global__ void address_by_garbage(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    const int other = __shfl_down_sync(0xffffu, b.in[t], 1);  // second
    b.out[32 + t] = b.in[other & 31];                         // first
  }
}

// Votes on garbage values are not reported.
// expect: clean
// launch: 1 x 32
extern "C" __global__ void vote_on_garbage(Buffers b) {
  const int t = threadIdx.x;
  if (t < 16) {
    const int other = __shfl_down_sync(0xffffu, b.in[t], 1);
    const unsigned mask = __ballot_sync(0xffffu, other > 7);
    if (t == 0) b.out[0] = static_cast<int>(mask & 0x7fffu);
  }
}
