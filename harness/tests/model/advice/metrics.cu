// Launches whose metrics Nsight Compute recorded on an H200 (metrics.h200.csv): the columns that vgpu-run --csv has of
// ncu --csv --page raw --metrics …, ncu 2025.3.
#include <cstdio>
#include <cuda_runtime.h>
struct Pair { int a; float b; };
namespace tools {
template <typename T, int N> __global__ void scale(const T* in, T* out, int n, T by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(i * N) % n] * by;
}
}
__global__ void conflicts(float* out, int n) {
  __shared__ float tile[32][32];
  tile[threadIdx.x][threadIdx.y] = threadIdx.x + threadIdx.y;
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void diverge(unsigned* out, const Pair* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) { for (int k = 0; k < i % 7; ++k) out[i] += p[k].a * k; }
  else { for (int k = 0; k < i % 5; ++k) out[i] ^= (unsigned)p[k].b + k; }
  atomicAdd(&out[i % 17], 1u);
}
extern "C" __global__ void fill(double* out) { out[threadIdx.x] = 1; }
int main() {
  int n = 1 << 20; float *a, *b; unsigned* u; Pair* p; double* d;
  cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&u, n * 4); cudaMalloc(&p, 4096); cudaMalloc(&d, 8192);
  cudaMemset(a, 0, n * 4); cudaMemset(u, 0, n * 4); cudaMemset(p, 0, 4096);
  cudaStream_t s; cudaStreamCreate(&s);
  tools::scale<float, 1><<<n / 256, 256>>>(a, b, n, 2.f);
  tools::scale<float, 8><<<dim3(n / 256), 256, 0, s>>>(a, b, n, 2.f);
  conflicts<<<1, dim3(32, 32)>>>(b, n);
  diverge<<<1234, 128>>>(u, p, n);
  fill<<<1, 64, 0, s>>>(d);
  printf("done %d\n", (int)cudaDeviceSynchronize());
}
