// points: 100 + 10
// Flags are stored with release and loaded with acquire, in inline PTX; the values that they guard are plain floats.
#include "scan.h"

// Two elements a thread: Hillis and Steele's steps over the sums of pairs.
__global__ void scan1_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_in[kBlock], s_pair[2][kBlock / 2];
  const unsigned tid = threadIdx.x, half = kBlock / 2;
  for (unsigned i = tid; i < kBlock; i += half) s_in[i] = i < n ? d_in[i] : 0;
  __syncthreads();
  s_pair[0][tid] = s_in[2 * tid] + s_in[2 * tid + 1];
  int now = 0;
  for (unsigned s = 1; s < half; s *= 2, now ^= 1) {
    __syncthreads();
    s_pair[now ^ 1][tid] = tid < s ? s_pair[now][tid] : s_pair[now][tid - s] + s_pair[now][tid];
  }
  __syncthreads();
  const float before = tid == 0 ? 0 : s_pair[now][tid - 1];
  const float first = s_in[2 * tid];
  s_in[2 * tid] = before;
  s_in[2 * tid + 1] = before + first;
  __syncthreads();
  for (unsigned i = tid; i < n; i += half) d_out[i] = s_in[i];
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan1_kernel<<<1, kBlock / 2>>>(d_in, d_out, n);
}

// Each thread keeps two sums of neighbours in registers; the tree stands over 512 of them, in rows of 33 words.
__device__ unsigned at(unsigned i) { return i / 32 * 33 + i % 32; }

__global__ void tree_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[kTile / 32 * 33];
  const unsigned tid = threadIdx.x;
  for (unsigned i = tid; i < kTile; i += kBlock) s_data[at(i)] = i < n ? d_in[i] : 0;
  for (unsigned pairs = kTile / 2, s = 1; pairs > 0; pairs /= 2, s *= 2) {
    __syncthreads();
    if (tid < pairs) {
      const unsigned left = 2 * s * tid + s - 1;
      s_data[at(left + s)] += s_data[at(left)];
    }
  }
  __syncthreads();
  if (tid == 0) s_data[at(kTile - 1)] = 0;
  for (unsigned pairs = 1, s = kTile / 2; s > 0; pairs *= 2, s /= 2) {
    __syncthreads();
    if (tid < pairs) {
      const unsigned left = 2 * s * tid + s - 1;
      const float sum = s_data[at(left)], before = s_data[at(left + s)];
      s_data[at(left)] = before;
      s_data[at(left + s)] = before + sum;
    }
  }
  __syncthreads();
  for (unsigned i = tid; i < n; i += kBlock) d_out[i] = s_data[at(i)];
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) tree_kernel<<<1, kBlock>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) tree_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

__device__ unsigned acquire(const unsigned* d_flag) {
  unsigned flag;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(flag) : "l"(d_flag) : "memory");
  return flag;
}
__device__ void release(unsigned* d_flag, unsigned flag) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(d_flag), "r"(flag) : "memory");
}

struct Sum {
  __device__ static float none() { return 0; }
  __device__ static float of(float a, float b) { return a + b; }
};
struct Max {
  __device__ static float none() { return -INFINITY; }
  __device__ static float of(float a, float b) { return fmaxf(a, b); }
};

constexpr unsigned kThreads = 128, kEach = 16, kLong = kThreads * kEach;

__device__ unsigned spread(unsigned i) { return i + i / kEach; }

template <class Op>
__device__ void load_tile(float* s_data, const float* d_in, unsigned begin, unsigned n) {
  for (unsigned i = threadIdx.x; i < kLong; i += kThreads) {
    s_data[spread(i)] = begin + i < n ? d_in[begin + i] : Op::none();
  }
  __syncthreads();
}

// The threads' sums, scanned by the first warp, four to a lane.
template <class Op>
__device__ float scan_sums(const float* s_data, float* s_sums) {
  const unsigned tid = threadIdx.x;
  float sum = Op::none();
  for (unsigned k = 0; k < kEach; ++k) sum = Op::of(sum, s_data[tid * (kEach + 1) + k]);
  s_sums[tid] = sum;
  __syncthreads();
  if (tid < 32) {
    float own[4], running = Op::none();
    for (unsigned k = 0; k < 4; ++k) {
      own[k] = running;
      running = Op::of(running, s_sums[4 * tid + k]);
    }
    float inclusive = running;
    for (unsigned s = 1; s < 32; s *= 2) {
      const float left = __shfl_up_sync(0xffffffff, inclusive, s);
      if (tid >= s) inclusive = Op::of(left, inclusive);
    }
    float before = __shfl_up_sync(0xffffffff, inclusive, 1);
    if (tid == 0) before = Op::none();
    for (unsigned k = 0; k < 4; ++k) s_sums[4 * tid + k] = Op::of(before, own[k]);
    if (tid == 31) s_sums[kThreads] = inclusive;
  }
  __syncthreads();
  return s_sums[kThreads];
}

template <class Op, bool kInclusive>
__device__ void store_tile(float* s_data, float running, float* d_out, unsigned begin, unsigned n) {
  for (unsigned k = 0; k < kEach; ++k) {
    float& slot = s_data[threadIdx.x * (kEach + 1) + k];
    const float next = Op::of(running, slot);
    slot = kInclusive ? next : running;
    running = next;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kLong && begin + i < n; i += kThreads) d_out[begin + i] = s_data[spread(i)];
}

// Rung 4: sums of tiles of 2048; scanned by the same kernels.
__global__ void sum_tiles_kernel(const float* d_in, float* d_sums, unsigned n) {
  __shared__ float s_data[kLong + kLong / kEach], s_sums[kThreads + 1];
  load_tile<Sum>(s_data, d_in, blockIdx.x * kLong, n);
  const float sum = scan_sums<Sum>(s_data, s_sums);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = sum;
}

__global__ void scan_tiles_kernel(const float* d_in, const float* d_before, float* d_out, unsigned n) {
  __shared__ float s_data[kLong + kLong / kEach], s_sums[kThreads + 1];
  load_tile<Sum>(s_data, d_in, blockIdx.x * kLong, n);
  scan_sums<Sum>(s_data, s_sums);
  const float before = s_sums[threadIdx.x] + (d_before ? d_before[blockIdx.x] : 0);
  store_tile<Sum, false>(s_data, before, d_out, blockIdx.x * kLong, n);
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n + kLong - 1) / kLong;
  float* d_sums = reinterpret_cast<float*>(d_work);
  if (tiles > 1) {
    sum_tiles_kernel<<<tiles, kThreads>>>(d_in, d_sums, n);
    scan4_blocks(d_sums, d_sums, tiles, reinterpret_cast<unsigned long long*>(d_sums + tiles + tiles % 2));
  }
  scan_tiles_kernel<<<tiles, kThreads>>>(d_in, tiles > 1 ? d_sums : nullptr, d_out, n);
}

template <class Op, bool kInclusive>
__global__ void lookback_kernel(const float* d_in, float* d_out, unsigned n, unsigned* d_counter, unsigned* d_flags,
                                float* d_totals, float* d_prefixes) {
  __shared__ float s_data[kLong + kLong / kEach], s_sums[kThreads + 1], s_before;
  __shared__ unsigned s_tile;
  if (threadIdx.x == 0) s_tile = atomicAdd(d_counter, 1u);
  __syncthreads();
  const unsigned tile = s_tile;
  load_tile<Op>(s_data, d_in, tile * kLong, n);
  const float total = scan_sums<Op>(s_data, s_sums);
  if (threadIdx.x == 0) {
    d_totals[tile] = total;
    release(&d_flags[tile], 1);
    float before = Op::none();
    for (unsigned other = tile; other-- > 0;) {
      unsigned flag = acquire(&d_flags[other]);
      while (flag == 0) flag = acquire(&d_flags[other]);
      before = Op::of(flag == 2 ? d_prefixes[other] : d_totals[other], before);
      if (flag == 2) break;
    }
    d_prefixes[tile] = Op::of(before, total);
    release(&d_flags[tile], 2);
    s_before = before;
  }
  __syncthreads();
  store_tile<Op, kInclusive>(s_data, Op::of(s_before, s_sums[threadIdx.x]), d_out, tile * kLong, n);
}

template <class Op, bool kInclusive>
void lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  // Counter, flags, totals, prefixes: 12 bytes for 2048 elements, of the 16 that d_work has.
  const unsigned tiles = (n + kLong - 1) / kLong;
  unsigned* d_counter = reinterpret_cast<unsigned*>(d_work);
  cudaMemsetAsync(d_counter, 0, (1 + tiles) * sizeof(unsigned));
  float* d_totals = reinterpret_cast<float*>(d_counter + 1 + tiles);
  lookback_kernel<Op, kInclusive>
      <<<tiles, kThreads>>>(d_in, d_out, n, d_counter, d_counter + 1, d_totals, d_totals + tiles);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Sum, false>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Sum, true>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Max, true>(d_in, d_out, n, d_work);
}
