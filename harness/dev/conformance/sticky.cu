// Faults of kernels: which error it is, which call reports it first, what works afterwards.
#define CONFORMANCE_CLASS "sticky"
#include <cassert>

#include "ask.h"

__device__ int small[4];
__global__ void Empty() {}
__global__ void Null(int*, int) { *reinterpret_cast<volatile int*>(0) = 1; }
__global__ void NullLoad(int* p, int) { p[0] = *reinterpret_cast<volatile int*>(0); }
__global__ void Low(int*, int) { *reinterpret_cast<volatile int*>(0x1000) = 1; }
__global__ void Far(int*, int) { *reinterpret_cast<volatile int*>(0x7000000000000000ull) = 1; }
__global__ void HostHeap(int* p, int) { *reinterpret_cast<volatile int*>(0x550000000000ull) = *p; }
__global__ void Misaligned(int* p, int) { *reinterpret_cast<volatile int*>(reinterpret_cast<char*>(p) + 1) = 1; }
__global__ void Misaligned8(int* p, int) { *reinterpret_cast<volatile long long*>(p + 1) = 1; }
__global__ void Misaligned16(int* p, int) { *reinterpret_cast<int4*>(p + 2) = int4{}; }
__global__ void MisalignedShared(int* p, int n) {
  __shared__ char s[64];
  *reinterpret_cast<volatile int*>(s + 1 + n) = 1;
  *p = s[n];
}
__global__ void MisalignedAtomic(int* p, int) { atomicAdd(reinterpret_cast<int*>(reinterpret_cast<char*>(p) + 2), 1); }
__global__ void Trap(int*, int) { __trap(); }
__global__ void Assert(int* p, int n) { assert(n == 77), *p = n; }
__global__ void SharedAt(int* p, int n) {
  __shared__ volatile int s[100];
  s[n] = 1;
  *p = s[n];
}
__global__ void LocalAt(int* p, int n) {
  volatile int local[16];
  local[n] = 1;
  *p = local[n / 2];
}
__global__ void SharedAtomic(int* p, int n) {
  __shared__ int s[100];
  *p = atomicAdd(&s[n], 1);
}
__device__ __noinline__ int Deep(int n, volatile int* p) {
  volatile int local[64];
  local[n % 64] = n;
  return n == 0 ? *p : Deep(n - 1, p) + local[n % 64];
}
__global__ void StackOverflow(int* p, int) { *p = Deep(100000, p); }
__global__ void BadCall(int* p, int n) {
  using Function = void (*)(int*);
  reinterpret_cast<Function>(static_cast<unsigned long long>(n) * 0x12345670ull + 16)(p);
}
__global__ void ConstantWrite(int* p, int) { *const_cast<volatile int*>(reinterpret_cast<const volatile int*>(p)) = 0; }
__global__ void FreedHeap(int*, int) { free(reinterpret_cast<void*>(0x1234567)); }
__global__ void DoubleFree(int*, int) {
  void* q = malloc(16);
  free(q), free(q);
}
__global__ void Breakpoint(int*, int) { asm volatile("brkpt;"); }
__global__ void Exit(int*, int) { asm volatile("exit;"); }
__global__ void Divide(int* p, int n) { *p = 7 / (n - n); }

namespace {

using Faulty = void (*)(int*, int);
struct Fault {
  const char* name;
  Faulty kernel;
  int n;
};
const Fault kFaults[] = {{"null", Null, 0},
                         {"nullload", NullLoad, 0},
                         {"low", Low, 0},
                         {"far", Far, 0},
                         {"hostheap", HostHeap, 0},
                         {"misaligned", Misaligned, 0},
                         {"misaligned8", Misaligned8, 0},
                         {"misaligned16", Misaligned16, 0},
                         {"misalignedshared", MisalignedShared, 0},
                         {"misalignedatomic", MisalignedAtomic, 0},
                         {"trap", Trap, 0},
                         {"assert", Assert, 1},
                         {"shared100", SharedAt, 100},
                         {"shared127", SharedAt, 127},
                         {"shared128", SharedAt, 128},
                         {"shared300", SharedAt, 300},
                         {"shared12000", SharedAt, 12000},
                         {"shared60000", SharedAt, 60000},
                         {"shared1000000", SharedAt, 1000000},
                         {"shared-1", SharedAt, -1},
                         {"shared-1000", SharedAt, -1000},
                         {"shared-100000", SharedAt, -100000},
                         {"sharedatomic127", SharedAtomic, 127},
                         {"sharedatomic200", SharedAtomic, 200},
                         {"sharedatomic1000000", SharedAtomic, 1000000},
                         {"local16", LocalAt, 16},
                         {"local1000000", LocalAt, 1000000},
                         {"local100000000", LocalAt, 100000000},
                         {"stackoverflow", StackOverflow, 0},
                         {"badcall", BadCall, 5},
                         {"freebad", FreedHeap, 0},
                         {"freetwice", DoubleFree, 0},
                         {"breakpoint", Breakpoint, 0},
                         {"exit", Exit, 0},
                         {"divide", Divide, 1}};

void After(const Fault& fault) {
  int *device = nullptr, *pinned = nullptr, *managed = nullptr, *async = nullptr, host[4] = {};
  cudaMalloc(&device, 4096);
  cudaMallocHost(&pinned, 4096);
  cudaMallocManaged(&managed, 4096);
  cudaMallocAsync(&async, 4096, nullptr);
  cudaStream_t stream = nullptr, other = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEvent_t event = nullptr, before = nullptr;
  cudaEventCreate(&event);
  cudaEventCreate(&before);
  cudaEventRecord(before, stream);
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Empty));
  Empty<<<1, 1>>>();
  cudaDeviceSynchronize();
  Say("launch", (fault.kernel<<<1, 1, 0, stream>>>(device, fault.n), cudaGetLastError()));
  Say("sync", static_cast<int>(cudaDeviceSynchronize()));
  Say("peek", static_cast<int>(cudaPeekAtLastError()));
  Say("last", static_cast<int>(cudaGetLastError()));
  Say("last2", static_cast<int>(cudaGetLastError()));
  Say("sync2", cudaDeviceSynchronize());
  Say("last3", static_cast<int>(cudaGetLastError()));
  Say("streamsync", cudaStreamSynchronize(stream));
  Say("streamsync_other", cudaStreamSynchronize(other));
  Say("streamquery", cudaStreamQuery(other));
  Say("eventquery", cudaEventQuery(before));
  Say("eventsync", cudaEventSynchronize(event));
  Say("eventrecord", cudaEventRecord(event, other));
  float ms = 0;
  Say("elapsed", cudaEventElapsedTime(&ms, before, before));
  Say("eventcreate", OUT(cudaEvent_t, cudaEventCreate(&out)));
  Say("eventdestroy", cudaEventDestroy(event));
  Say("streamwait", cudaStreamWaitEvent(other, before, 0));
  Say("streamcreate", OUT(cudaStream_t, cudaStreamCreate(&out)));
  Say("streamdestroy", cudaStreamDestroy(stream));
  Say("streampriority", OUT(int, cudaStreamGetPriority(other, &out)));
  Say("streamflags", OUT(unsigned, cudaStreamGetFlags(other, &out)));
  Say("empty", (Empty<<<1, 1>>>(), cudaGetLastError()));
  Say("drvlaunch", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Say("badlaunch", (Empty<<<1, 2000>>>(), cudaGetLastError()));
  Say("hostfunc", cudaLaunchHostFunc(other, [](void*) {}, nullptr));
  Say("malloc", OUT(void*, cudaMalloc(&out, 64)));
  Say("malloc0", OUT(void*, cudaMalloc(&out, 0)));
  Say("mallochost", OUT(void*, cudaMallocHost(&out, 64)));
  Say("mallocmanaged", OUT(void*, cudaMallocManaged(&out, 64)));
  Say("mallocasync", OUT(void*, cudaMallocAsync(&out, 64, other)));
  Say("freeasync", cudaFreeAsync(async, other));
  Say("memcpy", cudaMemcpy(host, device, 16, cudaMemcpyDeviceToHost));
  Say("memcpy_h2h", cudaMemcpy(host, host + 2, 4, cudaMemcpyHostToHost));
  Say("memcpy0", cudaMemcpy(host, device, 0, cudaMemcpyDeviceToHost));
  Say("memcpyasync", cudaMemcpyAsync(device, pinned, 16, cudaMemcpyHostToDevice, other));
  Say("memset", cudaMemset(device, 0, 16));
  Say("tosymbol", cudaMemcpyToSymbol(small, host, 16));
  Say("symboladdress", OUT(void*, cudaGetSymbolAddress(&out, small)));
  Say("getinfo", OUT(size_t, cudaMemGetInfo(&out, &out)));
  Say("pointer", OUT(cudaPointerAttributes, cudaPointerGetAttributes(&out, device)));
  Say("pointer_host", OUT(cudaPointerAttributes, cudaPointerGetAttributes(&out, host)));
  Say("drvpointer", OUT(unsigned, cuPointerGetAttribute(&out, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Dev(device))));
  Say("funcattributes", OUT(cudaFuncAttributes, cudaFuncGetAttributes(&out, Empty)));
  Say("funcset", cudaFuncSetAttribute(Empty, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  Say("occupancy", OUT(int, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&out, Empty, 32, 0)));
  Say("graphlaunch", cudaGraphLaunch(executable, other));
  Say("graphcreate", cudaGraphCreate(&graph, 0));
  Say("graphinstantiate", cudaGraphInstantiate(&executable, graph, 0));
  Say("begincapture", cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
  Say("endcapture", cudaStreamEndCapture(other, &graph));
  Say("getdevice", OUT(int, cudaGetDevice(&out)));
  Say("setdevice", cudaSetDevice(0));
  Say("count", OUT(int, cudaGetDeviceCount(&out)));
  Say("props", OUT(cudaDeviceProp, cudaGetDeviceProperties(&out, 0)));
  Say("attr", OUT(int, cudaDeviceGetAttribute(&out, cudaDevAttrWarpSize, 0)));
  Say("limit", OUT(size_t, cudaDeviceGetLimit(&out, cudaLimitStackSize)));
  Say("setlimit", cudaDeviceSetLimit(cudaLimitStackSize, 2048));
  Say("flags", OUT(unsigned, cudaGetDeviceFlags(&out)));
  Say("version", OUT(int, cudaRuntimeGetVersion(&out)));
  Say("ctxsync", cuCtxSynchronize());
  Say("ctxget", OUT(CUcontext, cuCtxGetCurrent(&out)));
  Say("ctxdevice", OUT(CUdevice, cuCtxGetDevice(&out)));
  Say("drvalloc", OUT(CUdeviceptr, cuMemAlloc(&out, 64)));
  Say("moduleload",
      OUT(CUmodule,
          cuModuleLoadData(&out, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n")));
  Say("pool", OUT(cudaMemPool_t, cudaDeviceGetDefaultMemPool(&out, 0)));
  Say("hostdevicepointer", OUT(void*, cudaHostGetDevicePointer(&out, pinned, 0)));
  Say("register", cudaHostRegister(host, 16, 0));
  Say("free", cudaFree(device));
  Say("free_null", cudaFree(nullptr));
  Say("freehost", cudaFreeHost(pinned));
  Say("freemanaged", cudaFree(managed));
  Say("init", cudaInitDevice(0, 0, 0));
  Say("reset", cudaDeviceReset());
  Say("malloc_after_reset", OUT(void*, cudaMalloc(&out, 64)));
  Say("empty_after_reset", (Empty<<<1, 1>>>(), cudaGetLastError()));
  Say("sync_after_reset", cudaDeviceSynchronize());
  Say("props_after_reset", OUT(cudaDeviceProp, cudaGetDeviceProperties(&out, 0)));
  Say("setdevice_after_reset", cudaSetDevice(0));
  Say("free_after_reset", cudaFree(nullptr));
  Say("streamcreate_after_reset", OUT(cudaStream_t, cudaStreamCreate(&out)));
  Say("ctxsync_after_reset", cuCtxSynchronize());
  Say("reset_again", cudaDeviceReset());
}

// Which call is the first to report it.
#define REPORTER(name, ...)                                                                                    \
  {name, []([[maybe_unused]] int* p, [[maybe_unused]] cudaStream_t s, [[maybe_unused]] cudaEvent_t e) -> int { \
     return __VA_ARGS__;                                                                                       \
   }}
const std::pair<const char*, int (*)(int*, cudaStream_t, cudaEvent_t)> kReporters[] = {
    REPORTER("sync", cudaDeviceSynchronize()),
    REPORTER("streamsync", cudaStreamSynchronize(s)),
    REPORTER("eventsync", (cudaEventRecord(e, s), cudaEventSynchronize(e))),
    REPORTER("memcpy", OUT(int, cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost))),
    REPORTER("free", cudaFree(p)),
    REPORTER("ctxsync", cuCtxSynchronize()),
    REPORTER("drvmemcpy", OUT(int, cuMemcpyDtoH(&out, Dev(p), 4))),
    REPORTER("reset", cudaDeviceReset()),
    REPORTER("last", cudaGetLastError()),
};

}  // namespace

void AddCases(Cases& cases) {
  for (const Fault& fault : kFaults) cases(fault.name, [&fault] { Start(), After(fault); });
  for (const auto& [name, report] : kReporters) {
    cases(F("first_%s", name), [report = report] {
      int* p = nullptr;
      cudaMalloc(&p, 64);
      cudaStream_t stream = nullptr;
      cudaStreamCreate(&stream);
      cudaEvent_t event = nullptr;
      cudaEventCreate(&event);
      Null<<<1, 1, 0, stream>>>(p, 0);
      Say("launch", static_cast<int>(cudaGetLastError()));
      Say("first", report(p, stream, event));
      Say("last", static_cast<int>(cudaGetLastError()));
      Say("second", report(p, stream, event));
      Say("third", static_cast<int>(cudaDeviceSynchronize()));
      Say("last3", static_cast<int>(cudaGetLastError()));
    });
  }
}
