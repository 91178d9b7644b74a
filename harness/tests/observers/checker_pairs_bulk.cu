// Bulk copies between global and shared memory, as courses show them: one thread copies for its block, all wait.
// compute capability: 90
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/utility>

#include "checker_pairs.h"

#pragma nv_diag_suppress static_var_with_dynamic_init  // init() sets the barriers up

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

__device__ void SetUp(Barrier* barrier) {
  if (threadIdx.x == 0) {
    init(barrier, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
}

// expect: clean
extern "C" __global__ void bulk_copy_waited_for(Buffers b) {
  __shared__ alignas(16) int s[64];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(s, b.in, cuda::aligned_size_t<16>(sizeof s), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof s);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(cuda::std::move(token));
  b.out[threadIdx.x] = s[63 - threadIdx.x];
}

// expect: race, shared | uninitialised read, shared
extern "C" __global__ void bulk_copy_not_waited_for(Buffers b) {
  __shared__ alignas(16) int s[64];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(s, b.in, cuda::aligned_size_t<16>(sizeof s), barrier);  // first, second
    (void)cuda::device::barrier_arrive_tx(barrier, 1, sizeof s);
  } else {
    (void)barrier.arrive();
  }
  __syncthreads();
  b.out[threadIdx.x] = s[63 - threadIdx.x];  // here, first, second
}

// expect: clean
extern "C" __global__ void bulk_copy_by_memcpy_async(Buffers b) {
  __shared__ alignas(16) int s[64];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  if (threadIdx.x == 0) cuda::memcpy_async(s, b.in, cuda::aligned_size_t<16>(sizeof s), barrier);
  barrier.arrive_and_wait();
  b.out[threadIdx.x] = s[63 - threadIdx.x];
}

// The next phase's copy must wait until all have read what this phase's brought.
// expect: clean
extern "C" __global__ void bulk_copies_in_phases(Buffers b) {
  __shared__ alignas(16) int s[2][64];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cuda::device::memcpy_async_tx(s[k % 2], b.in + 64 * k, cuda::aligned_size_t<16>(sizeof s[0]), barrier);
      token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof s[0]);
    } else {
      token = barrier.arrive();
    }
    barrier.wait(cuda::std::move(token));
    sum += s[k % 2][63 - threadIdx.x];
  }
  b.out[threadIdx.x] = sum;
}

// expect: clean
extern "C" __global__ void bulk_copy_out(Buffers b) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = b.in[threadIdx.x] + 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, b.out, s, sizeof s);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  __syncthreads();
  s[threadIdx.x] = 0;
}

// Without the wait the copy may send what comes next.
// expect: race, shared
extern "C" __global__ void bulk_copy_out_of_memory_in_use(Buffers b) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = b.in[threadIdx.x] + 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, b.out, s, sizeof s);  // first, second
    ptx::cp_async_bulk_commit_group();
  }
  __syncthreads();
  s[threadIdx.x] = 0;  // first, second
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

// expect: uninitialised read, shared
extern "C" __global__ void bulk_copy_out_of_memory_unwritten(Buffers b) {
  __shared__ alignas(16) int s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 7;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, b.out, s, sizeof s);  // here
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

// expect: misaligned address, global
extern "C" __global__ void bulk_copy_from_an_odd_place(Buffers b) {
  __shared__ alignas(16) int s[64];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, b.in + 1, 64,  // here
                     cuda::device::barrier_native_handle(barrier));
}

// expect: out of bounds, global
extern "C" __global__ void bulk_copy_past_the_end(Buffers b) {
  __shared__ alignas(16) int s[64];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, b.in + b.n - 32, sizeof s,  // here
                     cuda::device::barrier_native_handle(barrier));
}
