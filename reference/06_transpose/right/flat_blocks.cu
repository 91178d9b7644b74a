// points: 100 + 10
// Blocks of one dimension, tiles in dynamic shared memory, indices that a thread works out once for each step. Loads go
// by __ldg and stores by __stcs, with pointers that promise not to overlap.
#include "transpose.h"

extern __shared__ float s_flat[];

static unsigned up(unsigned n) { return (n + 31) / 32; }

__global__ void flat_naive(const float* __restrict__ in, float* __restrict__ out, unsigned w, unsigned h) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = i / w, x = i - y * w;
  if (y < h) __stcs(out + x * h + y, __ldg(in + i));
}

// kEach elements a thread, 1024 / kEach threads a block.
template <unsigned kPitch, unsigned kEach>
__global__ void flat_tile(const float* __restrict__ in, float* __restrict__ out, unsigned w, unsigned h) {
  constexpr unsigned kThreads = 1024 / kEach;
  const unsigned columns = (w + 31) / 32;
  const unsigned left = blockIdx.x % columns * 32, top = blockIdx.x / columns * 32;
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (left + lane < w) {
    const float* p = in + (top + warp) * w + left + lane;
    float* s = s_flat + warp * kPitch + lane;
#pragma unroll
    for (unsigned k = 0; k < kEach; ++k) {
      if (top + warp + k * (kThreads / 32) < h) s[k * (kThreads / 32) * kPitch] = __ldg(p + k * (kThreads / 32) * w);
    }
  }
  __syncthreads();
  if (top + lane < h) {
    float* p = out + (left + warp) * h + top + lane;
    const float* s = s_flat + lane * kPitch + warp;
#pragma unroll
    for (unsigned k = 0; k < kEach; ++k) {
      if (left + warp + k * (kThreads / 32) < w) __stcs(p + k * (kThreads / 32) * h, s[k * (kThreads / 32)]);
    }
  }
}

template <unsigned kPitch, unsigned kEach>
static void run(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  flat_tile<kPitch, kEach><<<up(width) * up(height), 1024 / kEach, 32 * kPitch * sizeof(float)>>>(d_in, d_out, width,
                                                                                                  height);
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  flat_naive<<<(width * height - 1) / 96 + 1, 96>>>(d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  run<32, 2>(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  run<35, 2>(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  run<33, 4>(d_in, d_out, width, height);
}

// Half of the threads of a warp load a row of 64 words; row r is turned by r / 4 chunks.
__global__ void flat_wide(const float4* __restrict__ in, float4* __restrict__ out, unsigned w4, unsigned h4) {
  const unsigned columns = (w4 + 15) / 16;
  const unsigned left = blockIdx.x % columns * 16, top = blockIdx.x / columns * 64;
  const unsigned c = threadIdx.x % 16, r = threadIdx.x / 16;
  float4* const s = reinterpret_cast<float4*>(s_flat);
  const auto place = [](unsigned row, unsigned chunk) { return row * 16 + (chunk + (row >> 2)) % 16; };
#pragma unroll
  for (unsigned k = 0; k < 64; k += 16) {
    if (left + c < w4 && top + r + k < 4 * h4) s[place(r + k, c)] = __ldg(in + (top + r + k) * w4 + left + c);
  }
  __syncthreads();
  if (top / 4 + c >= h4 || left + r >= w4) return;
  const float4 f0 = s[place(4 * c, r)], f1 = s[place(4 * c + 1, r)];
  const float4 f2 = s[place(4 * c + 2, r)], f3 = s[place(4 * c + 3, r)];
  float4* p = out + 4 * (left + r) * h4 + top / 4 + c;
  __stcs(p, make_float4(f0.x, f1.x, f2.x, f3.x));
  __stcs(p + h4, make_float4(f0.y, f1.y, f2.y, f3.y));
  __stcs(p + 2 * h4, make_float4(f0.z, f1.z, f2.z, f3.z));
  __stcs(p + 3 * h4, make_float4(f0.w, f1.w, f2.w, f3.w));
}

void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  if (((size_t)d_in | (size_t)d_out) % 16 != 0 || width % 4 != 0 || height % 4 != 0) {
    run<33, 8>(d_in, d_out, width, height);
    return;
  }
  const unsigned blocks = (width / 4 + 15) / 16 * ((height + 63) / 64);
  flat_wide<<<blocks, 256, 64 * 64 * sizeof(float)>>>((const float4*)d_in, (float4*)d_out, width / 4, height / 4);
}
