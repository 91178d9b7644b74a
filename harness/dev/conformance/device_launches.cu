// Kernels that launch kernels, and what functions of the device runtime return in a kernel.
// nvcc: -rdc=true -lcudadevrt
#define CONFORMANCE_CLASS "cdp"
#include "ask.h"

__device__ int counted;
__global__ void Child() { atomicAdd(&counted, 1); }
__global__ void __launch_bounds__(64) BoundedChild() { atomicAdd(&counted, 1); }
__global__ void __cluster_dims__(2, 1, 1) ClusterChild() { atomicAdd(&counted, 1); }

__global__ void Shapes(int* out) {
  int n = 0;
  const unsigned sizes[] = {0, 1, 64, 65, 1024, 1025, 65536};
  for (unsigned grid : sizes) {
    for (unsigned block : sizes) {
      if (grid * block > 100000) continue;
      Child<<<grid, block>>>();
      out[n++] = cudaGetLastError();
    }
  }
  BoundedChild<<<1, 64>>>();
  out[n++] = cudaGetLastError();
  BoundedChild<<<1, 65>>>();
  out[n++] = cudaGetLastError();
  ClusterChild<<<2, 32>>>();
  out[n++] = cudaGetLastError();
  ClusterChild<<<3, 32>>>();
  out[n++] = cudaGetLastError();
  for (unsigned bytes : {0u, 1u, 49152u, 49153u, 232448u, 232449u, 0x80000000u}) {
    Child<<<1, 1, bytes>>>();
    out[n++] = cudaGetLastError();
  }
  Child<<<dim3(1, 65535), 1>>>();
  out[n++] = cudaGetLastError();
  Child<<<dim3(1, 65536), 1>>>();
  out[n++] = cudaGetLastError();
  Child<<<1, dim3(1, 1, 64)>>>();
  out[n++] = cudaGetLastError();
  Child<<<1, dim3(1, 1, 65)>>>();
  out[n++] = cudaGetLastError();
  Child<<<1, 1, 0, cudaStreamFireAndForget>>>();
  out[n++] = cudaGetLastError();
  Child<<<1, 1, 0, cudaStreamTailLaunch>>>();
  out[n++] = cudaGetLastError();
  Child<<<1, 2000>>>();
  out[n++] = cudaPeekAtLastError();
  out[n++] = cudaPeekAtLastError();
  out[n++] = cudaGetLastError();
  out[n++] = cudaGetLastError();
  out[255] = n;
}

__global__ void Calls(int* out) {
  int n = 0;
  cudaStream_t stream;
  for (unsigned flags : {0u, 1u, 2u}) {
    out[n++] = cudaStreamCreateWithFlags(&stream, flags);
    if (flags == 1) {
      Child<<<1, 1, 0, stream>>>();
      out[n++] = cudaGetLastError();
      out[n++] = cudaStreamDestroy(stream);
    }
  }
  cudaEvent_t event;
  for (unsigned flags : {0u, 1u, 2u, 3u, 4u, 6u}) out[n++] = cudaEventCreateWithFlags(&event, flags);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  out[n++] = cudaEventRecord(event, stream);
  out[n++] = cudaStreamWaitEvent(stream, event, 0);
  out[n++] = cudaEventDestroy(event);
  int value = -77;
  out[n++] = cudaGetDevice(&value);
  out[n++] = value;
  out[n++] = cudaGetDeviceCount(&value);
  out[n++] = value;
  size_t limit = 77;
  for (int which = -1; which <= 8; ++which) {
    limit = 77;
    out[n++] = cudaDeviceGetLimit(&limit, static_cast<cudaLimit>(which));
    out[n++] = static_cast<int>(limit);
  }
  for (int attribute = 1; attribute <= 48; ++attribute) {
    if (attribute == 33 || attribute == 34) continue;
    value = -77;
    out[n++] = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), 0);
    out[n++] = value;
  }
  cudaFuncAttributes attributes;
  out[n++] = cudaFuncGetAttributes(&attributes, Child);
  out[n++] = attributes.maxThreadsPerBlock;
  out[n++] = attributes.binaryVersion;
  out[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, Child, 128, 0);
  out[n++] = value;
  out[n++] = cudaRuntimeGetVersion(&value);
  out[n++] = value;
  void* p = nullptr;
  out[n++] = cudaMalloc(&p, 100);
  out[n++] = p != nullptr;
  out[n++] = cudaFree(p);
  out[n++] = cudaMalloc(&p, 0);
  out[n++] = cudaMalloc(&p, 1ull << 40);
  out[n++] = cudaGetLastError();
  out[n++] = cudaMemcpyAsync(out + 400, out + 401, 4, cudaMemcpyDeviceToDevice, nullptr);
  out[n++] = cudaMemsetAsync(out + 400, 0, 4, nullptr);
  out[n++] = cudaMemcpyAsync(out + 400, out + 401, 4, cudaMemcpyHostToDevice, nullptr);
  out[n++] = cudaMemcpyAsync(out + 400, out + 401, 0, cudaMemcpyDeviceToDevice, nullptr);
  out[n++] = cudaGetErrorString(cudaErrorInvalidValue)[0];
  out[n++] = cudaGetErrorName(cudaErrorInvalidValue)[4];
  out[255] = n;
}

__global__ void Many(int* out, int count) {
  int n = 0, failed = 0;
  for (int i = 0; i < count; ++i) {
    Child<<<1, 1>>>();
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess && failed++ == 0) out[n++] = error;
  }
  out[255] = failed;
}

__global__ void Depth(int left, int* out) {
  atomicAdd(&counted, 1);
  if (left == 0) return;
  Depth<<<1, 1>>>(left - 1, out);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) out[0] = error, out[1] = left;
}

__global__ void Synchronize(int* out) {
  Child<<<1, 1>>>();
  out[0] = cudaGetLastError();
}

__global__ void Faulty(int* p) { *reinterpret_cast<volatile int*>(p == nullptr ? 16 : 0) = 1; }
__global__ void FaultyParent(int* out) {
  Faulty<<<1, 1>>>(out);
  out[0] = cudaGetLastError();
}

namespace {

template <typename Launch>
void Ran(const char* name, Launch launch, int shown = -1) {
  int* out = nullptr;
  cudaMallocManaged(&out, 4096);
  std::memset(out, 0, 4096);
  const int zero = 0;
  cudaMemcpyToSymbol(counted, &zero, 4);
  launch(out);
  Say(F("%s/launch", name), cudaGetLastError());
  const cudaError_t error = cudaDeviceSynchronize();
  Say(F("%s/sync", name), error);
  if (error != cudaSuccess) return;
  int count = 0;
  cudaMemcpyFromSymbol(&count, counted, 4);
  Say(F("%s/counted", name), count);
  for (int i = 0; i < (shown < 0 ? out[255] : shown); ++i) Say(F("%s/v%02d", name, i), out[i]);
}

}  // namespace

void AddCases(Cases& cases) {
  cases("shape", [] { Ran("s", [](int* out) { Shapes<<<1, 1>>>(out); }); });
  cases("call", [] { Ran("c", [](int* out) { Calls<<<1, 1>>>(out); }); });
  for (int count : {100, 2048, 2049, 5000}) {
    cases(F("many%d", count), [=] {
      int* out = nullptr;
      Ran("m", [=](int* out) { Many<<<1, 1>>>(out, count); }, 1);
      (void)out;
    });
  }
  for (int depth : {1, 10, 23, 24, 25, 40})
    cases(F("depth%d", depth), [=] { Ran("d", [=](int* out) { Depth<<<1, 1>>>(depth, out); }, 2); });
  cases("pending", [] {
    for (size_t pending : {size_t{0}, size_t{1}, size_t{32}, size_t{100}, size_t{4096}, size_t{1} << 20}) {
      Say(F("set%zu", pending), cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending));
      size_t now = 0;
      cudaDeviceGetLimit(&now, cudaLimitDevRuntimePendingLaunchCount);
      Say(F("set%zu_is", pending), now);
    }
    Ran("m", [](int* out) { Many<<<1, 1>>>(out, 3000); }, 1);
  });
  cases("simple", [] { Ran("s", [](int* out) { Synchronize<<<1, 1>>>(out); }, 1); });
  cases("fault", [] {
    Ran("f", [](int* out) { FaultyParent<<<1, 1>>>(out); }, 1);
    Say("after", cudaDeviceSynchronize());
  });
  cases("parentshape", [] {
    for (unsigned block : {1024u, 1025u})
      Ran(F("b%u", block).c_str(), [=](int* out) { Synchronize<<<1, block>>>(out); }, 1);
  });
}
