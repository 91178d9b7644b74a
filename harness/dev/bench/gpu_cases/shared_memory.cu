// Shared memory: strides, widths, broadcast, partial masks, elements that several lanes of a warp access.
#include <cstdio>

#include "cases.h"

namespace gpu_cases {
namespace {

constexpr unsigned kWords = 8192;

// Each lane in the mask stores to element lane * stride of its block's array and loads the next; blocks of one warp.
template <typename T>
__global__ void strided_kernel(const T* in, T* out, unsigned stride, unsigned lanes) {
  __shared__ T s_data[kWords * 4 / sizeof(T)];
  const unsigned lane = threadIdx.x, place = lane * stride;
  if ((lanes >> lane & 1) == 0) return;
  s_data[place] = in[lane];
  __syncwarp(lanes);
  out[lane] = s_data[place + 1];
}

// Lane l loads element (l % period) ^ flip.
template <typename T>
__global__ void shared_by_kernel(const T* in, T* out, unsigned period, unsigned flip) {
  __shared__ T s_data[64];
  const unsigned lane = threadIdx.x;
  s_data[lane] = in[lane];
  __syncwarp();
  out[lane] = s_data[lane % period ^ flip];
}

// Lane l loads element l / width, so neighbours share one. Only the lanes in the mask `lanes` load.
template <typename T>
__global__ void neighbours_kernel(const T* in, T* out, unsigned width, unsigned lanes) {
  __shared__ T s_data[64];
  const unsigned lane = threadIdx.x;
  s_data[lane] = in[lane];
  __syncwarp();
  if ((lanes >> lane & 1) != 0) out[lane] = s_data[lane / width];
}

// The same for stores.
template <typename T>
__global__ void neighbours_store_kernel(const T* in, T* out, unsigned width, unsigned lanes) {
  __shared__ T s_data[64];
  const unsigned lane = threadIdx.x;
  if ((lanes >> lane & 1) != 0) s_data[lane / width] = in[lane / width];
  __syncwarp();
  out[lane] = s_data[lane];
}

// Rows and columns of a tile, as transposes use them.
template <unsigned kPad>
__global__ void tile_kernel(const float* in, float* out) {
  __shared__ float s_tile[32][32 + kPad];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  s_tile[y][x] = in[y * 32 + x];
  __syncthreads();
  out[y * 32 + x] = s_tile[x][y];
}

// Many loads per thread, so that shared memory bounds the time.
__global__ void conflicts_kernel(float* out, unsigned stride) {
  __shared__ float s_data[1024];
  for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) s_data[k] = static_cast<float>(k);
  __syncthreads();
  unsigned place = threadIdx.x * stride;
  float sum = 0;
  for (unsigned k = 0; k < 256; ++k) {
    sum += s_data[place & 1023];
    place += 32 * stride;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <typename T>
void AddWidth(const std::string& type) {
  const unsigned largest = sizeof(T) > 8 ? 17 : 33;
  for (unsigned stride = 1; stride <= largest; ++stride) {
    if (sizeof(T) != 4 && stride > 5 && stride != 8 && stride != 16 && stride != 17) continue;
    char text[8];
    std::snprintf(text, sizeof text, "%02u", stride);
    Add("shared " + type + " stride " + text, kCounting,
        [stride](const Memory& m) { strided_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), stride, 0xffffffffu); });
  }
  for (const unsigned lanes : {0x1u, 0x55555555u, 0x000000ffu, 0x00ff00ffu, 0x7fffffffu}) {
    char hex[16];
    std::snprintf(hex, sizeof hex, "%08x", lanes);
    Add("shared " + type + " lanes " + hex, kCounting,
        [lanes](const Memory& m) { strided_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), 1, lanes); });
    Add("shared " + type + " stride 2 lanes " + hex, kCounting,
        [lanes](const Memory& m) { strided_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), 2, lanes); });
  }
  for (const unsigned period : {1u, 2u, 4u, 8u, 16u}) {
    const std::string text = std::to_string(period);
    Add("shared " + type + " period " + text, kCounting,
        [period](const Memory& m) { shared_by_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), period, 0); });
    Add("shared " + type + " shared by " + std::to_string(2 * period), kCounting,
        [period](const Memory& m) { neighbours_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), 2 * period, ~0u); });
  }
  // Do inactive lanes keep the halves or quarters of a warp from being served in one pass?
  for (const unsigned lanes : {0x11111111u, 0x33333333u, 0x00030003u, 0x01010101u, 0x7fffffffu, ~0u}) {
    for (const unsigned width : {2u, 4u, 8u}) {
      char text[40];
      std::snprintf(text, sizeof text, " shared by %u lanes %08x", width, lanes);
      Add("shared " + type + text, kCounting,
          [width, lanes](const Memory& m) { neighbours_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), width, lanes); });
      Add("shared " + type + " store" + text, kCounting, [width, lanes](const Memory& m) {
        neighbours_store_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), width, lanes);
      });
    }
  }
  for (const unsigned flip : {1u, 6u, 31u}) {
    Add("shared " + type + " permuted " + std::to_string(flip), kCounting,
        [flip](const Memory& m) { shared_by_kernel<T><<<2, 32>>>(m.In<T>(), m.Out<T>(), 32, flip); });
  }
}

const Registration registration([] {
  AddWidth<unsigned char>("1 byte");
  AddWidth<unsigned short>("2 bytes");
  AddWidth<float>("4 bytes");
  AddWidth<float2>("8 bytes");
  AddWidth<float4>("16 bytes");
  Add("shared tile", kCounting, [](const Memory& m) { tile_kernel<0><<<2, dim3(32, 32)>>>(m.in, m.out); });
  Add("shared tile padded", kCounting, [](const Memory& m) { tile_kernel<1><<<2, dim3(32, 32)>>>(m.in, m.out); });
  for (const unsigned stride : {1u, 2u, 8u, 32u}) {
    Add("shared loads, stride " + std::to_string(stride), kTiming,
        [stride](const Memory& m) { conflicts_kernel<<<132 * 16, 256>>>(m.out, stride); });
  }
});

}  // namespace
}  // namespace gpu_cases
