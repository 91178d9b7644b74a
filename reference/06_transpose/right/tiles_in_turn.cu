// points: 100 + 10
// A grid of the GPU's size whose blocks take tile after tile. Indices are of 64 bits, shared memory is dynamic, and the
// tile's shape is a template's argument.
#include <cstddef>

#include "transpose.h"

namespace {

unsigned blocks_of_gpu() {
  static int sms = 0;
  if (sms == 0) {
    int device = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  }
  return 32 * sms;
}

__global__ void naive(const float* in, float* out, size_t width, size_t height) {
  const size_t count = width * height, stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    const size_t y = i / width, x = i - y * width;
    out[x * height + y] = in[i];
  }
}

template <int kSide, int kRows, int kPitch>
__global__ void tiles(const float* __restrict__ in, float* __restrict__ out, size_t width, size_t height) {
  extern __shared__ float tile[];
  const size_t columns = (width + kSide - 1) / kSide, rows = (height + kSide - 1) / kSide;
  for (size_t t = blockIdx.x; t < columns * rows; t += gridDim.x) {
    const size_t x0 = t % columns * kSide, y0 = t / columns * kSide;
#pragma unroll
    for (int r = threadIdx.y; r < kSide; r += kRows) {
      for (int c = threadIdx.x; c < kSide; c += 32) {
        if (x0 + c < width && y0 + r < height) tile[r * kPitch + c] = in[(y0 + r) * width + x0 + c];
      }
    }
    __syncthreads();
#pragma unroll
    for (int r = threadIdx.y; r < kSide; r += kRows) {
      for (int c = threadIdx.x; c < kSide; c += 32) {
        if (y0 + c < height && x0 + r < width) out[(x0 + r) * height + y0 + c] = tile[c * kPitch + r];
      }
    }
    __syncthreads();
  }
}

template <int kSide, int kRows, int kPitch>
void run_tiles(const float* d_in, float* d_out, unsigned width, unsigned height) {
  tiles<kSide, kRows, kPitch><<<blocks_of_gpu(), dim3(32, kRows), kSide * kPitch * sizeof(float)>>>(d_in, d_out, width,
                                                                                                  height);
}

// Rung 4 has its indices in 32 bits, and pointers that walk.
__global__ void walking(const float* in, float* out, unsigned width, unsigned height) {
  __shared__ float tile[kTile][kTile + 1];
  const unsigned columns = (width + kTile - 1) / kTile, rows = (height + kTile - 1) / kTile;
  for (unsigned t = blockIdx.x; t < columns * rows; t += gridDim.x) {
    const unsigned x0 = t % columns * kTile, y0 = t / columns * kTile;
    const bool whole = x0 + kTile <= width && y0 + kTile <= height;
    const float* from = in + (y0 + threadIdx.y) * width + x0 + threadIdx.x;
    float* to = out + (x0 + threadIdx.y) * height + y0 + threadIdx.x;
    if (whole) {
      tile[threadIdx.y][threadIdx.x] = from[0];
      tile[threadIdx.y + 8][threadIdx.x] = from[8 * width];
      tile[threadIdx.y + 16][threadIdx.x] = from[16 * width];
      tile[threadIdx.y + 24][threadIdx.x] = from[24 * width];
    } else if (x0 + threadIdx.x < width) {
      for (unsigned r = threadIdx.y; r < kTile && y0 + r < height; r += 8) {
        tile[r][threadIdx.x] = in[(y0 + r) * width + x0 + threadIdx.x];
      }
    }
    __syncthreads();
    if (whole) {
      to[0] = tile[threadIdx.x][threadIdx.y];
      to[8 * height] = tile[threadIdx.x][threadIdx.y + 8];
      to[16 * height] = tile[threadIdx.x][threadIdx.y + 16];
      to[24 * height] = tile[threadIdx.x][threadIdx.y + 24];
    } else if (y0 + threadIdx.x < height) {
      for (unsigned r = threadIdx.y; r < kTile && x0 + r < width; r += 8) {
        out[(x0 + r) * height + y0 + threadIdx.x] = tile[threadIdx.x][r];
      }
    }
    __syncthreads();
  }
}

// Squares of 4 x 4 in registers; chunk c of row r lies at c + r / 4.
__global__ void wide(const float4* in, float4* out, unsigned width, unsigned height) {
  __shared__ float4 tile[32][8];
  const unsigned columns = (width + 31) / 32, rows = (height + 31) / 32, w4 = width / 4, h4 = height / 4;
  for (unsigned t = blockIdx.x; t < columns * rows; t += gridDim.x) {
    const unsigned x4 = t % columns * 8, y0 = t / columns * 32;
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned r = threadIdx.y + 8 * k;
      if (x4 + threadIdx.x < w4 && y0 + r < height) {
        tile[r][(threadIdx.x + r / 4) % 8] = in[(y0 + r) * w4 + x4 + threadIdx.x];
      }
    }
    __syncthreads();
    const unsigned out_row = 4 * (x4 + threadIdx.y), out_chunk = y0 / 4 + threadIdx.x;
    if (out_row < width && out_chunk < h4) {
      const unsigned c = (threadIdx.y + threadIdx.x) % 8, r = 4 * threadIdx.x;
      const float4 a = tile[r][c], b = tile[r + 1][c], d = tile[r + 2][c], e = tile[r + 3][c];
      float4* to = out + out_row * h4 + out_chunk;
      to[0] = {a.x, b.x, d.x, e.x};
      to[h4] = {a.y, b.y, d.y, e.y};
      to[2 * h4] = {a.z, b.z, d.z, e.z};
      to[3 * h4] = {a.w, b.w, d.w, e.w};
    }
    __syncthreads();
  }
}

bool is_wide(const void* p) { return reinterpret_cast<size_t>(p) % sizeof(float4) == 0; }

}  // namespace

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  naive<<<blocks_of_gpu(), 256>>>(d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  run_tiles<64, 8, 64>(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  run_tiles<64, 16, 65>(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  walking<<<blocks_of_gpu(), dim3(32, 8)>>>(d_in, d_out, width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (!is_wide(d_in) || !is_wide(d_out) || (width | height) % 4 != 0) return transpose4_rows(d_in, d_out, width, height);
  wide<<<blocks_of_gpu(), dim3(8, 8)>>>(reinterpret_cast<const float4*>(d_in), reinterpret_cast<float4*>(d_out), width,
                                       height);
}
