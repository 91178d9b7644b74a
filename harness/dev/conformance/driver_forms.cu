// Random calls in random order, as in siblings.cu, that only the driver API has or that differ there: nodes of any
// type, copies as nodes, words that a graph writes, batches of 3D copies, other queries of the process.
#define CONFORMANCE_CLASS "driver_forms"
#include "ask.h"

__device__ int variable[64];
__global__ void Add(int* p, int k) { atomicAdd(p, k); }

namespace {

void CUDART_CB Callback(void*) {}

struct World : Draws {
  explicit World(unsigned seed) : Draws(seed * 2654435761u + 4444) {
    Start();
    cuCtxGetCurrent(&context);
    cudaMalloc(&d, 65536);
    cudaMallocManaged(&m, 65536);
    cudaMallocHost(&h, 65536);
    w = static_cast<char*>(std::calloc(1, 65536));
    pointers = {{"0", nullptr}, {"d", d}, {"d+4", d + 4}, {"d+1", d + 1},
                {"m", m},       {"h", h}, {"w", w},       {"end", d + 65532}};
    cudaStreamCreate(&stream);
    streams = {{"0", nullptr}, {"s", stream}, {"legacy", cudaStreamLegacy}, {"thread", cudaStreamPerThread}};
    cudaEventCreate(&event);
    const auto format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 16);
    cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Add));
    cuGraphCreate(&graph, 0), cuGraphCreate(&child, 0);
    CUgraphNode node = nullptr;
    cuGraphAddEmptyNode(&node, child, nullptr, 0);
    const CUDA_KERNEL_NODE_PARAMS kernel = Kernel(1, 32, 0);
    cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), nodes.push_back(node);
    const CUDA_MEMSET_NODE_PARAMS fill{Dev(d), 0, 0, 4, 8, 1};
    cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context), nodes.push_back(node);
    cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, d, d + 4096, 64, cudaMemcpyDeviceToDevice),
        nodes.push_back(node);
    const CUDA_HOST_NODE_PARAMS host{Callback, nullptr};
    cuGraphAddHostNode(&node, graph, nullptr, 0, &host), nodes.push_back(node);
    cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child), nodes.push_back(node);
    cuGraphAddEventRecordNode(&node, graph, nullptr, 0, event), nodes.push_back(node);
    cuGraphInstantiate(&executable, graph, 0);
    cudaDeviceSynchronize();
    cudaGetLastError();
  }
  CUDA_KERNEL_NODE_PARAMS Kernel(unsigned grid, unsigned block, unsigned shared) {
    CUDA_KERNEL_NODE_PARAMS p{function, grid, 1, 1, block, 1, 1, shared, arguments};
    return p;
  }
  CUDA_MEMCPY3D Copy() {
    CUDA_MEMCPY3D c = {};
    c.srcMemoryType = static_cast<CUmemorytype>(One({1, 2, 2, 3, 4, 0}));
    c.dstMemoryType = static_cast<CUmemorytype>(One({1, 2, 2, 3, 4, 5}));
    c.srcHost = w, c.srcDevice = Dev(c.srcMemoryType == 4 ? h : d);
    c.dstHost = w + 32768, c.dstDevice = Dev(c.dstMemoryType == 4 ? m : d) + 32768;
    c.srcArray = c.dstArray = reinterpret_cast<CUarray>(array);
    c.srcXInBytes = One({0, 0, 4, 252}), c.dstY = One({0, 0, 3, 15});
    c.srcPitch = One({0, 64, 256}), c.srcHeight = One({0, 4}), c.dstPitch = One({0, 64}), c.dstHeight = One({0, 8});
    c.WidthInBytes = One({0, 4, 16, 64}), c.Height = One({0, 1, 1, 4}), c.Depth = One({0, 1, 1, 2});
    return c;
  }
  CUgraphNodeParams Any() {
    CUgraphNodeParams p{};
    p.type = static_cast<CUgraphNodeType>(One({0, 1, 2, 3, 4, 5, 6, 7, 12, 14, -1}));
    const int type = p.type;
    const auto size = [&] { return static_cast<unsigned>(One({0, 1, 8})); };
    if (type == 0) p.kernel = {function, size(), 1, 1, size() * 200, 1, 1, 0, arguments};
    if (type == 1) p.memcpy.copyCtx = context, p.memcpy.copyParams = Copy();
    if (type == 2) p.memset = {D(), 64, 1, size(), size(), 1, context};
    if (type == 3) p.host.fn = One({0, 1}) ? Callback : nullptr;
    if (type == 4) p.graph.graph = One({0, 1}) ? child : nullptr;
    if (type == 6) p.eventWait.event = One({0, 1}) ? event : nullptr;
    if (type == 7) p.eventRecord.event = One({0, 1}) ? event : nullptr;
    if (type == 12) p.memOp = {context, size(), Words(), 0};
    return p;
  }
  CUstreamBatchMemOpParams* Words() {
    words = {};
    words.writeValue.operation = static_cast<CUstreamBatchMemOpType>(One({2, 4, 2, 3}));
    words.writeValue.address = D(), words.writeValue.flags = One({0, 0, 1});
    return &words;
  }
  template <typename Operand>
  void End(Operand& end) {
    end.type = static_cast<decltype(end.type)>(One({1, 1, 2, 0}));
    if (end.type == 2)
      end.op.array.array = reinterpret_cast<CUarray>(array);
    else
      end.op.ptr = {D(), static_cast<size_t>(One({0, 16, 64})), static_cast<size_t>(One({0, 4}))};
  }
  CUgraphNode At(unsigned k) {
    if (One({0, 0, 0, 1})) k = static_cast<unsigned>(One({0, 1, 2, 3, 4, 5}));
    return nodes[k];
  }
  CUstream S() { return Of(streams); }

  CUcontext context = nullptr;
  char *d = nullptr, *m = nullptr, *h = nullptr, *w = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  std::vector<std::pair<std::string, CUstream>> streams;
  cudaArray_t array = nullptr;
  cudaFunction_t function = nullptr;
  CUgraph graph = nullptr, child = nullptr;
  CUgraphExec executable = nullptr;
  std::vector<CUgraphNode> nodes;
  int one = 1;
  void* arguments[2] = {&d, &one};
  CUstreamBatchMemOpParams words{};
};

// The error of adding a node, and the node's type or -1.
std::string Added(int error, CUgraphNode node) {
  CUgraphNodeType type{};
  return F("%d %d", error, error == 0 && cuGraphNodeGetType(node, &type) == CUDA_SUCCESS ? type : -1);
}

// One call per line; the formatter would make four lines of one.
// clang-format off
using Call = std::pair<const char*, std::string (*)(World&)>;
const std::vector<Call> kCalls = {
    TOLD("any", auto p = w.Any(); CUgraphNode n = nullptr; const int e = cuGraphAddNode(&n, w.graph, nullptr, nullptr, 0, &p); return Added(e, n);),
    TOLD("anyset", auto p = w.Any(); const int k = w.One({0, 1, 2, 3, 4, 5}); return F("%d", cuGraphNodeSetParams(w.nodes[k], &p));),
    TOLD("anyexec", auto p = w.Any(); const int k = w.One({0, 1, 2, 3, 4, 5}); return F("%d", cuGraphExecNodeSetParams(w.executable, w.nodes[k], &p));),
    TOLD("copy", auto p = w.Copy(); CUgraphNode n = nullptr; const int e = cuGraphAddMemcpyNode(&n, w.graph, nullptr, 0, &p, w.context); return Added(e, n);),
    TOLD("copyset", auto p = w.Copy(); return F("%d", cuGraphMemcpyNodeSetParams(w.At(2), &p));),
    TOLD("copyexec", auto p = w.Copy(); return F("%d", cuGraphExecMemcpyNodeSetParams(w.executable, w.At(2), &p, w.context));),
    TOLD("copyget", CUDA_MEMCPY3D p{}; CUgraphNode n = nullptr; cudaGraphAddMemcpyNode1D(&n, w.graph, nullptr, 0, w.P(), w.P(), 64, cudaMemcpyDefault); if (n == nullptr) return "-"; const int e = cuGraphMemcpyNodeGetParams(n, &p); return F("%d %zu %zu %zu %zu", e, p.WidthInBytes, p.Height, p.srcXInBytes, p.dstPitch);),
    TOLD("words", const CUDA_BATCH_MEM_OP_NODE_PARAMS p{w.One({0, 1, 1, 1}) ? w.context : nullptr, static_cast<unsigned>(w.One({0, 1, 1})), w.Words(), static_cast<unsigned>(w.One({0, 0, 1}))}; CUgraphNode n = nullptr; const int e = cuGraphAddBatchMemOpNode(&n, w.graph, nullptr, 0, &p); CUDA_BATCH_MEM_OP_NODE_PARAMS q{}; return Added(e, n) + F(" %d %u", cuGraphBatchMemOpNodeGetParams(e ? w.nodes[1] : n, &q), q.count);),
    TOLD("captured", w.Words(); cudaStreamBeginCapture(w.stream, cudaStreamCaptureModeRelaxed); const int e = cuStreamBatchMemOp(w.stream, 1, &w.words, 0); CUgraph g = nullptr; const int f = cudaStreamEndCapture(w.stream, &g); size_t n = 77; if (g != nullptr) cuGraphGetNodes(g, nullptr, &n); return F("%d %d %zu", e, f, n);),
    CALL("set1d", cudaGraphMemcpyNodeSetParams1D(w.At(2), w.P(), w.P(), w.One({0, 4, 64, 70000}), static_cast<cudaMemcpyKind>(w.One({0, 1, 2, 3, 4, 5})))),
    CALL("exec1d", cudaGraphExecMemcpyNodeSetParams1D(w.executable, w.At(2), w.P(), w.P(), w.One({0, 4, 64, 70000}), static_cast<cudaMemcpyKind>(w.One({0, 1, 2, 3, 3, 4})))),
    CALL("fromsymbol", cudaGraphMemcpyNodeSetParamsFromSymbol(w.At(2), w.P(), variable, w.One({0, 4, 64, 257}), w.One({0, 4, 252}), static_cast<cudaMemcpyKind>(w.One({0, 2, 2, 3, 4})))),
    TOLD("box", CUDA_MEMCPY3D_BATCH_OP o{}; w.End(o.src); w.End(o.dst); o.extent = {static_cast<size_t>(w.One({0, 4, 16, 16})), static_cast<size_t>(w.One({1, 1, 4})), 1}; o.srcAccessOrder = static_cast<CUmemcpySrcAccessOrder>(w.One({1, 1, 2, 3, 0})); const int e = cuMemcpy3DBatchAsync(w.One({0, 1, 1, 1}), &o, w.One({0, 0, 0, 1}), w.S()); cudaDeviceSynchronize(); return F("%d", e);),
    TOLD("discard", CUdeviceptr p = w.D(); size_t n = w.One({0, 64, 4096, 65536}), k = 0; CUmemLocation l{static_cast<CUmemLocationType>(w.One({1, 1, 2, 0})), 0}; const int kind = w.One({0, 1, 2}); const CUstream s = w.S(); return F("%d", kind == 0 ? cuMemPrefetchBatchAsync(&p, &n, 1, &l, &k, 1, 0, s) : kind == 1 ? cuMemDiscardBatchAsync(&p, &n, 1, 0, s) : cuMemDiscardAndPrefetchBatchAsync(&p, &n, 1, &l, &k, 1, 0, s));),
    TOLD("green", CUgreenCtx g = nullptr; CUcontext c = nullptr; const CUstream s = w.S(); const int e = cuStreamGetGreenCtx(s, &g), f = cuStreamGetCtx_v2(s, &c, &g); return F("%d %d %d %s", e, f, c == w.context, IsSet(g).c_str());),
    TOLD("logs", CUlogIterator i = 0; cuLogsCurrent(&i, 0); char t[100]; size_t n = w.One({0, 10, 100}); CUlogsCallbackHandle c = nullptr; const int e = cuLogsRegisterCallback([](void*, CUlogLevel, char*, size_t) {}, nullptr, &c); return F("%d %d %d", cuLogsDumpToMemory(&i, t, &n, 0), e, cuLogsUnregisterCallback(c));),
    TOLD("notify", cudaAsyncCallbackHandle_t c = nullptr; const int k = w.One({0, 0, 1}), e = cudaDeviceRegisterAsyncNotification(k, [](cudaAsyncNotificationInfo_t*, void*, cudaAsyncCallbackHandle_t) {}, nullptr, &c); return F("%d %d", e, e ? -1 : cudaDeviceUnregisterAsyncNotification(k, c));),
    TOLD("dump", bool v = w.One({0, 1}); size_t n = w.One({0, 1, 1, 4}); const auto a = static_cast<CUcoredumpSettings>(w.One({1, 2, 3, 4, 5, 6})); return F("%d", w.One({0, 1}) && a < 5 ? cuCoredumpSetAttribute(a, &v, &n) : cuCoredumpGetAttribute(a, &v, &(n = 1)));),
    TOLD("atomics", unsigned c = 77; CUatomicOperation o = CU_ATOMIC_OPERATION_CAS; return F("%d", cuDeviceGetP2PAtomicCapabilities(&c, &o, w.One({0, 1}), 0, w.One({0, 0, 1})));),
    TOLD("ipc", cudaIpcMemHandle_t i; void* p = nullptr; const int e = cudaIpcGetMemHandle(&i, w.d); return F("%d %d", e, cudaIpcOpenMemHandle(&p, i, w.One({0, 1, 1})));),
};
// clang-format on

}  // namespace

void AddCases(Cases& cases) {
  for (const unsigned seed : Seeds(24)) {
    cases(F("forms%u", seed), [seed] {
      World w(seed);
      CaseName() = "forms";
      AskAtRandom(w, kCalls, F("%u.", seed));
    });
  }
}
