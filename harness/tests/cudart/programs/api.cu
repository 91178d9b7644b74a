// What the runtime API returns, call by call, in a form that can be compared with what a GPU says: api.h200.txt is
// this program's output on an H200. Each section runs in a process of its own, as a fault ends a context.
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>

#define SHOW(call) std::printf("  %s = %s\n", #call, cudaGetErrorName(call))

__global__ void store_one(int* p) {
  if (p != nullptr) *p = 1;
}
__global__ void store_far(int* p) { p[1ull << 40] = 1; }
__global__ void store_misaligned(int* p) { *reinterpret_cast<int*>(reinterpret_cast<char*>(p) + 1) = 1; }
__global__ void end_by_trap() { __trap(); }
__global__ void end_by_assertion() { assert(threadIdx.x > 100); }
__global__ void __launch_bounds__(128) at_most_128() {}
__global__ void with_dynamic_shared() {
  extern __shared__ int shared[];
  shared[threadIdx.x] = 1;
}
__device__ int device_array[4];
__constant__ int constant_value;

int* d;      // 4096 bytes on the device
char* host;  // and on the host

void launches() {
  store_one<<<0, 1>>>(d);
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  store_one<<<1, 1025>>>(d);
  SHOW(cudaGetLastError());
  store_one<<<1, dim3(1, 1, 65)>>>(d);
  SHOW(cudaGetLastError());
  store_one<<<dim3(1, 65536), 1>>>(d);
  SHOW(cudaGetLastError());
  store_one<<<dim3(1, 65535), 1>>>(nullptr);
  SHOW(cudaGetLastError());
  store_one<<<1, 1, 49153>>>(d);
  SHOW(cudaGetLastError());
  with_dynamic_shared<<<1, 1, 60000>>>();
  SHOW(cudaGetLastError());
  SHOW(cudaFuncSetAttribute(with_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  with_dynamic_shared<<<1, 1, 60000>>>();
  SHOW(cudaGetLastError());
  SHOW(cudaFuncSetAttribute(with_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000));
  SHOW(cudaGetLastError());
  at_most_128<<<1, 256>>>();
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  store_one<<<1, 1>>>(d);
  SHOW(cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost));
  std::printf("  *d = %d\n", *reinterpret_cast<int*>(host));
}

void memory() {
  void* p;
  size_t free_bytes, total_bytes;
  SHOW(cudaMalloc(&p, 0));
  std::printf("  p = %s\n", p == nullptr ? "null" : "an address");
  SHOW(cudaMalloc(&p, 1ull << 50));
  SHOW(cudaGetLastError());
  SHOW(cudaMalloc(nullptr, 4));
  SHOW(cudaFree(nullptr));
  SHOW(cudaFree(host));
  SHOW(cudaFree(reinterpret_cast<char*>(d) + 4));
  SHOW(cudaMemcpy(d, host, 8192, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, d, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 16, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(d, host, 16, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(host, host + 100, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, host + 100, 16, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(host, d, 16, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(host, host + 100, 16, cudaMemcpyDefault));
  SHOW(cudaMemcpy(d, host, 16, cudaMemcpyDefault));
  SHOW(cudaMemcpy(host, d, 16, cudaMemcpyDefault));
  SHOW(cudaMemcpy(nullptr, host, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(nullptr, host, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, nullptr, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 16, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemset(d, 0, 8192));
  SHOW(cudaMemset(host, 0, 16));
  SHOW(cudaMemset(nullptr, 0, 0));
  SHOW(cudaMemcpy2D(d, 10, host, 20, 15, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemGetInfo(&free_bytes, &total_bytes));
  SHOW(cudaFreeHost(host));
  SHOW(cudaFree(d));
  SHOW(cudaFree(d));
  SHOW(cudaHostAlloc(&p, 16, 0));
  SHOW(cudaFree(p));
  SHOW(cudaFreeHost(p));
  SHOW(cudaFreeHost(nullptr));
  SHOW(cudaMallocHost(&p, 0));
  SHOW(cudaHostAlloc(&p, 16, 77));
  SHOW(cudaGetLastError());
}

void symbols() {
  int x = 5;
  void* p;
  size_t bytes;
  SHOW(cudaMemcpyToSymbol(device_array, &x, 4, 12));
  SHOW(cudaMemcpyToSymbol(device_array, &x, 4, 16));
  SHOW(cudaMemcpyFromSymbol(&x, device_array, 4, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyToSymbol(host, &x, 4));
  SHOW(cudaGetSymbolAddress(&p, constant_value));
  SHOW(cudaGetSymbolSize(&bytes, device_array));
  std::printf("  bytes = %zu\n", bytes);
  x = 0;
  SHOW(cudaMemcpyFromSymbol(&x, device_array, 4, 12));
  std::printf("  x = %d\n", x);
}

void streams_and_events() {
  cudaEvent_t e, untimed;
  cudaStream_t s;
  float ms;
  int value;
  unsigned flags;
  SHOW(cudaEventCreate(&e));
  SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  SHOW(cudaEventQuery(e));
  SHOW(cudaEventSynchronize(e));
  SHOW(cudaEventElapsedTime(&ms, e, e));
  SHOW(cudaEventRecord(e));
  SHOW(cudaEventRecord(untimed));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaEventElapsedTime(&ms, e, untimed));
  SHOW(cudaEventElapsedTime(&ms, e, e));
  std::printf("  ms = %g\n", ms);
  SHOW(cudaEventElapsedTime(nullptr, e, e));
  SHOW(cudaStreamCreateWithFlags(&s, 7));
  SHOW(cudaStreamCreate(&s));
  SHOW(cudaStreamGetFlags(s, &flags));
  SHOW(cudaStreamGetPriority(s, &value));
  SHOW(cudaEventRecord(e, s));
  SHOW(cudaStreamWaitEvent(s, e, 0));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaStreamQuery(s));
  SHOW(cudaStreamDestroy(s));
  SHOW(cudaStreamDestroy(0));
  SHOW(cudaEventDestroy(e));
  SHOW(cudaEventDestroy(nullptr));
  SHOW(cudaLaunchHostFunc(0, nullptr, nullptr));
}

void device_queries() {
  int value;
  cudaFuncAttributes attributes;
  cudaPointerAttributes pointer;
  SHOW(cudaSetDevice(1));
  SHOW(cudaSetDevice(-1));
  SHOW(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 9));
  SHOW(cudaGetDeviceProperties(nullptr, 0));
  SHOW(cudaGetDeviceCount(nullptr));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, store_one, 0, 0));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, store_one, 2048, 0));
  std::printf("  blocks = %d\n", value);
  SHOW(cudaFuncGetAttributes(&attributes, at_most_128));
  std::printf("  max threads = %d\n", attributes.maxThreadsPerBlock);
  SHOW(cudaFuncGetAttributes(&attributes, store_one));
  std::printf("  max threads = %d, dynamic shared = %d\n", attributes.maxThreadsPerBlock,
              attributes.maxDynamicSharedSizeBytes);
  cudaDeviceProp p;
  SHOW(cudaGetDeviceProperties(&p, 0));
  std::printf("  %s %d.%d, %d SMs, shared %zu %zu %zu %zu, registers %d %d, threads %d %d, blocks %d\n", p.name,
              p.major, p.minor, p.multiProcessorCount, p.sharedMemPerBlock, p.sharedMemPerBlockOptin,
              p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock, p.regsPerBlock, p.regsPerMultiprocessor,
              p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
  std::printf("  constant %zu, grid %d %d %d, block %d %d %d, warp %d, L2 %d\n", p.totalConstMem, p.maxGridSize[0],
              p.maxGridSize[1], p.maxGridSize[2], p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2],
              p.warpSize, p.l2CacheSize);
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, store_one, threads, 5000));
    std::printf("  blocks of %d = %d\n", threads, value);
  }
  size_t bytes;
  SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, store_one, 4, 128));
  std::printf("  bytes = %zu\n", bytes);
  SHOW(cudaPointerGetAttributes(&pointer, host));
  std::printf("  type %d, device %d\n", pointer.type, pointer.device);
  SHOW(cudaPointerGetAttributes(&pointer, d));
  std::printf("  type %d, device %d\n", pointer.type, pointer.device);
  void* p2;
  size_t pitch;
  SHOW(cudaMallocPitch(&p2, &pitch, 513, 10));
  std::printf("  pitch = %zu\n", pitch);
}

void after_a_fault() {
  store_far<<<1, 1>>>(d);
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  int value;
  size_t free_bytes, total_bytes;
  void* p;
  cudaEvent_t e;
  cudaStream_t s;
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  SHOW(cudaMalloc(&p, 4));
  SHOW(cudaFree(d));
  SHOW(cudaFree(nullptr));
  SHOW(cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost));
  store_one<<<1, 1>>>(d);
  SHOW(cudaGetLastError());
  store_one<<<1, 4096>>>(d);
  SHOW(cudaGetLastError());
  SHOW(cudaGetDevice(&value));
  SHOW(cudaGetDeviceCount(&value));
  SHOW(cudaSetDevice(0));
  SHOW(cudaGetDeviceProperties(&properties, 0));
  SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  SHOW(cudaEventCreate(&e));
  SHOW(cudaStreamCreate(&s));
  SHOW(cudaMemGetInfo(&free_bytes, &total_bytes));
  SHOW(cudaMallocHost(&p, 64));
  SHOW(cudaRuntimeGetVersion(&value));
  SHOW(cudaDriverGetVersion(&value));
  SHOW(cudaFuncGetAttributes(&attributes, store_one));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceReset());
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMalloc(&p, 4));
}

// The host gives the device time to fail; then the first call that reaches the device reports it.
void wait_for_device() { ::usleep(300'000); }

void a_fault_meets_malloc() {
  store_far<<<1, 1>>>(d);
  wait_for_device();
  void* p;
  SHOW(cudaMalloc(&p, 64));
  SHOW(cudaGetLastError());
}
void a_fault_meets_event_create() {
  store_far<<<1, 1>>>(d);
  wait_for_device();
  cudaEvent_t e;
  SHOW(cudaEventCreate(&e));
}
void a_fault_meets_stream_query() {
  store_far<<<1, 1>>>(d);
  wait_for_device();
  int value;
  SHOW(cudaGetDevice(&value));
  SHOW(cudaSetDevice(0));
  SHOW(cudaStreamQuery(0));
}
void a_fault_meets_memset() {
  store_far<<<1, 1>>>(d);
  wait_for_device();
  SHOW(cudaMemset(d, 0, 4));
  SHOW(cudaStreamSynchronize(0));
}
void a_fault_meets_async_copy() {
  store_far<<<1, 1>>>(d);
  wait_for_device();
  SHOW(cudaMemcpyAsync(d, host, 4, cudaMemcpyHostToDevice));
}
void misaligned() {
  store_misaligned<<<1, 1>>>(d);
  SHOW(cudaDeviceSynchronize());
}
void trap() {
  end_by_trap<<<1, 1>>>();
  SHOW(cudaDeviceSynchronize());
}
void assertion() {
  end_by_assertion<<<1, 1>>>();
  SHOW(cudaDeviceSynchronize());
}

void section(const char* name, void (*body)()) {
  std::printf("%s\n", name);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    cudaMalloc(&d, 4096);
    host = static_cast<char*>(std::malloc(4096));
    body();
    std::fflush(stdout);
    ::_exit(0);
  }
  int status;
  ::waitpid(child, &status, 0);
  if (status != 0) std::printf("  ended with %d\n", status);
}

int main() {
#define SECTION(body) section(#body, body)
  SECTION(launches);
  SECTION(memory);
  SECTION(symbols);
  SECTION(streams_and_events);
  SECTION(device_queries);
  SECTION(after_a_fault);
  SECTION(a_fault_meets_malloc);
  SECTION(a_fault_meets_event_create);
  SECTION(a_fault_meets_stream_query);
  SECTION(a_fault_meets_memset);
  SECTION(a_fault_meets_async_copy);
  SECTION(misaligned);
  SECTION(trap);
  SECTION(assertion);
}
