// The last block to finish adds up all blocks' results: which fences that needs, where, and of which scope. Each kernel
// without a fence is next to one with it.
#include "checker_pairs.h"

// As in the programming guide: partial sums are volatile; one thread stores its block's, draws a ticket, and informs
// its block by a barrier. Returns whether the thread has added up the sums.
template <typename Leave>
__device__ bool AddedUpByTheLast(Buffers b, Leave leave) {
  __shared__ bool last;
  volatile int* partial = b.out;
  if (threadIdx.x == 0) last = leave(partial) == gridDim.x - 1;
  __syncthreads();
  if (!last || threadIdx.x != 0) return false;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];  // second
  b.out[512] = sum;
  return true;
}

// expect: race, global
// launch: 4 x 64
// says: put __threadfence() between this write and the atomic
extern "C" __global__ void guide_without_its_fence(Buffers b) {
  AddedUpByTheLast(b, [&](volatile int* partial) {
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    return atomicInc(b.tickets, gridDim.x);
  });
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void guide_with_its_fence(Buffers b) {
  const bool added = AddedUpByTheLast(b, [&](volatile int* partial) {
    partial[blockIdx.x] = b.in[blockIdx.x];
    __threadfence();
    return atomicInc(b.tickets, gridDim.x);
  });
  if (!added) return;
  b.out[0] = b.out[512];
  b.tickets[0] = 0;
}

// expect: race, global
// launch: 4 x 64
// says: write the data first, then __threadfence()
extern "C" __global__ void guide_with_its_fence_too_late(Buffers b) {
  AddedUpByTheLast(b, [&](volatile int* partial) {
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    const unsigned ticket = atomicInc(b.tickets, gridDim.x);
    __threadfence();
    return ticket;
  });
}

// expect: race, global
// launch: 4 x 64
extern "C" __global__ void guide_with_its_fence_too_early(Buffers b) {
  AddedUpByTheLast(b, [&](volatile int* partial) {
    __threadfence();
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    return atomicInc(b.tickets, gridDim.x);
  });
}

// expect: race, global
// launch: 4 x 64
// says: covers only its own block
extern "C" __global__ void guide_with_a_fence_of_the_block(Buffers b) {
  AddedUpByTheLast(b, [&](volatile int* partial) {
    partial[blockIdx.x] = b.in[blockIdx.x];  // first
    __threadfence_block();
    return atomicInc(b.tickets, gridDim.x);
  });
}

// Each thread stores a value; the last block's threads read those of the other blocks.
template <typename Draw>
__device__ void ReadByTheLast(Buffers b, Draw draw) {
  __shared__ bool last;
  b.out[blockIdx.x * 64 + threadIdx.x] = b.in[threadIdx.x];  // first
  draw(last);
  __syncthreads();
  if (last) b.out[512 + threadIdx.x] = b.out[threadIdx.x] + b.out[192 + threadIdx.x];  // second
}

// All of them fence, then one draws the ticket after a barrier.
// expect: clean
// launch: 4 x 64
extern "C" __global__ void last_block_with_a_fence_each(Buffers b) {
  ReadByTheLast(b, [&](bool& last) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(b.tickets, 1) == gridDim.x - 1;
  });
}

// A thread's fence covers only what is ordered before it: other warps' stores only after a barrier.
// expect: race, global
// launch: 4 x 64
extern "C" __global__ void last_block_without_the_barrier(Buffers b) {
  ReadByTheLast(b, [&](bool& last) {
    if (threadIdx.x != 0) return;
    __threadfence();
    last = atomicAdd(b.tickets, 1) == gridDim.x - 1;
  });
}

// One thread per block: the one that draws the last ticket adds up the values.
template <typename Data>
__device__ void AddedUpByTheLastThread(Buffers b, Data data) {
  if (threadIdx.x != 0) return;
  data[blockIdx.x] = b.in[blockIdx.x];  // first
  __threadfence();
  if (atomicAdd(b.tickets, 1) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += data[k];  // second
  b.out[512] = sum;
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void last_thread_reads_volatile(Buffers b) {
  AddedUpByTheLastThread(b, const_cast<volatile int*>(b.out));
}

// expect: race, global
// launch: 4 x 64
// says: put __threadfence() between the two
extern "C" __global__ void last_thread_reads_plainly(Buffers b) { AddedUpByTheLastThread(b, b.out); }

// Atomics with block scope order nothing between blocks.
// expect: race, global
// launch: 4 x 64
extern "C" __global__ void tickets_of_the_block(Buffers b) {
  if (threadIdx.x == 0) b.out[blockIdx.x] = atomicAdd_block(b.tickets, 1);  // first, second
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void tickets_of_each_block(Buffers b) { atomicAdd_block(&b.tickets[blockIdx.x], 1); }

// Fences and tickets are right, but the last block reads through a cache that need not see what other blocks have
// stored since the launch.
template <bool kConstant>
__device__ void AddedUpBehindAFence(Buffers b) {
  if (threadIdx.x != 0) return;
  b.out[blockIdx.x] = b.in[blockIdx.x];  // first
  __threadfence();
  if (atomicAdd(b.tickets, 1) != gridDim.x - 1) return;
  __threadfence();
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += kConstant ? __ldg(b.out + k) : __ldcg(b.out + k);  // second
  b.out[512] = sum;
}

// expect: race, global
// launch: 4 x 64
// says: use an ordinary load
extern "C" __global__ void last_thread_reads_by_ldg(Buffers b) { AddedUpBehindAFence<true>(b); }

// expect: clean
// launch: 4 x 64
extern "C" __global__ void last_thread_reads_by_ldcg(Buffers b) { AddedUpBehindAFence<false>(b); }

// The same within a block, after its barrier. Only what the launch has not stored may be read by __ldg.
// expect: race, global
// launch: 1 x 64
// says: use an ordinary load
extern "C" __global__ void neighbour_read_by_ldg(Buffers b) {
  b.out[threadIdx.x] = b.in[threadIdx.x];  // first
  __syncthreads();
  b.out[64 + threadIdx.x] = __ldg(b.out + (threadIdx.x ^ 32));  // second
}

// expect: clean
// launch: 1 x 64
extern "C" __global__ void overwritten_behind_ldg(Buffers b) {
  const int neighbour = __ldg(b.in + (threadIdx.x ^ 32));
  __syncthreads();
  const_cast<int*>(b.in)[threadIdx.x] = neighbour;
}
