// Kernels that launch kernels, one case for each argument: cases in which checkers, profiles or refusals have
// output.
#include <cstdio>
#include <string>

#include "check.h"

__global__ void AddOne(int* p) { p[threadIdx.x] += 1; }
__global__ void AddsThrice(int* p) { AddOne<<<1, 32>>>(p + 32 * blockIdx.x); }

__global__ void Races(int* p) { p[0] = static_cast<int>(threadIdx.x); }
__global__ void Reads(int* p) { p[0] = p[1]; }
__global__ void LaunchesBoth(int* p) {
  Races<<<1, 64>>>(p);
  Reads<<<1, 1>>>(p);
}

__global__ void StoresSecond(int* p) { p[1] = 2; }
__global__ void StoresFirst(int* p) {
  StoresSecond<<<1, 1>>>(p);
  p[0] = 1;
}

__global__ void AsksForAttributes(cudaFuncAttributes* a) {
  cudaFuncGetAttributes(a, reinterpret_cast<const void*>(AddOne));
}
__global__ void FillsWithOnes(int* p) { cudaMemsetAsync(p, 1, 4, nullptr); }

__global__ void Waits(volatile int* flag, int* p) {
  while (*flag == 0) {
  }
  *p = 5;
}
__global__ void LaunchesWaits(volatile int* flag, int* p) { Waits<<<1, 1>>>(flag, p); }

int main(int, char** argv) {
  const std::string part = argv[1];
  int* p;
  CHECK(cudaMalloc(&p, 400));
  if (part == "profile") {
    CHECK(cudaMemset(p, 0, 384));
    AddsThrice<<<3, 1>>>(p);
    AddOne<<<1, 32>>>(p);
  } else if (part == "found") {
    LaunchesBoth<<<1, 1>>>(p);
  } else if (part == "streams") {
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    StoresFirst<<<1, 1, 0, stream>>>(p);
    CHECK(cudaMemsetAsync(p + 1, 0, 4));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(stream));
  } else if (part == "attributes") {
    AsksForAttributes<<<1, 1>>>(reinterpret_cast<cudaFuncAttributes*>(p));
  } else if (part == "ones") {
    FillsWithOnes<<<1, 1>>>(p);
  } else if (part == "waits") {
    int* flag;
    CHECK(cudaMallocHost(&flag, 8));
    flag[0] = flag[1] = 0;
    LaunchesWaits<<<1, 1>>>(flag, flag + 1);
    std::printf("%s ", cudaGetErrorName(cudaStreamQuery(nullptr)));
    *const_cast<volatile int*>(flag) = 1;
    std::printf("%s ", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("%d\n", flag[1]);
    CHECK(cudaFreeHost(flag));
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(p);
}
