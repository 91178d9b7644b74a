// points: 100 + 10
// Flag, total and prefix are separate words: the writer has a fence before the flag, the reader one after it.
// Rung 3 moves elements by exclusive or instead of padding; rung 4 gives 256 blocks a long piece each.
#include "scan.h"

__global__ void scan1_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_a[kBlock], s_b[kBlock];
  float* s_from = s_a;
  float* s_to = s_b;
  const unsigned tid = threadIdx.x;
  s_from[tid] = tid < n ? d_in[tid] : 0.f;
  __syncthreads();
  for (unsigned s = 1; s < kBlock; s <<= 1) {
    s_to[tid] = tid >= s ? s_from[tid - s] + s_from[tid] : s_from[tid];
    __syncthreads();
    float* s_swap = s_from;
    s_from = s_to;
    s_to = s_swap;
  }
  // The inclusive scan; the neighbour's result is the exclusive one.
  if (tid < n) d_out[tid] = tid == 0 ? 0.f : s_from[tid - 1];
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan1_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// Brent and Kung: up the tree, and down again without a root to clear. Inclusive.
template <class Place>
__device__ void brent_kung(float* s_data, Place place) {
  const unsigned tid = threadIdx.x;
  for (unsigned s = 1; s < kTile; s *= 2) {
    __syncthreads();
    const unsigned i = (tid + 1) * 2 * s - 1;
    if (i < kTile) s_data[place(i)] += s_data[place(i - s)];
  }
  for (unsigned s = kTile / 4; s > 0; s /= 2) {
    __syncthreads();
    const unsigned i = (tid + 1) * 2 * s - 1;
    if (i + s < kTile) s_data[place(i + s)] += s_data[place(i)];
  }
  __syncthreads();
}

template <class Place>
__device__ void one_tile(const float* d_in, float* d_out, unsigned n, Place place) {
  __shared__ float s_data[kTile];
  for (unsigned i = threadIdx.x; i < kTile; i += kBlock) s_data[place(i)] = i < n ? d_in[i] : 0;
  brent_kung(s_data, place);
  for (unsigned i = threadIdx.x; i < n; i += kBlock) d_out[i] = i == 0 ? 0 : s_data[place(i - 1)];
}

struct Plain {
  __device__ unsigned operator()(unsigned i) const { return i; }
};
// Row r of 32 words has its words in the order of c ^ r.
struct Swizzled {
  __device__ unsigned operator()(unsigned i) const { return i ^ (i / 32 % 32); }
};

__global__ void scan2_kernel(const float* d_in, float* d_out, unsigned n) { one_tile(d_in, d_out, n, Plain()); }
__global__ void scan3_kernel(const float* d_in, float* d_out, unsigned n) { one_tile(d_in, d_out, n, Swizzled()); }

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan2_kernel<<<1, kBlock>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan3_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// 1024 elements by 128 threads, in shared memory; what comes before is added. Gives the sum of these elements.
struct Add {
  static constexpr float kNone = 0;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Most {
  static constexpr float kNone = -__builtin_huge_valf();
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <unsigned kElements, class Op>
__device__ float scan_threads(float* s_data, float* s_sums, Op op, float* thread_before) {
  const unsigned tid = threadIdx.x;
  float sum = Op::kNone;
  for (unsigned k = 0; k < kElements; ++k) sum = op(sum, s_data[tid * (kElements + 1) + k]);
  const unsigned lane = tid % 32;
  float inclusive = sum;
  for (unsigned s = 1; s < 32; s *= 2) {
    const float other = __shfl_up_sync(0xffffffff, inclusive, s);
    if (lane >= s) inclusive = op(other, inclusive);
  }
  if (lane == 31) s_sums[tid / 32] = inclusive;
  __syncthreads();
  float before = Op::kNone, all = Op::kNone;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) {
    if (w == tid / 32) before = all;
    all = op(all, s_sums[w]);
  }
  const float left = __shfl_up_sync(0xffffffff, inclusive, 1);
  *thread_before = lane == 0 ? before : op(before, left);
  return all;
}

constexpr unsigned kPieces = 256;

__global__ void piece_sums_kernel(const float* d_in, float* d_sums, unsigned n, unsigned piece) {
  __shared__ float s_sum[256];
  const unsigned end = min(n, (blockIdx.x + 1) * piece);
  float sum = 0;
  for (unsigned i = blockIdx.x * piece + threadIdx.x; i < end; i += 256) sum += d_in[i];
  s_sum[threadIdx.x] = sum;
  for (unsigned s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) s_sum[threadIdx.x] += s_sum[threadIdx.x + s];
  }
  if (threadIdx.x == 0) d_sums[blockIdx.x] = s_sum[0];
}

// Each block adds up the sums before its own by itself: there are few.
__global__ void pieces_kernel(const float* d_in, const float* d_sums, float* d_out, unsigned n, unsigned piece) {
  __shared__ float s_data[256 * 9], s_sums[8], s_carry[256];
  const unsigned tid = threadIdx.x;
  s_carry[tid] = tid < blockIdx.x ? d_sums[tid] : 0;
  for (unsigned s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (tid < s) s_carry[tid] += s_carry[tid + s];
  }
  __syncthreads();
  float carry = s_carry[0];
  const unsigned end = min(n, (blockIdx.x + 1) * piece);
  for (unsigned begin = blockIdx.x * piece; begin < end; begin += 2048) {
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned i = tid + 256 * k;
      s_data[i / 8 * 9 + i % 8] = begin + i < end ? d_in[begin + i] : 0;
    }
    __syncthreads();
    float before;
    const float sum = scan_threads<8>(s_data, s_sums, Add(), &before);
    before += carry;
    for (unsigned k = 0; k < 8; ++k) {
      const float own = s_data[tid * 9 + k];
      s_data[tid * 9 + k] = before;
      before += own;
    }
    carry += sum;
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned i = tid + 256 * k;
      if (begin + i < end) d_out[begin + i] = s_data[i / 8 * 9 + i % 8];
    }
  }
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  // d_work has three words at least; sums need 256 floats. Short inputs are one piece.
  const unsigned pieces = n < 100000 ? 1 : kPieces;
  const unsigned piece = ((n - 1) / pieces / 2048 + 1) * 2048;
  const unsigned blocks = (n - 1) / piece + 1;
  float* d_sums = reinterpret_cast<float*>(d_work);
  if (blocks > 1) piece_sums_kernel<<<blocks, 256>>>(d_in, d_sums, n, piece);
  pieces_kernel<<<blocks, 256>>>(d_in, d_sums, d_out, n, piece);
}

struct Status {
  unsigned flag;  // 0: nothing, 1: total, 2: prefix too
  float total, prefix;
};

constexpr unsigned kLookbackTile = 4096;  // 256 threads with 16 each

template <class Op, bool kInclusive>
__global__ void lookback_kernel(const float* d_in, float* d_out, unsigned n, unsigned* d_counter,
                                volatile Status* d_status) {
  __shared__ float s_data[256 * 17], s_sums[8], s_before;
  __shared__ unsigned s_tile;
  const Op op;
  const unsigned tid = threadIdx.x;
  if (tid == 0) s_tile = atomicAdd(d_counter, 1);
  __syncthreads();
  const unsigned tile = s_tile, begin = tile * kLookbackTile;
  for (unsigned i = tid; i < kLookbackTile; i += 256) {
    s_data[i / 16 * 17 + i % 16] = begin + i < n ? d_in[begin + i] : Op::kNone;
  }
  __syncthreads();
  float running;
  const float total = scan_threads<16>(s_data, s_sums, op, &running);
  if (tid == 0) {
    d_status[tile].total = total;
    __threadfence();
    d_status[tile].flag = 1;
    float before = Op::kNone;
    for (unsigned other = tile; other > 0; --other) {
      volatile Status& status = d_status[other - 1];
      unsigned flag;
      while ((flag = status.flag) == 0) {
      }
      __threadfence();
      if (flag == 2) {
        before = op(status.prefix, before);
        break;
      }
      before = op(status.total, before);
    }
    d_status[tile].prefix = op(before, total);
    __threadfence();
    d_status[tile].flag = 2;
    s_before = before;
  }
  __syncthreads();
  running = op(s_before, running);
  for (unsigned k = 0; k < 16; ++k) {
    const float own = s_data[tid * 17 + k];
    const float next = op(running, own);
    s_data[tid * 17 + k] = kInclusive ? next : running;
    running = next;
  }
  __syncthreads();
  for (unsigned i = tid; i < kLookbackTile && begin + i < n; i += 256) d_out[begin + i] = s_data[i / 16 * 17 + i % 16];
}

template <class Op, bool kInclusive>
void lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n - 1) / kLookbackTile + 1;
  // 12 bytes for each 4096 elements, after the counter: d_work has 32.
  cudaMemsetAsync(d_work, 0, sizeof(unsigned) + tiles * sizeof(Status));
  unsigned* d_counter = reinterpret_cast<unsigned*>(d_work);
  lookback_kernel<Op, kInclusive>
      <<<tiles, 256>>>(d_in, d_out, n, d_counter, reinterpret_cast<volatile Status*>(d_counter + 1));
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Add, false>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Add, true>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Most, true>(d_in, d_out, n, d_work);
}
