// points: 100 + 10
// cudaLaunchKernelEx with a priority, and cooperative launches: rung 4's grid synchronises once before it counts.
#include <cooperative_groups.h>

#include "launch.h"

namespace cg = cooperative_groups;

namespace {

__global__ void fill(int* d_a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_a[i] = FilledValue(blockIdx.x, threadIdx.x);
}

__global__ void fill_all(int* d_a, unsigned n) {
  const cg::grid_group grid = cg::this_grid();
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) {
    d_a[i] = FilledValue(static_cast<unsigned>(i / blockDim.x), threadIdx.x);
  }
}

__global__ void verify(const int* d_a, unsigned n, unsigned* d_wrong) {
  __shared__ unsigned s_wrong;
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  if (grid.thread_rank() == 0) *d_wrong = 0;
  if (block.thread_rank() == 0) s_wrong = 0;
  grid.sync();
  unsigned wrong = 0;
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) {
    wrong += d_a[i] != FilledValue(static_cast<unsigned>(i / blockDim.x), threadIdx.x);
  }
  if (wrong != 0) atomicAdd_block(&s_wrong, wrong);
  block.sync();
  if (block.thread_rank() == 0 && s_wrong != 0) atomicAdd(d_wrong, s_wrong);
}

cudaError_t launch_fill(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return block <= 1024 ? cudaSuccess : cudaErrorInvalidConfiguration;
  cudaLaunchConfig_t config = {};
  config.gridDim = BlocksFor(n, block);
  config.blockDim = block;
  cudaLaunchAttribute priority;
  priority.id = cudaLaunchAttributePriority;
  priority.val.priority = 0;
  config.attrs = &priority;
  config.numAttrs = 1;
  const cudaError_t error = cudaLaunchKernelEx(&config, fill, d_a, n);
  cudaGetLastError();
  return error;
}

template <class Kernel>
cudaError_t launch_together(Kernel* kernel, unsigned most, unsigned n, unsigned block, void** arguments) {
  int device = 0, processors = 0, resident = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(block), 0);
  }
  if (error != cudaSuccess) {
    cudaGetLastError();
    return error;
  }
  unsigned blocks = static_cast<unsigned>(resident * processors);
  if (blocks > most) blocks = most;
  if (blocks > BlocksFor(n, block)) blocks = BlocksFor(n, block);
  if (blocks == 0) blocks = 1;
  error = cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(block), arguments, 0,
                                      nullptr);
  cudaGetLastError();
  return error;
}

__global__ void fill_tiles(int* d_a, unsigned width, unsigned height) {
  const cg::thread_block block = cg::this_thread_block();
  const dim3 me = block.thread_index(), tile = block.group_index();
  const unsigned x = tile.x * kTile + me.x, y = tile.y * kTile + me.y;
  if (x < width && y < height) {
    d_a[size_t{y} * width + x] = FilledValue(tile.y * gridDim.x + tile.x, block.thread_rank());
  }
}

}  // namespace

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) { return launch_fill(d_a, n, block); }
cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) { return launch_fill(d_a, n, block); }

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  int* d_a = nullptr;
  cudaError_t error = n == 0 ? cudaSuccess : cudaMalloc(&d_a, n * sizeof(int));
  if (error == cudaSuccess) error = launch_fill(d_a, n, block);
  if (error == cudaSuccess && n != 0) error = cudaMemcpy(h_out, d_a, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_a);
  return error;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  void* arguments[] = {&d_a, &n, &d_wrong};
  return launch_together(verify, ~0u, n, block, arguments);
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return block <= 1024 ? cudaSuccess : cudaErrorInvalidConfiguration;
  void* arguments[] = {&d_a, &n};
  return launch_together(fill_all, kMaxBlocks, n, block, arguments);
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  const dim3 grid(BlocksFor(width, kTile), BlocksFor(height, kTile));
  if (width == 0 || height == 0) return cudaSuccess;
  fill_tiles<<<grid, dim3(kTile, kTile)>>>(d_a, width, height);
  return cudaGetLastError();
}
