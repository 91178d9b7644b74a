// points: 100 + 10
// Shuffles wherever they fit: warps scan in registers, four elements a thread on rungs 2 to 4, eight rows of 32 a warp
// on rung 5, whose first warp looks back over 32 words at once by cuda::atomic_ref.
#include <cuda/atomic>

#include "scan.h"

constexpr unsigned kFull = 0xffffffffu;

__device__ float warp_inclusive(float value) {
  const unsigned lane = threadIdx.x & 31;
  for (unsigned delta = 1; delta < 32; delta <<= 1) {
    const float left = __shfl_up_sync(kFull, value, delta);
    if (lane >= delta) value += left;
  }
  return value;
}

// The sum of the threads before this one; the block's is in *total. For up to 32 warps.
__device__ float block_exclusive(float value, float* total) {
  __shared__ float s_warps[32];
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  const float inclusive = warp_inclusive(value);
  float exclusive = __shfl_up_sync(kFull, inclusive, 1);
  if (lane == 0) exclusive = 0;
  if (lane == 31) s_warps[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    const float sums = warp_inclusive(lane < warps ? s_warps[lane] : 0);
    if (lane < warps) s_warps[lane] = sums;
  }
  __syncthreads();
  *total = s_warps[warps - 1];
  if (warp > 0) exclusive += s_warps[warp - 1];
  __syncthreads();
  return exclusive;
}

__global__ void scan1_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned tid = threadIdx.x;
  float total;
  const float before = block_exclusive(tid < n ? d_in[tid] : 0, &total);
  if (tid < n) d_out[tid] = before;
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan1_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// 256 threads scan 1024 elements from `before` on. They go through shared memory, so that loads and stores are side by
// side whatever the alignment; a thread's four are one 16-byte word there.
__device__ void scan_tile(const float* d_in, float* d_out, unsigned n, float before) {
  __shared__ float4 s_four[256];
  float* s_one = reinterpret_cast<float*>(s_four);
  const unsigned tid = threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned i = tid + 256 * k;
    s_one[i] = i < n ? d_in[i] : 0;
  }
  __syncthreads();
  const float4 own = s_four[tid];
  const float a = own.x, b = a + own.y, c = b + own.z, d = c + own.w;
  float total;
  before += block_exclusive(d, &total);
  s_four[tid] = make_float4(before, before + a, before + b, before + c);
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned i = tid + 256 * k;
    if (i < n) d_out[i] = s_one[i];
  }
}

__global__ void one_tile_kernel(const float* d_in, float* d_out, unsigned n) { scan_tile(d_in, d_out, n, 0); }

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_tile_kernel<<<1, 256>>>(d_in, d_out, n);
}

void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_tile_kernel<<<1, 256>>>(d_in, d_out, n);
}

__global__ void sums_kernel(const float* d_in, float* d_sums, unsigned n) {
  __shared__ float s_warps[8];
  const unsigned tid = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned i = blockIdx.x * kTile + tid + 256 * k;
    if (i < n) sum += d_in[i];
  }
  for (unsigned delta = 16; delta > 0; delta >>= 1) sum += __shfl_down_sync(kFull, sum, delta);
  if (tid % 32 == 0) s_warps[tid / 32] = sum;
  __syncthreads();
  if (tid == 0) {
    for (unsigned w = 1; w < 8; ++w) sum += s_warps[w];
    d_sums[blockIdx.x] = sum;
  }
}

// One block goes over all sums, 1024 at a time, and carries the total over.
__global__ void scan_sums_kernel(float* d_sums, unsigned tiles) {
  float carry = 0;
  for (unsigned first = 0; first < tiles; first += 1024) {
    const unsigned i = first + threadIdx.x;
    float total;
    const float before = block_exclusive(i < tiles ? d_sums[i] : 0, &total);
    if (i < tiles) d_sums[i] = carry + before;
    carry += total;
  }
}

__global__ void tiles_kernel(const float* d_in, const float* d_sums, float* d_out, unsigned n) {
  const unsigned begin = blockIdx.x * kTile;
  scan_tile(d_in + begin, d_out + begin, n - begin, d_sums[blockIdx.x]);
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  float* d_sums = reinterpret_cast<float*>(d_work);
  sums_kernel<<<TilesFor(n), 256>>>(d_in, d_sums, n);
  scan_sums_kernel<<<1, 1024>>>(d_sums, TilesFor(n));
  tiles_kernel<<<TilesFor(n), 256>>>(d_in, d_sums, d_out, n);
}

using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
constexpr unsigned long long kTotal = 1ull << 32, kPrefix = 2ull << 32;

template <bool kMax>
__device__ float both(float a, float b) {
  return kMax ? fmaxf(a, b) : a + b;
}
template <bool kMax>
__device__ float neutral() {
  return kMax ? -INFINITY : 0;
}

template <bool kMax>
__device__ float warp_scan(float value) {
  for (unsigned delta = 1; delta < 32; delta <<= 1) {
    const float left = __shfl_up_sync(kFull, value, delta);
    if ((threadIdx.x & 31) >= delta) value = both<kMax>(left, value);
  }
  return value;
}

// Looks at tile - 1, tile - 2, … as far as necessary, with a whole warp.
template <bool kMax>
__device__ float look_back(unsigned long long* d_words, int tile) {
  const int lane = threadIdx.x & 31;
  float before = neutral<kMax>();
  for (int last = tile - 1; last >= 0; last -= 32) {
    unsigned long long word = kPrefix | __float_as_uint(neutral<kMax>());
    if (lane <= last) {
      Word ref(d_words[last - lane]);
      while ((word = ref.load(cuda::memory_order_relaxed)) < kTotal) {
      }
    }
    const unsigned prefixes = __ballot_sync(kFull, word >= kPrefix);
    const int nearest = prefixes == 0 ? 31 : __ffs(prefixes) - 1;
    float value = lane <= nearest ? __uint_as_float(static_cast<unsigned>(word)) : neutral<kMax>();
    for (unsigned delta = 16; delta > 0; delta >>= 1) value = both<kMax>(value, __shfl_xor_sync(kFull, value, delta));
    before = both<kMax>(value, before);
    if (prefixes != 0) break;
  }
  return before;
}

template <bool kMax, bool kInclusive>
__global__ void one_pass_kernel(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  __shared__ unsigned s_tile;
  __shared__ float s_warps[8], s_before;
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) s_tile = atomicAdd(reinterpret_cast<unsigned*>(d_work), 1u);
  __syncthreads();
  const unsigned tile = s_tile, first = tile * 2048 + warp * 256 + lane;
  float rows[8], carry = neutral<kMax>();
#pragma unroll
  for (unsigned r = 0; r < 8; ++r) rows[r] = first + 32 * r < n ? d_in[first + 32 * r] : neutral<kMax>();
#pragma unroll
  for (unsigned r = 0; r < 8; ++r) {
    const float scanned = warp_scan<kMax>(rows[r]);
    const float last = __shfl_sync(kFull, scanned, 31);
    float left = __shfl_up_sync(kFull, scanned, 1);
    if (lane == 0) left = neutral<kMax>();
    rows[r] = both<kMax>(carry, kInclusive ? scanned : left);
    carry = both<kMax>(carry, last);
  }
  if (lane == 31) s_warps[warp] = carry;
  __syncthreads();
  if (warp == 0) {
    const float scanned = warp_scan<kMax>(lane < 8 ? s_warps[lane] : neutral<kMax>());
    const float total = __shfl_sync(kFull, scanned, 7);
    Word own(d_work[1 + tile]);
    if (lane == 0) own.store(kTotal | __float_as_uint(total), cuda::memory_order_relaxed);
    const float before = look_back<kMax>(d_work + 1, tile);
    if (lane == 0) own.store(kPrefix | __float_as_uint(both<kMax>(before, total)), cuda::memory_order_relaxed);
    if (lane < 8) s_warps[lane] = scanned;
    if (lane == 0) s_before = before;
  }
  __syncthreads();
  const float before = warp == 0 ? s_before : both<kMax>(s_before, s_warps[warp - 1]);
#pragma unroll
  for (unsigned r = 0; r < 8; ++r) {
    if (first + 32 * r < n) d_out[first + 32 * r] = both<kMax>(before, rows[r]);
  }
}

template <bool kMax, bool kInclusive>
void one_pass(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n - 1) / 2048 + 1;
  cudaMemsetAsync(d_work, 0, 8 * (tiles + 1));
  one_pass_kernel<kMax, kInclusive><<<tiles, 256>>>(d_in, d_out, n, d_work);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  one_pass<false, false>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  one_pass<false, true>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  one_pass<true, true>(d_in, d_out, n, d_work);
}
