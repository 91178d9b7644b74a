// Church, Alonzo. Works for all the sizes I tried: 8, 64, 512, 1024.

#include "scan.h"

__global__ void hillis_steele_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[2][kBlock];
  const unsigned tid = threadIdx.x;
  s_data[0][tid] = tid > 0 && tid < n ? d_in[tid - 1] : 0;
  unsigned now = 0;
  for (unsigned s = 1; s < n; s *= 2) {
    __syncthreads();
    float sum = s_data[now][tid];
    if (tid >= s) sum += s_data[now][tid - s];
    now = 1 - now;
    s_data[now][tid] = sum;
  }
  if (tid < n) d_out[tid] = s_data[now][tid];
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) hillis_steele_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

__global__ void work_efficient_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[kTile];
  const unsigned tid = threadIdx.x;
  s_data[tid] = tid < n ? d_in[tid] : 0;
  s_data[tid + kBlock] = tid + kBlock < n ? d_in[tid + kBlock] : 0;
  for (unsigned s = 1; s < n; s *= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < n) s_data[right] += s_data[right - s];
  }
  __syncthreads();
  if (tid == 0) s_data[n - 1] = 0;
  for (unsigned s = n / 2; s > 0; s /= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < n) {
      const float left_sum = s_data[right - s];
      s_data[right - s] = s_data[right];
      s_data[right] += left_sum;
    }
  }
  __syncthreads();
  if (tid < n) d_out[tid] = s_data[tid];
  if (tid + kBlock < n) d_out[tid + kBlock] = s_data[tid + kBlock];
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) work_efficient_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

__host__ __device__ constexpr unsigned padded(unsigned i) { return i + i / 32; }

__global__ void padded_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[padded(kTile)];
  const unsigned tid = threadIdx.x;
  s_data[padded(tid)] = tid < n ? d_in[tid] : 0;
  s_data[padded(tid + kBlock)] = tid + kBlock < n ? d_in[tid + kBlock] : 0;
  for (unsigned s = 1; s < kTile; s *= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < kTile) s_data[padded(right)] += s_data[padded(right - s)];
  }
  if (tid == 0) s_data[padded(kTile - 1)] = 0;
  for (unsigned s = kTile / 2; s > 0; s /= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < kTile) {
      const float left_sum = s_data[padded(right - s)];
      s_data[padded(right - s)] = s_data[padded(right)];
      s_data[padded(right)] += left_sum;
    }
  }
  __syncthreads();
  if (tid < n) d_out[tid] = s_data[padded(tid)];
  if (tid + kBlock < n) d_out[tid + kBlock] = s_data[padded(tid + kBlock)];
}

void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) padded_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan4)
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan5)
}

void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan6)
}

void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  // TODO(scan6)
}
