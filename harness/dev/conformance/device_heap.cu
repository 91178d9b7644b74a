// What kernels get from malloc and new.
#define CONFORMANCE_CLASS "heap"
#include "ask.h"

__global__ void CountBlocks(size_t bytes, int most, int* out) {
  int n = 0;
  void* previous = nullptr;
  // The allocated blocks form a linked list, so that they can be freed again.
  while (n < most) {
    void* p = malloc(bytes);
    if (p == nullptr) break;
    if (bytes >= 8) *static_cast<void**>(p) = previous, previous = p;
    ++n;
  }
  out[0] = n;
  while (previous != nullptr) {
    void* next = *static_cast<void**>(previous);
    free(previous);
    previous = next;
  }
}
__global__ void Answers(int* out) {
  int k = 0;
  void* zero = malloc(0);
  out[k++] = zero != nullptr;
  free(zero);
  free(nullptr);
  char* a = static_cast<char*>(malloc(1));
  out[k++] = a != nullptr;
  out[k++] = reinterpret_cast<size_t>(a) % 16;
  char* b = static_cast<char*>(malloc(100));
  out[k++] = reinterpret_cast<size_t>(b) % 16;
  out[k++] = __isGlobal(b);
  out[k++] = malloc(size_t{1} << 40) == nullptr;
  out[k++] = malloc(~size_t{0}) == nullptr;
  out[k++] = malloc(size_t{9} << 20) == nullptr;
  int* array = new int[10];
  out[k++] = array != nullptr;
  for (int i = 0; i < 10; ++i) array[i] = i;
  int sum = 0;
  for (int i = 0; i < 10; ++i) sum += array[i];
  out[k++] = sum;
  delete[] array;
  struct Pair {
    int x = 3, y = 4;
  };
  Pair* pair = new Pair;
  out[k++] = pair->x + pair->y;
  delete pair;
  free(a);
  free(b);
}
__global__ void Allocate(void** out, size_t bytes) {
  out[threadIdx.x] = malloc(bytes);
  if (out[threadIdx.x] != nullptr) *static_cast<int*>(out[threadIdx.x]) = threadIdx.x * 3;
}
__global__ void Free(void** in, int* sum) {
  atomicAdd(sum, *static_cast<int*>(in[threadIdx.x]));
  free(in[threadIdx.x]);
}
__global__ void FreeTwice() {
  void* p = malloc(64);
  free(p);
  free(p);
}
__global__ void FreeInside() {
  char* p = static_cast<char*>(malloc(64));
  free(p + 16);
}
__global__ void FreeGlobal(void* p) { free(p); }

void Count(size_t limit, size_t bytes) {
  Start();
  if (limit != 0) Say("limit", cudaDeviceSetLimit(cudaLimitMallocHeapSize, limit));
  size_t is = 0;
  cudaDeviceGetLimit(&is, cudaLimitMallocHeapSize);
  Say("limit_is", is);
  int *out = nullptr, blocks = -1;
  cudaMalloc(&out, 4);
  for (const char* name : {"first", "again"}) {
    CountBlocks<<<1, 1>>>(bytes, 600, out);
    Say(F("%s_sync", name), cudaDeviceSynchronize());
    cudaMemcpy(&blocks, out, 4, cudaMemcpyDeviceToHost);
    Say(F("%s_blocks", name), blocks);
  }
}

void AddCases(Cases& cases) {
  for (const size_t bytes : {16384ul, 32768ul, 65536ul, 131072ul, 262144ul, 524288ul, 1048576ul, 2097152ul, 3145728ul,
                             4194304ul, 5000000ul, 8000000ul}) {
    cases(F("count%zu", bytes), [bytes] { Count(0, bytes); });
  }
  for (const size_t limit : {1ul, 4194304ul, 4194305ul, 5000000ul, 16777216ul, 67108864ul}) {
    cases(F("limit%zu_64k", limit), [limit] { Count(limit, 65536); });
    cases(F("limit%zu_1m", limit), [limit] { Count(limit, 1048576); });
  }
  cases("answers", [] {
    Start();
    int* out = nullptr;
    cudaMallocManaged(&out, 256);
    Answers<<<1, 1>>>(out);
    Say("sync", cudaDeviceSynchronize());
    for (int k = 0; k < 11; ++k) Say(F("value%d", k), out[k]);
  });
  cases("host_view", [] {
    Start();
    void** pointers = nullptr;
    int* sum = nullptr;
    cudaMallocManaged(&pointers, 8 * 32);
    cudaMallocManaged(&sum, 4);
    *sum = 0;
    Allocate<<<1, 32>>>(pointers, 100);
    Say("sync", cudaDeviceSynchronize());
    cudaPointerAttributes attributes;
    Say("attributes", cudaPointerGetAttributes(&attributes, pointers[5]));
    Say("type", static_cast<int>(attributes.type));
    int value = -1;
    Say("copy", cudaMemcpy(&value, pointers[5], 4, cudaMemcpyDeviceToHost));
    Say("copied", value);
    Say("memset", cudaMemset(pointers[5], 0, 4));
    Say("free", cudaFree(pointers[5]));
    CUdeviceptr base = 0;
    size_t bytes = 0;
    Say("range", cuMemGetAddressRange(&base, &bytes, Dev(pointers[5])));
    Say("setlimit", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    Free<<<1, 32>>>(pointers, sum);
    Say("sync_free", cudaDeviceSynchronize());
    Say("sum", *sum);
  });
  cases("free_twice", [] { Start(), FreeTwice<<<1, 1>>>(), Say("sync", cudaDeviceSynchronize()); });
  cases("free_inside", [] { Start(), FreeInside<<<1, 1>>>(), Say("sync", cudaDeviceSynchronize()); });
  cases("free_global", [] {
    Start();
    void* p = nullptr;
    cudaMalloc(&p, 64);
    FreeGlobal<<<1, 1>>>(p);
    Say("sync", cudaDeviceSynchronize());
  });
}
