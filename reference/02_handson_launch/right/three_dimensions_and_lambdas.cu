// points: 100 + 10
// Grids of three dimensions, a generic kernel that calls a functor for each element, counts added up by warps that
// agree on a leader, memory owned by a unique_ptr, errors as exceptions that a wrapper turns into codes again.
#include <cooperative_groups.h>

#include <cuda/atomic>
#include <exception>
#include <memory>
#include <utility>

#include "launch.h"

namespace cg = cooperative_groups;

namespace {

struct CudaError : std::exception {
  explicit CudaError(cudaError_t code_) : code(code_) {}
  const char* what() const noexcept override { return cudaGetErrorString(code); }
  cudaError_t code;
};

void Check(cudaError_t code) {
  if (code != cudaSuccess) throw CudaError(code);
}

template <class F>
cudaError_t Catch(F f) {
  try {
    f();
    return cudaSuccess;
  } catch (const CudaError& error) {
    return error.code;
  }
}

struct Store {
  int* data;
  __device__ void operator()(unsigned i, unsigned block, unsigned thread) const {
    data[i] = FilledValue(block, thread);
  }
};

template <class F>
__global__ void ForEach(unsigned n, F f) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned long long i = static_cast<unsigned long long>(block) * blockDim.x + threadIdx.x;
  if (i < n) f(static_cast<unsigned>(i), block, threadIdx.x);
}

// A grid of this many blocks, three-dimensional if the number allows it.
dim3 Spread(unsigned blocks) {
  for (unsigned depth : {7u, 5u, 3u, 2u}) {
    if (blocks % (depth * depth) == 0) return dim3(blocks / (depth * depth), depth, depth);
  }
  return dim3(blocks);
}

template <class F>
void Launch(unsigned n, unsigned block, F f) {
  if (n == 0) return;
  ForEach<<<Spread(BlocksFor(n, block)), dim3(block, 1, 1)>>>(n, f);
  Check(cudaGetLastError());
}

struct Freed {
  void operator()(int* memory) const { cudaFree(memory); }
};

std::unique_ptr<int, Freed> Allocate(unsigned n) {
  int* memory = nullptr;
  Check(cudaMalloc(&memory, n * sizeof(int)));
  return std::unique_ptr<int, Freed>(memory);
}

__global__ void Count(const int* d_a, unsigned n, unsigned* d_wrong) {
  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> s_wrong;
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) new (&s_wrong) cuda::atomic<unsigned, cuda::thread_scope_block>(0);
  block.sync();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && d_a[i] != FilledValue(blockIdx.x, threadIdx.x)) {
    const cg::coalesced_group finders = cg::coalesced_threads();
    if (finders.thread_rank() == 0) s_wrong.fetch_add(finders.num_threads(), cuda::memory_order_relaxed);
  }
  block.sync();
  if (block.thread_rank() != 0) return;
  const unsigned wrong = s_wrong.load(cuda::memory_order_relaxed);
  if (wrong != 0) cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*d_wrong).fetch_add(wrong);
}

__global__ void Stride(int* d_a, unsigned n) {
  const unsigned per_round = gridDim.x * blockDim.x;
  unsigned block = blockIdx.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += per_round, block += gridDim.x) {
    d_a[i] = FilledValue(block, threadIdx.x);
  }
}

__global__ void Grid2d(int* d_a, uint2 size) {
  const uint2 at = make_uint2(blockIdx.x * kTile + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
  if (at.x < size.x && at.y < size.y) {
    d_a[at.y * size.x + at.x] = FilledValue(blockIdx.y * gridDim.x + blockIdx.x, threadIdx.y * kTile + threadIdx.x);
  }
}

}  // namespace

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  return Catch([=] { Launch(n, block, Store{d_a}); });
}
cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  return Catch([=] { Launch(n, block, Store{d_a}); });
}
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  return Catch([=] {
    if (n == 0) return;
    const auto memory = Allocate(n);
    Launch(n, block, Store{memory.get()});
    Check(cudaMemcpy(h_out, memory.get(), n * sizeof(int), cudaMemcpyDefault));
  });
}
cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  return Catch([=] {
    Check(cudaMemset(d_wrong, 0, sizeof *d_wrong));
    if (n == 0) return;
    Count<<<BlocksFor(n, block), block>>>(d_a, n, d_wrong);
    Check(cudaGetLastError());
  });
}
cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  return Catch([=] {
    if (n == 0) return;
    Stride<<<std::min(kMaxBlocks, BlocksFor(n, block)), block>>>(d_a, n);
    Check(cudaGetLastError());
  });
}
cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  return Catch([=] {
    if (width == 0 || height == 0) return;
    Grid2d<<<dim3(BlocksFor(width, kTile), BlocksFor(height, kTile)), dim3(kTile, kTile)>>>(d_a,
                                                                                            make_uint2(width, height));
    Check(cudaGetLastError());
  });
}
