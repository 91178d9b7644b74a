// points: 100 + 10
// Rung 3 is a graph of a kernel and a copy; rung 4's warps vote, and the first warp adds up the votes.
#include "launch.h"

namespace {

struct OneEach {
  __device__ static unsigned first() { return blockIdx.x; }
  __device__ static unsigned step() { return 0x80000000u; }
};
struct Strided {
  __device__ static unsigned first() { return blockIdx.x; }
  __device__ static unsigned step() { return gridDim.x; }
};

template <class Walk>
__global__ void fill(int* __restrict__ d_a, const unsigned n) {
  const unsigned blocks = (n - 1) / blockDim.x + 1;
  for (unsigned block = Walk::first(); block < blocks; block += Walk::step()) {
    const unsigned i = block * blockDim.x + threadIdx.x;
    if (i < n) d_a[i] = FilledValue(block, threadIdx.x);
  }
}

__global__ void verify(const int* __restrict__ d_a, const unsigned n, unsigned* d_wrong) {
  __shared__ unsigned votes[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  // Lanes of the last warp without a thread don't vote.
  const unsigned threads = blockDim.x - warp * 32, mask = threads >= 32 ? ~0u : (1u << threads) - 1;
  const bool wrong = i < n && __ldg(d_a + i) != FilledValue(blockIdx.x, threadIdx.x);
  const unsigned ballot = __ballot_sync(mask, wrong);
  if (lane == 0) votes[warp] = ballot;
  __syncthreads();
  if (warp != 0) return;
  const unsigned warps = (blockDim.x + 31) / 32;  // at most as many as there are lanes
  unsigned count = lane < warps ? __popc(votes[lane]) : 0;
  count = __reduce_add_sync(mask, count);
  if (lane == 0 && count != 0) atomicAdd(d_wrong, count);
}

__global__ void plane(int2 size, int* d_a) {
  const int2 at = make_int2(blockIdx.x * kTile + threadIdx.x, blockIdx.y * kTile + threadIdx.y);
  if (at.x < size.x && at.y < size.y) {
    d_a[static_cast<long long>(at.y) * size.x + at.x] =
        FilledValue(blockIdx.y * gridDim.x + blockIdx.x, threadIdx.y * kTile + threadIdx.x);
  }
}

bool is_possible(unsigned block) { return block >= 1 && block <= 1024; }

cudaError_t kernel_and_copy(int* d_a, int* h_out, unsigned n, unsigned block) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t filled = nullptr, copied = nullptr;
  cudaError_t error = cudaGraphCreate(&graph, 0);
  if (error != cudaSuccess) return error;
  void* arguments[] = {&d_a, &n};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(fill<OneEach>);
  params.gridDim = dim3(BlocksFor(n, block));
  params.blockDim = dim3(block);
  params.kernelParams = arguments;
  error = cudaGraphAddKernelNode(&filled, graph, nullptr, 0, &params);
  if (error == cudaSuccess) {
    error = cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, h_out, d_a, size_t{n} * 4, cudaMemcpyDeviceToHost);
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(&exec, graph, 0);
  if (error == cudaSuccess) error = cudaGraphLaunch(exec, nullptr);
  if (error == cudaSuccess) error = cudaStreamSynchronize(nullptr);
  if (exec != nullptr) cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  return error;
}

}  // namespace

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) { return launch2_any_length(d_a, n, block); }

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  fill<OneEach><<<BlocksFor(n, block), block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  if (!is_possible(block)) return cudaErrorInvalidConfiguration;
  if (n == 0) return cudaSuccess;
  int* d_a = nullptr;
  if (const cudaError_t error = cudaMalloc(&d_a, size_t{n} * sizeof(int))) return error;
  const cudaError_t error = kernel_and_copy(d_a, h_out, n, block);
  const cudaError_t freed = cudaFree(d_a);
  return error != cudaSuccess ? error : freed;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  const cudaError_t error = cudaMemset(d_wrong, 0, sizeof *d_wrong);
  if (error != cudaSuccess || n == 0) return error;
  verify<<<BlocksFor(n, block), block>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  const unsigned blocks = BlocksFor(n, block), grid = blocks < kMaxBlocks ? blocks : kMaxBlocks;
  fill<Strided><<<grid, block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  const dim3 grid(BlocksFor(width, kTile), BlocksFor(height, kTile)), block(kTile, kTile);
  if (grid.x * grid.y == 0) return cudaSuccess;
  plane<<<grid, block>>>(make_int2(static_cast<int>(width), static_cast<int>(height)), d_a);
  return cudaGetLastError();
}
