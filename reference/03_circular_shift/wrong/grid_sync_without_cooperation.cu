// verdict: CRASH shift5_in_place
// Launches a kernel that calls grid.sync() without cudaLaunchCooperativeKernel: blocks might wait forever.
#include <cooperative_groups.h>

#include <algorithm>
#include <cuda/std/iterator>

#include "shift.h"

namespace cg = cooperative_groups;

namespace {

// The array as if it had no end: element i of it, for i below 2 n.
struct Ring {
  const int* data;
  unsigned n;
  __host__ __device__ int operator[](unsigned i) const { return data[i < n ? i : i - n]; }
};

template <class Output, class Map>
__global__ void Generate(Output output, unsigned n, Map map) {
  const unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) output[i] = map(i);
}

struct FromFurtherOn {
  Ring ring;
  unsigned offset;
  __host__ __device__ int operator()(unsigned i) const { return ring[i + offset]; }
};

unsigned Normal(unsigned n, int shift) {
  if (n == 0) return 0;
  const long long length = n;
  return static_cast<unsigned>((shift % length + length) % length);
}

unsigned Blocks(unsigned n, unsigned each) { return n / each + (n % each > 0); }

void Gather(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  if (n == 0) return;
  void (*const kernel)(int*, unsigned, FromFurtherOn) = Generate<int*, FromFurtherOn>;
  FromFurtherOn map{{d_in, n}, offset};
  void* arguments[] = {&d_out, &n, &map};
  cudaLaunchKernel(kernel, Blocks(n, kBlock), kBlock, arguments, 0, cudaStreamPerThread);
  cudaStreamSynchronize(cudaStreamPerThread);
}

__device__ void CopyPiece(const int* __restrict__ from, int* __restrict__ to, unsigned count) {
  const unsigned step = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 3 * step < count; i += 4 * step) {
    const int a = __ldcs(from + i), b = __ldcs(from + i + step), c = __ldcs(from + i + 2 * step),
              d = __ldcs(from + i + 3 * step);
    __stcg(to + i, a), __stcg(to + i + step, b), __stcg(to + i + 2 * step, c), __stcg(to + i + 3 * step, d);
  }
  for (; i < count; i += step) __stcg(to + i, __ldcs(from + i));
}

__global__ void __launch_bounds__(kBlock, 4) Pieces(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  CopyPiece(d_in + offset, d_out, n - offset);
  CopyPiece(d_in, d_out + (n - offset), offset);
}

constexpr unsigned kTile = 4 * 1024;  // ints a block

__device__ __forceinline__ void CopyAsync(int4* to, const int4* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(address), "l"(from) : "memory");
}

__global__ void Staged(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  extern __shared__ int4 s_stage[];
  const unsigned begin = blockIdx.x * kTile, end = min(n, begin + kTile), source = begin + offset;
  // Only away from the wrap-around and the end, where a block moves single elements.
  const bool straight = end - begin == kTile && (source + kTile + 4 <= n || source >= n);
  const unsigned first = source >= n ? source - n : source;
  if (!straight || first / 4 * 4 + kTile + 4 > n) {
    const Ring ring{d_in, n};
    for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x) d_out[i] = ring[i + offset];
    return;
  }
  const int4* const from = reinterpret_cast<const int4*>(d_in) + first / 4;
  const unsigned vectors = kTile / 4 + (first % 4 != 0);
  for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x) CopyAsync(s_stage + v, from + v);
  asm volatile("cp.async.wait_all;\n" ::: "memory");
  __syncthreads();
  const int* const ints = reinterpret_cast<const int*>(s_stage) + first % 4;
  int4* const to = reinterpret_cast<int4*>(d_out + begin);
  for (unsigned v = threadIdx.x; v < kTile / 4; v += blockDim.x) {
    to[v] = make_int4(ints[4 * v], ints[4 * v + 1], ints[4 * v + 2], ints[4 * v + 3]);
  }
}

__device__ void Reverse(const cg::grid_group& grid, cuda::std::reverse_iterator<int*> last, int* first,
                        unsigned count) {
  for (unsigned i = grid.thread_rank(); i < count / 2; i += grid.num_threads()) {
    const int left = first[i];
    first[i] = last[i];
    last[i] = left;
  }
}

__global__ void Rotate(int* data, unsigned n, unsigned offset) {
  const cg::grid_group grid = cg::this_grid();
  Reverse(grid, cuda::std::make_reverse_iterator(data + offset), data, offset);
  Reverse(grid, cuda::std::make_reverse_iterator(data + n), data + offset, n - offset);
  grid.sync();
  Reverse(grid, cuda::std::make_reverse_iterator(data + n), data, n);
}

}  // namespace

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { Gather(d_in, d_out, n, shift); }

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) { Gather(d_in, d_out, n, Normal(n, shift)); }

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) Pieces<<<std::min(kMaxBlocks, Blocks(n, kBlock)), kBlock>>>(d_in, d_out, n, Normal(n, shift));
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const size_t shared = (kTile / 4 + 1) * sizeof(int4);
  cudaFuncSetAttribute(Staged, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  cudaFuncSetAttribute(Staged, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  Staged<<<Blocks(n, kTile), kBlock, shared>>>(d_in, d_out, n, Normal(n, shift));
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  unsigned offset = Normal(n, shift);
  if (offset == 0) return;
  int device = 0, processors = 0, each = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, Rotate, kBlock, 0);
  void* arguments[] = {&d_data, &n, &offset};
  cudaLaunchKernel(Rotate, std::min<unsigned>(processors * each, Blocks(n, 2 * kBlock)), kBlock, arguments);
}
