// Transposes and matrix products: naive, through a tile of shared memory, through a padded tile.
#include "cases.h"

namespace gpu_cases {
namespace {

// Blocks of kTile x kRows threads, each of which moves kTile / kRows elements.
template <unsigned kTile, unsigned kRows>
__global__ void naive_kernel(const float* in, float* out, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (unsigned k = 0; k < kTile; k += kRows) out[x * height + y + k] = in[(y + k) * width + x];
}

template <unsigned kTile, unsigned kRows, unsigned kPad>
__global__ void tiled_kernel(const float* in, float* out, unsigned width, unsigned height) {
  __shared__ float s_tile[kTile][kTile + kPad];
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  unsigned x = blockIdx.x * kTile + tx, y = blockIdx.y * kTile + ty;
#pragma unroll
  for (unsigned k = 0; k < kTile; k += kRows) s_tile[ty + k][tx] = in[(y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + tx;
  y = blockIdx.x * kTile + ty;
#pragma unroll
  for (unsigned k = 0; k < kTile; k += kRows) out[(y + k) * height + x] = s_tile[tx][ty + k];
}

using Transpose = void (*)(const float*, float*, unsigned, unsigned);

template <unsigned kTile, unsigned kRows>
void AddShape(const std::string& when, unsigned sets, unsigned width, unsigned height) {
  const struct {
    const char* name;
    Transpose kernel;
  } versions[] = {{"naive", naive_kernel<kTile, kRows>},
                  {"tiled", tiled_kernel<kTile, kRows, 0>},
                  {"padded", tiled_kernel<kTile, kRows, 1>}};
  for (const auto& [name, kernel] : versions) {
    Add("transpose " + when + ": " + name, sets, [kernel = kernel, width, height](const Memory& m) {
      kernel<<<dim3(width / kTile, height / kTile), dim3(kTile, kRows)>>>(m.in, m.out, width, height);
    });
  }
}

__global__ void matrix_naive_kernel(const float* a, const float* b, float* c, unsigned n) {
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

template <unsigned kTile>
__global__ void matrix_tiled_kernel(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float s_a[kTile][kTile], s_b[kTile][kTile];
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (unsigned t = 0; t < n; t += kTile) {
    s_a[ty][tx] = a[row * n + t + tx];
    s_b[ty][tx] = b[(t + ty) * n + column];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kTile; ++k) sum += s_a[ty][k] * s_b[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

const Registration registration([] {
  AddShape<32, 8>("64x96, blocks of 32x8", kCounting, 64, 96);
  AddShape<16, 16>("64x96, blocks of 16x16", kCounting, 64, 96);
  AddShape<32, 8>("4096x4096, blocks of 32x8", kTiming, 4096, 4096);
  AddShape<16, 16>("4096x4096, blocks of 16x16", kTiming, 4096, 4096);
  AddShape<16, 16>("128x128", kCourse, 128, 128);
  AddShape<16, 16>("512x512", kCourse, 512, 512);
  AddShape<16, 16>("1024x1024", kCourse, 1024, 1024);
  AddShape<16, 16>("1024x2048", kCourse, 1024, 2048);
  Add("matrix product 64, naive", kCounting,
      [](const Memory& m) { matrix_naive_kernel<<<dim3(4, 4), dim3(16, 16)>>>(m.in, m.in + 8192, m.out, 64); });
  Add("matrix product 64, tiled", kCounting,
      [](const Memory& m) { matrix_tiled_kernel<16><<<dim3(4, 4), dim3(16, 16)>>>(m.in, m.in + 8192, m.out, 64); });
  Add("matrix product 512, naive", kTiming,
      [](const Memory& m) { matrix_naive_kernel<<<dim3(16, 64), dim3(32, 8)>>>(m.in, m.in + (1 << 20), m.out, 512); });
  Add("matrix product 512, tiled", kTiming, [](const Memory& m) {
    matrix_tiled_kernel<32><<<dim3(16, 16), dim3(32, 32)>>>(m.in, m.in + (1 << 20), m.out, 512);
  });
});

}  // namespace
}  // namespace gpu_cases
