// Races on global memory, between the threads of a block and between blocks, each next to a right version.
#include "checker_pairs.h"

// Within a block.

// expect: race, global
extern "C" __global__ void exchange_without_barrier(Buffers b) {
  b.out[threadIdx.x] = b.in[threadIdx.x];              // first
  b.out[512 + threadIdx.x] = b.out[threadIdx.x ^ 32];  // second
}

// expect: clean
extern "C" __global__ void exchange_with_barrier(Buffers b) {
  b.out[threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  b.out[512 + threadIdx.x] = b.out[threadIdx.x ^ 32];
}

// expect: race, global
extern "C" __global__ void shift_in_place(Buffers b) {
  b.out[threadIdx.x] = b.out[threadIdx.x + 1] + 1;  // first, second
}

// expect: clean
extern "C" __global__ void shift_with_barrier(Buffers b) {
  const int x = b.out[threadIdx.x + 1] + 1;
  __syncthreads();
  b.out[threadIdx.x] = x;
}

// expect: race, global
// launch: 1 x 32
extern "C" __global__ void warp_exchange_without_syncwarp(Buffers b) {
  b.out[threadIdx.x] = b.in[threadIdx.x];             // first
  b.out[512 + threadIdx.x] = b.out[threadIdx.x ^ 1];  // second
}

// expect: clean
// launch: 1 x 32
extern "C" __global__ void warp_exchange_with_syncwarp(Buffers b) {
  b.out[threadIdx.x] = b.in[threadIdx.x];
  __syncwarp();
  b.out[512 + threadIdx.x] = b.out[threadIdx.x ^ 1];
}

// Between blocks.

// expect: race, global
// launch: 4 x 32
// says: write after write
// says: the index has to grow with blockIdx
extern "C" __global__ void blocks_store_one_word(Buffers b) {
  if (threadIdx.x == 0) b.out[0] = b.in[blockIdx.x];  // first, second
}

// expect: clean
// launch: 4 x 32
extern "C" __global__ void blocks_store_their_words(Buffers b) {
  if (threadIdx.x == 0) b.out[blockIdx.x] = b.in[blockIdx.x];
}

// A flag that many blocks set.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void blocks_raise_one_flag(Buffers b) {
  if (b.in[threadIdx.x] & 1) b.out[0] = 1;
}

// expect: race, global
// launch: 4 x 64
extern "C" __global__ void blocks_count_without_atomic(Buffers b) {
  if (threadIdx.x == 0) b.out[0] += 1;  // first, second
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void blocks_count_with_atomic(Buffers b) {
  if (threadIdx.x == 0) atomicAdd(&b.out[0], 1);
}

// expect: race, global
// launch: 4 x 64
extern "C" __global__ void barrier_between_blocks(Buffers b) {
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];  // first
  __syncthreads();
  if (blockIdx.x > 0)
    b.out[512 + blockIdx.x * 64 + threadIdx.x] = b.out[(blockIdx.x - 1) * 64 + threadIdx.x];  // second
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void barrier_within_each_block(Buffers b) {
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  b.out[512 + blockIdx.x * 64 + threadIdx.x] = b.out[blockIdx.x * 64 + 63 - threadIdx.x];
}

// expect: race, global
// launch: 2 x 32
extern "C" __global__ void plain_read_of_a_counter(Buffers b) {
  if (threadIdx.x == 0) atomicAdd(&b.out[0], 1);           // first, second
  if (threadIdx.x == 0) b.out[1 + blockIdx.x] = b.out[0];  // second, first
}

// expect: clean
// launch: 2 x 32
extern "C" __global__ void atomic_read_of_a_counter(Buffers b) {
  if (threadIdx.x == 0) {
    atomicAdd(&b.out[0], 1);
    b.out[1 + blockIdx.x] = atomicAdd(&b.out[0], 0);
  }
}

// The last block adds up what all have left.

// expect: race, global
// launch: 4 x 64
// says: block (1,0,0) thread (0,0,0)
// says: put __threadfence() between this write and the atomic
extern "C" __global__ void last_block_without_fence(Buffers b) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    b.out[blockIdx.x] = b.in[blockIdx.x];  // first
    last = atomicInc(b.tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) b.out[512 + threadIdx.x] = b.out[threadIdx.x];  // second
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void last_block_with_fence(Buffers b) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    b.out[blockIdx.x] = b.in[blockIdx.x];
    __threadfence();
    last = atomicInc(b.tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) b.out[512 + threadIdx.x] = b.out[threadIdx.x];
}

// All threads have written; after the barrier one fences for all.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void last_block_with_one_fence(Buffers b) {
  __shared__ bool last;
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(b.tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    b.out[512 + threadIdx.x] = b.out[threadIdx.x] + b.out[192 + threadIdx.x];
  }
}

// Locks.

// expect: clean
// launch: 4 x 64
extern "C" __global__ void spin_lock(Buffers b) {
  for (bool done = false; !done;) {
    if (atomicCAS(b.tickets, 0, 1) == 0) {
      __threadfence();
      b.out[0] += 1;
      __threadfence();
      atomicExch(b.tickets, 0);
      done = true;
    }
  }
}

// expect: race, global
// launch: 4 x 32
extern "C" __global__ void spin_lock_without_fences(Buffers b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b.tickets, 0, 1) != 0) {
  }
  const int x = *const_cast<volatile int*>(&b.out[0]) + 1;  // first, second
  b.out[0] = x;                                             // first, second
  atomicExch(b.tickets, 0);
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void ticket_lock(Buffers b) {
  if (threadIdx.x != 0) return;
  const unsigned mine = atomicAdd(&b.tickets[0], 1);
  while (atomicAdd(&b.tickets[1], 0) != mine) {
  }
  __threadfence();
  b.out[0] += 1;
  __threadfence();
  atomicAdd(&b.tickets[1], 1);
}

// A chain of blocks, each waiting for the one before: a small decoupled look-back.

// expect: clean
// launch: 4 x 64
extern "C" __global__ void chain_with_volatile_flags(Buffers b) {
  volatile unsigned* flags = b.tickets;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = b.out[blockIdx.x - 1];
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];
  __threadfence();
  flags[blockIdx.x] = 1;
}

// expect: race, global
// launch: 4 x 64
extern "C" __global__ void chain_without_a_fence(Buffers b) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (atomicAdd(&b.tickets[blockIdx.x - 1], 0) == 0) {
    }
    before = b.out[blockIdx.x - 1];  // second
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];  // first
  atomicExch(&b.tickets[blockIdx.x], 1);
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void chain_with_acquire_and_release(Buffers b) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    unsigned flag = 0;
    while (flag == 0) {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(flag) : "l"(&b.tickets[blockIdx.x - 1]) : "memory");
    }
    before = b.out[blockIdx.x - 1];
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(&b.tickets[blockIdx.x]), "r"(1) : "memory");
}

// expect: race, global
// launch: 4 x 64
extern "C" __global__ void chain_with_relaxed_flags(Buffers b) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    unsigned flag = 0;
    while (flag == 0) {
      asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(flag) : "l"(&b.tickets[blockIdx.x - 1]) : "memory");
    }
    before = b.out[blockIdx.x - 1];  // second
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];  // first
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(&b.tickets[blockIdx.x]), "r"(1) : "memory");
}

// An atomic operation that the hardware lacks, made as in the programming guide: the first load is only a guess.
__device__ void KeepLargest(unsigned* word, unsigned value) {
  unsigned old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, max(value, assumed));
  } while (assumed != old);
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void largest_by_compare_and_swap(Buffers b) {
  KeepLargest(b.tickets, static_cast<unsigned>(b.in[threadIdx.x]));
}

// nvcc loads the shared variable by its name, but gives the atomic operation its address in a register.
// expect: clean
// launch: 1 x 64
extern "C" __global__ void largest_of_a_block_by_compare_and_swap(Buffers b) {
  __shared__ unsigned s_largest;
  if (threadIdx.x == 0) s_largest = 0;
  __syncthreads();
  KeepLargest(&s_largest, static_cast<unsigned>(b.in[threadIdx.x]));
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void largest_float_by_compare_and_swap(Buffers b) {
  const float value = static_cast<float>(b.in[threadIdx.x]);
  float* const word = reinterpret_cast<float*>(b.tickets);
  float old = *word;
  while (value > old) {
    const unsigned found = atomicCAS(b.tickets, __float_as_uint(old), __float_as_uint(value));
    if (found == __float_as_uint(old)) break;
    old = __uint_as_float(found);
  }
}

// Each round reads the word again.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void sum_by_compare_and_swap(Buffers b) {
  unsigned old;
  do {
    old = *b.tickets;
  } while (atomicCAS(b.tickets, old, old + b.in[threadIdx.x]) != old);
}

// No thread checks whether the word still held the value that it had read.
// expect: race, global
// launch: 4 x 64
extern "C" __global__ void compare_and_swap_once(Buffers b) {
  const unsigned old = *b.tickets;                     // first
  atomicCAS(b.tickets, old, old + b.in[threadIdx.x]);  // second
}

// The value that was read is not only a guess: it decides what is stored.
// expect: race, global
// launch: 4 x 64
extern "C" __global__ void read_beside_an_exchange(Buffers b) {
  const unsigned old = *b.tickets;                                                      // first
  b.out[blockIdx.x * blockDim.x + threadIdx.x] = old + atomicExch(b.tickets, old + 1);  // second
}
