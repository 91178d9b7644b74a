// Questions to a GPU that the documentation leaves open: what the virtual GPU takes for granted, one line each. Run it
// on both and compare:
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90,code=compute_90 gpu_facts.cu -o gpu_facts
//   ./gpu_facts > gpu.txt; vgpu-run ./gpu_facts > virtual.txt; diff gpu.txt virtual.txt
//
// .ftz around the least normal number, the carry between additions and subtractions, what printf returns, and resident
// blocks with more than 48 KiB of dynamic shared memory.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

__global__ void hold_shared(int* p) {
  extern __shared__ int s[];
  p[threadIdx.x] = s[threadIdx.x];
}

// Row r: fma of three f32 in each of four modes with .ftz, then mul (c is left out) in the four.
__global__ void flush(const float* a, const float* b, const float* c, uint32_t* out) {
  const int i = threadIdx.x;
  float r[8];
  asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(r[0]) : "f"(a[i]), "f"(b[i]), "f"(c[i]));
  asm("fma.rz.ftz.f32 %0, %1, %2, %3;" : "=f"(r[1]) : "f"(a[i]), "f"(b[i]), "f"(c[i]));
  asm("fma.rm.ftz.f32 %0, %1, %2, %3;" : "=f"(r[2]) : "f"(a[i]), "f"(b[i]), "f"(c[i]));
  asm("fma.rp.ftz.f32 %0, %1, %2, %3;" : "=f"(r[3]) : "f"(a[i]), "f"(b[i]), "f"(c[i]));
  asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(r[4]) : "f"(a[i]), "f"(b[i]));
  asm("mul.rz.ftz.f32 %0, %1, %2;" : "=f"(r[5]) : "f"(a[i]), "f"(b[i]));
  asm("mul.rm.ftz.f32 %0, %1, %2;" : "=f"(r[6]) : "f"(a[i]), "f"(b[i]));
  asm("mul.rp.ftz.f32 %0, %1, %2;" : "=f"(r[7]) : "f"(a[i]), "f"(b[i]));
  for (int k = 0; k < 8; ++k) out[i * 8 + k] = __float_as_uint(r[k]);
}

// The same of halves (least normal 2^-14), and of f64 on its way to f32.
__global__ void flush_others(const float* a, const float* b, const float* c, const double* d, uint32_t* out) {
  const int i = threadIdx.x;
  const uint16_t x = __half_as_ushort(__float2half(a[i])), y = __half_as_ushort(__float2half(b[i])),
                 z = __half_as_ushort(__float2half(c[i]));
  uint16_t h;
  asm("fma.rn.ftz.f16 %0, %1, %2, %3;" : "=h"(h) : "h"(x), "h"(y), "h"(z));
  float r[4];
  asm("cvt.rn.ftz.f32.f64 %0, %1;" : "=f"(r[0]) : "d"(d[i]));
  asm("cvt.rz.ftz.f32.f64 %0, %1;" : "=f"(r[1]) : "d"(d[i]));
  asm("cvt.rm.ftz.f32.f64 %0, %1;" : "=f"(r[2]) : "d"(d[i]));
  asm("cvt.rp.ftz.f32.f64 %0, %1;" : "=f"(r[3]) : "d"(d[i]));
  out[i * 5] = h;
  for (int k = 0; k < 4; ++k) out[i * 5 + 1 + k] = __float_as_uint(r[k]);
}

// Every pair of an instruction that sets the carry and one that uses it.
__global__ void carry(const uint32_t* v, uint32_t* out) {
  const int i = threadIdx.x;
  const uint32_t a = v[i], b = v[i + 1], c = v[i + 2], d = v[i + 3];
  uint32_t r[6];
  asm("add.cc.u32 %0, %1, %2; addc.u32 %0, %3, %4;" : "=&r"(r[0]) : "r"(a), "r"(b), "r"(c), "r"(d));
  asm("add.cc.u32 %0, %1, %2; subc.u32 %0, %3, %4;" : "=&r"(r[1]) : "r"(a), "r"(b), "r"(c), "r"(d));
  asm("sub.cc.u32 %0, %1, %2; addc.u32 %0, %3, %4;" : "=&r"(r[2]) : "r"(a), "r"(b), "r"(c), "r"(d));
  asm("sub.cc.u32 %0, %1, %2; subc.u32 %0, %3, %4;" : "=&r"(r[3]) : "r"(a), "r"(b), "r"(c), "r"(d));
  asm("mad.lo.cc.u32 %0, %1, %2, %3; subc.u32 %0, %3, %4;" : "=&r"(r[4]) : "r"(a), "r"(b), "r"(c), "r"(d));
  asm("sub.cc.u32 %0, %1, %2; madc.hi.u32 %0, %3, %4, %1;" : "=&r"(r[5]) : "r"(a), "r"(b), "r"(c), "r"(d));
  for (int k = 0; k < 6; ++k) out[i * 6 + k] = r[k];
}

__global__ void print(const char* none, int* out) {
  out[0] = printf("nothing\n");
  out[1] = printf("%d %5.2f %%\n", 7, 1.5);
  out[2] = printf("%s %c %llx\n", "text", 'a', 1ull << 40);
  out[3] = printf("%*d %.*f\n", 4, 7, 2, 1.5);
  out[4] = none == nullptr ? printf(none) : 0;
}

template <typename T>
T* ToDevice(const T* values, size_t count) {
  T* d = nullptr;
  cudaMalloc(&d, count * sizeof(T));
  if (values != nullptr) cudaMemcpy(d, values, count * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

template <typename T>
void Show(const char* title, const T* d, int rows, int columns) {
  T host[512];
  cudaMemcpy(host, d, sizeof(T) * static_cast<size_t>(rows) * columns, cudaMemcpyDeviceToHost);
  for (int r = 0; r < rows; ++r) {
    std::printf("%s %d:", title, r);
    for (int k = 0; k < columns; ++k) std::printf(" %08x", static_cast<unsigned>(host[r * columns + k]));
    std::printf("\n");
  }
}

void ShowOccupancy(const char* when) {
  for (const size_t bytes : {size_t{48} << 10, (size_t{48} << 10) + 1, size_t{100} << 10, size_t{200} << 10}) {
    int blocks = -1;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hold_shared, 128, bytes);
    std::printf("occupancy %s %zu: %s %d\n", when, bytes, cudaGetErrorName(error), blocks);
  }
  size_t available = 0;
  const cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(&available, hold_shared, 1, 128);
  std::printf("available %s: %s %zu\n", when, cudaGetErrorName(error), available);
}

}  // namespace

int main() {
  const float least = 0x1p-126f;
  const float a[] = {least, least, least, -least, 0x1.fffffep-64f, 0x1.fffffep-64f, 0x1.fffffcp-64f, 0x1.6a09e6p-63f};
  const float b[] = {-0x1p-30f,       -0x1p-1f, 0x1.fffffep-1f,  0x1p-26f,
                     0x1.000002p-63f, 0x1p-63f, 0x1.000002p-63f, 0x1.6a09e8p-64f};
  const float c[] = {least, 0x1.8p-126f, 0.0f, least, -0.0f, 0x1p-149f, 0x1p-140f, 0.0f};
  uint32_t* out = ToDevice<uint32_t>(nullptr, 512);
  flush<<<1, 8>>>(ToDevice(a, 8), ToDevice(b, 8), ToDevice(c, 8), out);
  Show("flush", out, 8, 8);

  const float ha[] = {0x1p-14f, 0x1p-14f, 0x1p-14f, 0x1.ffcp-8f, 0x1.ff8p-8f, 0x1p-14f, 0x1p-14f, -0x1p-14f};
  const float hb[] = {-0x1p-14f, 0x1.ffcp-1f, 0x1.ff8p-1f, 0x1p-7f, 0x1.004p-7f, -0x1p-12f, -0x1p-11f, 0x1p-13f};
  const float hc[] = {0x1p-14f, 0.0f, 0.0f, 0.0f, 0.0f, 0x1p-14f, 0x1p-14f, 0x1p-14f};
  const double d[] = {0x1p-126 - 0x1p-150,  0x1p-126 - 0x1p-151, 0x1p-126 - 0x1p-152,
                      0x1p-126 - 0x1p-170,  0x1p-126 - 0x1p-149, 0x1p-126,
                      -0x1p-126 + 0x1p-160, 0x1p-126 + 0x1p-170};
  flush_others<<<1, 8>>>(ToDevice(ha, 8), ToDevice(hb, 8), ToDevice(hc, 8), ToDevice(d, 8), out);
  Show("others", out, 8, 5);

  const uint32_t v[] = {0,          0xffffffff, 1, 0x80000000, 0, 0, 5, 7, 7, 0xffffffff,
                        0xffffffff, 1,          2, 0x7fffffff, 3, 4, 9, 8, 0};
  carry<<<1, 16>>>(ToDevice(v, 19), out);
  Show("carry", out, 16, 6);

  int* results = ToDevice<int>(nullptr, 5);
  print<<<1, 1>>>(nullptr, results);
  cudaDeviceSynchronize();
  Show("printf", results, 1, 5);

  ShowOccupancy("without");
  std::printf("set: %s\n", cudaGetErrorName(cudaFuncSetAttribute(
                               hold_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10)));
  ShowOccupancy("with");
  std::printf("end: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
