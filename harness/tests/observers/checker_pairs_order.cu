// Blocks and warps that communicate through words in memory: barriers of the grid, locks, queues, and the orders
// and scopes of PTX. Each kernel without a fence is next to one with it.
#include <cuda/atomic>
#include <cuda/barrier>

#include "checker_pairs.h"

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

// One thread of each warp takes the lock.
template <typename Held>
__device__ void WithTheLock(Buffers b, Held held) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(b.tickets, 0, 1) != 0) {
  }
  held();
  atomicExch(b.tickets, 0);
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void lock_without_the_fence_behind_it(Buffers b) {
  WithTheLock(b, [&] {
    b.out[0] += 1;  // first, second
    __threadfence();
  });
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void lock_without_the_fence_before_its_end(Buffers b) {
  WithTheLock(b, [&] {
    __threadfence();
    b.out[0] += 1;  // first, second
  });
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void lock_with_fences_of_the_block(Buffers b) {
  WithTheLock(b, [&] {
    __threadfence_block();
    b.out[0] += 1;  // first, second
    __threadfence_block();
  });
}

// expect: clean
// launch: 1 x 128
extern "C" __global__ void lock_in_a_block_with_fences_of_the_block(Buffers b) {
  WithTheLock(b, [&] {
    __threadfence_block();
    b.out[0] += 1;
    __threadfence_block();
  });
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

// Memory orders and scopes of PTX.

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

// A value goes from warp to warp of one block, then on to another block; each fence has a scope that suffices.
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

// Thread 0 calls `tell`, which sets the flag; thread 32 waits for it and calls `hear`.
template <typename Tell, typename Hear>
__device__ void ByASharedFlag(Tell tell, Hear hear) {
  __shared__ volatile int flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    tell(value, flag);
  } else if (threadIdx.x == 32) {
    while (flag == 0) {  // second
    }
    hear(value);
  }
}

// expect: race, shared
// launch: 1 x 64
// says: put __syncthreads()
extern "C" __global__ void shared_flag_without_fences(Buffers b) {
  ByASharedFlag(
      [&](int& value, volatile int& flag) {
        value = b.in[3];  // first
        flag = 1;         // first
      },
      [&](const int& value) {
        b.out[0] = value;  // second
      });
}

// expect: clean
// launch: 1 x 64
extern "C" __global__ void shared_flag_with_fences(Buffers b) {
  ByASharedFlag(
      [&](int& value, volatile int& flag) {
        value = b.in[3];
        __threadfence_block();
        flag = 1;
      },
      [&](const int& value) {
        __threadfence_block();
        b.out[0] = value;
      });
}

// expect: race, shared
// launch: 1 x 64
extern "C" __global__ void shared_flag_without_the_readers_fence(Buffers b) {
  ByASharedFlag(
      [&](int& value, volatile int& flag) {
        value = b.in[3];  // first
        __threadfence_block();
        flag = 1;
      },
      [&](const int& value) {
        b.out[0] = value;  // second
      });
}
