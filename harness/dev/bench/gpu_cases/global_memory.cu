// Global memory: widths, strides, misalignment, partial masks, broadcast, scattered addresses.
#include <cstdio>

#include "cases.h"

namespace gpu_cases {
namespace {

constexpr unsigned kBlocks = 8, kThreads = 128;              // of a counting case
constexpr unsigned kMany = 1u << 25, kScattered = 1u << 22;  // threads of a timing case

__device__ unsigned global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <typename T>
__global__ void copy_kernel(const T* in, T* out) {
  const unsigned i = global_thread();
  out[i] = in[i];
}

template <typename T>
__global__ void strided_load_kernel(const T* in, T* out, unsigned stride) {
  const unsigned i = global_thread();
  out[i] = in[i * stride];
}

template <typename T>
__global__ void strided_store_kernel(const T* in, T* out, unsigned stride) {
  const unsigned i = global_thread();
  out[i * stride] = in[i];
}

__global__ void offset_load_kernel(const float* in, float* out, unsigned offset) {
  const unsigned i = global_thread();
  out[i] = in[i + offset];
}

__global__ void offset_store_kernel(const float* in, float* out, unsigned offset) {
  const unsigned i = global_thread();
  out[i + offset] = in[i];
}

template <typename T>
__global__ void masked_kernel(const T* in, T* out, unsigned lanes) {
  const unsigned i = global_thread();
  if ((lanes >> threadIdx.x % 32 & 1) != 0) out[i] = in[i];
}

// 1 << shift neighbouring threads read the same element.
template <typename T>
__global__ void broadcast_kernel(const T* in, T* out, unsigned shift) {
  const unsigned i = global_thread();
  out[i] = in[i >> shift];
}

__global__ void same_address_store_kernel(float* out, float value) { out[blockIdx.x] = value; }

__global__ void permuted_kernel(const float* in, float* out, unsigned flip) {
  const unsigned i = global_thread();
  out[i] = in[i ^ flip];
}

template <typename T, unsigned kGathered>
__global__ void gather_kernel(const T* in, const unsigned* index, T* out) {
  const unsigned i = global_thread();
  out[i] = in[index[i] % kGathered];
}

template <typename T, unsigned kGathered>
__global__ void scatter_kernel(const T* in, const unsigned* index, T* out) {
  const unsigned i = global_thread();
  out[index[i] % kGathered] = in[i];
}

struct Point {
  float x, y, z;
};

__global__ void float3_kernel(const Point* in, Point* out) {
  const unsigned i = global_thread();
  Point p = in[i];
  p.x += 1;
  p.y += 1;
  p.z += 1;
  out[i] = p;
}

// The course's coalescing table: each element is read, incremented and written.
__global__ void increment_kernel(const float* in, float* out, unsigned offset, unsigned idle) {
  const unsigned i = global_thread();
  if ((i & 7) >= idle) out[i + offset] = in[i + offset] + 1;
}

__global__ void increment_permuted_kernel(const float* in, float* out) {
  const unsigned i = global_thread() ^ 1;
  out[i] = in[i] + 1;
}

// float3 staged through shared memory, so that neighbouring threads access neighbouring words of global memory.
__global__ void increment_float3_staged_kernel(const float* in, float* out) {
  __shared__ float s_data[3 * 256];
  const unsigned start = 3 * blockIdx.x * blockDim.x, tid = threadIdx.x;
  for (unsigned k = 0; k < 3; ++k) s_data[tid + k * 256] = in[start + tid + k * 256];
  __syncthreads();
  for (unsigned k = 0; k < 3; ++k) s_data[3 * tid + k] += 1;
  __syncthreads();
  for (unsigned k = 0; k < 3; ++k) out[start + tid + k * 256] = s_data[tid + k * 256];
}

template <typename T>
void AddWidth(const std::string& type) {
  Add("global copy " + type, kCounting,
      [](const Memory& m) { copy_kernel<T><<<kBlocks, kThreads>>>(m.In<T>(), m.Out<T>()); });
  for (const unsigned stride : {2u, 3u, 5u, 8u}) {
    Add("global load " + type + " stride " + std::to_string(stride), kCounting,
        [stride](const Memory& m) { strided_load_kernel<T><<<kBlocks, kThreads>>>(m.In<T>(), m.Out<T>(), stride); });
    Add("global store " + type + " stride " + std::to_string(stride), kCounting,
        [stride](const Memory& m) { strided_store_kernel<T><<<kBlocks, kThreads>>>(m.In<T>(), m.Out<T>(), stride); });
  }
  for (const unsigned lanes : {0x1u, 0x80000000u, 0x55555555u, 0x0000ffffu, 0x7ffffffeu}) {
    char hex[16];
    std::snprintf(hex, sizeof hex, "%08x", lanes);
    Add("global copy " + type + " lanes " + hex, kCounting,
        [lanes](const Memory& m) { masked_kernel<T><<<kBlocks, kThreads>>>(m.In<T>(), m.Out<T>(), lanes); });
  }
  for (const unsigned shift : {1u, 4u, 5u}) {
    Add("global load " + type + " shared by " + std::to_string(1 << shift), kCounting,
        [shift](const Memory& m) { broadcast_kernel<T><<<kBlocks, kThreads>>>(m.In<T>(), m.Out<T>(), shift); });
  }
  Add("global gather " + type, kCounting,
      [](const Memory& m) { gather_kernel<T, 1u << 19><<<kBlocks, kThreads>>>(m.In<T>(), m.index, m.Out<T>()); });
}

void AddCounting() {
  AddWidth<unsigned char>("1 byte");
  AddWidth<unsigned short>("2 bytes");
  AddWidth<float>("4 bytes");
  AddWidth<float2>("8 bytes");
  AddWidth<float4>("16 bytes");
  for (unsigned stride = 1; stride <= 33; ++stride) {
    char text[8];
    std::snprintf(text, sizeof text, "%02u", stride);
    Add(std::string("global load stride ") + text, kCounting,
        [stride](const Memory& m) { strided_load_kernel<float><<<kBlocks, kThreads>>>(m.in, m.out, stride); });
  }
  for (const unsigned offset : {1u, 3u, 7u, 8u, 17u}) {
    const std::string text = std::to_string(offset);
    Add("global load offset " + text, kCounting,
        [offset](const Memory& m) { offset_load_kernel<<<kBlocks, kThreads>>>(m.in, m.out, offset); });
    Add("global store offset " + text, kCounting,
        [offset](const Memory& m) { offset_store_kernel<<<kBlocks, kThreads>>>(m.in, m.out, offset); });
  }
  for (const unsigned flip : {1u, 5u, 31u}) {
    Add("global load permuted " + std::to_string(flip), kCounting,
        [flip](const Memory& m) { permuted_kernel<<<kBlocks, kThreads>>>(m.in, m.out, flip); });
  }
  Add("global store one address", kCounting,
      [](const Memory& m) { same_address_store_kernel<<<kBlocks, kThreads>>>(m.out, 1); });
  Add("global float3", kCounting,
      [](const Memory& m) { float3_kernel<<<kBlocks, kThreads>>>(m.In<Point>(), m.Out<Point>()); });
}

void AddTiming() {
  Add("copy 4 bytes", kTiming, [](const Memory& m) { copy_kernel<float><<<kMany / 256, 256>>>(m.in, m.out); });
  Add("copy 8 bytes", kTiming,
      [](const Memory& m) { copy_kernel<float2><<<kMany / 512, 256>>>(m.In<float2>(), m.Out<float2>()); });
  Add("copy 16 bytes", kTiming,
      [](const Memory& m) { copy_kernel<float4><<<kMany / 1024, 256>>>(m.In<float4>(), m.Out<float4>()); });
  Add("copy 1 byte", kTiming, [](const Memory& m) {
    copy_kernel<unsigned char><<<kMany / 256, 256>>>(m.In<unsigned char>(), m.Out<unsigned char>());
  });
  Add("copy, blocks of 32", kTiming, [](const Memory& m) { copy_kernel<float><<<kMany / 32, 32>>>(m.in, m.out); });
  Add("copy, blocks of 1024", kTiming,
      [](const Memory& m) { copy_kernel<float><<<kMany / 1024, 1024>>>(m.in, m.out); });
  Add("copy, small", kTiming, [](const Memory& m) { copy_kernel<float><<<64, 256>>>(m.in, m.out); });
  Add("copy, offset load", kTiming, [](const Memory& m) { offset_load_kernel<<<kMany / 256, 256>>>(m.in, m.out, 1); });
  Add("copy, offset store", kTiming,
      [](const Memory& m) { offset_store_kernel<<<kMany / 256, 256>>>(m.in, m.out, 1); });
  Add("copy, float3", kTiming,
      [](const Memory& m) { float3_kernel<<<kMany / 4 / 256, 256>>>(m.In<Point>(), m.Out<Point>()); });
  for (const unsigned stride : {2u, 4u, 8u, 32u}) {
    const std::string text = std::to_string(stride);
    Add("load stride " + text, kTiming,
        [stride](const Memory& m) { strided_load_kernel<float><<<kScattered / 256, 256>>>(m.in, m.out, stride); });
    Add("store stride " + text, kTiming,
        [stride](const Memory& m) { strided_store_kernel<float><<<kScattered / 256, 256>>>(m.in, m.out, stride); });
  }
  Add("gather", kTiming,
      [](const Memory& m) { gather_kernel<float, kIndices><<<kIndices / 256, 256>>>(m.in, m.index, m.out); });
  Add("scatter", kTiming,
      [](const Memory& m) { scatter_kernel<float, kIndices><<<kIndices / 256, 256>>>(m.in, m.index, m.out); });
}

void AddCourse() {
  constexpr unsigned kCourseFloats = 3u << 20, kCourseBlocks = kCourseFloats / 256;
  Add("coalescing: coalesced", kCourse | kTiming,
      [](const Memory& m) { increment_kernel<<<kCourseBlocks, 256>>>(m.in, m.out, 0, 0); });
  Add("coalescing: some threads idle", kCourse,
      [](const Memory& m) { increment_kernel<<<kCourseBlocks, 256>>>(m.in, m.out, 0, 1); });
  Add("coalescing: misaligned", kCourse,
      [](const Memory& m) { increment_kernel<<<kCourseBlocks, 256>>>(m.in, m.out, 1, 0); });
  Add("coalescing: permuted", kCourse,
      [](const Memory& m) { increment_permuted_kernel<<<kCourseBlocks, 256>>>(m.in, m.out); });
  Add("coalescing: float3", kCourse,
      [](const Memory& m) { float3_kernel<<<kCourseBlocks / 3, 256>>>(m.In<Point>(), m.Out<Point>()); });
  Add("coalescing: float3 staged", kCourse,
      [](const Memory& m) { increment_float3_staged_kernel<<<kCourseBlocks / 3, 256>>>(m.in, m.out); });
}

const Registration registration([] {
  AddCounting();
  AddTiming();
  AddCourse();
});

}  // namespace
}  // namespace gpu_cases
