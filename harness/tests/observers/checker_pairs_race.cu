// Races on shared memory, each next to a right version.
#include "checker_pairs.h"

// Between warps.

// expect: race, shared
extern "C" __global__ void everyone_stores(Buffers b) {
  __shared__ int s;
  s = b.in[threadIdx.x];  // first, second
  __syncthreads();
  b.out[threadIdx.x] = s;
}

// expect: clean
extern "C" __global__ void one_stores(Buffers b) {
  __shared__ int s;
  if (threadIdx.x == 0) s = b.in[threadIdx.x];
  __syncthreads();
  b.out[threadIdx.x] = s;
}

// expect: clean
extern "C" __global__ void everyone_stores_the_same(Buffers b) {
  __shared__ int s;
  s = b.in[7];
  __syncthreads();
  b.out[threadIdx.x] = s;
}

// Some threads read what has been written, others what has not.
// expect: race, shared | uninitialised read, shared
// says: read after write
// says: between the write and the read
extern "C" __global__ void read_after_write(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = b.in[threadIdx.x];        // first
  b.out[threadIdx.x] = s[threadIdx.x ^ 32];  // here, second
}

// expect: clean
extern "C" __global__ void read_after_write_and_barrier(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  b.out[threadIdx.x] = s[threadIdx.x ^ 32];
}

// expect: race, shared
// says: write after read
// says: between the read and the write
extern "C" __global__ void write_after_read(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  const int x = s[threadIdx.x ^ 32];  // first
  s[threadIdx.x] = x + 1;             // second
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: clean
extern "C" __global__ void write_after_read_and_barrier(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  const int x = s[threadIdx.x ^ 32];
  __syncthreads();
  s[threadIdx.x] = x + 1;
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: race, shared
// says: write after read
extern "C" __global__ void one_buffer_one_barrier(Buffers b) {
  __shared__ int s[64];
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[threadIdx.x] = b.in[64 * k + threadIdx.x];  // second
    __syncthreads();
    sum += s[63 - threadIdx.x];  // first
  }
  b.out[threadIdx.x] = sum;
}

// expect: clean
extern "C" __global__ void two_buffers_one_barrier(Buffers b) {
  __shared__ int s[2][64];
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[k & 1][threadIdx.x] = b.in[64 * k + threadIdx.x];
    __syncthreads();
    sum += s[k & 1][63 - threadIdx.x];
  }
  b.out[threadIdx.x] = sum;
}

// expect: race, shared
// launch: 1 x 256
// says: end the loop's body with __syncthreads()
extern "C" __global__ void tree_without_its_barrier(Buffers b) {
  __shared__ int s[256];
  s[threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  for (int d = 128; d >= 64; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  // first, second
  }
  __syncthreads();
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: clean
// launch: 1 x 256
extern "C" __global__ void tree_with_its_barrier(Buffers b) {
  __shared__ int s[256];
  s[threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  for (int d = 128; d >= 64; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  b.out[threadIdx.x] = s[threadIdx.x];
}

// A barrier of a warp where one of the block belongs.

// expect: race, shared
// says: orders only the threads of one: use __syncthreads()
extern "C" __global__ void warp_barrier_in_a_round(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    s[threadIdx.x] = b.in[64 * k + threadIdx.x];  // second
    __syncwarp();
    b.out[64 * k + threadIdx.x] = s[63 - threadIdx.x];  // first
    __syncthreads();
  }
}

// expect: race, shared
// says: orders only the threads of one: use __syncthreads()
extern "C" __global__ void warp_barrier_between_rounds(Buffers b) {
  __shared__ int s[64];
  for (int k = 0; k < 4; ++k) {
    s[threadIdx.x] = b.in[64 * k + threadIdx.x];  // first
    __syncthreads();
    b.out[64 * k + threadIdx.x] = s[63 - threadIdx.x];  // second
    __syncwarp();
  }
}

// expect: race, shared
// says: decide by the value that the atomic operation returns
extern "C" __global__ void least_by_a_plain_read(Buffers b) {
  __shared__ int s_least;
  if (threadIdx.x == 0) s_least = 1000;
  __syncthreads();
  const int seen = s_least;                                                    // first
  if (b.in[threadIdx.x] < seen) atomicCAS(&s_least, seen, b.in[threadIdx.x]);  // second
  __syncthreads();
  b.out[threadIdx.x] = s_least;
}

// Within a warp.

// expect: race, shared
// launch: 1 x 32
extern "C" __global__ void neighbours_without_syncwarp(Buffers b) {
  __shared__ int s[32];
  s[threadIdx.x] = b.in[threadIdx.x];       // first
  b.out[threadIdx.x] = s[threadIdx.x ^ 1];  // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void neighbours_with_syncwarp(Buffers b) {
  __shared__ int s[32];
  s[threadIdx.x] = b.in[threadIdx.x];
  __syncwarp();
  b.out[threadIdx.x] = s[threadIdx.x ^ 1];
}

// expect: race, shared
// launch: 1 x 32
extern "C" __global__ void syncwarp_of_the_wrong_half(Buffers b) {
  __shared__ int s[32];
  s[threadIdx.x] = b.in[threadIdx.x];  // first
  __syncwarp(threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u);
  b.out[threadIdx.x] = s[threadIdx.x ^ 16];  // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void syncwarp_of_the_right_half(Buffers b) {
  __shared__ int s[32];
  s[threadIdx.x] = b.in[threadIdx.x];
  __syncwarp(threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u);
  b.out[threadIdx.x] = s[threadIdx.x ^ 8];
}

// expect: race, shared
// launch: 1 x 32
// says: volatile does not make them: put __syncwarp() between the read and the write
extern "C" __global__ void volatile_last_warp(Buffers b) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = b.in[threadIdx.x];
  s[threadIdx.x + 32] = b.in[threadIdx.x + 32];
  __syncwarp();
  s[threadIdx.x] += s[threadIdx.x + 16];  // first, second
  s[threadIdx.x] += s[threadIdx.x + 8];   // first, second
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void last_warp_with_syncwarp(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = b.in[threadIdx.x];
  s[threadIdx.x + 32] = b.in[threadIdx.x + 32];
  int sum = s[threadIdx.x];
  for (int d = 16; d > 4; d /= 2) {
    __syncwarp();
    sum += s[threadIdx.x + d];
    __syncwarp();
    s[threadIdx.x] = sum;
  }
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: race, shared
// launch: 1 x 32
// says: any one of them may win
extern "C" __global__ void one_instruction_two_values(Buffers b) {
  __shared__ int s[16];
  s[threadIdx.x / 2] = b.in[threadIdx.x];  // first, second
  __syncwarp();
  b.out[threadIdx.x] = s[threadIdx.x / 2];
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void one_instruction_one_value(Buffers b) {
  __shared__ int s[16];
  s[threadIdx.x / 2] = b.in[threadIdx.x / 2];
  __syncwarp();
  b.out[threadIdx.x] = s[threadIdx.x / 2];
}

// One instruction in several turns of a loop.

// expect: clean
// launch: 1 x 32
extern "C" __global__ void turns_store_one_value(Buffers b) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncwarp();
#pragma unroll 1
  for (int k = 0; k < b.in[8]; ++k) {
    if (threadIdx.x == b.in[k]) s = 1;
  }
  __syncwarp();
  b.out[threadIdx.x] = s;
}

// expect: race, shared
// launch: 1 x 32
// says: write after write
extern "C" __global__ void turns_store_different_values(Buffers b) {
  __shared__ int s[32];
#pragma unroll 1
  for (int k = 5; k < b.in[7]; ++k) {
    s[threadIdx.x ^ b.in[k]] = threadIdx.x;  // first, second
  }
  __syncwarp();
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: race, shared
// launch: 1 x 32
extern "C" __global__ void shuffle_for_a_barrier(Buffers b) {
  __shared__ int s[32];
  s[threadIdx.x] = b.in[threadIdx.x];  // first
  const int x = __shfl_xor_sync(~0u, b.in[threadIdx.x], 1);
  b.out[threadIdx.x] = s[threadIdx.x ^ 1] + x;  // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void shuffle_for_the_value(Buffers b) {
  __shared__ int s[32];
  s[threadIdx.x] = b.in[threadIdx.x];
  const int x = __shfl_xor_sync(~0u, s[threadIdx.x], 1);
  b.out[threadIdx.x] = x;
}

// expect: race, shared
// launch: 1 x 32
extern "C" __global__ void vote_for_a_barrier(Buffers b) {
  __shared__ int s[32];
  s[threadIdx.x] = b.in[threadIdx.x];  // first
  const unsigned votes = __ballot_sync(~0u, b.in[threadIdx.x] & 1);
  b.out[threadIdx.x] = s[threadIdx.x ^ 1] + static_cast<int>(votes);  // second
}

// Atomics.

// expect: race, shared
// says: read after atomic
// says: make both atomic
extern "C" __global__ void atomic_and_plain_read(Buffers b) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, b.in[threadIdx.x]);  // first
  b.out[threadIdx.x] = s;            // second
}

// expect: clean
extern "C" __global__ void atomic_barrier_plain_read(Buffers b) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, b.in[threadIdx.x]);
  __syncthreads();
  b.out[threadIdx.x] = s;
}

// expect: race, shared | uninitialised read, shared
extern "C" __global__ void atomic_before_the_counter_is_set(Buffers b) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;       // first
  atomicAdd(&s, b.in[threadIdx.x]);  // here, second
  __syncthreads();
  b.out[threadIdx.x] = s;
}

// Relaxed loads and stores within a warp.

__device__ int load_relaxed(const int* word) {
  int value;
  asm volatile("ld.relaxed.cta.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");  // second
  return value;
}
__device__ void store_relaxed(int* word, int value) {
  asm volatile("st.relaxed.cta.b32 [%0], %1;" ::"l"(word), "r"(value) : "memory");  // first
}

// expect: race, shared
// launch: 1 x 32
// says: need not run in lockstep
extern "C" __global__ void relaxed_last_warp(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = b.in[t];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) store_relaxed(&s[t], load_relaxed(&s[t]) + load_relaxed(&s[t + d]));
  }
  if (t == 0) b.out[0] = s[0];
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void relaxed_last_warp_and_syncwarp(Buffers b) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = b.in[t];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) store_relaxed(&s[t], load_relaxed(&s[t]) + load_relaxed(&s[t + d]));
    __syncwarp();
  }
  if (t == 0) b.out[0] = s[0];
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void lanes_poll_a_relaxed_flag(Buffers b) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncwarp();
  if (threadIdx.x == 31) {
    store_relaxed(&flag, 1);
  } else {
    while (load_relaxed(&flag) == 0) {
    }
  }
  b.out[threadIdx.x] = 1;
}

// expect: clean
// launch: 1 x 64
extern "C" __global__ void warps_tell_by_relaxed_words(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = 0;
  __syncthreads();
  store_relaxed(&s[threadIdx.x], 1);
  int seen = 0;
  while ((seen = load_relaxed(&s[threadIdx.x ^ 32])) == 0) {
  }
  b.out[threadIdx.x] = seen;
}

// Barriers with numbers and counts.

__device__ void sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void arrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// expect: race, shared
// launch: 1 x 96
extern "C" __global__ void third_warp_stays_away(Buffers b) {
  __shared__ int s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = b.in[threadIdx.x];  // first
  if (threadIdx.x < 64) sync(1, 64);
  b.out[threadIdx.x] = threadIdx.x < 32 ? 0 : s[threadIdx.x & 31];  // second
}

// expect: clean
// launch: 1 x 96
extern "C" __global__ void two_warps_meet(Buffers b) {
  __shared__ int s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = b.in[threadIdx.x];
  if (threadIdx.x < 64) {
    sync(1, 64);
    b.out[threadIdx.x] = s[threadIdx.x & 31];
  }
}

// expect: clean
extern "C" __global__ void producer_arrives(Buffers b) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = b.in[threadIdx.x];
    arrive(1, 64);
  } else {
    sync(1, 64);
    b.out[threadIdx.x] = s[threadIdx.x - 32];
  }
}

// expect: race, shared | uninitialised read, shared
extern "C" __global__ void consumer_only_arrives(Buffers b) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = b.in[threadIdx.x];  // first
    sync(1, 64);
  } else {
    arrive(1, 64);
    b.out[threadIdx.x] = s[threadIdx.x - 32];  // here, second
  }
}

// Bytes.

// expect: clean
extern "C" __global__ void neighbouring_bytes(Buffers b) {
  __shared__ unsigned char s[64];
  s[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  s[threadIdx.x] += 1;
  __syncthreads();
  b.out[threadIdx.x] = s[63 - threadIdx.x];
}

// expect: race, shared
extern "C" __global__ void overlapping_bytes(Buffers b) {
  __shared__ __align__(4) unsigned char s[68];
  s[threadIdx.x] = static_cast<unsigned char>(b.in[threadIdx.x]);           // first
  b.out[threadIdx.x] = reinterpret_cast<const short*>(s)[threadIdx.x / 2];  // second
}
