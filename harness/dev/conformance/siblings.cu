// Calls that the other programs don't make, in random orders and with random arguments: the driver's forms of
// streams, copies, pools and textures; tensor maps, occupancy of clusters, resources of contexts.
#define CONFORMANCE_CLASS "siblings"
#include <cudaProfiler.h>

#include "ask.h"

__device__ int variable[64];
__global__ void Empty() {}
__global__ void Add(int* p) { atomicAdd(p, 1); }
__global__ void __cluster_dims__(2, 1, 1) Clustered(int* p) { atomicAdd(p, 1); }
__global__ void Dynamic(int* p) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  *p = s[0];
}
namespace {

void CUDART_CB Callback(void*) {}

struct World : Draws {
  explicit World(unsigned seed) : Draws(seed * 2654435761u + 999) {
    Start();
    cuCtxGetCurrent(&context);
    cudaMalloc(&d, 65536);
    cudaMallocManaged(&m, 65536);
    cudaMallocHost(&h, 65536);
    w = static_cast<char*>(std::calloc(1, 65536));
    pointers = {{"0", nullptr}, {"d", d}, {"d+4", d + 4}, {"d+1", d + 1}, {"m", m}, {"h", h}, {"w", w}};
    cudaStreamCreate(&stream);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    streams = {
        {"0", nullptr}, {"s", stream}, {"n", other}, {"legacy", cudaStreamLegacy}, {"thread", cudaStreamPerThread}};
    cudaEventCreate(&event);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    events = {{"e", event}, {"u", untimed}};
    cuGraphCreate(&child, 0);
    CUgraphNode node;
    cuGraphAddEmptyNode(&node, child, nullptr, 0);
    cuDeviceGetDefaultMemPool(&pool, 0);
    pools = {pool};
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 16);
    const CUDA_ARRAY3D_DESCRIPTOR deep = {16, 8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST};
    cuArray3DCreate(&volume, &deep);
    arrays = {{"a", reinterpret_cast<CUarray>(array)}, {"v", volume}};
    cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Add));
    cudaGetFuncBySymbol(&empty, reinterpret_cast<const void*>(Empty));
    functions = {{"Add", function}, {"Empty", empty}};
    cudaDeviceSynchronize();
    cudaGetLastError();
  }
  CUstream S() { return Of(streams); }
  CUevent E() { return Of(events); }
  CUarray A() { return Of(arrays); }
  size_t N() { return static_cast<size_t>(One({0, 1, 4, 64, 65536, 65537})); }
  CUmemoryPool Pool() {
    const unsigned k = Next(static_cast<unsigned>(pools.size()));
    said += F(",p%u", k);
    return pools[k];
  }
  CUDA_MEMCPY3D Copy3D() {
    CUDA_MEMCPY3D c = {};
    c.srcMemoryType = static_cast<CUmemorytype>(One({1, 2, 3, 4, 2}));
    c.dstMemoryType = static_cast<CUmemorytype>(One({1, 2, 3, 4, 2}));
    c.srcHost = w, c.srcDevice = c.srcMemoryType == 4 ? Dev(h) : Dev(d), c.srcArray = A();
    c.dstHost = w + 32768, c.dstDevice = c.dstMemoryType == 4 ? Dev(m) : Dev(d) + 32768, c.dstArray = A();
    c.srcXInBytes = One({0, 0, 4, 60}), c.srcY = One({0, 0, 1, 15}), c.srcZ = One({0, 0, 1});
    c.dstXInBytes = One({0, 0, 4, 61}), c.dstY = One({0, 0, 7}), c.dstZ = One({0, 0, 3});
    c.srcPitch = One({0, 16, 64}), c.srcHeight = One({0, 4, 8}), c.dstPitch = One({0, 64}), c.dstHeight = One({0, 8});
    c.WidthInBytes = One({0, 4, 16, 64}), c.Height = One({0, 1, 1, 4}), c.Depth = One({0, 1, 1, 2});
    return c;
  }

  CUcontext context = nullptr;
  char *d = nullptr, *m = nullptr, *h = nullptr, *w = nullptr;
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t event = nullptr, untimed = nullptr;
  std::vector<std::pair<std::string, CUstream>> streams;
  std::vector<std::pair<std::string, CUevent>> events;
  CUgraph child = nullptr;
  CUmemoryPool pool = nullptr;
  std::vector<CUmemoryPool> pools;
  cudaArray_t array = nullptr;
  CUarray volume = nullptr;
  std::vector<std::pair<std::string, CUarray>> arrays;
  CUtexref reference = nullptr;
  CUtexObject texture = 0;
  cudaFunction_t function = nullptr, empty = nullptr;
  std::vector<std::pair<std::string, cudaFunction_t>> functions;
};

// One call per line; the formatter would make four lines of one.
// clang-format off
using Call = std::pair<const char*, std::string (*)(World&)>;

const std::vector<Call> kStreams = {
    TOLD("create", CUstream s = nullptr; return F("%d", cuStreamCreate(&s, w.One({0, 1, 2, 3})));),
    TOLD("priority", CUstream s = nullptr; const int e = cuStreamCreateWithPriority(&s, w.One({0, 1, 2}), w.One({-9, -5, -1, 0, 3})); int p = 77; return F("%d %d %d", e, s ? cuStreamGetPriority(s, &p) : -1, p);),
    TOLD("context", CUcontext c = nullptr; const int e = cuStreamGetCtx(w.S(), &c); return F("%d %d", e, c == w.context);),
    VALUE("device", CUdevice, "%d", cuStreamGetDevice(w.S(), &v)),
    VALUE("flags", unsigned, "%u", cuStreamGetFlags(w.S(), &v)),
    TOLD("get", CUlaunchAttributeValue v{}; const int e = cuStreamGetAttribute(w.S(), static_cast<CUlaunchAttributeID>(w.One({0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 14, 16, 17})), &v); return F("%d %d", e, v.priority);),
    TOLD("set", CUlaunchAttributeValue v{}; v.priority = w.One({0, 1, 2, 3, -1}); return F("%d", cuStreamSetAttribute(w.S(), static_cast<CUlaunchAttributeID>(w.One({0, 1, 2, 3, 4, 8, 9, 10, 14})), &v));),
    CALL("copyattributes", cuStreamCopyAttributes(w.S(), w.S())),
    CALL("begin", cuStreamBeginCapture(w.S(), static_cast<CUstreamCaptureMode>(w.One({0, 1, 2, 3})))),
    CALL("begintograph", cuStreamBeginCaptureToGraph(w.S(), w.child, nullptr, nullptr, 0, static_cast<CUstreamCaptureMode>(w.One({0, 1, 2})))),
    TOLD("end", CUgraph g = nullptr; const int e = cuStreamEndCapture(w.S(), &g); return F("%d %s", e, IsSet(g).c_str());),
    VALUE("capturing", CUstreamCaptureStatus, "%d", cuStreamIsCapturing(w.S(), &v)),
    TOLD("info", CUstreamCaptureStatus s{}; cuuint64_t id = 0; CUgraph g = nullptr; const CUgraphNode* n = nullptr; size_t k = 77; const int e = cuStreamGetCaptureInfo(w.S(), &s, &id, &g, &n, nullptr, &k); return F("%d %d %s %zu", e, s, IsSet(g).c_str(), k);),
    CALL("updatedependencies", cuStreamUpdateCaptureDependencies(w.S(), nullptr, nullptr, 0, w.One({0, 1, 2}))),
    TOLD("mode", auto m = static_cast<CUstreamCaptureMode>(w.One({0, 1, 2, 3})); const int e = cuThreadExchangeStreamCaptureMode(&m); return F("%d %d", e, m);),
    CALL("wait", cuStreamWaitEvent(w.S(), w.E(), w.One({0, 0, 1, 2}))),
    CALL("record", cuEventRecord(w.E(), w.S())),
    CALL("recordflags", cuEventRecordWithFlags(w.E(), w.S(), w.One({0, 1, 2}))),
    CALL("eventsync", cuEventSynchronize(w.E())),
    TOLD("elapsed", float t; return F("%d", Untimed(cuEventElapsedTime(&t, w.E(), w.E())));),
    CALL("callback", cuStreamAddCallback(w.S(), [](CUstream, CUresult, void*) {}, nullptr, w.One({0, 0, 1}))),
    CALL("hostfunc", cuLaunchHostFunc(w.S(), w.One({0, 1, 1}) ? Callback : nullptr, nullptr)),
    CALL("attach", cuStreamAttachMemAsync(w.S(), w.D(), w.One({0, 65536}), w.One({1, 2, 4}))),
    CALL("write", cuStreamWriteValue32(w.S(), w.D(), 3, w.One({0, 1, 2}))),
    TOLD("batch", CUstreamBatchMemOpParams o[2] = {}; o[0].operation = static_cast<CUstreamBatchMemOpType>(w.One({2, 3, 5, 6})); o[0].writeValue.address = w.D(); o[1] = o[0]; return F("%d", cuStreamBatchMemOp(w.S(), w.One({0, 1, 2}), o, w.One({0, 0, 1})));),
    TOLD("launch", void* p = w.d; void* a[] = {&p}; return F("%d", cuLaunchKernel(w.Of(w.functions), w.One({0, 1}), 1, 1, w.One({1, 1025}), 1, 1, 0, w.S(), a, nullptr));),
    TOLD("ex", void* p = w.d; void* a[] = {&p}; CUlaunchAttribute t[2] = {}; t[0].id = static_cast<CUlaunchAttributeID>(w.One({1, 2, 3, 4, 6, 8, 10, 11, 15, 16, 20})); if (t[0].id == 4) t[0].value.clusterDim = {static_cast<unsigned>(w.One({1, 2, 3})), 1, 1}; else t[0].value.priority = w.One({0, 1, -3}); CUlaunchConfig c{static_cast<unsigned>(w.One({1, 2, 6})), 1, 1, 32, 1, 1, 0, w.S(), t, 1}; return F("%d", cuLaunchKernelEx(&c, w.Of(w.functions), a, nullptr));),
    CALL("query", Untimed((cuCtxSynchronize(), cuStreamQuery(w.S())))),
    CALL("sync", cuStreamSynchronize(w.S())),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kMemory = {
    CALL("cpy", cuMemcpyAsync(w.D(), w.D(), w.N(), w.S())),
    CALL("dtod", cuMemcpyDtoDAsync(w.D(), w.D(), w.N(), w.S())),
    CALL("htod", cuMemcpyHtoDAsync(w.D(), w.P(), w.One({0, 4}), w.S())),
    CALL("dtoh", cuMemcpyDtoHAsync(w.P(), w.D(), w.One({0, 4}), w.S())),
    CALL("peer", cuMemcpyPeer(w.D(), w.One({0, 1, 1}) ? w.context : nullptr, w.D(), w.context, w.One({0, 16}))),
    TOLD("copy3d", const CUDA_MEMCPY3D c = w.Copy3D(); return F("%d", cuMemcpy3D(&c));),
    TOLD("copy3dasync", const CUDA_MEMCPY3D c = w.Copy3D(); return F("%d", cuMemcpy3DAsync(&c, w.S()));),
    TOLD("copy2d", const CUDA_MEMCPY3D c = w.Copy3D(); CUDA_MEMCPY2D f{c.srcXInBytes, c.srcY, c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcPitch, c.dstXInBytes, c.dstY, c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch, c.WidthInBytes, c.Height}; return F("%d", w.One({0, 1}) ? cuMemcpy2D(&f) : cuMemcpy2DUnaligned(&f));),
    CALL("atod", cuMemcpyAtoD(w.D(), w.A(), w.One({0, 4, 256}), w.One({0, 4, 256, 4096}))),
    CALL("dtoa", cuMemcpyDtoA(w.A(), w.One({0, 4, 256}), w.D(), w.One({0, 4, 256, 4096}))),
    CALL("atoa", cuMemcpyAtoA(w.A(), w.One({0, 4}), w.A(), w.One({0, 4}), w.One({0, 4, 64, 1024}))),
    CALL("htoa", cuMemcpyHtoAAsync(w.A(), w.One({0, 4}), w.w, w.One({0, 4, 64}), w.S())),
    CALL("atoh", cuMemcpyAtoHAsync(w.w, w.A(), w.One({0, 4}), w.One({0, 4, 64}), w.S())),
    CALL("set8", cuMemsetD8Async(w.D(), 1, w.N(), w.S())),
    CALL("set16", cuMemsetD16Async(w.D(), 1, w.One({0, 1, 32768, 32769}), w.S())),
    CALL("set32", cuMemsetD32Async(w.D(), 1, w.One({0, 1, 16384, 16385}), w.S())),
    CALL("set2d32", cuMemsetD2D32(w.D(), w.One({0, 3, 4, 64}), 1, w.One({0, 1, 16, 17}), w.One({0, 1, 4}))),
    CALL("set2d16", cuMemsetD2D16Async(w.D(), w.One({0, 4, 64, 63}), 1, w.One({0, 1, 32, 33}), w.One({0, 1, 4}), w.S())),
    TOLD("range", CUdeviceptr b = 0; size_t n = 77; const CUdeviceptr p = w.D(); const int e = cuMemGetAddressRange(&b, &n, p); return F("%d %zu %s", e, n, e ? "-" : F("%lld", static_cast<long long>(p - b)).c_str());),
    TOLD("attribute", unsigned long long v[8] = {}; const int id = w.One({1, 2, 3, 6, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}); const int e = cuPointerGetAttribute(v, static_cast<CUpointer_attribute>(id), w.D()); const bool address = id == 1 || id == 3 || id == 11 || id == 17 || id == 19; return F("%d %llu", e, address ? v[0] != 0 : v[0]);),
    TOLD("setattribute", int v = w.One({0, 1, 2}); return F("%d", cuPointerSetAttribute(&v, static_cast<CUpointer_attribute>(w.One({1, 6, 7, 8})), w.D()));),
    TOLD("hostpointer", CUdeviceptr p = 0; const int e = cuMemHostGetDevicePointer(&p, w.P(), w.One({0, 0, 1})); return F("%d %s", e, IsSet(p).c_str());),
    TOLD("hostflags", unsigned f = 77; const int e = cuMemHostGetFlags(&f, w.P()); return F("%d %u", e, f);),
    CALL("register", cuMemHostRegister(w.w, w.One({0, 4096, 65536}), w.One({0, 1, 2, 4, 8, 16}))),
    CALL("unregister", cuMemHostUnregister(w.P())),
    TOLD("prefetch", CUmemLocation l{static_cast<CUmemLocationType>(w.One({0, 1, 1, 2, 3, 4})), static_cast<int>(w.One({0, 0, 1}))}; return F("%d", cuMemPrefetchAsync(w.D(), w.N(), l, w.One({0, 0, 1}), w.S()));),
    TOLD("advise", CUmemLocation l{static_cast<CUmemLocationType>(w.One({0, 1, 1, 2, 3})), static_cast<int>(w.One({0, 0, 1}))}; return F("%d", cuMemAdvise(w.D(), w.N(), static_cast<CUmem_advise>(w.One({0, 1, 2, 3, 4, 5, 6, 7})), l));),
    TOLD("rangeattribute", int v[4] = {77, 77, 77, 77}; const int e = cuMemRangeGetAttribute(v, w.One({4, 4, 8, 16, 3}), static_cast<CUmem_range_attribute>(w.One({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})), w.D(), w.One({0, 64, 65536})); return F("%d %d", e, v[0]);),
    TOLD("handle", int f = -1; return F("%d", cuMemGetHandleForAddressRange(&f, w.D(), w.One({0, 4096, 65536}), CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));),
    CALL("free", [&] { const unsigned k = w.Next(3); return k == 0 ? cuMemFree(0) : k == 1 ? cuMemFree(w.D() | 2) : cuMemFreeHost(nullptr); }()),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kPools = {
    TOLD("create", CUmemPoolProps p{}; p.allocType = static_cast<CUmemAllocationType>(w.One({0, 1, 1, 1, 2})); p.handleTypes = static_cast<CUmemAllocationHandleType>(w.One({0, 0, 1, 2, 8})); p.location = {static_cast<CUmemLocationType>(w.One({0, 1, 1, 1, 2, 3, 4})), static_cast<int>(w.One({0, 0, 0, 1}))}; p.maxSize = w.One({0, 0, 1, 1 << 20}); CUmemoryPool q = nullptr; const int e = cuMemPoolCreate(&q, &p); if (!e) w.pools.push_back(q); return F("%d", e);),
    TOLD("get", cuuint64_t v = 77; const int e = cuMemPoolGetAttribute(w.Pool(), static_cast<CUmemPool_attribute>(w.One({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})), &v); return F("%d %llu", e, static_cast<unsigned long long>(v));),
    TOLD("set", cuuint64_t v = w.One({0, 1, 2, 4096}); return F("%d", cuMemPoolSetAttribute(w.Pool(), static_cast<CUmemPool_attribute>(w.One({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})), &v));),
    CALL("trim", cuMemPoolTrimTo(w.Pool(), w.N())),
    TOLD("access", CUmemAccess_flags f{}; CUmemLocation l{static_cast<CUmemLocationType>(w.One({0, 1, 1, 2, 3})), static_cast<int>(w.One({0, 0, 1}))}; const int e = cuMemPoolGetAccess(&f, w.Pool(), &l); return F("%d %d", e, f);),
    TOLD("setaccess", CUmemAccessDesc a{{static_cast<CUmemLocationType>(w.One({0, 1, 1, 2})), static_cast<int>(w.One({0, 0, 1}))}, static_cast<CUmemAccess_flags>(w.One({0, 1, 3, 2}))}; return F("%d", cuMemPoolSetAccess(w.Pool(), &a, w.One({0, 1, 1})));),
    TOLD("alloc", CUdeviceptr p = 0; const int e = cuMemAllocFromPoolAsync(&p, w.N(), w.Pool(), w.S()); return F("%d %s", e, IsSet(p).c_str());),
    TOLD("allocasync", CUdeviceptr p = 0; const int e = cuMemAllocAsync(&p, w.N(), w.S()); return F("%d %s %d", e, IsSet(p).c_str(), e ? -1 : cuMemFreeAsync(p, w.S()));),
    CALL("freeasync", cuMemFreeAsync(w.D() | 1, w.S())),
    TOLD("current", CUmemoryPool q = nullptr; const int e = cuDeviceGetMemPool(&q, w.One({0, 0, 1, -1})); return F("%d %d", e, q == w.pool);),
    CALL("setcurrent", cuDeviceSetMemPool(w.One({0, 0, 1}), w.Pool())),
    TOLD("destroy", if (w.pools.size() < 2) return "-"; const int e = cuMemPoolDestroy(w.pools.back()); w.pools.pop_back(); return F("%d", e);),
    TOLD("location", CUmemLocation l{static_cast<CUmemLocationType>(w.One({0, 1, 2, 3, 4})), static_cast<int>(w.One({0, 0, 1}))}; CUmemoryPool q = nullptr; const int e = w.One({0, 1}) ? cuMemGetMemPool(&q, &l, static_cast<CUmemAllocationType>(w.One({0, 1, 2}))) : cuMemGetDefaultMemPool(&q, &l, static_cast<CUmemAllocationType>(w.One({0, 1, 2}))); return F("%d %s", e, IsSet(q).c_str());),
    TOLD("export", int f = -1; return F("%d", cuMemPoolExportToShareableHandle(&f, w.Pool(), static_cast<CUmemAllocationHandleType>(w.One({0, 1, 2})), 0));),
    TOLD("graphmem", cuuint64_t v = 77; const int e = cuDeviceGetGraphMemAttribute(w.One({0, 0, 1}), static_cast<CUgraphMem_attribute>(w.One({0, 1, 2, 3, 4})), &v); return F("%d %llu", e, static_cast<unsigned long long>(v));),
    TOLD("setgraphmem", cuuint64_t v = w.One({0, 1}); return F("%d", cuDeviceSetGraphMemAttribute(0, static_cast<CUgraphMem_attribute>(w.One({0, 1, 2, 3, 4})), &v));),
    CALL("graphtrim", cuDeviceGraphMemTrim(w.One({0, 0, 1}))),
};
const std::vector<Call> kTextures = {
    TOLD("array", CUDA_ARRAY3D_DESCRIPTOR a{static_cast<size_t>(w.One({0, 4, 6, 16})), static_cast<size_t>(w.One({0, 0, 4, 6})), static_cast<size_t>(w.One({0, 0, 1, 6, 12})), static_cast<CUarray_format>(w.One({1, 2, 3, 8, 9, 10, 16, 32, 4, 0xb0, 0x91, 0xc0, 0xc7, 0x50})), static_cast<unsigned>(w.One({0, 1, 2, 3, 4})), static_cast<unsigned>(w.One({0, 0, 1, 2, 4, 5, 8, 16, 32, 64, 128}))}; CUarray r = nullptr; const int e = cuArray3DCreate(&r, &a); if (e) return F("%d", e); CUDA_ARRAY3D_DESCRIPTOR b{}; const int g = cuArray3DGetDescriptor(&b, r); CUDA_ARRAY_DESCRIPTOR c{}; const int f = cuArrayGetDescriptor(&c, r); return F("0 %d %zu %zu %zu %d %u %u %d %zu", g, b.Width, b.Height, b.Depth, b.Format, b.NumChannels, b.Flags, f, c.Height);),
    TOLD("requirements", CUDA_ARRAY_MEMORY_REQUIREMENTS q{}; return F("%d", cuArrayGetMemoryRequirements(&q, w.A(), w.One({0, 0, 1})));),
    TOLD("sparse", CUDA_ARRAY_SPARSE_PROPERTIES q{}; return F("%d", cuArrayGetSparseProperties(&q, w.A()));),
    TOLD("plane", CUarray p = nullptr; return F("%d", cuArrayGetPlane(&p, w.A(), w.One({0, 1, 3})));),
    TOLD("mipmap", CUDA_ARRAY3D_DESCRIPTOR a{static_cast<size_t>(w.One({0, 1, 16})), static_cast<size_t>(w.One({0, 0, 16})), static_cast<size_t>(w.One({0, 0, 6})), static_cast<CUarray_format>(w.One({1, 16, 32})), static_cast<unsigned>(w.One({1, 2, 4})), static_cast<unsigned>(w.One({0, 0, 1, 2, 4}))}; CUmipmappedArray r = nullptr; const int e = cuMipmappedArrayCreate(&r, &a, w.One({0, 1, 3, 5, 20})); if (e) return F("%d", e); std::string told = "0"; for (unsigned k : {0u, 1u, 2u, 4u, 5u}) { CUarray l = nullptr; const int f = cuMipmappedArrayGetLevel(&l, r, k); CUDA_ARRAY3D_DESCRIPTOR b{}; if (!f) cuArray3DGetDescriptor(&b, l); told += F(" %d:%zux%zux%zu", f, b.Width, b.Height, b.Depth); } return told + F(" %d", cuMipmappedArrayDestroy(r));),
    TOLD("texture", CUDA_RESOURCE_DESC r{}; r.resType = static_cast<CUresourcetype>(w.One({0, 0, 2, 3, 4})); if (r.resType == 0) r.res.array.hArray = w.A(); if (r.resType == 2) r.res.linear = {w.D(), static_cast<CUarray_format>(w.One({1, 8, 32, 5})), static_cast<unsigned>(w.One({1, 2, 3, 4})), static_cast<size_t>(w.One({0, 16, 4096}))}; if (r.resType == 3) r.res.pitch2D = {w.D(), static_cast<CUarray_format>(w.One({1, 32})), static_cast<unsigned>(w.One({1, 3, 4})), static_cast<size_t>(w.One({0, 8})), static_cast<size_t>(w.One({0, 8})), static_cast<size_t>(w.One({0, 32, 64, 100}))}; CUDA_TEXTURE_DESC t{}; t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = static_cast<CUaddress_mode>(w.One({0, 1, 2, 3, 4})); t.filterMode = static_cast<CUfilter_mode>(w.One({0, 1, 2})); t.flags = w.One({0, 1, 2, 3, 16, 32, 64}); t.maxAnisotropy = w.One({0, 1, 17}); CUtexObject o = 0; const int e = cuTexObjectCreate(&o, &r, &t, nullptr); if (!e) w.texture = o; return F("%d", e);),
    TOLD("described", CUDA_TEXTURE_DESC t{}; CUDA_RESOURCE_DESC r{}; CUDA_RESOURCE_VIEW_DESC v{}; const int e = cuTexObjectGetTextureDesc(&t, w.texture), f = cuTexObjectGetResourceDesc(&r, w.texture), g = cuTexObjectGetResourceViewDesc(&v, w.texture); return F("%d %d %d %d %d %u %u %d", e, f, g, t.addressMode[0], t.filterMode, t.flags, t.maxAnisotropy, r.resType);),
    TOLD("surface", CUDA_RESOURCE_DESC r{}; r.resType = static_cast<CUresourcetype>(w.One({0, 0, 2})); r.res.array.hArray = w.A(); CUsurfObject o = 0; const int e = cuSurfObjectCreate(&o, &r); CUDA_RESOURCE_DESC q{}; return F("%d %d %d", e, e ? -1 : cuSurfObjectGetResourceDesc(&q, o), e ? -1 : cuSurfObjectDestroy(o));),
    TOLD("destroy", const int e = cuTexObjectDestroy(w.texture); w.texture = 0; return F("%d", e);),
    TOLD("linear", size_t n = 77; const int e = cuDeviceGetTexture1DLinearMaxWidth(&n, static_cast<CUarray_format>(w.One({1, 2, 3, 16, 32, 7})), w.One({0, 1, 2, 3, 4, 5}), w.One({0, 0, 1})); return F("%d %zu", e, n);),
};
const std::vector<Call> kTensors = {
    TOLD("tiled", CUtensorMap m; const int type = w.One({0, 1, 2, 4, 6, 7, 7, 7, 8, 9, 11, 13}), rank = w.One({1, 2, 3, 4, 5}); cuuint64_t sizes[5], strides[5]; cuuint32_t box[5], steps[5]; for (int k = 0; k < 5; ++k) sizes[k] = w.One({1, 7, 64, 256}), strides[k] = w.One({16, 32, 256, 1024, 48}), box[k] = w.One({1, 4, 8, 16, 64, 128, 256}), steps[k] = w.One({1, 1, 1, 2, 8}); return F("%d", cuTensorMapEncodeTiled(&m, static_cast<CUtensorMapDataType>(type), rank, w.d + w.One({0, 0, 0, 16, 32}), sizes, strides, box, steps, static_cast<CUtensorMapInterleave>(w.One({0, 0, 0, 1, 2})), static_cast<CUtensorMapSwizzle>(w.One({0, 0, 1, 2, 3})), static_cast<CUtensorMapL2promotion>(w.One({0, 1, 2, 3})), static_cast<CUtensorMapFloatOOBfill>(w.One({0, 0, 1}))));),
    TOLD("im2col", CUtensorMap m; const int type = w.One({0, 1, 6, 7, 7, 9}), rank = w.One({2, 3, 4, 4, 5}); cuuint64_t sizes[5], strides[5]; cuuint32_t steps[5]; int low[3], high[3]; for (int k = 0; k < 5; ++k) sizes[k] = w.One({8, 64, 64, 256}), strides[k] = w.One({64, 256, 1024, 48}), steps[k] = w.One({1, 1, 2, 8}); for (int k = 0; k < 3; ++k) low[k] = w.One({-1, 0, -16, 2}), high[k] = w.One({-1, 0, 15, -8}); return F("%d", cuTensorMapEncodeIm2col(&m, static_cast<CUtensorMapDataType>(type), rank, w.d, sizes, strides, low, high, w.One({1, 8, 16, 32, 64, 128, 256}), w.One({1, 16, 64, 256, 512, 1024}), steps, static_cast<CUtensorMapInterleave>(w.One({0, 0, 0, 1, 2})), static_cast<CUtensorMapSwizzle>(w.One({0, 0, 1, 2, 3})), CU_TENSOR_MAP_L2_PROMOTION_NONE, static_cast<CUtensorMapFloatOOBfill>(w.One({0, 0, 1}))));),
    TOLD("box", CUtensorMap m; const cuuint64_t sizes[] = {256, 256, 256}, strides[] = {1024, 262144}; const cuuint32_t box[] = {static_cast<cuuint32_t>(w.One({4, 64, 256})), static_cast<cuuint32_t>(w.One({64, 128, 256})), static_cast<cuuint32_t>(w.One({1, 2, 4, 8}))}, steps[] = {1, static_cast<cuuint32_t>(w.One({1, 2})), 1}; return F("%d", cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, w.One({2, 3}), w.d, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));),
};
const std::vector<Call> kClusters = {
    TOLD("active", cudaLaunchAttribute t{}; t.id = cudaLaunchAttributeClusterDimension; t.val.clusterDim = {static_cast<unsigned>(w.One({0, 1, 2, 3, 4, 6, 8, 12, 16})), static_cast<unsigned>(w.One({1, 1, 2})), 1}; cudaLaunchConfig_t c{}; c.gridDim = dim3(w.One({1, 2, 16, 48}), w.One({1, 2}), 1); c.blockDim = dim3(w.One({1, 32, 256, 512, 1024, 1025})); c.dynamicSmemBytes = w.One({0, 0, 1024, 40000, 49152, 49153, 100000, 230000}); c.attrs = &t; c.numAttrs = w.One({0, 1, 1, 1}); int n = -77; const int e = cudaOccupancyMaxActiveClusters(&n, w.One({0, 1}) ? Add : Dynamic, &c); return F("%d %d", e, n);),
    TOLD("potential", cudaLaunchConfig_t c{}; c.gridDim = dim3(w.One({1, 3, 16})); c.blockDim = dim3(w.One({1, 32, 1024, 1025})); c.dynamicSmemBytes = w.One({0, 1024, 49152, 100000, 230000}); int n = -77; const int e = cudaOccupancyMaxPotentialClusterSize(&n, w.One({0, 1}) ? Clustered : Dynamic, &c); return F("%d %d", e, n);),
    TOLD("driver", CUlaunchAttribute t{}; t.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION; t.value.clusterDim = {static_cast<unsigned>(w.One({0, 1, 2, 4, 16})), 1, 1}; CUlaunchConfig c{16, 1, 1, static_cast<unsigned>(w.One({32, 256})), 1, 1, static_cast<unsigned>(w.One({0, 20000})), nullptr, &t, 1}; int n = -77, p = -77; const int e = cuOccupancyMaxActiveClusters(&n, w.function, &c), f = cuOccupancyMaxPotentialClusterSize(&p, w.function, &c); return F("%d %d %d %d", e, n, f, p);),
    TOLD("available", size_t n = 77; const int e = cuOccupancyAvailableDynamicSMemPerBlock(&n, w.function, w.One({1, 2, 3, 8, 32}), w.One({32, 100, 1024, 1025})); return F("%d %zu", e, n);),
    CALL("set", cudaFuncSetAttribute(w.One({0, 1}) ? Add : Dynamic, static_cast<cudaFuncAttribute>(w.One({8, 8, 9, 14, 14})), w.One({0, 1, 100000, 232448}))),
    VALUE("blocks", int, "%d", cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, w.function, w.One({1, 32, 33, 64, 96, 200, 700}), w.One({0, 100, 5000, 30000}))),
};
const std::vector<Call> kContexts = {
    TOLD("resource", CUdevResource r{}; const int e = cuDeviceGetDevResource(w.One({0, 0, 1}), &r, static_cast<CUdevResourceType>(w.One({0, 1, 1, 2, 1000}))); return F("%d %d %u", e, r.type, e ? 0 : r.sm.smCount);),
    TOLD("ctxresource", CUdevResource r{}; const int e = cuCtxGetDevResource(w.context, &r, CU_DEV_RESOURCE_TYPE_SM); return F("%d %d %u", e, r.type, e ? 0 : r.sm.smCount);),
    TOLD("split", CUdevResource r{}, left{}, parts[32] = {}; cuDeviceGetDevResource(0, &r, CU_DEV_RESOURCE_TYPE_SM); unsigned n = w.One({1, 2, 4, 16, 32}); const int e = cuDevSmResourceSplitByCount(parts, &n, &r, &left, w.One({0, 1}), w.One({0, 1, 4, 8, 16, 60, 200})); return F("%d %u %u %u", e, n, e ? 0 : parts[0].sm.smCount, e ? 0 : left.type == 1 ? left.sm.smCount : 0);),
    TOLD("affinity", CUexecAffinityParam p{}; const int e = cuCtxGetExecAffinity(&p, static_cast<CUexecAffinityType>(w.One({0, 1}))); return F("%d %d", e, e ? 0 : p.param.smCount.val);),
    CALL("persisting", cuCtxResetPersistingL2Cache()),
    CALL("recordevent", cuCtxRecordEvent(w.context, w.E())),
    CALL("waitevent", cuCtxWaitEvent(w.context, w.E())),
    CALL("enablepeer", cuCtxEnablePeerAccess(w.context, w.One({0, 1}))),
    CALL("disablepeer", cuCtxDisablePeerAccess(w.context)),
    CALL("blockshape", cuFuncSetBlockShape(w.function, w.One({0, 1, 1024, 1025}), 1, 1)),
    CALL("sharedsize", cuFuncSetSharedSize(w.function, w.One({0, 1024, 49153}))),
    CALL("sharedconfig", cuFuncSetSharedMemConfig(w.function, static_cast<CUsharedconfig>(w.One({0, 1, 2, 3})))),
    TOLD("pci", char t[32] = ""; return F("%d", cuDeviceGetPCIBusId(t, w.One({0, 5, 13, 32}), 0));),
    TOLD("p2p", unsigned v[2] = {}; return F("%d", cuDeviceGetP2PAttribute(reinterpret_cast<int*>(v), static_cast<CUdevice_P2PAttribute>(w.One({1, 2, 3, 4})), 0, w.One({0, 1})));),
    TOLD("ipcevent", CUipcEventHandle i; return F("%d", cuIpcGetEventHandle(&i, w.E()));),
    TOLD("ipcmemory", CUipcMemHandle i; return F("%d", cuIpcGetMemHandle(&i, w.D()));),
    TOLD("ipcclose", return F("%d", cuIpcCloseMemHandle(w.D()));),
    TOLD("multicast", CUmulticastObjectProp p{}; p.numDevices = w.One({0, 1}); p.size = w.One({0, 2097152}); size_t n = 77; const int e = cuMulticastGetGranularity(&n, &p, static_cast<CUmulticastGranularity_flags>(w.One({0, 1, 2}))); return F("%d %zu", e, n);),
    TOLD("granularity", CUmemAllocationProp p{}; p.type = static_cast<CUmemAllocationType>(w.One({0, 1, 1})); p.location = {static_cast<CUmemLocationType>(w.One({1, 1, 2, 3})), static_cast<int>(w.One({0, 0, 1}))}; p.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(w.One({0, 1, 2, 8})); size_t n = 77; const int e = cuMemGetAllocationGranularity(&n, &p, static_cast<CUmemAllocationGranularity_flags>(w.One({0, 1, 2}))); return F("%d %zu", e, n);),
    TOLD("coredump", int v = 77; size_t n = 4; const int e = cuCoredumpGetAttribute(static_cast<CUcoredumpSettings>(w.One({1, 2, 3, 4, 6})), &v, &n); return F("%d %d %zu", e, v, n);),
    CALL("profiler", w.One({0, 1}) ? cuProfilerStart() : cuProfilerStop()),
    TOLD("logs", CUlogIterator i = 0; const int e = cuLogsCurrent(&i, w.One({0, 1})); char t[256]; size_t n = w.One({0, 10, 256}); const int f = cuLogsDumpToMemory(nullptr, t, &n, w.One({0, 1})); return F("%d %d", e, f);),
    CALL("last", cudaGetLastError()),
};
// clang-format on

}  // namespace

void AddCases(Cases& cases) {
  const std::pair<const char*, const std::vector<Call>*> classes[] = {
      {"stream", &kStreams}, {"memory", &kMemory},    {"pool", &kPools},      {"texture", &kTextures},
      {"tensor", &kTensors}, {"cluster", &kClusters}, {"context", &kContexts}};
  const auto add = [&](const char* name, const std::vector<Call>* calls, unsigned count) {
    for (const unsigned seed : Seeds(count)) {
      cases(F("%s%u", name, seed), [calls, name, seed] {
        CaseName() = name;
        const unsigned start = seed * 8 + name[0] + name[1];
        World w(start);
        AskAtRandom(w, *calls, F("%u.", start));
      });
    }
  };
  static std::vector<Call> all;
  for (const auto& [name, calls] : classes) add(name, calls, 16), all.insert(all.end(), calls->begin(), calls->end());
  add("together", &all, 48);
}
