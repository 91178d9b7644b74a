// points: 100 + 10
// Whole blocks without a guard, then one block for what is left; pointers that walk. On rung 8 the sums are made while
// the floats are stored, from two copies of the piece in shared memory.
#include <algorithm>
#include <iterator>

#include "coalescing.h"

namespace {

constexpr unsigned kSize = 256;

// Thread t's element by the rung's rule; n or more means none.
struct Rule {
  int rung;
  unsigned n, rows;
  __device__ unsigned element(unsigned t) const {
    switch (rung) {
      case 3:
        return t < n ? (t + kOffset) % n : n;
      case 4:
        return t / rows < kStride ? t % rows * kStride + t / rows : n;
      case 5:
        return t ^ 1u;
      default:
        return t;
    }
  }
};

__global__ void by_rule(const float* d_in, float* d_out, Rule rule, unsigned first) {
  const unsigned e = rule.element(first + blockIdx.x * kSize + threadIdx.x);
  if (e < rule.n) *(d_out + e) = *(d_in + e) + 1;
}

void run_rule(const float* d_in, float* d_out, unsigned n, int rung) {
  if (n == 0) return;
  const Rule rule{rung, n, (n + kStride - 1) / kStride};
  const unsigned threads = rung == 4 ? rule.rows * kStride : rung == 5 ? n + 1 : n;
  const unsigned whole = threads / kSize;
  if (whole > 0) by_rule<<<whole, kSize>>>(d_in, d_out, rule, 0);
  if (threads % kSize > 0) by_rule<<<1, kSize>>>(d_in, d_out, rule, whole * kSize);
}

__global__ void walk_structures(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * kSize + threadIdx.x;
  if (t >= n) return;
  const float* p = d_in + 3 * t;
  const float x = *p++, y = *p++, z = *p;
  float* q = d_out + 3 * t;
  *q++ = x + y;
  *q++ = y + z;
  *q = z + x;
}

__global__ void walk_arrays(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * kSize + threadIdx.x;
  if (t >= n) return;
  const float *x = d_in + t, *y = x + n, *z = y + n;
  float* q = d_out + t;
  q[0] = *x + *y;
  q[n] = *y + *z;
  q[2 * n] = *z + *x;
}

__global__ void two_copies(const float* d_in, float* d_out, unsigned n) {
  extern __shared__ float s_both[];
  float *s_first = s_both, *s_second = s_both + 3 * kSize;
  const unsigned begin = blockIdx.x * kSize;
  const unsigned count = 3 * (n - begin < kSize ? n - begin : kSize);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const float value = d_in[3 * begin + i];
    s_first[i] = value;
    s_second[i % 3 == 0 ? i + 2 : i - 1] = value;  // place of the float that it is added to
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) d_out[3 * begin + i] = s_first[i] + s_second[i];
}

// How many runs of equal numbers a sorted array has.
int runs(long long* begin, long long* end) {
  std::sort(begin, end);
  int count = begin != end;
  for (long long* p = begin; p + 1 < end; ++p) count += p[0] != p[1];
  return count;
}

}  // namespace

int coalesce1_predict(const WarpRequest* request) {
  long long sector[32];
  long long* end = sector;
  for (int t = 0; t < 32; ++t) {
    const long long address = request->first + (long long)(t ^ request->swap) * request->stride;
    if ((request->active >> t) % 2 == 1) *end++ = address / kSectorBytes;
  }
  return runs(sector, end);
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) { run_rule(d_in, d_out, n, 2); }
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) { run_rule(d_in, d_out, n, 3); }
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) { run_rule(d_in, d_out, n, 4); }
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) { run_rule(d_in, d_out, n, 5); }
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) walk_structures<<<(n + kSize - 1) / kSize, kSize>>>(d_in, d_out, n);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) walk_arrays<<<(n + kSize - 1) / kSize, kSize>>>(d_in, d_out, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) two_copies<<<(n + kSize - 1) / kSize, kSize, 6 * kSize * sizeof(float)>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  int transactions = 0;
  for (int half = 0; half < 2; ++half) {
    long long begins[16];
    long long* end = begins;
    for (int k = 0; k < 16; ++k) {
      const int t = 16 * half + k;
      const long long address = request->first + (long long)(t ^ request->swap) * request->stride;
      if ((request->active >> t) % 2 == 1) *end++ = address - (long long)k * request->bytes;
    }
    const bool strict = runs(begins, end) == 1 && begins[0] % (16 * request->bytes) == 0;
    transactions += strict ? 1 : static_cast<int>(end - begins);
  }
  return transactions;
}
