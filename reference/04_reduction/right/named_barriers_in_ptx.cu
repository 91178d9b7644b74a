// points: 100 + 12
// PTX by hand: loads and stores of shared memory by 32-bit addresses, barriers with a number and a count that shrinks
// with the tree, so that warps without work exit. On rung 7 three warps only arrive, and the first one waits for
// them.
#include <climits>
#include <cstdint>

#include "reduction.h"

namespace {

__device__ __forceinline__ unsigned SharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ int LoadShared(unsigned address) {
  int value;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

__device__ __forceinline__ void StoreShared(unsigned address, int value) {
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

__device__ __forceinline__ int LoadOnce(const int* pointer) {
  int value;
  asm("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(value) : "l"(pointer));
  return value;
}

__device__ __forceinline__ int4 LoadFourOnce(const int* pointer) {
  int4 value;
  asm("ld.global.L1::no_allocate.L2::128B.v4.s32 {%0, %1, %2, %3}, [%4];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(pointer));
  return value;
}

__device__ __forceinline__ void StoreResult(int* pointer, int value) {
  asm volatile("st.global.cg.s32 [%0], %1;" ::"l"(pointer), "r"(value) : "memory");
}

__device__ __forceinline__ void Meet(unsigned barrier, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void Arrive(unsigned barrier, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void MeetWarp() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

__device__ __forceinline__ unsigned Lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// The last 64 elements, by the first warp.
__device__ __forceinline__ int WarpTree(unsigned base, unsigned tid) {
  int sum = LoadShared(base + 4 * tid) + LoadShared(base + 4 * tid + 128);
#pragma unroll
  for (int s = 16; s > 0; s /= 2) {
    int other;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(sum), "r"(s));
    sum += other;
  }
  return sum;
}

__global__ void Interleaved(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid, own = SharedAddress(s_data + tid);
  StoreShared(own, i < n ? LoadOnce(d_in + i) : 0);
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    Meet(1, blockDim.x);
    if (tid % (2 * s) == 0) StoreShared(own, LoadShared(own) + LoadShared(own + 4 * s));
  }
  if (tid == 0) StoreResult(d_out + blockIdx.x, LoadShared(own));
}

__global__ void Strided(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid, base = SharedAddress(s_data);
  StoreShared(base + 4 * tid, i < n ? LoadOnce(d_in + i) : 0);
  Meet(0, blockDim.x);
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned at = base + 8 * s * tid;
    if (2 * s * tid < blockDim.x) StoreShared(at, LoadShared(at) + LoadShared(at + 4 * s));
    Meet(0, blockDim.x);
  }
  if (tid == 0) StoreResult(d_out + blockIdx.x, LoadShared(base));
}

// In step s the first 2 s threads meet, each time at another barrier; the others have finished.
__device__ __forceinline__ void ShrinkingTree(unsigned base, unsigned threads, int* d_out) {
  const unsigned tid = threadIdx.x;
  unsigned barrier = 2;
  for (unsigned s = threads / 2; s > 0; s /= 2) {
    if (s >= 32) {
      if (tid >= 2 * s) return;
      Meet(barrier++, 2 * s);
    } else {
      if (tid >= 32) return;
      MeetWarp();
    }
    if (tid < s) StoreShared(base + 4 * tid, LoadShared(base + 4 * tid) + LoadShared(base + 4 * (tid + s)));
  }
  if (tid == 0) StoreResult(d_out + blockIdx.x, LoadShared(base));
}

__global__ void Sequential(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, base = SharedAddress(s_data);
  StoreShared(base + 4 * threadIdx.x, i < n ? LoadOnce(d_in + i) : 0);
  ShrinkingTree(base, blockDim.x, d_out);
}

__global__ void FirstAdd(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned i = 2 * blockIdx.x * blockDim.x + threadIdx.x, base = SharedAddress(s_data);
  int sum = 0;
  if (i < n) sum = LoadOnce(d_in + i);
  if (i + blockDim.x < n) sum += LoadOnce(d_in + i + blockDim.x);
  StoreShared(base + 4 * threadIdx.x, sum);
  ShrinkingTree(base, blockDim.x, d_out);
}

__global__ void LastWarp(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + tid, base = SharedAddress(s_data);
  int sum = 0;
  if (i < n) sum = LoadOnce(d_in + i);
  if (i + blockDim.x < n) sum += LoadOnce(d_in + i + blockDim.x);
  StoreShared(base + 4 * tid, sum);
  unsigned barrier = 2;
  for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
    Meet(barrier++, 2 * s);
    if (tid < s) StoreShared(base + 4 * tid, LoadShared(base + 4 * tid) + LoadShared(base + 4 * (tid + s)));
    if (tid >= s) return;
  }
  Meet(barrier, 64);
  if (tid >= 32) return;
  sum = WarpTree(base, tid);
  if (Lane() == 0) StoreResult(d_out + blockIdx.x, sum);
}

template <unsigned kThreads>
__device__ __forceinline__ void UnrolledTree(unsigned base, int sum, int* d_out) {
  const unsigned tid = threadIdx.x;
  StoreShared(base + 4 * tid, sum);
  if (tid >= 32) {
    Arrive(3, kThreads);
    return;
  }
  Meet(3, kThreads);
#pragma unroll
  for (unsigned k = 64; k < kThreads; k += 32) sum += LoadShared(base + 4 * (tid + k));
  StoreShared(base + 4 * tid, sum);  // its own word, which it alone reads
  sum = WarpTree(base, tid);
  if (tid == 0) StoreResult(d_out + blockIdx.x, sum);
}

template <unsigned kThreads>
__global__ void __launch_bounds__(kThreads) Unrolled(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kThreads];
  const unsigned i = 2 * blockIdx.x * kThreads + threadIdx.x;
  int sum = 0;
  if (i < n) sum = LoadOnce(d_in + i);
  if (i + kThreads < n) sum += LoadOnce(d_in + i + kThreads);
  UnrolledTree<kThreads>(SharedAddress(s_data), sum, d_out);
}

template <unsigned kThreads>
__global__ void __launch_bounds__(kThreads) Many(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kThreads];
  int sum = 0;
  for (unsigned i = 2 * blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * 2 * kThreads) {
    sum += LoadOnce(d_in + i);
    if (i + kThreads < n) sum += LoadOnce(d_in + i + kThreads);
  }
  UnrolledTree<kThreads>(SharedAddress(s_data), sum, d_out);
}

struct Add {
  static constexpr int kNeutral = 0;
  __device__ static int Warp(int a) {
    asm volatile("redux.sync.add.s32 %0, %0, 0xffffffff;" : "+r"(a));
    return a;
  }
  __device__ static int Two(int a, int b) { return a + b; }
};
struct Largest {
  static constexpr int kNeutral = INT_MIN;
  __device__ static int Warp(int a) {
    asm volatile("redux.sync.max.s32 %0, %0, 0xffffffff;" : "+r"(a));
    return a;
  }
  __device__ static int Two(int a, int b) {
    asm("max.s32 %0, %0, %1;" : "+r"(a) : "r"(b));
    return a;
  }
};
struct Smallest {
  static constexpr int kNeutral = INT_MAX;
  __device__ static int Warp(int a) {
    asm volatile("redux.sync.min.s32 %0, %0, 0xffffffff;" : "+r"(a));
    return a;
  }
  __device__ static int Two(int a, int b) {
    asm("min.s32 %0, %0, %1;" : "+r"(a) : "r"(b));
    return a;
  }
};

template <class Op>
__global__ void Wide(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_warps[8];
  const unsigned tid = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  unsigned head = static_cast<unsigned>(-reinterpret_cast<uintptr_t>(d_in) / 4 % 4);
  if (head > n) head = n;
  const unsigned fours = (n - head) / 4, rest = head + 4 * fours;
  int a = Op::kNeutral, b = Op::kNeutral, c = Op::kNeutral, d = Op::kNeutral;
  for (unsigned i = tid; i < fours; i += all) {
    const int4 v = LoadFourOnce(d_in + head + 4 * i);
    a = Op::Two(a, v.x), b = Op::Two(b, v.y), c = Op::Two(c, v.z), d = Op::Two(d, v.w);
  }
  if (tid < head) a = Op::Two(a, d_in[tid]);
  if (tid < n - rest) b = Op::Two(b, d_in[rest + tid]);
  a = Op::Warp(Op::Two(Op::Two(a, b), Op::Two(c, d)));
  if (Lane() == 0) s_warps[threadIdx.x / 32] = a;
  if (threadIdx.x >= 32) {
    Arrive(1, 256);
    return;
  }
  Meet(1, 256);
  a = Op::Warp(threadIdx.x < 8 ? s_warps[threadIdx.x] : Op::kNeutral);
  if (threadIdx.x == 0) d_out[blockIdx.x] = a;
}

template <class Op>
void Reduce(const int* d_in, int* d_out, unsigned n, int* d_work) {
  unsigned blocks = n / 4096;
  if (blocks > 512) blocks = 512;
  if (blocks < 2) {
    Wide<Op><<<1, 256>>>(d_in, d_out, n);
    return;
  }
  Wide<Op><<<blocks, 256>>>(d_in, d_work, n);
  Wide<Op><<<1, 256>>>(d_work, d_out, blocks);
}

using Kernel = void (*)(const int*, int*, unsigned);

void Passes(Kernel kernel, unsigned each, const int* d_in, int* d_out, unsigned n, int* d_work,
            unsigned most = UINT_MAX) {
  int *to = d_work, *from = d_work + BlocksFor(n);
  while (true) {
    const unsigned blocks = n <= each ? 1 : (n - 1) / each + 1 < most ? (n - 1) / each + 1 : most;
    kernel<<<blocks, kBlock>>>(d_in, blocks == 1 ? d_out : to, n);
    if (blocks == 1) return;
    d_in = to, to = from, from = const_cast<int*>(d_in);
    n = blocks;
  }
}

}  // namespace

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Interleaved, kBlock, d_in, d_sum, n, d_work);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Strided, kBlock, d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Sequential, kBlock, d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(FirstAdd, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(LastWarp, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Unrolled<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Passes(Many<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) { Reduce<Add>(d_in, d_sum, n, d_work); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) { Reduce<Largest>(d_in, d_max, n, d_work); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) { Reduce<Smallest>(d_in, d_min, n, d_work); }
