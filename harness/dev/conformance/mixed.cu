// Random sequences of calls of both APIs with valid and invalid arguments. A case is a class of calls and a seed; a
// question is a call with its arguments.
#define CONFORMANCE_CLASS "mixed"
#include "ask.h"

__device__ int variable[16];
__constant__ int fixed[16];
__managed__ int shared_variable[16];
__global__ void Empty() {}
__global__ void Add(int* p) { atomicAdd(p, 1); }
__global__ void __launch_bounds__(128) Bounded(int* p) { atomicAdd(p, 1); }
__global__ void __cluster_dims__(2, 1, 1) Clustered(int* p) { atomicAdd(p, 1); }
__global__ void Fault(int* p, int kind) {
  if (kind == 0) *reinterpret_cast<volatile int*>(16) = 1;
  if (kind == 1) *reinterpret_cast<volatile int*>(reinterpret_cast<char*>(p) + 2) = 1;
  if (kind == 2) __trap();
  if (kind == 3) asm volatile("brkpt;");
  *p = kind;
}
__global__ void Static(int* p) {
  __shared__ int s[1000];
  s[threadIdx.x] = 1;
  __syncthreads();
  atomicAdd(p, s[0]);
}

namespace {

constexpr size_t kBytes = 65536;
void CUDART_CB Callback(void*) {}

struct World : Draws {
  explicit World(unsigned seed) : Draws(seed * 2654435761u + 12345) {
    char* d = nullptr;
    cudaMalloc(&d, kBytes);
    char* m = nullptr;
    cudaMallocManaged(&m, kBytes);
    char* h = nullptr;
    cudaMallocHost(&h, kBytes);
    char* a = nullptr;
    cudaMallocAsync(&a, kBytes, nullptr);
    char* w = static_cast<char*>(std::calloc(1, 4 * kBytes));
    void* symbol = nullptr;
    cudaGetSymbolAddress(&symbol, variable);
    pointers = {{"null", static_cast<char*>(nullptr)},
                {"d", d},
                {"d+4", d + 4},
                {"d+1", d + 1},
                {"m", m},
                {"m+8", m + 8},
                {"h", h},
                {"h+16", h + 16},
                {"a", a},
                {"w", w},
                {"w+3", w + 3},
                {"v", static_cast<char*>(symbol)}};
    cudaStream_t blocking = nullptr, free = nullptr, urgent = nullptr;
    cudaStreamCreate(&blocking);
    cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking);
    cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, -3);
    streams = {{"0", cudaStream_t{}},
               {"legacy", cudaStreamLegacy},
               {"perthread", cudaStreamPerThread},
               {"s", blocking},
               {"n", free},
               {"u", urgent}};
    cudaEvent_t timed = nullptr, untimed = nullptr, never = nullptr;
    cudaEventCreate(&timed);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    cudaEventCreate(&never);
    cudaEventRecord(timed, blocking);
    events = {{"timed", timed}, {"untimed", untimed}, {"never", never}, {"null", cudaEvent_t{}}};
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&child, 0);
    cudaGraphNode_t node = nullptr;
    cudaGraphAddEmptyNode(&node, child, nullptr, 0);
    nodes = {nullptr};
    cudaDeviceGetDefaultMemPool(&pool, 0);
    const auto desc = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &desc, 64, 16);
    functions = {
        {"Empty", reinterpret_cast<const void*>(Empty)},     {"Add", reinterpret_cast<const void*>(Add)},
        {"Bounded", reinterpret_cast<const void*>(Bounded)}, {"Clustered", reinterpret_cast<const void*>(Clustered)},
        {"Static", reinterpret_cast<const void*>(Static)},   {"null", static_cast<const void*>(nullptr)}};
    for (const auto& [name, function] : functions) {
      cudaFuncAttributes all;
      if (function != nullptr) cudaFuncGetAttributes(&all, function);
    }
    cudaDeviceSynchronize();
    cudaGetLastError();
  }
  cudaStream_t S() { return Of(streams); }
  cudaEvent_t E() { return Of(events); }
  const void* Fn() { return Of(functions); }
  size_t N() { return static_cast<size_t>(One({0, 1, 4, 16, 256, 4096, 65536})); }
  cudaMemcpyKind K() { return static_cast<cudaMemcpyKind>(One({-1, 0, 1, 2, 3, 4, 4, 4, 5})); }
  cudaGraphNode_t Node() {
    const unsigned k = Next(static_cast<unsigned>(nodes.size()));
    said += F(",n%u", k);
    return nodes[k];
  }
  int Added(cudaError_t error, cudaGraphNode_t node) {
    if (error == cudaSuccess) nodes.push_back(node);
    return error;
  }

  std::vector<std::pair<std::string, cudaStream_t>> streams;
  std::vector<std::pair<std::string, cudaEvent_t>> events;
  std::vector<std::pair<std::string, const void*>> functions;
  std::vector<cudaGraphNode_t> nodes;
  cudaGraph_t graph = nullptr, child = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaArray_t array = nullptr;
  CUmodule module = nullptr;
};

// One call per line; the formatter would make four lines of one.
// clang-format off
using Call = std::pair<const char*, std::string (*)(World&)>;

const std::vector<Call> kCopies = {
    CALL("memcpy", cudaMemcpy(w.P(), w.P(), w.N(), w.K())),
    CALL("memcpyasync", cudaMemcpyAsync(w.P(), w.P(), w.N(), w.K(), w.S())),
    CALL("memset", cudaMemset(w.P(), 1, w.N())),
    CALL("memsetasync", cudaMemsetAsync(w.P(), 1, w.N(), w.S())),
    CALL("memcpy2d", cudaMemcpy2D(w.P(), w.One({0, 16, 64, 63}), w.P(), w.One({16, 64, 100}), w.One({0, 16, 64}), w.One({0, 1, 5}), w.K())),
    CALL("memset2d", cudaMemset2D(w.P(), w.One({0, 16, 64, 63}), 0, w.One({0, 16, 64}), w.One({0, 1, 5}))),
    CALL("tosymbol", cudaMemcpyToSymbol(variable, w.P(), w.One({0, 4, 64, 65}), w.One({0, 4, 64, -4}), w.K())),
    CALL("fromsymbol", cudaMemcpyFromSymbol(w.P(), fixed, w.One({0, 4, 64, 65}), w.One({0, 4, 60}), w.K())),
    CALL("toarray", cudaMemcpy2DToArray(w.array, w.One({0, 4, 3, 252}), w.One({0, 15, 16}), w.P(), w.One({16, 64, 256}), w.One({0, 4, 5, 64}), w.One({0, 1, 2}), w.K())),
    CALL("fromarray", cudaMemcpy2DFromArray(w.P(), w.One({16, 64, 256}), w.array, w.One({0, 4, 252}), w.One({0, 15}), w.One({0, 4, 64}), w.One({0, 1, 2}), w.K())),
    CALL("drvhtod", cuMemcpyHtoD(w.D(), w.P(), w.One({0, 4, 4096}))),
    CALL("drvdtoh", cuMemcpyDtoH(w.P(), w.D(), w.One({0, 4, 4096}))),
    CALL("drvdtod", cuMemcpyDtoD(w.D(), w.D(), w.One({0, 4, 4096}))),
    CALL("drvcpy", cuMemcpy(w.D(), w.D(), w.N())),
    CALL("drvset32", cuMemsetD32(w.D(), 1, w.One({0, 1, 100}))),
    CALL("drvset16", cuMemsetD16(w.D(), 1, w.One({0, 1, 100}))),
    CALL("drvset2d8", cuMemsetD2D8(w.D(), w.One({0, 16, 64}), 1, w.One({0, 16, 17}), w.One({0, 1, 4}))),
    CALL("peer", cudaMemcpyPeer(w.P(), w.One({0, 1}), w.P(), w.One({0, -1}), w.One({0, 16}))),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kStreams = {
    CALL("query", Untimed(cudaStreamQuery(w.S()))),
    CALL("sync", cudaStreamSynchronize(w.S())),
    CALL("record", cudaEventRecord(w.E(), w.S())),
    CALL("recordflags", cudaEventRecordWithFlags(w.E(), w.S(), w.One({0, 1, 2}))),
    CALL("wait", cudaStreamWaitEvent(w.S(), w.E(), w.One({0, 0, 1, 2}))),
    CALL("eventsync", cudaEventSynchronize(w.E())),
    CALL("eventquery", (cudaDeviceSynchronize(), cudaEventQuery(w.E()))),
    TOLD("elapsed", float ms; return F("%d", Untimed(cudaEventElapsedTime(&ms, w.E(), w.E())));),
    VALUE("priority", int, "%d", cudaStreamGetPriority(w.S(), &v)),
    VALUE("flags", unsigned, "%u", cudaStreamGetFlags(w.S(), &v)),
    VALUE("device", int, "%d", cudaStreamGetDevice(w.S(), &v)),
    VALUE("drvpriority", int, "%d", cuStreamGetPriority(w.S(), &v)),
    VALUE("drvflags", unsigned, "%u", cuStreamGetFlags(w.S(), &v)),
    CALL("hostfunc", cudaLaunchHostFunc(w.S(), w.One({0, 1}) ? Callback : nullptr, nullptr)),
    CALL("copyattributes", cudaStreamCopyAttributes(w.S(), w.S())),
    TOLD("getattribute", cudaLaunchAttributeValue v{}; return F("%d", cudaStreamGetAttribute(w.S(), static_cast<cudaLaunchAttributeID>(w.One({0, 1, 2, 3, 4, 8, 9, 10})), &v));),
    TOLD("setattribute", cudaLaunchAttributeValue v{}; return F("%d", cudaStreamSetAttribute(w.S(), static_cast<cudaLaunchAttributeID>(w.One({0, 1, 2, 3, 4, 8, 9, 10})), &v));),
    CALL("attach", cudaStreamAttachMemAsync(w.S(), w.P(), w.One({0, 4096, 65536}), w.One({0, 1, 2, 4, 7}))),
    CALL("write32", cuStreamWriteValue32(w.S(), w.D(), 1, w.One({0, 1, 2}))),
    CALL("write64", cuStreamWriteValue64(w.S(), w.D(), 1, w.One({0, 1, 2}))),
    CALL("peek", cudaPeekAtLastError()),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kCapture = {
    CALL("begin", cudaStreamBeginCapture(w.S(), static_cast<cudaStreamCaptureMode>(w.One({0, 1, 2, 2, 3})))),
    CALL("begin_s", cudaStreamBeginCapture(w.streams[3].second, static_cast<cudaStreamCaptureMode>(w.One({0, 1, 2})))),
    CALL("begin_n", cudaStreamBeginCapture(w.streams[4].second, static_cast<cudaStreamCaptureMode>(w.One({0, 1, 2})))),
    TOLD("end", cudaGraph_t g = nullptr; const int e = cudaStreamEndCapture(w.S(), &g); return F("%d %s", e, IsSet(g).c_str());),
    TOLD("end_s", cudaGraph_t g = nullptr; size_t n = 77; const int e = cudaStreamEndCapture(w.streams[3].second, &g); if (g) cudaGraphGetNodes(g, nullptr, &n); return F("%d %s %zu", e, IsSet(g).c_str(), n);),
    TOLD("end_n", cudaGraph_t g = nullptr; size_t n = 77; const int e = cudaStreamEndCapture(w.streams[4].second, &g); if (g) cudaGraphGetNodes(g, nullptr, &n); return F("%d %s %zu", e, IsSet(g).c_str(), n);),
    VALUE("capturing", cudaStreamCaptureStatus, "%d", cudaStreamIsCapturing(w.S(), &v)),
    CALL("record", cudaEventRecord(w.E(), w.S())),
    CALL("wait", cudaStreamWaitEvent(w.S(), w.E(), 0)),
    CALL("eventquery", Untimed(cudaEventQuery(w.E()))),
    CALL("query", Untimed(cudaStreamQuery(w.S()))),
    CALL("memsetasync", cudaMemsetAsync(w.P(), 0, w.One({0, 16}), w.S())),
    CALL("memcpyasync", cudaMemcpyAsync(w.P(), w.P(), w.One({0, 16}), w.K(), w.S())),
    TOLD("launch", int* p = reinterpret_cast<int*>(w.pointers[1].second); void* a[] = {&p}; return F("%d", cudaLaunchKernel(w.Fn(), w.One({1, 2}), w.One({32, 64, 129, 1025}), a, 0, w.S()));),
    TOLD("mallocasync", void* p = nullptr; const int e = cudaMallocAsync(&p, w.One({0, 64}), w.S()); return F("%d %s", e, IsSet(p).c_str());),
    TOLD("malloc", void* p = nullptr; return F("%d", cudaMalloc(&p, w.One({0, 64})));),
    CALL("hostfunc", cudaLaunchHostFunc(w.S(), Callback, nullptr)),
    CALL("devicesync", cudaDeviceSynchronize()),
    CALL("streamsync", cudaStreamSynchronize(w.S())),
    CALL("memcpy", cudaMemcpy(w.P(), w.P(), 16, cudaMemcpyDefault)),
    TOLD("mode", auto m = static_cast<cudaStreamCaptureMode>(w.One({0, 1, 2})); const int e = cudaThreadExchangeStreamCaptureMode(&m); return F("%d %d", e, m);),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kGraphs = {
    TOLD("empty", cudaGraphNode_t n = nullptr; cudaGraphNode_t b = w.Node(); return F("%d", w.Added(cudaGraphAddEmptyNode(&n, w.graph, &b, b ? 1 : w.One({0, 0, 1})), n));),
    TOLD("kernel", cudaGraphNode_t n = nullptr; int* q = reinterpret_cast<int*>(w.pointers[1].second); void* a[] = {&q}; cudaKernelNodeParams p{}; p.func = const_cast<void*>(w.Fn()); p.gridDim = dim3(w.One({0, 1, 2})); p.blockDim = dim3(w.One({32, 129, 1025})); p.sharedMemBytes = w.One({0, 0, 49152, 50000}); p.kernelParams = a; return F("%d", w.Added(cudaGraphAddKernelNode(&n, w.graph, nullptr, 0, &p), n));),
    TOLD("memset", cudaGraphNode_t n = nullptr; cudaMemsetParams p{}; p.dst = w.P(); p.elementSize = w.One({0, 1, 2, 3, 4, 8}); p.width = w.One({0, 1, 16}); p.height = w.One({0, 1, 2}); p.pitch = w.One({0, 16, 64}); return F("%d", w.Added(cudaGraphAddMemsetNode(&n, w.graph, nullptr, 0, &p), n));),
    TOLD("memcpy1d", cudaGraphNode_t n = nullptr; return F("%d", w.Added(cudaGraphAddMemcpyNode1D(&n, w.graph, nullptr, 0, w.P(), w.P(), w.One({0, 4, 64}), w.K()), n));),
    TOLD("host", cudaGraphNode_t n = nullptr; cudaHostNodeParams p{w.One({0, 1}) ? Callback : nullptr, nullptr}; return F("%d", w.Added(cudaGraphAddHostNode(&n, w.graph, nullptr, 0, &p), n));),
    TOLD("child", cudaGraphNode_t n = nullptr; return F("%d", w.Added(cudaGraphAddChildGraphNode(&n, w.graph, nullptr, 0, w.One({0, 1}) ? w.child : w.graph), n));),
    TOLD("record", cudaGraphNode_t n = nullptr; return F("%d", w.Added(cudaGraphAddEventRecordNode(&n, w.graph, nullptr, 0, w.E()), n));),
    TOLD("wait", cudaGraphNode_t n = nullptr; return F("%d", w.Added(cudaGraphAddEventWaitNode(&n, w.graph, nullptr, 0, w.E()), n));),
    TOLD("memalloc", cudaGraphNode_t n = nullptr; cudaMemAllocNodeParams p{}; p.poolProps.allocType = static_cast<cudaMemAllocationType>(w.One({0, 1, 1, 1})); p.poolProps.location = {static_cast<cudaMemLocationType>(w.One({0, 1, 1, 1})), static_cast<int>(w.One({0, 0, 0, 1}))}; p.bytesize = w.One({0, 64, 4096}); const int e = w.Added(cudaGraphAddMemAllocNode(&n, w.graph, nullptr, 0, &p), n); return F("%d %s", e, IsSet(p.dptr).c_str());),
    TOLD("memfree", cudaGraphNode_t n = nullptr; return F("%d", w.Added(cudaGraphAddMemFreeNode(&n, w.graph, nullptr, 0, w.P()), n));),
    TOLD("depend", cudaGraphNode_t a = w.Node(), b = w.Node(); return F("%d", cudaGraphAddDependencies(w.graph, &a, &b, nullptr, w.One({0, 1, 1})));),
    TOLD("undepend", cudaGraphNode_t a = w.Node(), b = w.Node(); return F("%d", cudaGraphRemoveDependencies(w.graph, &a, &b, nullptr, 1));),
    VALUE("type", cudaGraphNodeType, "%d", cudaGraphNodeGetType(w.Node(), &v)),
    VALUE("nodes", size_t, "%zu", cudaGraphGetNodes(w.graph, nullptr, &v)),
    VALUE("roots", size_t, "%zu", cudaGraphGetRootNodes(w.graph, nullptr, &v)),
    VALUE("edges", size_t, "%zu", cudaGraphGetEdges(w.graph, nullptr, nullptr, nullptr, &v)),
    VALUE("before", size_t, "%zu", cudaGraphNodeGetDependencies(w.Node(), nullptr, nullptr, &v)),
    TOLD("clone", cudaGraph_t g = nullptr; return F("%d", cudaGraphClone(&g, w.graph));),
    TOLD("instantiate", cudaGraphExec_t x = nullptr; const int e = cudaGraphInstantiate(&x, w.graph, w.One({0, 0, 1, 2, 3, 8, 16})); if (x) w.executable = x; return F("%d", e);),
    CALL("launch", cudaGraphLaunch(w.executable, w.S())),
    CALL("upload", cudaGraphUpload(w.executable, w.S())),
    TOLD("update", if (!w.executable) return "-"; cudaGraphExecUpdateResultInfo i{}; const int e = cudaGraphExecUpdate(w.executable, w.graph, &i); return F("%d %d", e, i.result);),
    TOLD("enabled", unsigned v = 7; if (!w.executable) return "-"; const int e = cudaGraphNodeGetEnabled(w.executable, w.Node(), &v); return F("%d %u", e, v);),
    TOLD("setenabled", if (!w.executable) return "-"; return F("%d", cudaGraphNodeSetEnabled(w.executable, w.Node(), w.One({0, 1})));),
    CALL("sync", cudaDeviceSynchronize()),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kPools = {
    TOLD("mallocasync", void* p = nullptr; const int e = cudaMallocAsync(&p, w.One({0, 1, 512, 4096, 40 << 20, 1ll << 50}), w.S()); if (p) w.pointers.emplace_back(F("p%zu", w.pointers.size()), static_cast<char*>(p)); return F("%d %s", e, IsSet(p).c_str());),
    TOLD("freeasync", const size_t k = w.Next(w.pointers.size()); const auto one = w.pointers[k]; w.said += "," + one.first; const int e = cudaFreeAsync(one.second, w.S()); if (e == 0 && one.second && k >= 12) w.pointers.erase(w.pointers.begin() + k); else if (e == 0 && one.second) w.pointers[k].second = nullptr; return F("%d", e);),
    TOLD("attribute", unsigned long long v = 0; const auto a = static_cast<cudaMemPoolAttr>(w.One({0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10})); cudaDeviceSynchronize(); const int e = cudaMemPoolGetAttribute(w.pool, a, &v); return F("%d %llu", e, v);),
    TOLD("setattribute", unsigned long long v = w.One({0, 1, 64 << 20, -1}); return F("%d", cudaMemPoolSetAttribute(w.pool, static_cast<cudaMemPoolAttr>(w.One({0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9})), &v));),
    CALL("trim", cudaMemPoolTrimTo(w.pool, w.One({0, 1, 32 << 20, 1ll << 40}))),
    TOLD("create", cudaMemPoolProps p{}; p.allocType = static_cast<cudaMemAllocationType>(w.One({0, 1, 1, 1, 2})); p.handleTypes = static_cast<cudaMemAllocationHandleType>(w.One({0, 0, 0, 1, 2, 8})); p.location = {static_cast<cudaMemLocationType>(w.One({0, 1, 1, 1, 2, 3})), static_cast<int>(w.One({0, 0, 0, 1}))}; p.maxSize = w.One({0, 0, 1 << 20, 100 << 20}); cudaMemPool_t m = nullptr; const int e = cudaMemPoolCreate(&m, &p); if (e == 0 && p.location.type == 1 && p.allocType == 1) w.pool = m; return F("%d", e);),
    TOLD("frompool", void* p = nullptr; const int e = cudaMallocFromPoolAsync(&p, w.One({0, 1, 4096, 2 << 20, 33 << 20}), w.pool, w.S()); if (p) w.pointers.emplace_back(F("p%zu", w.pointers.size()), static_cast<char*>(p)); return F("%d %s", e, IsSet(p).c_str());),
    CALL("setpool", cudaDeviceSetMemPool(w.One({0, 0, 1, -1}), w.pool)),
    TOLD("access", cudaMemAccessFlags f{}; cudaMemLocation l{static_cast<cudaMemLocationType>(w.One({0, 1, 1, 2, 3})), static_cast<int>(w.One({0, 0, 1}))}; const int e = cudaMemPoolGetAccess(&f, w.pool, &l); return F("%d %d", e, f);),
    TOLD("drvalloc", CUdeviceptr p = 0; const int e = cuMemAllocAsync(&p, w.One({0, 1, 4096}), w.S()); if (p) w.pointers.emplace_back(F("p%zu", w.pointers.size()), reinterpret_cast<char*>(p)); return F("%d %s", e, IsSet(p).c_str());),
    CALL("sync", cudaDeviceSynchronize()),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kPointers = {
    TOLD("attributes", char* p = w.P(); cudaPointerAttributes a{}; const int e = cudaPointerGetAttributes(&a, p); return F("%d %d %d %s %s", e, a.type, a.device, Relative(a.devicePointer, p).c_str(), Relative(a.hostPointer, p).c_str());),
    TOLD("attribute", unsigned long long v[8] = {}; const auto k = static_cast<CUpointer_attribute>(w.One({2, 4, 6, 8, 9, 10, 13, 14, 15, 16, 18, 21, 22})); char* p = w.P(); const int e = cuPointerGetAttribute(v, k, Dev(p)); return F("%d %s", e, k == 4 ? Relative(reinterpret_cast<void*>(v[0]), p).c_str() : F("%llu", v[0]).c_str());),
    TOLD("range", CUdeviceptr b = 0; size_t n = 0; char* p = w.P(); const int e = cuMemGetAddressRange(&b, &n, Dev(p)); return F("%d %s %zu", e, Relative(b, p).c_str(), n);),
    TOLD("hostflags", unsigned f = 77; const int e = cudaHostGetFlags(&f, w.P()); return F("%d %u", e, f);),
    TOLD("hostdevice", void* q = nullptr; char* p = w.P(); const int e = cudaHostGetDevicePointer(&q, p, w.One({0, 0, 1})); return F("%d %s", e, Relative(q, p).c_str());),
    CALL("register", cudaHostRegister(w.P(), w.One({0, 1, 4096, 65536}), w.One({0, 1, 2, 3, 4, 8, 16}))),
    CALL("unregister", cudaHostUnregister(w.P())),
    CALL("setsync", [&] { const int v = 1; return cuPointerSetAttribute(&v, static_cast<CUpointer_attribute>(w.One({6, 6, 2, 21})), w.D()); }()),
    TOLD("range_attribute", int v = 77; const int e = cudaMemRangeGetAttribute(&v, w.One({4, 4, 4, 8, 0}), static_cast<cudaMemRangeAttribute>(w.One({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})), w.P(), w.One({0, 16, 4096, 65536})); return F("%d %d", e, v);),
    CALL("advise", cudaMemAdvise(w.P(), w.One({0, 16, 65536}), static_cast<cudaMemoryAdvise>(w.One({0, 1, 2, 3, 4, 5, 6})), {static_cast<cudaMemLocationType>(w.One({0, 1, 1, 2, 3, 4})), static_cast<int>(w.One({0, 0, 1, -1}))})),
    CALL("prefetch", cudaMemPrefetchAsync(w.P(), w.One({0, 16, 65536}), {static_cast<cudaMemLocationType>(w.One({0, 1, 1, 2, 3})), static_cast<int>(w.One({0, 0, 1, -1}))}, w.One({0, 0, 1}), w.S())),
    CALL("freehost", cudaFreeHost(w.pointers[w.One({0, 1, 4, 9})].second)),
    CALL("free_bad", cudaFree(w.pointers[w.One({0, 2, 3, 5, 6, 9, 11})].second)),
    CALL("drvfree_bad", cuMemFree(Dev(w.pointers[w.One({0, 2, 5, 7, 9, 11})].second))),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kLaunches = {
    TOLD("launch", int* p = reinterpret_cast<int*>(w.pointers[1].second); void* a[] = {&p}; return F("%d", cudaLaunchKernel(w.Fn(), dim3(w.One({0, 1, 2, 3}), w.One({1, 1, 65535, 65536})), dim3(w.One({1, 32, 128, 129, 1024}), w.One({1, 1, 2}), w.One({1, 1, 64, 65})), a, w.One({0, 0, 1024, 48000, 49152, 232448}), w.S()));),
    TOLD("cooperative", int* p = reinterpret_cast<int*>(w.pointers[1].second); void* a[] = {&p}; return F("%d", cudaLaunchCooperativeKernel(w.Fn(), w.One({1, 2, 132, 100000}), w.One({32, 128, 1024}), a, w.One({0, 1024, 49152}), w.S()));),
    TOLD("cluster", int* p = reinterpret_cast<int*>(w.pointers[1].second); void* a[] = {&p}; cudaLaunchAttribute t[2] = {}; t[0].id = cudaLaunchAttributeClusterDimension; t[0].val.clusterDim = {static_cast<unsigned>(w.One({0, 1, 2, 3, 4, 8, 9, 16})), 1, static_cast<unsigned>(w.One({1, 1, 2}))}; t[1].id = cudaLaunchAttributeCooperative; t[1].val.cooperative = w.One({0, 0, 1}); cudaLaunchConfig_t c{}; c.gridDim = dim3(w.One({1, 4, 16, 18}), 1, w.One({1, 2})); c.blockDim = dim3(w.One({32, 128, 1025})); c.dynamicSmemBytes = w.One({0, 0, 49152, 60000}); c.stream = w.S(); c.attrs = t; c.numAttrs = w.One({0, 1, 1, 2}); return F("%d", cudaLaunchKernelExC(&c, w.Fn(), a));),
    CALL("setattribute", cudaFuncSetAttribute(w.Fn(), static_cast<cudaFuncAttribute>(w.One({0, 8, 8, 9, 10, 11, 12, 13, 14, 15, 16})), w.One({-1, 0, 1, 2, 16, 50, 101, 50000, 232448, 232449}))),
    TOLD("attributes", cudaFuncAttributes a{}; const int e = cudaFuncGetAttributes(&a, w.Fn()); return F("%d %zu %d %d %d %d", e, a.sharedSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.nonPortableClusterSizeAllowed);),
    VALUE("occupancy", int, "%d", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, w.Fn(), w.One({0, 1, 32, 128, 129, 1024, 1025}), w.One({0, 1024, 49152, 100000, 232448}))),
    VALUE("available", size_t, "%zu", cudaOccupancyAvailableDynamicSMemPerBlock(&v, w.Fn(), w.One({0, 1, 2, 33}), w.One({0, 32, 1024}))),
    CALL("cache", cudaFuncSetCacheConfig(w.Fn(), static_cast<cudaFuncCache>(w.One({-1, 0, 1, 2, 3, 4})))),
    TOLD("param", size_t o = 77, n = 77; const int e = cudaFuncGetParamInfo(w.Fn(), w.One({0, 1, 2}), &o, &n); return F("%d %zu %zu", e, o, n);),
    TOLD("name", const char* n = nullptr; const int e = cudaFuncGetName(&n, w.Fn()); return F("%d %s", e, n ? n : "null");),
    CALL("sync", cudaDeviceSynchronize()),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kDevice = {
    TOLD("getlimit", size_t v = 77; const int e = cudaDeviceGetLimit(&v, static_cast<cudaLimit>(w.One({0, 1, 2, 4, 5, 6}))); return F("%d %zu", e, v);),
    CALL("setlimit", cudaDeviceSetLimit(static_cast<cudaLimit>(w.One({0, 1, 2, 4, 5, 6, 7})), w.One({0, 1, 7, 500, 2047, 100000, 9000000, 33554432}))),
    TOLD("drvlimit", size_t v = 77; const int e = cuCtxGetLimit(&v, static_cast<CUlimit>(w.One({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))); return F("%d %zu", e, v);),
    CALL("setflags", cudaSetDeviceFlags(w.One({0, 1, 2, 3, 4, 8, 9, 16, 24, 32, 128, 255}))),
    VALUE("flags", unsigned, "%u", cudaGetDeviceFlags(&v)),
    VALUE("ctxflags", unsigned, "%u", cuCtxGetFlags(&v)),
    CALL("setctxflags", cuCtxSetFlags(w.One({0, 1, 2, 4, 8, 16, 32, 64, 128}))),
    CALL("setdevice", cudaSetDevice(w.One({0, 0, 1, -1}))),
    TOLD("attribute", int v = -77; const int a = w.One({0, 1, 2, 8, 9, 10, 12, 16, 18, 29, 38, 42, 60, 79, 81, 82, 83, 90, 91, 95, 97, 99, 101, 106, 108, 109, 111, 113, 117, 118, 119, 120, 121, 124, 127, 128, 129, 130, 133, 134, 136, 145, 150}); const int e = cudaDeviceGetAttribute(&v, static_cast<cudaDeviceAttr>(a), w.One({0, 0, 0, 1})); return F("%d %d", e, v);),
    TOLD("drvattribute", int v = -77; const int e = cuDeviceGetAttribute(&v, static_cast<CUdevice_attribute>(w.One({1, 10, 39, 76, 82, 84, 86, 92, 93, 94, 96, 98, 102, 103, 104, 105, 107, 110, 112, 114, 115, 116, 122, 123, 125, 126, 131, 132, 135, 137, 138, 139, 140, 141, 142, 143, 144})), w.One({0, 0, 1})); return F("%d %d", e, v);),
    CALL("cacheconfig", cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(w.One({-1, 0, 1, 3, 4})))),
    TOLD("push", CUcontext c = nullptr; cuCtxGetCurrent(&c); return F("%d", cuCtxPushCurrent(w.One({0, 1}) ? c : nullptr));),
    TOLD("pop", CUcontext c = nullptr; return F("%d", cuCtxPopCurrent(&c));),
    TOLD("current", CUcontext c = nullptr; const int e = cuCtxGetCurrent(&c); return F("%d %s", e, IsSet(c).c_str());),
    TOLD("create", CUcontext c = nullptr; return F("%d", cuCtxCreate(&c, nullptr, w.One({0, 1, 4, 8, 16, 7}), w.One({0, 0, 1})));),
    VALUE("ctxdevice", CUdevice, "%d", cuCtxGetDevice(&v)),
    CALL("ctxsync", cuCtxSynchronize()),
    CALL("retain", [&] { CUcontext c; return cuDevicePrimaryCtxRetain(&c, w.One({0, 0, 1})); }()),
    CALL("release", cuDevicePrimaryCtxRelease(0)),
    TOLD("state", unsigned f = 77; int a = 77; const int e = cuDevicePrimaryCtxGetState(0, &f, &a); return F("%d %u %d", e, f, a);),
    TOLD("malloc", void* p = nullptr; return F("%d", cudaMalloc(&p, 64));),
    TOLD("drvalloc", CUdeviceptr p = 0; return F("%d", cuMemAlloc(&p, 64));),
    CALL("last", cudaGetLastError()),
};
const std::string kText = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 g = 7;\n.visible .const .align 8 .u64 c;\n.visible .entry k(.param .u64 p, .param .u32 q) .maxntid 64 { ret; }\n.visible .func f() { ret; }\n";
const std::vector<Call> kModules = {
    TOLD("load", const char* texts[] = {kText.c_str(), "", "no", ".version 8.0\n", ".version 8.0\n.target sm_90\n.address_size 64\n.entry z() { foo; }\n", nullptr}; CUmodule m = nullptr; const int e = cuModuleLoadData(&m, texts[w.One({0, 0, 0, 1, 2, 3, 4, 5})]); if (m) w.module = m; return F("%d %s", e, IsSet(m).c_str());),
    TOLD("loadex", char log[64] = "x"; CUjit_option o[] = {static_cast<CUjit_option>(w.One({0, 5, 7, 8, 10, 11, 12, 13, 14, 16, 20, 29, 31, 32, 33, 34, 40})), CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}; void* v[] = {o[0] == 5 ? log : reinterpret_cast<void*>(w.One({0, 1, 2, 4, 5, 64})), log, reinterpret_cast<void*>(w.One({0, 1, 64}))}; CUmodule m = nullptr; return F("%d", cuModuleLoadDataEx(&m, kText.c_str(), w.One({0, 1, 1, 3}), o, v));),
    TOLD("function", const char* names[] = {"k", "g", "f", "zz", "", nullptr}; CUfunction f = nullptr; return F("%d", cuModuleGetFunction(&f, w.module, names[w.One({0, 0, 1, 2, 3, 4, 5})]));),
    TOLD("global", const char* names[] = {"k", "g", "c", "f", "zz", "", nullptr}; CUdeviceptr p = 0; size_t n = 77; const int e = cuModuleGetGlobal(w.One({0, 1}) ? &p : nullptr, w.One({0, 1}) ? &n : nullptr, w.module, names[w.One({0, 1, 1, 2, 3, 4, 5, 6})]); return F("%d %zu", e, n);),
    TOLD("launch", CUfunction f = nullptr; cuModuleGetFunction(&f, w.module, "k"); void* p = nullptr; int q = 0; void* a[] = {&p, &q}; size_t n = w.One({0, 8, 12, 16, 24}); void* x[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &a, CU_LAUNCH_PARAM_BUFFER_SIZE, &n, CU_LAUNCH_PARAM_END}; const bool extra = w.One({0, 0, 1}); return F("%d", cuLaunchKernel(f, w.One({0, 1, 2}), 1, 1, w.One({0, 1, 64, 65}), 1, 1, w.One({0, 49152, 49153}), w.S(), extra ? nullptr : a, extra ? x : nullptr));),
    TOLD("attribute", CUfunction f = nullptr; cuModuleGetFunction(&f, w.module, "k"); int v = 77; const int k = w.One({0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 14, 15, 16}); const int e = cuFuncGetAttribute(&v, static_cast<CUfunction_attribute>(k), f); return F("%d %d", e, v);),
    TOLD("setattribute", CUfunction f = nullptr; cuModuleGetFunction(&f, w.module, "k"); return F("%d", cuFuncSetAttribute(f, static_cast<CUfunction_attribute>(w.One({0, 1, 8, 9, 10, 11, 14, 15})), w.One({-1, 0, 1, 2, 50, 101, 232448})));),
    VALUE("count", unsigned, "%u", cuModuleGetFunctionCount(&v, w.module)),
    TOLD("library", const char* texts[] = {kText.c_str(), "no", nullptr}; CUlibrary l = nullptr; CUkernel k = nullptr; CUmodule m = nullptr; const int e = cuLibraryLoadData(&l, texts[w.One({0, 1, 2})], nullptr, nullptr, 0, nullptr, nullptr, 0); if (e) return F("%d", e); const int g = cuLibraryGetKernel(&k, l, w.One({0, 1}) ? "k" : "f"); const int n = cuLibraryGetModule(&m, l); const int u = cuModuleUnload(m); return F("%d %d %d %d %d", e, g, n, u, cuLibraryUnload(l));),
    TOLD("link", CUlinkState s = nullptr; cuLinkCreate(0, nullptr, nullptr, &s); std::string t = kText; const std::string user = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func f();\n.visible .entry u() { call f; ret; }\n"; std::string told; const int parts = w.One({0, 1, 2, 3}); for (const std::string& one : {t, user}) if (parts & (one == t ? 1 : 2)) told += F("%d ", cuLinkAddData(s, static_cast<CUjitInputType>(w.One({1, 1, 1, 2, 6})), const_cast<char*>(one.c_str()), one.size() + 1, "n", 0, nullptr, nullptr)); void* c = nullptr; size_t n = 0; told += F("%d", cuLinkComplete(s, &c, &n)); CUmodule m = nullptr; if (c) told += F(" %d", cuModuleLoadData(&m, c)); return told + F(" %d", cuLinkDestroy(s));),
    TOLD("unload", const int e = cuModuleUnload(w.module); w.module = nullptr; return F("%d", e);),
    TOLD("symbol", void* p = nullptr; const void* all[] = {variable, fixed, shared_variable, nullptr, reinterpret_cast<const void*>(Add)}; return F("%d", cudaGetSymbolAddress(&p, all[w.One({0, 1, 2, 3, 4})]));),
    TOLD("symbolsize", size_t n = 77; const void* all[] = {variable, fixed, shared_variable, nullptr, reinterpret_cast<const void*>(Add)}; const int e = cudaGetSymbolSize(&n, all[w.One({0, 1, 2, 3, 4})]); return F("%d %zu", e, n);),
    CALL("last", cudaGetLastError()),
};
const std::vector<Call> kArrays = {
    TOLD("mallocarray", cudaChannelFormatDesc d{static_cast<int>(w.One({8, 16, 32, 64, 0})), static_cast<int>(w.One({0, 0, 8, 32})), 0, 0, static_cast<cudaChannelFormatKind>(w.One({0, 1, 2, 3}))}; cudaArray_t a = nullptr; return F("%d", cudaMallocArray(&a, &d, w.One({0, 1, 64, 131072, 131073}), w.One({0, 0, 1, 16, 65536, 65537}), w.One({0, 0, 1, 2, 4, 8, 16})));),
    TOLD("malloc3darray", cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(); cudaArray_t a = nullptr; return F("%d", cudaMalloc3DArray(&a, &d, make_cudaExtent(w.One({0, 8, 6}), w.One({0, 8}), w.One({0, 1, 6, 7, 12})), w.One({0, 1, 2, 4, 5, 3, 8})));),
    TOLD("texture", cudaResourceDesc r{}; r.resType = static_cast<cudaResourceType>(w.One({0, 0, 2, 2, 3, 4})); if (r.resType == 0) r.res.array.array = w.array; if (r.resType == 2) r.res.linear = {w.P(), cudaCreateChannelDesc<float>(), static_cast<size_t>(w.One({0, 4, 1024}))}; if (r.resType == 3) r.res.pitch2D = {w.P(), cudaCreateChannelDesc<float>(), static_cast<size_t>(w.One({0, 16})), 4, static_cast<size_t>(w.One({32, 64, 100}))}; cudaTextureDesc t{}; t.addressMode[0] = static_cast<cudaTextureAddressMode>(w.One({0, 1, 2, 3})); t.filterMode = static_cast<cudaTextureFilterMode>(w.One({0, 1})); t.readMode = static_cast<cudaTextureReadMode>(w.One({0, 0, 1})); t.normalizedCoords = w.One({0, 1}); cudaTextureObject_t o = 0; const int e = cudaCreateTextureObject(&o, &r, &t, nullptr); return F("%d", e);),
    TOLD("surface", cudaResourceDesc r{}; r.resType = static_cast<cudaResourceType>(w.One({0, 2, 3})); r.res.array.array = w.One({0, 1}) ? w.array : nullptr; cudaSurfaceObject_t o = 0; return F("%d", cudaCreateSurfaceObject(&o, &r));),
    TOLD("info", cudaExtent x{}; unsigned f = 77; const int e = cudaArrayGetInfo(nullptr, &x, &f, w.One({0, 1}) ? w.array : nullptr); return F("%d %zu %zu %zu %u", e, x.width, x.height, x.depth, f);),
    TOLD("drvcreate", CUDA_ARRAY_DESCRIPTOR d{static_cast<size_t>(w.One({0, 16})), static_cast<size_t>(w.One({0, 16})), static_cast<CUarray_format>(w.One({1, 2, 3, 8, 16, 32, 7})), static_cast<unsigned>(w.One({0, 1, 2, 3, 4}))}; CUarray a = nullptr; return F("%d", cuArrayCreate(&a, &d));),
    TOLD("pitch", void* p = nullptr; size_t n = 77; const int e = cudaMallocPitch(&p, &n, w.One({0, 1, 100, 513}), w.One({0, 1, 7})); return F("%d %zu %s", e, n, IsSet(p).c_str());),
    TOLD("drvpitch", CUdeviceptr p = 0; size_t n = 77; const int e = cuMemAllocPitch(&p, &n, w.One({0, 1, 100, 513}), w.One({0, 1, 7}), w.One({0, 1, 4, 8, 16, 32})); return F("%d %zu %s", e, n, IsSet(p).c_str());),
    TOLD("mipmap", cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(); cudaMipmappedArray_t a = nullptr; return F("%d", cudaMallocMipmappedArray(&a, &d, make_cudaExtent(w.One({0, 16}), w.One({0, 16}), w.One({0, 4})), w.One({0, 1, 3, 9}), 0));),
    TOLD("tensormap", CUtensorMap m; const cuuint64_t sizes[] = {static_cast<cuuint64_t>(w.One({0, 1, 64})), 64, 4}; const cuuint64_t strides[] = {static_cast<cuuint64_t>(w.One({0, 16, 256, 250})), 16384}; const cuuint32_t box[] = {static_cast<cuuint32_t>(w.One({0, 1, 32, 64, 256, 257})), 4, 1}, steps[] = {1, static_cast<cuuint32_t>(w.One({0, 1, 1, 8, 9})), 1}; return F("%d", cuTensorMapEncodeTiled(&m, static_cast<CUtensorMapDataType>(w.One({0, 1, 2, 7, 9, 13, 20})), w.One({0, 1, 2, 3}), w.P(), sizes, strides, box, steps, static_cast<CUtensorMapInterleave>(w.One({0, 0, 1, 2})), static_cast<CUtensorMapSwizzle>(w.One({0, 0, 1, 2, 3, 4})), static_cast<CUtensorMapL2promotion>(w.One({0, 1, 3, 4})), static_cast<CUtensorMapFloatOOBfill>(w.One({0, 0, 1, 2}))));),
    CALL("last", cudaGetLastError()),
};

// clang-format on
void Run(const std::vector<Call>& calls, unsigned seed, bool faulty = false) {
  Start();
  World w(seed);
  if (faulty) {
    Fault<<<1, 1, 0, w.streams[seed % 4].second>>>(reinterpret_cast<int*>(w.pointers[1].second),
                                                   static_cast<int>(seed / 4 % 4));
    cudaDeviceSynchronize();
    cudaGetLastError();
  }
  AskAtRandom(w, calls, "");
}

}  // namespace

void AddCases(Cases& cases) {
  const std::pair<const char*, const std::vector<Call>*> classes[] = {
      {"copy", &kCopies},    {"stream", &kStreams},   {"capture", &kCapture}, {"graph", &kGraphs},
      {"pool", &kPools},     {"pointer", &kPointers}, {"launch", &kLaunches}, {"device", &kDevice},
      {"module", &kModules}, {"array", &kArrays}};
  static std::vector<Call> all, most;
  for (const auto& [name, calls] : classes) {
    for (const unsigned seed : Seeds(48)) {
      cases(F("%s%u", name, seed), [calls = calls, start = seed + 1000 * name[1]] { Run(*calls, start); });
    }
    all.insert(all.end(), calls->begin(), calls->end());
    if (calls != &kCapture && calls != &kModules) most.insert(most.end(), calls->begin(), calls->end());
  }
  for (const unsigned seed : Seeds(48)) cases(F("fault%u", seed), [seed] { Run(most, seed, true); });
  for (const unsigned seed : Seeds(48)) cases(F("together%u", seed), [seed] { Run(all, seed); });
}
