// The ladder of reductions: seven ways to sum an array, each faster than the one before, and a bonus.
//
// Every kernel reduces the elements of its block to one result, d_out[blockIdx.x]; run_passes launches it over and over
// until one result is left. Rungs 1 to 5 learn the size of their blocks when they run (blockDim.x), rungs 6 and up when
// they are compiled.

#include <algorithm>
#include <climits>
#include <utility>

#include "reduction.h"

using Kernel = void (*)(const int* d_in, int* d_out, unsigned n);

// Reduces d_in, `per_block` elements a block, then the blocks' results, and so on until one is left in d_out. No pass
// has more than `max_blocks` blocks: a kernel for which that matters strides over the elements.
void run_passes(Kernel kernel, unsigned per_block, const int* d_in, int* d_out, unsigned n, int* d_work,
                unsigned max_blocks = UINT_MAX) {
  int* d_next = d_work + BlocksFor(n);
  while (n > per_block) {
    const unsigned blocks = std::min((n - 1) / per_block + 1, max_blocks);
    kernel<<<blocks, kBlock>>>(d_in, d_work, n);
    d_in = d_work;
    n = blocks;
    std::swap(d_work, d_next);
  }
  kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// Rung 1. Interleaved addressing: a thread works where its index is a multiple of twice the stride.
__global__ void reduce1_interleaved_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  s_data[tid] = i < n ? d_in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce1_interleaved_kernel, kBlock, d_in, d_sum, n, d_work);
}

// Rung 2. Strided index: neighbouring threads do the same additions, so that whole warps become idle.
__global__ void reduce2_strided_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  s_data[tid] = i < n ? d_in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned index = 2 * s * tid;
    if (index < blockDim.x) s_data[index] += s_data[index + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce2_strided_kernel, kBlock, d_in, d_sum, n, d_work);
}

// Rung 3. Sequential addressing: the upper half is added to the lower half, so that a warp's words lie side by side.
__global__ void reduce3_sequential_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  s_data[tid] = i < n ? d_in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce3_sequential_kernel, kBlock, d_in, d_sum, n, d_work);
}

// The sum of the two elements that a thread of rungs 4 to 6 loads: a block takes two tiles of `threads` elements.
__device__ int first_add(const int* d_in, unsigned n, unsigned threads) {
  const unsigned i = blockIdx.x * threads * 2 + threadIdx.x;
  int sum = i < n ? d_in[i] : 0;
  if (i + threads < n) sum += d_in[i + threads];
  return sum;
}

// Rung 4. First add during the load: each thread loads two elements, so half as many blocks are enough.
__global__ void reduce4_first_add_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  s_data[tid] = first_add(d_in, n, blockDim.x);
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce4_first_add_kernel, 2 * kBlock, d_in, d_sum, n, d_work);
}

// Adds up s_data[0..64) in s_data[0]; for the first warp of a block only. Its lanes need not run in lockstep: a
// __syncwarp() parts each step's reads from its writes, and its writes from the next step's reads.
__device__ void reduce_last_warp(int* s_data, unsigned lane) {
  int sum = s_data[lane];
#pragma unroll
  for (unsigned s = 32; s > 0; s /= 2) {
    sum += s_data[lane + s];
    __syncwarp();
    s_data[lane] = sum;
    __syncwarp();
  }
}

// Rung 5. Last warp unrolled: the six steps that only one warp does need no loop, test or block-wide barrier.
__global__ void reduce5_warp_unrolled_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  s_data[tid] = first_add(d_in, n, blockDim.x);
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid < 32) reduce_last_warp(s_data, tid);
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce5_warp_unrolled_kernel, 2 * kBlock, d_in, d_sum, n, d_work);
}

// Reduces s_data[0..kThreads) to s_data[0], unrolled by the compiler because it knows kThreads.
template <unsigned kThreads>
__device__ void reduce_block(int* s_data, unsigned tid) {
  static_assert(kThreads >= 64 && (kThreads & (kThreads - 1)) == 0, "a power of two from 64 up");
  __syncthreads();
#pragma unroll
  for (unsigned s = kThreads / 2; s > 32; s /= 2) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid < 32) reduce_last_warp(s_data, tid);
}

// Rung 6. Completely unrolled: the block size is a template parameter, so that no loop is left.
template <unsigned kThreads>
__global__ void reduce6_unrolled_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kThreads];
  const unsigned tid = threadIdx.x;
  s_data[tid] = first_add(d_in, n, kThreads);
  reduce_block<kThreads>(s_data, tid);
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce6_unrolled_kernel<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work);
}

// Rung 7. Many elements a thread: a bounded grid strides over the array, so that the tree is paid for once a block.
template <unsigned kThreads>
__global__ void reduce7_many_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kThreads];
  const unsigned tid = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * kThreads * 2 + tid; i < n; i += gridDim.x * kThreads * 2) {
    sum += d_in[i];
    if (i + kThreads < n) sum += d_in[i + kThreads];
  }
  s_data[tid] = sum;
  reduce_block<kThreads>(s_data, tid);
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce7_many_kernel<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}

// An associative operation, its identity, and how blocks combine their results: what the bonus rung is written for.
struct Sum {
  static constexpr int kIdentity = 0;
  static __device__ int apply(int a, int b) { return a + b; }
  static __device__ void combine(int* d_out, int value) { atomicAdd(d_out, value); }
};
struct Max {
  static constexpr int kIdentity = INT_MIN;
  static __device__ int apply(int a, int b) { return max(a, b); }
  static __device__ void combine(int* d_out, int value) { atomicMax(d_out, value); }
};
struct Min {
  static constexpr int kIdentity = INT_MAX;
  static __device__ int apply(int a, int b) { return min(a, b); }
  static __device__ void combine(int* d_out, int value) { atomicMin(d_out, value); }
};

__global__ void reduce8_begin_kernel(int* d_out, int value) { *d_out = value; }

// This thread's share of the array. The loads are of 16 bytes, and four of them are in flight at once: memory is kept
// busy with few threads.
template <typename Op, unsigned kThreads>
__device__ int reduce_share(const int* d_in, unsigned n) {
  constexpr unsigned kLoads = 4;
  // d_in is only aligned to an int: the elements before the first 16-byte boundary, and after the last one, are up to
  // six ints, which the first block loads one by one.
  const unsigned head = min(n, static_cast<unsigned>(-(reinterpret_cast<size_t>(d_in) / sizeof(int)) % 4));
  const int4* const d_vectors = reinterpret_cast<const int4*>(d_in + head);
  const unsigned vectors = (n - head) / 4;
  const auto apply4 = [](int value, int4 four) {
    return Op::apply(value, Op::apply(Op::apply(four.x, four.y), Op::apply(four.z, four.w)));
  };
  int value = Op::kIdentity;
  if (blockIdx.x == 0 && threadIdx.x < n - 4 * vectors) {
    value = d_in[threadIdx.x < head ? threadIdx.x : 4 * vectors + threadIdx.x];
  }
  unsigned i = blockIdx.x * kThreads * kLoads + threadIdx.x;
  for (; i + (kLoads - 1) * kThreads < vectors; i += gridDim.x * kThreads * kLoads) {
    int4 loaded[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) loaded[k] = d_vectors[i + k * kThreads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) value = apply4(value, loaded[k]);
  }
  // The last share may be partial.
  for (; i < vectors; i += kThreads) value = apply4(value, d_vectors[i]);
  return value;
}

// The warp's result, in lane 0: values go from register to register.
template <typename Op>
__device__ int reduce_warp(int value) {
#pragma unroll
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    value = Op::apply(value, __shfl_down_sync(0xffffffff, value, offset));
  }
  return value;
}

// Rung 8. For a GPU of today: wide loads; each warp reduces in registers, and shared memory carries one value a warp;
// one atomic operation a block replaces further passes.
template <typename Op, unsigned kThreads>
__global__ void __launch_bounds__(kThreads) reduce8_shuffle_kernel(const int* d_in, int* d_out, unsigned n) {
  constexpr unsigned kWarps = kThreads / 32;
  __shared__ int s_warp[kWarps];
  const unsigned tid = threadIdx.x;
  int value = reduce_warp<Op>(reduce_share<Op, kThreads>(d_in, n));
  if (tid % 32 == 0) s_warp[tid / 32] = value;
  __syncthreads();
  if (tid < 32) {
    value = reduce_warp<Op>(tid < kWarps ? s_warp[tid] : Op::kIdentity);
    if (tid == 0) Op::combine(d_out, value);
  }
}

// As many blocks as the GPU holds at once, and no more than there is work for.
template <typename Op>
void reduce8(const int* d_in, int* d_out, unsigned n) {
  constexpr unsigned kThreads = 512, kBlocksPerSm = 4, kPerBlock = 16 * kThreads;
  int device = 0, multiprocessors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const unsigned blocks = std::clamp(n / kPerBlock, 1u, kBlocksPerSm * multiprocessors);
  if (Op::kIdentity == 0) {
    cudaMemsetAsync(d_out, 0, sizeof(*d_out));  // faster than a launch
  } else {
    reduce8_begin_kernel<<<1, 1>>>(d_out, Op::kIdentity);
  }
  reduce8_shuffle_kernel<Op, kThreads><<<blocks, kThreads>>>(d_in, d_out, n);
}

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) { reduce8<Sum>(d_in, d_sum, n); }

void reduce8_max(const int* d_in, int* d_max, unsigned n, int*) { reduce8<Max>(d_in, d_max, n); }

void reduce8_min(const int* d_in, int* d_min, unsigned n, int*) { reduce8<Min>(d_in, d_min, n); }
