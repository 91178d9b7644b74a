// points: 100 + 12
// Warps add with __reduce_add_sync and the like, blocks add to the result with cuda::atomic_ref, launches are captured
// in a graph, and data that must be aligned is copied to memory from the stream's pool.
#include <cassert>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/std/limits>
#include <cuda/std/span>

#include "reduction.h"

namespace {

using Ints = cuda::std::span<const int>;
using Total = cuda::atomic_ref<int, cuda::thread_scope_device>;

struct Sum {
  static constexpr int kIdentity = 0;
  static __device__ int warp(int v) { return __reduce_add_sync(0xffffffff, v); }
  static __device__ int two(int a, int b) { return static_cast<int>(static_cast<unsigned>(a) + b); }
  static __device__ void all(int* d_to, int v) { Total(*d_to).fetch_add(v, cuda::memory_order_relaxed); }
};
struct Max {
  static constexpr int kIdentity = cuda::std::numeric_limits<int>::min();
  static __device__ int warp(int v) { return __reduce_max_sync(0xffffffff, v); }
  static __device__ int two(int a, int b) { return max(a, b); }
  static __device__ void all(int* d_to, int v) { Total(*d_to).fetch_max(v, cuda::memory_order_relaxed); }
};
struct Min {
  static constexpr int kIdentity = cuda::std::numeric_limits<int>::max();
  static __device__ int warp(int v) { return __reduce_min_sync(0xffffffff, v); }
  static __device__ int two(int a, int b) { return min(a, b); }
  static __device__ void all(int* d_to, int v) { Total(*d_to).fetch_min(v, cuda::memory_order_relaxed); }
};

template <class Op>
__global__ void set(int* d_to) {
  *d_to = Op::kIdentity;
}

// One partial result a warp, added up in shared memory by atomics of block scope.
template <class Op, unsigned kThreads>
__global__ void __launch_bounds__(kThreads, 2) reduce(Ints in, int* d_to) {
  __shared__ int s_all;
  if (threadIdx.x == 0) s_all = Op::kIdentity;
  int v = Op::kIdentity;
  const size_t threads = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < in.size(); i += threads) v = Op::two(v, in[i]);
  v = Op::warp(v);
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> all(s_all);
  if (threadIdx.x % warpSize == 0) {
    int old = all.load(cuda::memory_order_relaxed);
    while (!all.compare_exchange_weak(old, Op::two(old, v), cuda::memory_order_relaxed)) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) Op::all(d_to, s_all);
}

template <class Op, unsigned kThreads>
__global__ void reduce_wide(const longlong2* __restrict__ d_in, unsigned n, int* __restrict__ d_to) {
  int v = Op::kIdentity;
  const unsigned threads = gridDim.x * kThreads, wides = n / 4;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < wides; i += threads) {
    const longlong2 four = __ldg(d_in + i);
    v = Op::two(v, static_cast<int>(four.x));
    v = Op::two(v, static_cast<int>(four.x >> 32));
    v = Op::two(v, static_cast<int>(four.y));
    v = Op::two(v, static_cast<int>(four.y >> 32));
  }
  const unsigned i = wides * 4 + threadIdx.x;
  if (blockIdx.x == 0 && i < n) v = Op::two(v, reinterpret_cast<const int*>(d_in)[i]);
  v = Op::warp(v);
  if (threadIdx.x % 32 == 0) Op::all(d_to, v);
}

class Capture {
 public:
  Capture() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }
  ~Capture() {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    check(cudaStreamEndCapture(stream_, &graph));
    check(cudaGraphInstantiate(&exec, graph, 0));
    check(cudaGraphLaunch(exec, cudaStreamLegacy));
    check(cudaStreamSynchronize(cudaStreamLegacy));
    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream_));
  }
  operator cudaStream_t() const { return stream_; }

 private:
  static void check(cudaError_t error) {
    if (error != cudaSuccess) std::fprintf(stderr, "capture: %s\n", cudaGetErrorString(error));
  }
  cudaStream_t stream_{};
};

template <unsigned kElements>
void sum_all(const int* d_in, int* d_sum, unsigned n, unsigned most = ~0u) {
  constexpr unsigned kThreads = 256;
  const Capture stream;
  set<Sum><<<1, 1, 0, stream>>>(d_sum);
  unsigned blocks = (size_t{n} + kThreads * kElements - 1) / (kThreads * kElements);
  if (blocks > most) blocks = most;
  if (blocks != 0) reduce<Sum, kThreads><<<blocks, kThreads, 0, stream>>>(Ints(d_in, n), d_sum);
}

template <class Op>
void reduce8(const int* d_in, int* d_to, unsigned n) {
  int* d_aligned = nullptr;
  const cudaStream_t stream = cudaStreamPerThread;
  if (reinterpret_cast<size_t>(d_in) % 16 != 0 && n != 0) {
    cudaMallocAsync(reinterpret_cast<void**>(&d_aligned), n * sizeof(int), stream);
    cudaMemcpyAsync(d_aligned, d_in, n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
    d_in = d_aligned;
  }
  set<Op><<<1, 1, 0, stream>>>(d_to);
  reduce_wide<Op, 512><<<264, 512, 0, stream>>>(reinterpret_cast<const longlong2*>(d_in), n, d_to);
  if (d_aligned != nullptr) cudaFreeAsync(d_aligned, stream);
}

}  // namespace

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int*) { sum_all<1>(d_in, d_sum, n); }
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int*) { sum_all<1>(d_in, d_sum, n); }
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int*) { sum_all<1>(d_in, d_sum, n); }
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int*) { sum_all<2>(d_in, d_sum, n); }
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int*) { sum_all<2>(d_in, d_sum, n); }
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int*) { sum_all<3>(d_in, d_sum, n); }
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int*) { sum_all<16>(d_in, d_sum, n, kMaxBlocks); }
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) { reduce8<Sum>(d_in, d_sum, n); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int*) { reduce8<Max>(d_in, d_max, n); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int*) { reduce8<Min>(d_in, d_min, n); }
