// What the pairs of programs for streams (streams.cu) share: kernels, buffers, streams.
#pragma once

#include <cstdio>

#include "check.h"

constexpr int kInts = 1000;
constexpr size_t kBytes = kInts * sizeof(int);

__device__ int factor = 1;
__constant__ int table[2] = {3, 5};

__global__ void Fill(int* to, int value, int n = kInts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = value + i;
}
__global__ void FillBytes(char* to, char value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = value;
}
__global__ void Add(int* to, const int* from, int n = kInts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] + 1;
}
__global__ void Scale(int* to, const int* from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kInts) to[i] = from[i] * factor;
}
__global__ void ScaleByTable(int* to, const int* from, int which) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kInts) to[i] = from[i] * table[which];
}
__device__ __noinline__ int FromTable(bool really) { return really ? table[0] : 1; }
__global__ void ScaleByFunction(int* to, const int* from, bool by_table) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kInts) to[i] = from[i] * FromTable(by_table);
}
__global__ void Count(unsigned* total, bool atomically) {
  if (atomically) {
    if (threadIdx.x == 0) atomicAdd(total, 1);
  } else if (threadIdx.x == 0) {
    *total += 1;
  }
}
__global__ void Flag(int* flag, int value) { *flag = value; }

constexpr int kBlock = 128, kBlocks = (kInts + kBlock - 1) / kBlock;

// What most scenarios use.
struct Fixture {
  cudaStream_t s1, s2, s3, loose;
  cudaEvent_t event, other_event;
  int *a, *b, *c, *pinned, *pinned2;
  Fixture() {
    CHECK(cudaMalloc(&a, kBytes));
    CHECK(cudaMalloc(&b, kBytes));
    CHECK(cudaMalloc(&c, kBytes));
    CHECK(cudaMallocHost(&pinned, kBytes));
    CHECK(cudaMallocHost(&pinned2, kBytes));
    CHECK(cudaMemset(a, 0, kBytes));
    CHECK(cudaMemset(b, 0, kBytes));
    CHECK(cudaMemset(c, 0, kBytes));
    CHECK(cudaStreamCreate(&s1));
    CHECK(cudaStreamCreate(&s2));
    CHECK(cudaStreamCreate(&s3));
    CHECK(cudaStreamCreateWithFlags(&loose, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&other_event, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
  }
  ~Fixture() {
    CHECK(cudaDeviceSynchronize());
    for (int* buffer : {a, b, c}) CHECK(cudaFree(buffer));
    if (pinned != nullptr) CHECK(cudaFreeHost(pinned));
    if (pinned2 != nullptr) CHECK(cudaFreeHost(pinned2));
    for (cudaStream_t stream : {s1, s2, s3, loose}) {
      if (stream != nullptr) CHECK(cudaStreamDestroy(stream));
    }
    CHECK(cudaEventDestroy(event));
    CHECK(cudaEventDestroy(other_event));
  }
  void Order(cudaStream_t first, cudaStream_t second) {
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(second, event));
  }
};
