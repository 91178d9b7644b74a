// Look-back: each block waits for the previous block's result. Which fences that needs on both sides, and when a flag
// and value in one word need none. Each kernel without a fence is next to one with it.
#include "checker_pairs.h"

// One thread per block: waits for the flag of the block before, reads that block's value, and leaves a sum with it.
template <typename Read, typename Leave>
__device__ void LookBack(Buffers b, Read read, Leave leave) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    before = read(blockIdx.x - 1);
  }
  leave(before + b.in[blockIdx.x], flags[blockIdx.x]);
}

// expect: race, global
// launch: 4 x 32
// says: __threadfence()
extern "C" __global__ void flag_before_the_data(Buffers b) {
  volatile int* data = b.out;
  LookBack(
      b,
      [&](unsigned k) {
        __threadfence();
        return data[k];  // first, second
      },
      [&](int value, volatile unsigned& flag) {
        flag = 1;
        __threadfence();
        data[blockIdx.x] = value;  // first, second
      });
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void flag_between_the_data_and_its_fence(Buffers b) {
  LookBack(
      b,
      [&](unsigned k) {
        __threadfence();
        return b.out[k];  // second
      },
      [&](int value, volatile unsigned& flag) {
        b.out[blockIdx.x] = value;  // first
        flag = 1;
        __threadfence();
      });
}

// expect: race, global
// launch: 4 x 32
// says: put __threadfence() between the two
extern "C" __global__ void reader_without_a_fence(Buffers b) {
  LookBack(
      b,
      [&](unsigned k) {
        return b.out[k];  // second
      },
      [&](int value, volatile unsigned& flag) {
        b.out[blockIdx.x] = value;  // first
        __threadfence();
        flag = 1;
      });
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void volatile_reader_without_a_fence(Buffers b) {
  volatile int* data = b.out;
  LookBack(
      b,
      [&](unsigned k) {
        return data[k];  // second
      },
      [&](int value, volatile unsigned& flag) {
        data[blockIdx.x] = value;  // first
        __threadfence();
        flag = 1;
      });
}

// expect: race, global
// launch: 4 x 32
// says: covers only one block
extern "C" __global__ void reader_with_a_fence_of_the_block(Buffers b) {
  LookBack(
      b,
      [&](unsigned k) {
        __threadfence_block();
        return b.out[k];  // second
      },
      [&](int value, volatile unsigned& flag) {
        b.out[blockIdx.x] = value;  // first
        __threadfence();
        flag = 1;
      });
}

// The thread that has waited informs its block by a barrier.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void reader_with_a_barrier(Buffers b) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) __nanosleep(20);
  }
  __syncthreads();
  const int before = blockIdx.x > 0 ? b.out[(blockIdx.x - 1) * 64 + threadIdx.x] : 0;
  b.out[blockIdx.x * 64 + threadIdx.x] = before + b.in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}

// Block 2 waits for block 0's flag, but reads block 1's data.
// expect: race, global
// launch: 4 x 32
extern "C" __global__ void flag_of_another_block(Buffers b) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 2) {
    while (flags[0] == 0) {
    }
    __threadfence();
    b.out[512] = b.out[1];  // first, second
    return;
  }
  b.out[blockIdx.x] = b.in[blockIdx.x];  // first, second
  __threadfence();
  flags[blockIdx.x] = 1;
}

// The data is volatile, but no thread waits for it.
// expect: race, global
// launch: 4 x 32
extern "C" __global__ void volatile_without_waiting(Buffers b) {
  volatile int* data = b.out;
  data[blockIdx.x * 32 + threadIdx.x] = b.in[threadIdx.x];                                       // first, second
  if (blockIdx.x > 0) b.out[512 + threadIdx.x] = data[(blockIdx.x - 1) * 32 + threadIdx.x] + 1;  // first, second
}

// expect: clean
// launch: 4 x 32
extern "C" __global__ void volatile_wish_to_stop(Buffers b) {
  volatile unsigned* stop = b.tickets;
  for (int k = 0; k < 8; ++k) {
    if (*stop != 0) return;
    if (b.in[k] == static_cast<int>(blockIdx.x)) *stop = 1;
  }
}

// Flag and value in one word, so both are read together. Earlier words are read until one holds a prefix.
// expect: clean
// launch: 6 x 32
extern "C" __global__ void flag_and_value_in_a_word(Buffers b) {
  volatile unsigned long long* words = reinterpret_cast<unsigned long long*>(b.tickets);
  constexpr unsigned long long kTotal = 1ull << 32, kPrefix = 2ull << 32;
  if (threadIdx.x != 0) return;
  const unsigned own = b.in[blockIdx.x];
  words[blockIdx.x] = (blockIdx.x == 0 ? kPrefix : kTotal) | own;
  if (blockIdx.x == 0) return;
  unsigned before = 0;
  for (int k = static_cast<int>(blockIdx.x) - 1; k >= 0;) {
    const unsigned long long word = words[k];
    if (word == 0) continue;
    before += static_cast<unsigned>(word);
    if (word >= kPrefix) break;
    --k;
  }
  words[blockIdx.x] = kPrefix | (before + own);
}

// The same by a warp, 32 words at a time.
// expect: clean
// launch: 40 x 32
extern "C" __global__ void flag_and_value_by_a_warp(Buffers b) {
  volatile unsigned long long* words = reinterpret_cast<unsigned long long*>(b.tickets);
  constexpr unsigned long long kTotal = 1ull << 32, kPrefix = 2ull << 32;
  const int lane = threadIdx.x, tile = blockIdx.x;
  const unsigned own = 3;
  if (lane == 0) words[tile] = (tile == 0 ? kPrefix : kTotal) | own;
  if (tile == 0) return;
  unsigned before = 0;
  for (int end = tile - 1;; end -= 32) {
    const int k = end - lane;
    unsigned long long word = k >= 0 ? words[k] : kPrefix;
    while (__any_sync(~0u, word == 0)) word = k >= 0 ? words[k] : kPrefix;
    const unsigned done = __ballot_sync(~0u, word >= kPrefix);
    unsigned sum = done == 0 || lane <= __ffs(done) - 1 ? static_cast<unsigned>(word) : 0;
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    before += __shfl_sync(~0u, sum, 0);
    if (done != 0) break;
  }
  if (lane == 0) {
    words[tile] = kPrefix | (before + own);
    b.out[tile] = static_cast<int>(before);
  }
}

// expect: clean
// launch: 6 x 32
extern "C" __global__ void flag_and_value_by_exchange(Buffers b) {
  unsigned long long* words = reinterpret_cast<unsigned long long*>(b.tickets);
  if (threadIdx.x != 0) return;
  unsigned long long before = 0;
  if (blockIdx.x > 0) {
    do {
      before = atomicAdd(&words[blockIdx.x - 1], 0ull);
    } while (before >> 32 == 0);
  }
  atomicExch(&words[blockIdx.x], 1ull << 32 | (static_cast<unsigned>(before) + b.in[blockIdx.x]));
}

// expect: clean
// launch: 4 x 32
extern "C" __global__ void flag_and_value_looked_at_before_the_loop(Buffers b) {
  volatile unsigned long long* words = reinterpret_cast<unsigned long long*>(b.tickets);
  if (threadIdx.x != 0) return;
  unsigned long long word = 0;
  if (blockIdx.x > 0) {
    word = words[blockIdx.x - 1];
    while (word == 0) {
      __nanosleep(20);
      word = words[blockIdx.x - 1];
    }
  }
  words[blockIdx.x] = word + (1ull << 32) + b.in[blockIdx.x];
}

// Status and value side by side, by one access of 16 bytes.
// expect: clean
// launch: 4 x 32
extern "C" __global__ void status_and_value_of_16_bytes(Buffers b) {
  ulonglong2* words = reinterpret_cast<ulonglong2*>(b.tickets);
  if (threadIdx.x != 0) return;
  unsigned long long status = 1, value = 0;
  while (blockIdx.x > 0) {
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(status), "=l"(value)
                 : "l"(&words[blockIdx.x - 1])
                 : "memory");
    if (status != 0) break;
  }
  value += b.in[blockIdx.x];
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(&words[blockIdx.x]), "l"(status), "l"(value)
               : "memory");
}

// Status and value side by side, by two stores: the wide load may see the status alone.
template <typename Between>
__device__ void StatusThenValue(Buffers b, Between between) {
  volatile unsigned long long* words = reinterpret_cast<volatile unsigned long long*>(b.tickets);
  if (threadIdx.x != 0) return;
  unsigned long long word = 0;
  while (blockIdx.x > 0 && (word & 1) == 0) word = words[blockIdx.x - 1];  // second
  volatile unsigned* halves = reinterpret_cast<volatile unsigned*>(words + blockIdx.x);
  halves[1] = static_cast<unsigned>(word >> 32) + 1;  // first
  between();
  halves[0] = 1;
}

// expect: race, global
// launch: 4 x 32
// says: put both parts into one value
extern "C" __global__ void status_and_value_by_two_stores(Buffers b) {
  StatusThenValue(b, [] {});
}

// expect: clean
// launch: 4 x 32
extern "C" __global__ void status_and_value_by_two_stores_with_a_fence(Buffers b) {
  StatusThenValue(b, [] { __threadfence(); });
}

// Adjacent synchronisation: tiles are drawn, and the flag is polled by atomics.
template <typename Fence>
__device__ void AdjacentTiles(Buffers b, Fence fence_behind_the_wait) {
  __shared__ int tile, previous;
  if (threadIdx.x == 0) tile = static_cast<int>(atomicAdd(&b.tickets[100], 1));
  __syncthreads();
  if (threadIdx.x == 0) {
    if (tile > 0) {
      while (atomicAdd(&b.tickets[tile], 0) == 0) {
      }
    }
    fence_behind_the_wait();
    previous = b.out[tile];            // second
    b.out[tile + 1] = previous + 100;  // first
    __threadfence();
    atomicAdd(&b.tickets[tile + 1], 1);
  }
  __syncthreads();
  b.out[512 + tile * 64 + threadIdx.x] = previous;
}

// The textbook's version, without a fence after the wait: the sum may then come from a cache.
// expect: race, global
// launch: 4 x 64
// says: put __threadfence() between the two
extern "C" __global__ void adjacent_without_the_second_fence(Buffers b) {
  AdjacentTiles(b, [] {});
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void adjacent_with_both_fences(Buffers b) {
  AdjacentTiles(b, [] { __threadfence(); });
}
