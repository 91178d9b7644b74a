// Assignment 13: the twelve programs, each with the fewest changes that make it right.
#include <climits>
#include <cstdint>

#include "bugs.h"

// Blocks of `size` threads for n elements.
static unsigned blocks_for(unsigned n, unsigned size) { return n / size + (n % size != 0); }

// Program 1: each block goes through d_in in tiles of shared memory.
__global__ void bug1_ranks_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_tile[128];
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  const int value = i < n ? d_in[i] : 0;
  int less = 0;
  for (unsigned first = 0; first < n; first += 128) {
    if (first + threadIdx.x < n) s_tile[threadIdx.x] = d_in[first + threadIdx.x];
    __syncthreads();
    const unsigned length = min(128u, n - first);
    for (unsigned k = 0; k < length; ++k) less += s_tile[k] < value;
    __syncthreads();
  }
  if (i < n) d_out[i] = less;
}

void bug1_ranks(const int* d_in, int* d_out, unsigned n) {
  if (n > 0) bug1_ranks_kernel<<<blocks_for(n, 128), 128>>>(d_in, d_out, n);
}

// Program 2: halves the number of sums until a warp is left, which needs no barrier of the block.
__global__ void bug2_sums_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_sums[256];
  const unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
  s_sums[t] = i < n ? d_in[i] : 0;
  __syncthreads();
  for (unsigned half = 128; half >= 32; half /= 2) {
    if (t < half) s_sums[t] += s_sums[t + half];
    __syncthreads();
  }
  if (t >= 32) return;
  for (unsigned half = 16; half > 0; half /= 2) {
    if (t < half) s_sums[t] += s_sums[t + half];
    __syncwarp();
  }
  if (t == 0) d_out[blockIdx.x] = s_sums[0];
}

void bug2_sums(const int* d_in, int* d_out, unsigned n) {
  if (n > 0) bug2_sums_kernel<<<blocks_for(n, 256), 256>>>(d_in, d_out, n);
}

// Program 3: each warp adds up by shuffles.
__global__ void bug3_warp_sums_kernel(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  int sum = i < n ? d_in[i] : 0;
  for (unsigned away = 16; away > 0; away /= 2) sum += __shfl_down_sync(0xffffffff, sum, away);
  if (i < n && i % 32 == 0) d_out[i / 32] = sum;
}

void bug3_warp_sums(const int* d_in, int* d_out, unsigned n) {
  if (n > 0) bug3_warp_sums_kernel<<<blocks_for(n, 128), 128>>>(d_in, d_out, n);
}

// Program 4: each block takes a number, and waits for the total of the block before. d_state[0] has the next number, and
// d_state[1 + b] is 1 once the total of block b is there.
__global__ void bug4_totals_kernel(const int* d_in, int* d_out, unsigned n, unsigned* d_state) {
  __shared__ unsigned s_block;
  __shared__ int s_sum;
  if (threadIdx.x == 0) {
    s_block = atomicAdd(&d_state[0], 1);
    s_sum = 0;
  }
  __syncthreads();
  const unsigned block = s_block, i = block * 128 + threadIdx.x;
  if (i < n) atomicAdd(&s_sum, d_in[i]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  int before = 0;
  if (block > 0) {
    while (atomicAdd(&d_state[block], 0) == 0) {
    }
    __threadfence();
    before = d_out[block - 1];
  }
  d_out[block] = before + s_sum;
  __threadfence();
  atomicExch(&d_state[1 + block], 1);
}

void bug4_totals(const int* d_in, int* d_out, unsigned n) {
  if (n == 0) return;
  const unsigned blocks = blocks_for(n, 128);
  unsigned* d_state;
  cudaMalloc(&d_state, (1 + blocks) * sizeof(unsigned));
  cudaMemset(d_state, 0, (1 + blocks) * sizeof(unsigned));
  bug4_totals_kernel<<<blocks, 128>>>(d_in, d_out, n, d_state);
  cudaFree(d_state);
}

// Program 5: one stream multiplies, the other adds.
__global__ void bug5_multiply_kernel(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) d_out[i] = d_in[i] * d_in[i];
}

__global__ void bug5_add_kernel(int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) d_out[i] += 7;
}

void bug5_polynomial(const int* d_in, int* d_out, unsigned n) {
  if (n == 0) return;
  cudaStream_t early, late;
  cudaStreamCreateWithFlags(&early, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&late, cudaStreamNonBlocking);
  bug5_multiply_kernel<<<blocks_for(n, 256), 256, 0, early>>>(d_in, d_out, n);
  bug5_add_kernel<<<blocks_for(n, 256), 256, 0, early>>>(d_out, n);
  cudaStreamSynchronize(early);
  cudaStreamSynchronize(late);
  cudaStreamDestroy(early);
  cudaStreamDestroy(late);
}

// Program 6: four elements at a time, as vectors; those left over one by one.
__global__ void bug6_triples_kernel(const int* d_in, int* d_out, unsigned n, unsigned vectors) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < vectors) {
    const int4 four = reinterpret_cast<const int4*>(d_in)[i];
    reinterpret_cast<int4*>(d_out)[i] = make_int4(3 * four.x, 3 * four.y, 3 * four.z, 3 * four.w);
  } else if (i + 3 * vectors < n) {
    d_out[i + 3 * vectors] = 3 * d_in[i + 3 * vectors];
  }
}

void bug6_triples(const int* d_in, int* d_out, unsigned n) {
  const bool aligned = ((reinterpret_cast<uintptr_t>(d_in) | reinterpret_cast<uintptr_t>(d_out)) & 15) == 0;
  const unsigned vectors = aligned ? n / 4 : 0;
  if (n > 0) bug6_triples_kernel<<<blocks_for(n - 3 * vectors, 256), 256>>>(d_in, d_out, n, vectors);
}

// Program 7: takes every 1,000,003rd element, around and around.
__global__ void bug7_steps_kernel(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const unsigned from = uint64_t{i} * 1000003 % n;
  d_out[i] = d_in[from];
}

void bug7_steps(const int* d_in, int* d_out, unsigned n) {
  if (n > 0) bug7_steps_kernel<<<blocks_for(n, 256), 256>>>(d_in, d_out, n);
}

// Program 8: each block turns two times 256 elements around in shared memory.
__global__ void bug8_reverse_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_elements[256];
  for (unsigned first = blockIdx.x * 512; first < min(n, blockIdx.x * 512 + 512); first += 256) {
    const unsigned length = min(256u, n - first);
    if (threadIdx.x < length) s_elements[threadIdx.x] = d_in[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < length) d_out[first + threadIdx.x] = s_elements[length - 1 - threadIdx.x];
    __syncthreads();
  }
}

void bug8_reverse(const int* d_in, int* d_out, unsigned n) {
  if (n > 0) bug8_reverse_kernel<<<blocks_for(n, 512), 256>>>(d_in, d_out, n);
}

// Program 9: all threads of a block want to store a smaller number.
__global__ void bug9_minima_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_least;
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x == 0) s_least = INT_MAX;
  __syncthreads();
  const int value = i < n ? d_in[i] : INT_MAX;
  atomicMin(&s_least, value);
  __syncthreads();
  if (threadIdx.x == 0) d_out[blockIdx.x] = s_least;
}

void bug9_minima(const int* d_in, int* d_out, unsigned n) {
  if (n > 0) bug9_minima_kernel<<<blocks_for(n, 256), 256>>>(d_in, d_out, n);
}

// Program 10: squares in one stream, sums in another, and memory for what goes from one to the other.
__global__ void bug10_squares_kernel(const int* d_in, int* d_squares, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) d_squares[i] = d_in[i] * d_in[i];
}

__global__ void bug10_pairs_kernel(const int* d_in, const int* d_squares, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) d_out[i] = d_squares[i] + d_in[i];
}

void bug10_pairs(const int* d_in, int* d_out, unsigned n) {
  if (n == 0) return;
  cudaStream_t early, late;
  cudaEvent_t squared;
  int* d_squares;
  cudaStreamCreateWithFlags(&early, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&late, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&squared, cudaEventDisableTiming);
  cudaMallocAsync(&d_squares, n * sizeof(int), early);
  bug10_squares_kernel<<<blocks_for(n, 256), 256, 0, early>>>(d_in, d_squares, n);
  cudaEventRecord(squared, early);
  cudaStreamWaitEvent(late, squared);
  bug10_pairs_kernel<<<blocks_for(n, 256), 256, 0, late>>>(d_in, d_squares, d_out, n);
  cudaFreeAsync(d_squares, late);
  cudaStreamSynchronize(early);
  cudaStreamSynchronize(late);
  cudaEventDestroy(squared);
  cudaStreamDestroy(early);
  cudaStreamDestroy(late);
}

// Program 11: the weights are copied to the device where there are many elements.
__global__ void bug11_weights_kernel(const int* d_in, const int* d_weights, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) d_out[i] = d_in[i] * d_weights[i % 4];
}

void bug11_weights(const int* d_in, int* d_out, unsigned n) {
  const int weights[4] = {1, 3, 3, 1};
  int* d_copy = nullptr;
  const int* d_weights = weights;
  if (n > 0) {
    cudaMalloc(&d_copy, sizeof(weights));
    cudaMemcpy(d_copy, weights, sizeof(weights), cudaMemcpyHostToDevice);
    d_weights = d_copy;
  }
  if (n > 0) bug11_weights_kernel<<<blocks_for(n, 256), 256>>>(d_in, d_weights, d_out, n);
  cudaFree(d_copy);
}

// Program 12: each thread has four elements, as many apart as there are threads with work.
__global__ void bug12_fives_kernel(const int* d_in, int* d_out, unsigned n, unsigned apart) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= apart) return;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned j = i + k * apart;
    if (j < n) d_out[j] = 5 * d_in[j];
  }
}

void bug12_fives(const int* d_in, int* d_out, unsigned n) {
  const unsigned apart = blocks_for(n, 4);
  if (n > 0) bug12_fives_kernel<<<blocks_for(apart, 256), 256>>>(d_in, d_out, n, apart);
}
