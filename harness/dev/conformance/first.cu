// The first call of a process: which calls start the device, which need cuInit or a context, what exists afterwards.
#define CONFORMANCE_CLASS "first"
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>

#include "ask.h"

__device__ int variable[4];
__global__ void Empty() {}

namespace {

using Call = int (*)();

// One call per line; the formatter would make many lines of one.
// clang-format off
const std::pair<const char*, Call> kRuntime[] = {
#define CALL(name, ...) {name, []() -> int { return static_cast<int>(__VA_ARGS__); }},
    CALL("nothing", 0)
    CALL("getlasterror", cudaGetLastError())
    CALL("count", [] { int n; return cudaGetDeviceCount(&n); }())
    CALL("getdevice", [] { int n; return cudaGetDevice(&n); }())
    CALL("setdevice", cudaSetDevice(0))
    CALL("setdevice9", cudaSetDevice(9))
    CALL("initdevice", cudaInitDevice(0, 0, 0))
    CALL( "props", [] { cudaDeviceProp p; return cudaGetDeviceProperties(&p, 0); }())
    CALL("attr", [] { int v; return cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0); }())
    CALL("setflags", cudaSetDeviceFlags(cudaDeviceScheduleSpin))
    CALL("getflags", [] { unsigned f; return cudaGetDeviceFlags(&f); }())
    CALL("driverversion", [] { int v; return cudaDriverGetVersion(&v); }())
    CALL("runtimeversion", [] { int v; return cudaRuntimeGetVersion(&v); }())
    CALL("free_null", cudaFree(nullptr))
    CALL("freehost_null", cudaFreeHost(nullptr))
    CALL("malloc", [] { void* p; return cudaMalloc(&p, 64); }())
    CALL("malloc_null", cudaMalloc(nullptr, 64))
    CALL("mallochost", [] { void* p; return cudaMallocHost(&p, 64); }())
    CALL("sync", cudaDeviceSynchronize())
    CALL("reset", cudaDeviceReset())
    CALL("getlimit", [] { size_t v; return cudaDeviceGetLimit(&v, cudaLimitStackSize); }())
    CALL("setlimit", cudaDeviceSetLimit(cudaLimitStackSize, 2048))
    CALL("streamcreate", [] { cudaStream_t s; return cudaStreamCreate(&s); }())
    CALL("streamdestroy_null", cudaStreamDestroy(nullptr))
    CALL("streamsync_null", cudaStreamSynchronize(nullptr))
    CALL( "streamquery_null", cudaStreamQuery(nullptr))
    CALL("eventcreate", [] { cudaEvent_t e; return cudaEventCreate(&e); }())
    CALL("eventdestroy_null", cudaEventDestroy(nullptr))
    CALL("graphcreate", [] { cudaGraph_t g; return cudaGraphCreate(&g, 0); }())
    CALL("launch", (Empty<<<1, 1>>>(), cudaGetLastError()))
    CALL("badlaunch", (Empty<<<1, 2000>>>(), cudaGetLastError()))
    CALL("funcattr", [] { cudaFuncAttributes a; return cudaFuncGetAttributes(&a, Empty); }())
    CALL("funcset", cudaFuncSetAttribute( Empty, cudaFuncAttributeMaxDynamicSharedMemorySize, 1))
    CALL("getkernel", [] { cudaKernel_t k; return cudaGetKernel(&k, reinterpret_cast<const void*>(Empty)); }())
    CALL("getfunc", [] { cudaFunction_t k; return cudaGetFuncBySymbol( &k, reinterpret_cast<const void*>(Empty)); }())
    CALL("occupancy", [] { int b; return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, Empty, 32, 0); }())
    CALL("symbol", [] { void* p; return cudaGetSymbolAddress(&p, variable); }())
    CALL("pointer", [] { cudaPointerAttributes a; return cudaPointerGetAttributes(&a, &a); }())
    CALL("pool", [] { cudaMemPool_t p; return cudaDeviceGetDefaultMemPool( &p, 0); }())
    CALL("meminfo", [] { size_t f, t; return cudaMemGetInfo( &f, &t); }())
    CALL("memcpy_h2h", [] { int a = 0, b = 0; return cudaMemcpy(&a, &b, 4, cudaMemcpyHostToHost); }())
    CALL("memcpy0", cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault))
    CALL("priority", [] { int l, g; return cudaDeviceGetStreamPriorityRange(&l, &g); }())
    CALL("peer", [] { int c; return cudaDeviceCanAccessPeer(&c, 0, 0); }())
    CALL("busid", [] { char t[32]; return cudaDeviceGetPCIBusId(t, 32, 0); }())
    CALL("channeldesc", [] { return cudaCreateChannelDesc<float>().x; }())
    CALL("errorname", [] { return cudaGetErrorName(cudaSuccess)[0]; }())
    CALL("entrypoint", [] { void* f; cudaDriverEntryPointQueryResult r; return cudaGetDriverEntryPoint("cuInit", &f, 0, &r); }())
    CALL("entrypoint_missing", [] { void* f; cudaDriverEntryPointQueryResult r; return cudaGetDriverEntryPoint("cuNoSuch", &f, 0, &r) * 100 + r; }())
    CALL("profilerstart", cudaProfilerStart())
    CALL("texture", [] { cudaTextureObject_t o; return cudaCreateTextureObject(&o, nullptr, nullptr, nullptr); }())
    CALL("librarybad", [] { cudaLibrary_t l; return cudaLibraryLoadData(&l, "garbage", nullptr, nullptr, 0, nullptr, nullptr, 0); }())}; const std::pair<const char*, Call> kDriver[] = {
    CALL("init", cuInit(0))
    CALL("init1", cuInit(1))
    CALL("version", [] { int v; return cuDriverGetVersion(&v); }())
    CALL("count", [] { int n; return cuDeviceGetCount(&n); }())
    CALL("get", [] { CUdevice d; return cuDeviceGet(&d, 0); }())
    CALL("get9", [] { CUdevice d; return cuDeviceGet(&d, 9); }())
    CALL("name", [] { char t[64]; return cuDeviceGetName(t, 64, 0); }())
    CALL("attr", [] { int v; return cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0); }())
    CALL("attr_null", cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0))
    CALL("totalmem", [] { size_t b; return cuDeviceTotalMem(&b, 0); }())
    CALL("uuid", [] { CUuuid u; return cuDeviceGetUuid(&u, 0); }())
    CALL("capability", [] { int a, b; return cuDeviceComputeCapability(&a, &b, 0); }())
    CALL("ctxgetcurrent", [] { CUcontext c; return cuCtxGetCurrent(&c); }())
    CALL("ctxsetnull", cuCtxSetCurrent(nullptr))
    CALL("ctxgetdevice", [] { CUdevice d; return cuCtxGetDevice(&d); }())
    CALL("ctxgetflags", [] { unsigned f; return cuCtxGetFlags(&f); }())
    CALL("ctxsync", cuCtxSynchronize())
    CALL("ctxpop", [] { CUcontext c; return cuCtxPopCurrent(&c); }())
    CALL("ctxpushnull", cuCtxPushCurrent(nullptr))
    CALL("ctxcreate", [] { CUcontext c; return cuCtxCreate(&c, nullptr, 0, 0); }())
    CALL("ctxdestroynull", cuCtxDestroy(nullptr))
    CALL("ctxgetlimit", [] { size_t v; return cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE); }())
    CALL("ctxapi", [] { unsigned v; return cuCtxGetApiVersion(nullptr, &v); }())
    CALL("ctxid", [] { unsigned long long v; return cuCtxGetId(nullptr, &v); }())
    CALL("ctxpriority", [] { int l, g; return cuCtxGetStreamPriorityRange(&l, &g); }())
    CALL("ctxcache", [] { CUfunc_cache c; return cuCtxGetCacheConfig(&c); }())
    CALL("primaryretain", [] { CUcontext c; return cuDevicePrimaryCtxRetain(&c, 0); }())
    CALL("primaryrelease", cuDevicePrimaryCtxRelease(0))
    CALL( "primaryreset", cuDevicePrimaryCtxReset( 0))
    CALL("primarystate", [] { unsigned f; int a; return cuDevicePrimaryCtxGetState(0, &f, &a); }())
    CALL("primaryflags", cuDevicePrimaryCtxSetFlags(0, 1))
    CALL("memalloc", [] { CUdeviceptr d; return cuMemAlloc(&d, 64); }())
    CALL("memalloc_null", cuMemAlloc(nullptr, 64))
    CALL("memalloc0", [] { CUdeviceptr d; return cuMemAlloc(&d, 0); }())
    CALL("memfree0", cuMemFree(0))
    CALL("memhost", [] { void* p; return cuMemAllocHost(&p, 64); }())
    CALL("memfreehostnull", cuMemFreeHost( nullptr))
    CALL("meminfo", [] { size_t f, t; return cuMemGetInfo(&f, &t); }())
    CALL("memcpy0", cuMemcpy(0, 0, 0))
    CALL("memset0", cuMemsetD8( 0, 0, 0))
    CALL("pointer", [] { unsigned v; return cuPointerGetAttribute( &v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4096); }())
    CALL("pointers", [] { unsigned v; void* p[] = {&v}; auto a = CU_POINTER_ATTRIBUTE_MEMORY_TYPE; return cuPointerGetAttributes(1, &a, p, 4096); }())
    CALL("range", [] { CUdeviceptr b; size_t s; return cuMemGetAddressRange(&b, &s, 4096); }())
    CALL("moduleload", [] { CUmodule m; return cuModuleLoadData( &m, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"); }())
    CALL("moduleload_null", cuModuleLoadData(nullptr, nullptr))
    CALL("moduleunload_null", cuModuleUnload(nullptr))
    CALL("modulemode", [] { CUmoduleLoadingMode m; return cuModuleGetLoadingMode(&m); }())
    CALL("libraryload", [] { CUlibrary l; return cuLibraryLoadData( &l, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n", nullptr, nullptr, 0, nullptr, nullptr, 0); }())
    CALL("linkcreate", [] { CUlinkState s; return cuLinkCreate(0, nullptr, nullptr, &s); }())
    CALL("streamcreate", [] { CUstream s; return cuStreamCreate(&s, 0); }())
    CALL("streamsync", cuStreamSynchronize( nullptr))
    CALL("streamquery", cuStreamQuery(nullptr))
    CALL( "streamdestroy", cuStreamDestroy( nullptr))
    CALL("streampriority", [] { int p; return cuStreamGetPriority(nullptr, &p); }())
    CALL("streamctx", [] { CUcontext c; return cuStreamGetCtx(nullptr, &c); }())
    CALL("eventcreate", [] { CUevent e; return cuEventCreate(&e, 0); }())
    CALL("eventdestroy", cuEventDestroy(nullptr))
    CALL("eventquery", cuEventQuery(nullptr))
    CALL( "launch", cuLaunchKernel( nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr))
    CALL("funcattr", [] { int v; return cuFuncGetAttribute( &v, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr); }())
    CALL("graphcreate", [] { CUgraph g; return cuGraphCreate( &g, 0); }())
    CALL("graphdestroy", cuGraphDestroy(nullptr))
    CALL( "graphlaunch", cuGraphLaunch(nullptr, nullptr))
    CALL("pooldefault", [] { CUmemoryPool p; return cuDeviceGetDefaultMemPool(&p, 0); }())
    CALL("poolcreate", [] { CUmemoryPool p; CUmemPoolProps q{}; q.allocType = CU_MEM_ALLOCATION_TYPE_PINNED; q.location.type = CU_MEM_LOCATION_TYPE_DEVICE; return cuMemPoolCreate(&p, &q); }())
    CALL("memcreate", [] { CUmemGenericAllocationHandle h; CUmemAllocationProp p{}; p.type = CU_MEM_ALLOCATION_TYPE_PINNED; p.location.type = CU_MEM_LOCATION_TYPE_DEVICE; return cuMemCreate(&h, 2 << 20, &p, 0); }())
    CALL("reserve", [] { CUdeviceptr d; return cuMemAddressReserve( &d, 2 << 20, 0, 0, 0); }())
    CALL("granularity", [] { size_t g; CUmemAllocationProp p{}; p.type = CU_MEM_ALLOCATION_TYPE_PINNED; p.location.type = CU_MEM_LOCATION_TYPE_DEVICE; return cuMemGetAllocationGranularity( &g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM); }())
    CALL("arraycreate", [] { CUarray a; CUDA_ARRAY_DESCRIPTOR d{ 16, 16, CU_AD_FORMAT_FLOAT, 1}; return cuArrayCreate( &a, &d); }())
    CALL("texdestroy", cuTexObjectDestroy( 0))
    CALL("occupancy", [] { int b; return cuOccupancyMaxActiveBlocksPerMultiprocessor( &b, nullptr, 32, 0); }())
    CALL("errorname", [] { const char* t; return cuGetErrorName( CUDA_SUCCESS, &t); }())
    CALL("errorstring", [] { const char* t; return cuGetErrorString( CUDA_ERROR_INVALID_VALUE, &t); }())
    CALL("procaddress", [] { void* f; CUdriverProcAddressQueryResult r; return cuGetProcAddress( "cuInit", &f, 12000, 0, &r); }())
    CALL( "procaddress_missing", [] { void* f; CUdriverProcAddressQueryResult r; return cuGetProcAddress( "cuNoSuch", &f, 12000, 0, &r) * 100 + r; }())
    CALL("profilerstart", cuProfilerStart())
    CALL("ipchandle", [] { CUipcMemHandle h; return cuIpcGetMemHandle( &h, 0); }())
    CALL("peer", [] { int c; return cuDeviceCanAccessPeer( &c, 0, 0); }())
    CALL("p2p", [] { int c; return cuDeviceGetP2PAttribute( &c, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0); }())
    CALL( "coredump", [] { bool b; size_t n = sizeof b; return cuCoredumpGetAttributeGlobal( CU_COREDUMP_ENABLE_ON_EXCEPTION, &b, &n); }())
#undef CALL
};

// clang-format on

// Whether the primary context exists, and whether it is current.
void State(const char* name) {
  CUcontext current = nullptr;
  Say(F("%s/current", name), cuCtxGetCurrent(&current));
  Say(F("%s/current_is", name), IsSet(current));
  unsigned flags = 77;
  int active = 77;
  Say(F("%s/primary", name), cuDevicePrimaryCtxGetState(0, &flags, &active));
  Say(F("%s/primary_is", name), F("%u %d", flags, active));
}

}  // namespace

void AddCases(Cases& cases) {
  for (const auto& [name, call] : kRuntime) {
    cases("runtime", [name = name, call = call] {
      Say(name, call());
      Say(F("%s/last", name), static_cast<int>(cudaGetLastError()));
      State(name);
    });
  }
  for (const auto& [name, call] : kDriver) {
    cases("driver", [name = name, call = call] {
      Say(name, call());
      State(name);
    });
    cases("inited", [name = name, call = call] {
      cuInit(0);
      Say(name, call());
      State(name);
    });
    cases("withruntime", [name = name, call = call] {
      cudaFree(nullptr);
      Say(name, call());
      Say(F("%s/last", name), static_cast<int>(cudaGetLastError()));
    });
    cases("withcontext", [name = name, call = call] {
      cuInit(0);
      CUcontext context = nullptr;
      cuCtxCreate(&context, nullptr, 0, 0);
      Say(name, call());
      State(name);
      Say(F("%s/rtmalloc", name), OUT(void*, cudaMalloc(&out, 64)));
    });
  }
}
