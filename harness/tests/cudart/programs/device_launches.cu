// Kernels that launch kernels. device_launches.h100.txt is what this program prints on an H100 (driver 580.159.04,
// 2026-11-25), without an argument and then with each of deep, chain, both, tails, limits, pending and fault.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

constexpr int kWords = 4096;
int* results = nullptr;  // kWords words that kernels write

// Prints the results up to the last that is not 0; or the first ones, as many as `errors`, as names of errors.
void Show(const char* what, int errors = 0) {
  static int host[kWords];
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s", what, cudaGetErrorName(error));
  if (error == cudaSuccess) {
    CHECK(cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost));
    int n = errors != 0 ? errors : kWords;
    while (errors == 0 && n > 0 && host[n - 1] == 0) --n;
    for (int i = 0; i < n; ++i) {
      if (errors == 0) std::printf(" %d", host[i]);
      if (errors != 0) std::printf(" %s", host[i] < 0 ? "-" : cudaGetErrorName(static_cast<cudaError_t>(host[i])));
    }
    CHECK(cudaMemset(results, 0, sizeof host));
  }
  std::printf("\n");
}

struct Mixed {
  char c;
  double d;
  short s[3];
};
struct Large {
  int words[1000];
};

__global__ void Store(int* to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void Parameters(int* to, char c, double d, Mixed m, short s, float f) {
  to[0] = c, to[1] = static_cast<int>(d), to[2] = m.c, to[3] = static_cast<int>(m.d * 4), to[4] = m.s[2], to[5] = s;
  to[6] = static_cast<int>(f * 8);
}
__global__ void SumOf(int* to, Large large) {
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += large.words[i];
  *to = sum;
}
// Appends to a list: one launch after another, in a stream, gives its order.
__global__ void Append(int* list, int value) { list[++list[0]] = value; }
__global__ void AppendAtomically(int* list, int value) { list[atomicAdd(list, 1) + 1] = value; }
__global__ void Count(int* to) { atomicAdd(to, 1); }
__global__ void Shape(int* to) {
  if (blockIdx.x == 1 && blockIdx.y == 2 && threadIdx.x == 3 && threadIdx.y == 1 && threadIdx.z == 1) {
    to[0] = gridDim.x, to[1] = gridDim.y, to[2] = gridDim.z, to[3] = blockDim.x, to[4] = blockDim.y, to[5] = blockDim.z;
    extern __shared__ int dynamic[];
    dynamic[49] = 7;
    int size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    to[6] = size + dynamic[49];
  }
}

__global__ void OneEach(int* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Store<<<1, 4>>>(to + 4 * i, i + 1);
}
__global__ void PassParameters(int* to) {
  Mixed m = {'m', 2.25, {1, 2, 3}};
  Parameters<<<1, 1>>>(to, 'c', -7.5, m, -9, 0.625f);
  m.c = 'n';  // too late
  Shape<<<dim3(2, 3, 4), dim3(4, 2, 2), 200>>>(to + 7);
}
__global__ void PassLarge(int* to) {
  Large large;
  for (int i = 0; i < 1000; ++i) large.words[i] = i * static_cast<int>(threadIdx.x + 1);
  SumOf<<<1, 1>>>(to + threadIdx.x, large);
}
// What a child of the block's own stream sees: the parent's writes before the launch, and those of earlier children.
__global__ void InOrder(int* list) {
  for (int i = 1; i <= 5; ++i) Append<<<1, 1>>>(list, i);
}
__global__ void AcrossThreads(int* list) {
  for (int i = 0; i < static_cast<int>(blockDim.x); ++i) {
    if (static_cast<int>(threadIdx.x) == i) Append<<<1, 1>>>(list, 10 + i);
    __syncthreads();
  }
}
__global__ void Tails(int* list) {
  Append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 1);
  Append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 2);
  AppendAtomically<<<1, 1, 0, cudaStreamFireAndForget>>>(list, 77);
  Append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 3);
}
// A grandchild belongs to its parent's grid: a tail launch waits for it too.
__global__ void Grandchild(int* list, int depth) {
  if (depth > 0) Grandchild<<<1, 1, 0, cudaStreamFireAndForget>>>(list, depth - 1);
  Append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, depth);
}
__global__ void TailsOfTails(int* list, int depth) {
  Append<<<1, 1>>>(list, depth);
  if (depth > 0) TailsOfTails<<<1, 1, 0, cudaStreamTailLaunch>>>(list, depth - 1);
  if (depth > 0) Append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 100 + depth);
}
__global__ void Streams(int* to) {
  cudaStream_t one = nullptr, two = nullptr;
  to[0] = cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  to[1] = cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  to[2] = cudaStreamCreateWithFlags(&two, cudaStreamDefault);
  to[3] = one != nullptr && two != nullptr && one != two;
  for (int i = 1; i <= 3; ++i) {
    Append<<<1, 1, 0, one>>>(to + 16, i);
    Append<<<1, 1, 0, two>>>(to + 32, 10 * i);
  }
  to[4] = cudaStreamDestroy(one);
  to[5] = cudaStreamDestroy(two);
  to[6] = cudaGetLastError();
}
// Two streams and an event: what the second appends comes after what the first does.
__global__ void Events(int* to) {
  cudaStream_t one, two;
  cudaEvent_t event;
  to[0] = cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  to[1] = cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  to[2] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  Append<<<1, 1, 0, one>>>(to + 16, 1);
  to[3] = cudaEventRecord(event, one);
  to[4] = cudaStreamWaitEvent(two, event, 0);
  Append<<<1, 1, 0, two>>>(to + 16, 2);
  to[5] = cudaEventRecord(event, two);
  to[6] = cudaStreamWaitEvent(one, event, 0);
  Append<<<1, 1, 0, one>>>(to + 16, 3);
  to[7] = cudaEventDestroy(event);
  to[8] = cudaStreamDestroy(one);
  to[9] = cudaStreamDestroy(two);
}
__global__ void Flags(int* to) {
  cudaStream_t stream;
  for (unsigned flags = 0; flags < 4; ++flags) to[flags] = cudaStreamCreateWithFlags(&stream, flags);
  cudaEvent_t event;
  for (unsigned flags = 0; flags < 8; ++flags) to[4 + flags] = cudaEventCreateWithFlags(&event, flags);
  to[12] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  to[13] = cudaStreamWaitEvent(nullptr, event, 0);  // which nothing has recorded
  to[14] = cudaEventRecord(event, nullptr);
  to[15] = cudaEventRecord(event, cudaStreamTailLaunch);
  to[16] = cudaEventRecord(event, cudaStreamFireAndForget);
  to[17] = cudaStreamWaitEvent(cudaStreamTailLaunch, event, 0);
  to[18] = cudaStreamWaitEvent(cudaStreamFireAndForget, event, 0);
  to[19] = cudaStreamWaitEvent(nullptr, event, 1);
  to[20] = cudaStreamDestroy(nullptr);
  to[21] = cudaStreamDestroy(cudaStreamTailLaunch);
  to[22] = cudaStreamDestroy(reinterpret_cast<cudaStream_t>(0x123450));
}
// Copies are in their streams' order with kernels. On an H100 memset in a kernel fills with 0 whatever the value is, so
// this program uses 0.
__global__ void Memory(int* to) {
  Append<<<1, 1>>>(to + 24, 5);
  to[0] = cudaMemcpyAsync(to + 28, to + 24, 8, cudaMemcpyDefault, nullptr);
  to[1] = cudaMemcpyAsync(to + 32, to + 24, 8, cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
  Append<<<1, 1>>>(to + 24, 6);
  to[2] = cudaMemcpyAsync(to + 60, to + 24, 0, cudaMemcpyDeviceToDevice, nullptr);
  for (int kind = 0; kind < 6; ++kind) {
    to[3 + kind] = cudaMemcpyAsync(to + 62, to + 63, 4, static_cast<cudaMemcpyKind>(kind), nullptr);
  }
  volatile int local = 7;
  to[9] = cudaMemcpyAsync(to + 62, const_cast<int*>(&local), 4, cudaMemcpyDeviceToDevice, nullptr);
  to[10] = cudaGetLastError();
  for (int i = 0; i < 12; ++i) to[40 + i] = to[80 + i] = i + 1;
  to[11] = cudaMemcpy2DAsync(to + 70, 8, to + 40, 16, 4, 3, cudaMemcpyDeviceToDevice, nullptr);
  to[12] = cudaMemsetAsync(to + 80, 0, 7, cudaStreamFireAndForget);
  to[13] = cudaMemset2DAsync(to + 84, 12, 0, 4, 2, nullptr);
}
__global__ void Heap(int* to) {
  int* block = nullptr;
  to[0] = cudaMalloc(&block, 64);
  to[1] = block != nullptr;
  block[3] = 5;
  to[2] = block[3];
  to[3] = cudaFree(block);
  to[4] = cudaFree(nullptr);
  void* none = to;
  to[5] = cudaMalloc(&none, size_t{1} << 40);
  to[6] = none == nullptr;
  to[7] = cudaGetLastError();
  to[8] = cudaMalloc(&none, 0);
  to[9] = none == nullptr;
}
__global__ void Questions(int* to) {
  int value = -1;
  to[0] = cudaGetDevice(&value), to[1] = value + 10;
  to[2] = cudaGetDeviceCount(&value), to[3] = value > 0;
  to[4] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0), to[5] = value;
  to[6] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), to[7] = value;
  to[8] = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0);
  to[9] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99);
  to[17] = cudaRuntimeGetVersion(&value), to[18] = value;
  to[10] = cudaGetLastError();
  size_t limit = 0;
  to[11] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount), to[12] = static_cast<int>(limit);
  to[13] = cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize), to[14] = static_cast<int>(limit);
  to[15] = cudaDeviceGetLimit(&limit, cudaLimitStackSize), to[16] = static_cast<int>(limit);
}
__global__ void Texts() {
  for (const int error : {0, 1, 2, 9, 65, 69, 98, 700, 701, 999, 12345}) {
    const cudaError_t e = static_cast<cudaError_t>(error);
    printf("  %d %s: %s\n", error, cudaGetErrorName(e), cudaGetErrorString(e));
  }
}
// Invalid launches. After each the thread stores its last error, peeked at and taken, and the one that is left then.
__global__ void Wrong(int* to) {
  int n = 0;
  const auto take = [&] {
    to[n++] = cudaPeekAtLastError();
    to[n++] = cudaGetLastError();
    to[n++] = cudaGetLastError();
  };
  Store<<<0, 1>>>(to + 100, 1);
  take();
  Store<<<1, 0>>>(to + 100, 1);
  take();
  Store<<<1, 1025>>>(to + 100, 1);
  take();
  Store<<<1, dim3(1, 1, 65)>>>(to + 100, 1);
  take();
  Store<<<dim3(1, 65536), 1>>>(to + 100, 1);
  take();
  Store<<<1, 1, 48 * 1024 + 1>>>(to + 100, 1);
  take();
  Store<<<1, 1, 1 << 20>>>(to + 100, 1);
  take();
  Store<<<1, 1>>>(to + 99, 1);
  take();
}
__launch_bounds__(64) __global__ void Bounded(int* to) { to[threadIdx.x] = 1; }
__global__ void OverBound(int* to) {
  Bounded<<<1, 65>>>(to + 100);
  to[0] = cudaGetLastError();
}
// The host has raised this kernel's limit of dynamic shared memory, as more than 48 KiB requires.
__global__ void UsesMuch(int* to) {
  extern __shared__ int dynamic[];
  dynamic[20000] = 3;
  *to = dynamic[20000];
}
__global__ void LaunchesMuch(int* to) {
  UsesMuch<<<1, 1, 81000>>>(to + 1);
  to[0] = cudaGetLastError() + 1;
}
__global__ void ManyRegisters(float* to) {
  float v[200];
#pragma unroll
  for (int i = 0; i < 200; ++i) v[i] = to[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 200; ++i) to[i] = v[i] * v[199 - i] + 1;
}
// A stream that the parent's block creates; a child's block can't use it.
__device__ cudaStream_t stream_of_parent;
__global__ void UsesStreamOfParent(int* to) {
  Store<<<1, 1, 0, stream_of_parent>>>(to + 1, 1);
  *to = cudaGetLastError();
}
__global__ void Impossible(int* to) {
  ManyRegisters<<<1, 1024>>>(reinterpret_cast<float*>(to + 300));
  to[0] = cudaGetLastError();
  ManyRegisters<<<1, 32>>>(reinterpret_cast<float*>(to + 300));
  to[1] = cudaGetLastError();
  Store<<<1, 1, 0, reinterpret_cast<cudaStream_t>(0x123450)>>>(to + 99, 1);
  to[2] = cudaGetLastError();
  to[3] = cudaStreamCreateWithFlags(&stream_of_parent, cudaStreamNonBlocking);
  UsesStreamOfParent<<<1, 1>>>(to + 4);
}
// Each thread has its own last error.
__global__ void ErrorsOfThreads(int* to) {
  if (threadIdx.x == 1) Store<<<0, 1>>>(to, 1);
  __syncthreads();
  to[threadIdx.x] = cudaGetLastError();
}
// The calls that nvcc makes of <<<…>>>.
__global__ void ByHand(int* to) {
  void* buffer = cudaGetParameterBufferV2(reinterpret_cast<void*>(Store), dim3(1), dim3(2), 0);
  to[0] = buffer != nullptr;
  *static_cast<int**>(buffer) = to + 8;
  static_cast<int*>(buffer)[2] = 21;
  to[1] = cudaLaunchDeviceV2(buffer, nullptr);
  buffer = cudaGetParameterBufferV2(reinterpret_cast<void*>(Store), dim3(0), dim3(2), 0);
  to[2] = buffer != nullptr;
  to[3] = cudaGetLastError();
  buffer = cudaGetParameterBufferV2(reinterpret_cast<void*>(Store), dim3(1), dim3(2000), 0);
  to[4] = buffer != nullptr;
  to[5] = cudaGetLastError();
}
// A kernel chosen at run time, by its address.
__global__ void Chosen(int* to, bool second) {
  void (*kernel)(int*, int) = second ? Append : Store;
  kernel<<<1, 1>>>(to, 6);
}
// Fibonacci's recursion: f(n) launches f(n - 1) and f(n - 2); the leaves add to the sum.
__global__ void Fibonacci(int* sum, int n) {
  if (n < 2) {
    atomicAdd(sum, n);
    return;
  }
  Fibonacci<<<1, 1, 0, cudaStreamFireAndForget>>>(sum, n - 1);
  Fibonacci<<<1, 1, 0, cudaStreamFireAndForget>>>(sum, n - 2);
}
__global__ void Chain(int* to, int depth) {
  atomicMax(to, depth);
  Chain<<<1, 1>>>(to, depth + 1);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) to[1] = error;
}
__global__ void ChainTo(int* to, int depth, int last) {
  to[0] = depth;
  if (depth < last) ChainTo<<<1, 1>>>(to, depth + 1, last);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) to[1] = error;
}
__global__ void TailChain(int* to, int depth, int last) {
  to[0] = depth;
  if (depth < last) TailChain<<<1, 1, 0, cudaStreamTailLaunch>>>(to, depth + 1, last);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) to[1] = error;
}
// 100 tails, then a chain of children.
__global__ void Both(int* to) {
  for (int i = 0; i < 100; ++i) Count<<<1, 1, 0, cudaStreamTailLaunch>>>(to + 4);
  Chain<<<1, 1>>>(to, 1);
}
__global__ void Many(int* to, int n, bool tail) {
  int failed = 0;
  cudaError_t first = cudaSuccess;
  for (int i = 0; i < n; ++i) {
    if (tail) Count<<<1, 1, 0, cudaStreamTailLaunch>>>(to + 8);
    if (!tail) Count<<<1, 1>>>(to + 8);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess && failed++ == 0) first = error, to[2] = i;
  }
  to[0] = first, to[1] = failed;
}
__global__ void Faulty(int* to) { *to = 1; }
__global__ void LaunchesFaulty(int* to) {
  to[0] = 1;
  Faulty<<<1, 1>>>(reinterpret_cast<int*>(16));
  Store<<<1, 1, 0, cudaStreamTailLaunch>>>(to + 1, 1);
}
__global__ void Prints(int depth) {
  printf("  depth %d\n", depth);
  if (depth < 3) Prints<<<1, 1, 0, cudaStreamTailLaunch>>>(depth + 1);
}

// Runs a kernel, and shows its results.
#define RUN(what, ...) \
  do {                 \
    __VA_ARGS__;       \
    Show(what);        \
  } while (false)

void Ordinary() {
  RUN("one each", OneEach<<<2, 2>>>(results));
  RUN("parameters", PassParameters<<<1, 1>>>(results));
  RUN("4000 bytes of parameters", PassLarge<<<1, 3>>>(results));
  RUN("in order", InOrder<<<1, 1>>>(results));
  RUN("across threads", AcrossThreads<<<1, 40>>>(results));
  RUN("tails", Tails<<<1, 1>>>(results));
  RUN("grandchildren", Grandchild<<<1, 1>>>(results, 4));
  RUN("tails of tails", TailsOfTails<<<1, 1>>>(results, 3));
  RUN("streams", Streams<<<1, 1>>>(results));
  RUN("events", Events<<<1, 1>>>(results));
  Flags<<<1, 1>>>(results);
  Show("flags and handles", 23);
  RUN("append", Chosen<<<1, 1>>>(results, true));
  RUN("store", Chosen<<<1, 1>>>(results, false));
  RUN("fibonacci", Fibonacci<<<1, 1>>>(results, 9));
  RUN("20 deep", ChainTo<<<1, 1>>>(results, 0, 20));
  RUN("by hand", ByHand<<<1, 1>>>(results));
  ErrorsOfThreads<<<1, 3>>>(results);
  Show("errors of threads", 3);
  Wrong<<<1, 1>>>(results);
  Show("wrong", 24);
  Impossible<<<1, 1>>>(results);
  Show("impossible", 5);
  OverBound<<<1, 1>>>(results);
  Show("over its bound", 1);
  RUN("much shared memory, not raised", LaunchesMuch<<<1, 1>>>(results));
  CHECK(cudaFuncSetAttribute(UsesMuch, cudaFuncAttributeMaxDynamicSharedMemorySize, 81000));
  RUN("much shared memory", LaunchesMuch<<<1, 1>>>(results));
  // What comes later in the stream waits for all of a kernel's children.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  InOrder<<<1, 1, 0, stream>>>(results);
  Append<<<1, 1, 0, stream>>>(results, 99);
  Show("then a kernel");
  CHECK(cudaStreamDestroy(stream));
  RUN("prints", Prints<<<1, 1>>>(0));
  RUN("memory", Memory<<<1, 1>>>(results));
  RUN("heap", Heap<<<1, 1>>>(results));
  RUN("questions", Questions<<<1, 1>>>(results));
  RUN("texts", Texts<<<1, 1>>>());
}

// What fills the lists of pending launches, or ends the context.
int One(const std::string& part) {
  if (part == "fault") {
    RUN("fault", LaunchesFaulty<<<1, 1>>>(results));
  } else if (part == "deep") {
    RUN("without end", Chain<<<1, 1>>>(results, 1));
  } else if (part == "tails") {
    RUN("4096 tails", Many<<<1, 1>>>(results, 4096, true));
  } else if (part == "chain") {
    RUN("tail after tail", TailChain<<<1, 1>>>(results, 1, 5000));
  } else if (part == "both") {
    RUN("100 tails and a chain", Both<<<1, 1>>>(results));
  } else if (part == "limits") {
    for (const size_t value : {size_t{0}, size_t{33}, size_t{4096}}) {
      size_t got = 0;
      CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, value));
      CHECK(cudaDeviceGetLimit(&got, cudaLimitDevRuntimePendingLaunchCount));
      std::printf("%zu becomes %zu\n", value, got);
    }
    RUN("5000 tails", Many<<<1, 1>>>(results, 5000, true));
  } else if (part == "pending") {
    RUN("10000 children", Many<<<1, 1>>>(results, 10000, false));
  } else {
    return 2;
  }
  return 0;
}

int main(int argc, char** argv) {
  CHECK(cudaMalloc(&results, kWords * sizeof(int)));
  CHECK(cudaMemset(results, 0, kWords * sizeof(int)));
  if (argc > 1) return One(argv[1]);
  Ordinary();
  CHECK(cudaFree(results));
  return 0;
}
