// Blocks that tell each other things by words in memory: which fences that takes, where, and of which scope. What is
// missing a fence stands beside what has it.
#include <cuda/atomic>
#include <cuda/barrier>

#include "checker_pairs.h"

// The last block to finish adds up what all have left, in the manner of the programming guide: the partial sums are
// volatile, one thread fences and draws a ticket, a barrier tells its block.

// expect: race, global
// launch: 4 x 64
// says: put __threadfence() before the atomic
extern "C" __global__ void guide_without_its_fence(Buffers b) {
  __shared__ bool last;
  volatile int* partial = b.out;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    last = atomicInc(b.tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];  // second
    b.out[512] = sum;
  }
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void guide_with_its_fence(Buffers b) {
  __shared__ bool last;
  volatile int* partial = b.out;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = b.in[blockIdx.x];
    __threadfence();
    last = atomicInc(b.tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];
    partial[0] = sum;
    b.tickets[0] = 0;
  }
}

// expect: race, global
// launch: 4 x 64
// says: write the data first, then __threadfence()
extern "C" __global__ void guide_with_its_fence_too_late(Buffers b) {
  __shared__ bool last;
  volatile int* partial = b.out;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    last = atomicInc(b.tickets, gridDim.x) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];  // second
    b.out[512] = sum;
  }
}

// expect: race, global
// launch: 4 x 64
extern "C" __global__ void guide_with_its_fence_too_early(Buffers b) {
  __shared__ bool last;
  volatile int* partial = b.out;
  if (threadIdx.x == 0) {
    __threadfence();
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    last = atomicInc(b.tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];  // second
    b.out[512] = sum;
  }
}

// expect: race, global
// launch: 4 x 64
// says: for its own block only
extern "C" __global__ void guide_with_a_fence_of_the_block(Buffers b) {
  __shared__ bool last;
  volatile int* partial = b.out;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    __threadfence_block();
    last = atomicInc(b.tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];  // second
    b.out[512] = sum;
  }
}

// Each thread leaves something. All of them fence, then one draws the ticket behind a barrier.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void last_block_with_a_fence_each(Buffers b) {
  __shared__ bool last;
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(b.tickets, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) b.out[512 + threadIdx.x] = b.out[threadIdx.x] + b.out[192 + threadIdx.x];
}

// One thread's fence is for what came before it: of other warps, what a barrier has put there.
// expect: race, global
// launch: 4 x 64
extern "C" __global__ void last_block_without_the_barrier(Buffers b) {
  __shared__ bool last;
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];  // first
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(b.tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) b.out[512 + threadIdx.x] = b.out[threadIdx.x] + b.out[192 + threadIdx.x];  // second
}

// The thread that draws the last ticket reads on alone, by volatile loads.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void last_thread_reads_volatile(Buffers b) {
  if (threadIdx.x != 0) return;
  volatile int* partial = b.out;
  partial[blockIdx.x] = b.in[blockIdx.x];
  __threadfence();
  if (atomicAdd(b.tickets, 1) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];
  b.out[512] = sum;
}

// expect: race, global
// launch: 4 x 64
// says: put __threadfence() between the two
extern "C" __global__ void last_thread_reads_plainly(Buffers b) {
  if (threadIdx.x != 0) return;
  b.out[blockIdx.x] = b.in[blockIdx.x];  // first
  __threadfence();
  if (atomicAdd(b.tickets, 1) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += b.out[k];  // second
  b.out[512] = sum;
}

// Atomics of the block's scope tell other blocks nothing.
// expect: race, global
// launch: 4 x 64
extern "C" __global__ void tickets_of_the_block(Buffers b) {
  if (threadIdx.x == 0) b.out[blockIdx.x] = atomicAdd_block(b.tickets, 1);  // first, second
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void tickets_of_each_block(Buffers b) { atomicAdd_block(&b.tickets[blockIdx.x], 1); }

// Look-back: each block waits for the one before.

// expect: race, global
// launch: 4 x 32
// says: __threadfence()
extern "C" __global__ void flag_before_the_data(Buffers b) {
  volatile unsigned* flags = b.tickets;
  volatile int* data = b.out;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = data[blockIdx.x - 1];  // first, second
  }
  flags[blockIdx.x] = 1;
  __threadfence();
  data[blockIdx.x] = before + b.in[blockIdx.x];  // first, second
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void flag_between_the_data_and_its_fence(Buffers b) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = b.out[blockIdx.x - 1];  // second
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];  // first
  flags[blockIdx.x] = 1;
  __threadfence();
}

// expect: race, global
// launch: 4 x 32
// says: put __threadfence() between the two
extern "C" __global__ void reader_without_a_fence(Buffers b) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    before = b.out[blockIdx.x - 1];  // second
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];  // first
  __threadfence();
  flags[blockIdx.x] = 1;
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void volatile_reader_without_a_fence(Buffers b) {
  volatile unsigned* flags = b.tickets;
  volatile int* data = b.out;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    before = data[blockIdx.x - 1];  // second
  }
  data[blockIdx.x] = before + b.in[blockIdx.x];  // first
  __threadfence();
  flags[blockIdx.x] = 1;
}

// expect: race, global
// launch: 4 x 32
// says: is for one block only
extern "C" __global__ void reader_with_a_fence_of_the_block(Buffers b) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    __threadfence_block();
    before = b.out[blockIdx.x - 1];  // second
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];  // first
  __threadfence();
  flags[blockIdx.x] = 1;
}

// The thread that has waited tells its block by a barrier.
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

// A fence for one flag, and the wait for another.
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

// volatile, and nothing that waits.
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

// Flag and value in one word: whoever has the flag has the value. The words before are read until one holds all.
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

// Adjacent synchronisation: the flag is polled by atomics. Its textbook has no fence behind the wait; the sum may then
// come from a cache.
// expect: race, global
// launch: 4 x 64
// says: put __threadfence() between the two
extern "C" __global__ void adjacent_without_the_second_fence(Buffers b) {
  __shared__ int tile, previous;
  if (threadIdx.x == 0) tile = static_cast<int>(atomicAdd(&b.tickets[100], 1));
  __syncthreads();
  if (threadIdx.x == 0) {
    if (tile > 0) {
      while (atomicAdd(&b.tickets[tile], 0) == 0) {
      }
    }
    previous = b.out[tile];            // second
    b.out[tile + 1] = previous + 100;  // first
    __threadfence();
    atomicAdd(&b.tickets[tile + 1], 1);
  }
  __syncthreads();
  b.out[512 + tile * 64 + threadIdx.x] = previous;
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void adjacent_with_both_fences(Buffers b) {
  __shared__ int tile, previous;
  if (threadIdx.x == 0) tile = static_cast<int>(atomicAdd(&b.tickets[100], 1));
  __syncthreads();
  if (threadIdx.x == 0) {
    if (tile > 0) {
      while (atomicAdd(&b.tickets[tile], 0) == 0) {
      }
    }
    __threadfence();
    previous = b.out[tile];
    b.out[tile + 1] = previous + 100;
    __threadfence();
    atomicAdd(&b.tickets[tile + 1], 1);
  }
  __syncthreads();
  b.out[512 + tile * 64 + threadIdx.x] = previous;
}

// A barrier of the grid without atomics: block 0 gathers what has arrived and lets all go.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void grid_barrier_by_flags(Buffers b) {
  volatile unsigned *arrived = b.tickets, *gone = b.tickets + 64;
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) arrived[blockIdx.x] = 1;
  if (blockIdx.x == 0) {
    if (threadIdx.x < gridDim.x) {
      while (arrived[threadIdx.x] != 1) {
      }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x < gridDim.x) gone[threadIdx.x] = 1;
  }
  if (threadIdx.x == 0) {
    while (gone[blockIdx.x] != 1) {
    }
    __threadfence();
  }
  __syncthreads();
  b.out[512 + blockIdx.x * 64 + threadIdx.x] = b.out[(3 - blockIdx.x) * 64 + threadIdx.x];
}

// A counter that all blocks add to, and wait for.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void grid_barrier_by_a_counter(Buffers b) {
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];
  for (unsigned round = 1; round <= 2; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(b.tickets, 1);
      while (*const_cast<volatile unsigned*>(b.tickets) < round * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
    b.out[256 * round + blockIdx.x * 64 + threadIdx.x] = b.out[256 * (round - 1) + (3 - blockIdx.x) * 64 + threadIdx.x];
  }
}

// Locks.

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void lock_without_the_fence_behind_it(Buffers b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b.tickets, 0, 1) != 0) {
  }
  b.out[0] += 1;  // first, second
  __threadfence();
  atomicExch(b.tickets, 0);
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void lock_without_the_fence_before_its_end(Buffers b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b.tickets, 0, 1) != 0) {
  }
  __threadfence();
  b.out[0] += 1;  // first, second
  atomicExch(b.tickets, 0);
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void lock_with_fences_of_the_block(Buffers b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b.tickets, 0, 1) != 0) {
  }
  __threadfence_block();
  b.out[0] += 1;  // first, second
  __threadfence_block();
  atomicExch(b.tickets, 0);
}

// expect: clean
// launch: 1 x 128
extern "C" __global__ void lock_in_a_block_with_fences_of_the_block(Buffers b) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(b.tickets, 0, 1) != 0) {
  }
  __threadfence_block();
  b.out[0] += 1;
  __threadfence_block();
  atomicExch(b.tickets, 0);
}

// expect: clean
// launch: 4 x 32
extern "C" __global__ void lock_opened_by_a_volatile_store(Buffers b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b.tickets, 0, 1) != 0) {
  }
  __threadfence();
  b.out[0] += 1;
  __threadfence();
  *const_cast<volatile unsigned*>(b.tickets) = 0;
}

// A queue of work that blocks draw from, and add to, until it is empty.
// expect: clean
// launch: 4 x 32
extern "C" __global__ void queue_of_work(Buffers b) {
  unsigned *head = b.tickets, *ready = b.tickets + 64;
  if (threadIdx.x != 0) return;
  for (;;) {
    const unsigned item = atomicAdd(head, 1);
    if (item >= 16) return;
    int value = 1;
    if (item > 0) {
      while (atomicAdd(&ready[item], 0) == 0) __nanosleep(50);
      __threadfence();
      value = b.out[item];
    }
    b.out[item + 1] = value + 1;
    __threadfence();
    atomicExch(&ready[item + 1], 1);
  }
}

// The reader sets the flag back by a plain store, which comes after the store that it has read.
// expect: clean
// launch: 2 x 32
extern "C" __global__ void flag_set_back_by_its_reader(Buffers b) {
  volatile unsigned* flag = b.tickets;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    b.out[0] = 5;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    b.out[1] = b.out[0];
    b.tickets[0] = 0;
  }
}

// Orders and scopes of PTX.

// expect: clean
// launch: 4 x 32
extern "C" __global__ void reduction_with_release(Buffers b) {
  if (threadIdx.x != 0) return;
  b.out[blockIdx.x] = b.in[blockIdx.x];
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(b.tickets) : "memory");
  if (blockIdx.x != 0) return;
  unsigned seen = 0;
  while (seen < gridDim.x) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(b.tickets) : "memory");
  for (unsigned k = 0; k < gridDim.x; ++k) b.out[512] += b.out[k];
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void release_to_the_block(Buffers b) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    const unsigned* last = &b.tickets[blockIdx.x - 1];
    unsigned flag = 0;
    while (flag == 0) {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(flag) : "l"(last) : "memory");  // first, second
    }
    before = b.out[blockIdx.x - 1];  // second
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];                                                  // first
  asm volatile("st.release.cta.u32 [%0], %1;" ::"l"(&b.tickets[blockIdx.x]), "r"(1) : "memory");  // first, second
}

// expect: clean
// launch: 4 x 32
extern "C" __global__ void relaxed_flags_between_fences(Buffers b) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(b.tickets[blockIdx.x - 1]);
    while (flag.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    before = b.out[blockIdx.x - 1];
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];
  cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device>(b.tickets[blockIdx.x]).store(1, cuda::memory_order_relaxed);
}

// expect: clean
// launch: 4 x 32
extern "C" __global__ void sequentially_consistent_counter(Buffers b) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> count(b.tickets[0]);
  b.out[blockIdx.x] = b.in[blockIdx.x];
  count.fetch_add(1);
  if (blockIdx.x != 0) return;
  while (count.load() < gridDim.x) {
  }
  for (unsigned k = 0; k < gridDim.x; ++k) b.out[512] += b.out[k];
}

// What one block releases to its own, and that on to another: each step at a scope that suffices for it.
// expect: clean
// launch: 2 x 64
extern "C" __global__ void from_scope_to_scope(Buffers b) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = blockIdx.x * 2 + threadIdx.x / 32;
  if (warp == 0) {
    b.out[0] = 1;
    __threadfence_block();
    flags[0] = 1;
  } else if (warp == 1) {
    while (flags[0] == 0) {
    }
    __threadfence();
    flags[1] = 1;
  } else if (warp == 2) {
    while (flags[1] == 0) {
    }
    __threadfence();
    b.out[1] = b.out[0];
  }
}

// Between the warps of a block, by a flag in shared memory.

// expect: race, shared
// launch: 1 x 64
// says: put __syncthreads()
extern "C" __global__ void shared_flag_without_fences(Buffers b) {
  __shared__ volatile int flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = b.in[3];  // first
    flag = 1;         // first
  } else if (threadIdx.x == 32) {
    while (flag == 0) {  // second
    }
    b.out[0] = value;  // second
  }
}

// expect: clean
// launch: 1 x 64
extern "C" __global__ void shared_flag_with_fences(Buffers b) {
  __shared__ volatile int flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = b.in[3];
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {
    }
    __threadfence_block();
    b.out[0] = value;
  }
}

// expect: race, shared
// launch: 1 x 64
extern "C" __global__ void shared_flag_without_the_readers_fence(Buffers b) {
  __shared__ volatile int flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = b.in[3];  // first
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {
    }
    b.out[0] = value;  // second
  }
}
