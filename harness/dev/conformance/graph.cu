// Graphs: nodes and their parameters, dependencies, executables and their changes, memory nodes.
#define CONFORMANCE_CLASS "graph"
#include "ask.h"

__device__ int device_variable[64];
__global__ void Add(int* p, int n) { atomicAdd(p, n); }
__global__ void Other(int* p, int n) { atomicAdd(p, 2 * n); }
__global__ void Empty() {}
__global__ void __launch_bounds__(64) Bounded(int* p, int n) { p[0] = n; }

namespace {

void CUDART_CB Callback(void*) {}

struct World {
  cudaGraph_t graph = nullptr, child = nullptr;
  int *device = nullptr, *pinned = nullptr, *managed = nullptr;
  int host[64] = {};
  int n = 3;
  void* arguments[2];
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  cudaArray_t array = nullptr;
  World() {
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&child, 0);
    cudaMalloc(&device, 4096);
    cudaMemset(device, 0, 4096);
    cudaMallocHost(&pinned, 4096);
    cudaMallocManaged(&managed, 4096);
    cudaEventCreate(&event);
    cudaStreamCreate(&stream);
    const auto desc = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &desc, 16, 4);
    arguments[0] = &device;
    arguments[1] = &n;
  }
  cudaKernelNodeParams Kernel(dim3 grid = 1, dim3 block = 1, unsigned shared = 0) {
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(Add);
    params.gridDim = grid;
    params.blockDim = block;
    params.sharedMemBytes = shared;
    params.kernelParams = arguments;
    return params;
  }
  cudaMemsetParams Memset(void* to, size_t pitch, unsigned element, size_t width, size_t height) {
    cudaMemsetParams params{};
    params.dst = to;
    params.pitch = pitch;
    params.value = 7;
    params.elementSize = element;
    params.width = width;
    params.height = height;
    return params;
  }
};

// Prints what adding a node returned, its type, and what instantiating and launching its graph gives.
void Built(World& w, const std::string& name, cudaError_t added, const cudaGraphNode_t& node) {
  Say(name, added);
  if (added != cudaSuccess) return;
  cudaGraphNodeType type{};
  Say(name + "/type", cudaGraphNodeGetType(node, &type));
  Say(name + "/type_is", static_cast<int>(type));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&executable, w.graph, 0);
  Say(name + "/instantiate", made);
  if (made == cudaSuccess) {
    Say(name + "/launch", cudaGraphLaunch(executable, w.stream));
    Say(name + "/sync", cudaStreamSynchronize(w.stream));
    cudaGraphExecDestroy(executable);
  }
  Say(name + "/destroy", cudaGraphDestroyNode(node));
}

void Nodes() {
  World w;
  cudaGraphNode_t node = nullptr;
  for (unsigned grid : {0u, 1u, 2147483648u}) {
    for (unsigned block : {0u, 1u, 1024u, 1025u, 2000u}) {
      for (unsigned shared : {0u, 49152u, 49153u, 232449u}) {
        auto params = w.Kernel(grid, block, shared);
        if (grid > 1 && block > 0 && block < 1025 && shared < 49153) continue;
        Built(w, F("kernel_g%u_b%u_s%u", grid, block, shared),
              cudaGraphAddKernelNode(&node, w.graph, nullptr, 0, &params), node);
      }
    }
  }
  auto params = w.Kernel();
  params.func = nullptr;
  Built(w, "kernel_null", cudaGraphAddKernelNode(&node, w.graph, nullptr, 0, &params), node);
  params.func = &w.n;
  Built(w, "kernel_data", cudaGraphAddKernelNode(&node, w.graph, nullptr, 0, &params), node);
  params.func = reinterpret_cast<void*>(Add);
  params.kernelParams = nullptr;
  Built(w, "kernel_noparams", cudaGraphAddKernelNode(&node, w.graph, nullptr, 0, &params), node);
  params.func = reinterpret_cast<void*>(Bounded);
  params.kernelParams = w.arguments;
  params.blockDim = 65;
  Built(w, "kernel_bounds", cudaGraphAddKernelNode(&node, w.graph, nullptr, 0, &params), node);
  Built(w, "kernel_nullparams", cudaGraphAddKernelNode(&node, w.graph, nullptr, 0, nullptr), node);
  const std::pair<const char*, void*> places[] = {
      {"device", w.device}, {"host", w.host}, {"pinned", w.pinned}, {"managed", w.managed}, {"null", nullptr}};
  for (const auto& [name, to] : places) {
    for (unsigned element : {0u, 1u, 2u, 3u, 4u, 8u}) {
      for (size_t width : {size_t{0}, size_t{1}, size_t{16}}) {
        for (size_t height : {size_t{0}, size_t{1}, size_t{2}}) {
          for (size_t pitch : {size_t{0}, size_t{16}, size_t{64}}) {
            if (element != 1 && pitch != 64) continue;
            if (std::strcmp(name, "device") != 0 && (element > 1 || pitch != 64)) continue;
            auto memset = w.Memset(to, pitch, element, width, height);
            Built(w, F("memset_%s_e%u_%zux%zu_p%zu", name, element, width, height, pitch),
                  cudaGraphAddMemsetNode(&node, w.graph, nullptr, 0, &memset), node);
          }
        }
      }
    }
    for (const auto& [source, from] : places) {
      for (int kind = -1; kind <= 5; ++kind) {
        Built(w, F("memcpy1d_%s_%s_k%d", name, source, kind),
              cudaGraphAddMemcpyNode1D(&node, w.graph, nullptr, 0, to, from, 16, static_cast<cudaMemcpyKind>(kind)),
              node);
      }
      Built(w, F("memcpy1d_%s_%s_zero", name, source),
            cudaGraphAddMemcpyNode1D(&node, w.graph, nullptr, 0, to, from, 0, cudaMemcpyDefault), node);
    }
  }
  Built(w, "memset_null", cudaGraphAddMemsetNode(&node, w.graph, nullptr, 0, nullptr), node);
  Built(w, "memcpy_null", cudaGraphAddMemcpyNode(&node, w.graph, nullptr, 0, nullptr), node);
  for (size_t width : {size_t{0}, size_t{16}, size_t{17}}) {
    for (size_t height : {size_t{0}, size_t{4}, size_t{5}}) {
      for (size_t depth : {size_t{0}, size_t{1}}) {
        cudaMemcpy3DParms box{};
        box.srcPtr = {w.device, 16, 16, 4};
        box.dstPtr = {w.device + 100, 16, 16, 4};
        box.extent = {width, height, depth};
        box.kind = cudaMemcpyDeviceToDevice;
        Built(w, F("memcpy_%zux%zux%zu", width, height, depth),
              cudaGraphAddMemcpyNode(&node, w.graph, nullptr, 0, &box), node);
        box.dstArray = w.array;
        box.dstPtr = {};
        Built(w, F("memcpyarray_%zux%zux%zu", width, height, depth),
              cudaGraphAddMemcpyNode(&node, w.graph, nullptr, 0, &box), node);
      }
    }
  }
  Built(w, "tosymbol",
        cudaGraphAddMemcpyNodeToSymbol(&node, w.graph, nullptr, 0, device_variable, w.host, 16, 0,
                                       cudaMemcpyHostToDevice),
        node);
  Built(w, "tosymbol_large",
        cudaGraphAddMemcpyNodeToSymbol(&node, w.graph, nullptr, 0, device_variable, w.host, 257, 0,
                                       cudaMemcpyHostToDevice),
        node);
  Built(w, "fromsymbol",
        cudaGraphAddMemcpyNodeFromSymbol(&node, w.graph, nullptr, 0, w.host, device_variable, 16, 0,
                                         cudaMemcpyDeviceToHost),
        node);
  Built(w, "fromsymbol_data",
        cudaGraphAddMemcpyNodeFromSymbol(&node, w.graph, nullptr, 0, w.host, w.host, 16, 0, cudaMemcpyDeviceToHost),
        node);
  cudaHostNodeParams host{Callback, nullptr};
  Built(w, "host", cudaGraphAddHostNode(&node, w.graph, nullptr, 0, &host), node);
  host.fn = nullptr;
  Built(w, "host_null", cudaGraphAddHostNode(&node, w.graph, nullptr, 0, &host), node);
  Built(w, "host_nullparams", cudaGraphAddHostNode(&node, w.graph, nullptr, 0, nullptr), node);
  Built(w, "empty", cudaGraphAddEmptyNode(&node, w.graph, nullptr, 0), node);
  Built(w, "child", cudaGraphAddChildGraphNode(&node, w.graph, nullptr, 0, w.child), node);
  Built(w, "child_null", cudaGraphAddChildGraphNode(&node, w.graph, nullptr, 0, nullptr), node);
  Built(w, "record", cudaGraphAddEventRecordNode(&node, w.graph, nullptr, 0, w.event), node);
  Built(w, "record_null", cudaGraphAddEventRecordNode(&node, w.graph, nullptr, 0, nullptr), node);
  Built(w, "wait", cudaGraphAddEventWaitNode(&node, w.graph, nullptr, 0, w.event), node);
  Built(w, "wait_null", cudaGraphAddEventWaitNode(&node, w.graph, nullptr, 0, nullptr), node);
  Say("empty_nullnode", cudaGraphAddEmptyNode(nullptr, w.graph, nullptr, 0));
  Say("empty_nullgraph", cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0));
  Say("empty_nulldeps", cudaGraphAddEmptyNode(&node, w.graph, nullptr, 1));
  for (int type = -1; type <= 16; ++type) {
    cudaGraphNodeParams any{};
    any.type = static_cast<cudaGraphNodeType>(type);
    if (type == 0) {
      any.kernel.func = reinterpret_cast<void*>(Add);
      any.kernel.gridDim = any.kernel.blockDim = dim3(1);
      any.kernel.kernelParams = w.arguments;
    }
    if (type == 2) any.memset = {w.device, 0, 1, 1, 16, 1};
    if (type == 3) any.host = {Callback, nullptr};
    if (type == 4) any.graph.graph = w.child;
    if (type == 6) any.eventWait.event = w.event;
    if (type == 7) any.eventRecord.event = w.event;
    Built(w, F("any%d", type), cudaGraphAddNode(&node, w.graph, nullptr, nullptr, 0, &any), node);
  }
}

void Parameters() {
  World w;
  cudaGraphNode_t kernel = nullptr, memset = nullptr, memcpy = nullptr, host = nullptr, empty = nullptr,
                  child = nullptr, record = nullptr, wait = nullptr;
  auto kernel_params = w.Kernel(2, 3, 4);
  cudaGraphAddKernelNode(&kernel, w.graph, nullptr, 0, &kernel_params);
  auto memset_params = w.Memset(w.device, 64, 4, 8, 2);
  cudaGraphAddMemsetNode(&memset, w.graph, nullptr, 0, &memset_params);
  cudaGraphAddMemcpyNode1D(&memcpy, w.graph, nullptr, 0, w.pinned, w.device, 16, cudaMemcpyDeviceToHost);
  cudaHostNodeParams host_params{Callback, &w};
  cudaGraphAddHostNode(&host, w.graph, nullptr, 0, &host_params);
  cudaGraphAddEmptyNode(&empty, w.graph, nullptr, 0);
  cudaGraphAddChildGraphNode(&child, w.graph, nullptr, 0, w.child);
  cudaGraphAddEventRecordNode(&record, w.graph, nullptr, 0, w.event);
  cudaGraphAddEventWaitNode(&wait, w.graph, nullptr, 0, w.event);
  const std::pair<const char*, cudaGraphNode_t> nodes[] = {{"kernel", kernel}, {"memset", memset}, {"memcpy", memcpy},
                                                           {"host", host},     {"empty", empty},   {"child", child},
                                                           {"record", record}, {"wait", wait},     {"null", nullptr}};
  cudaGraphExec_t executable = nullptr;
  Say("instantiate", cudaGraphInstantiate(&executable, w.graph, 0));
  for (const auto& [name, node] : nodes) {
    cudaKernelNodeParams k{};
    Say(F("%s/kernel", name), cudaGraphKernelNodeGetParams(node, &k));
    if (node == kernel)
      Say("kernel_is",
          F("%u %u %u %d", k.gridDim.x, k.blockDim.x, k.sharedMemBytes, *static_cast<int*>(k.kernelParams[1])));
    if (node == kernel) Say("kernel_func", k.func == reinterpret_cast<void*>(Add) ? "same" : "other");
    cudaMemsetParams m{};
    Say(F("%s/memset", name), cudaGraphMemsetNodeGetParams(node, &m));
    if (node == memset)
      Say("memset_is", F("%s %zu %u %u %zu %zu", Relative(m.dst, w.device).c_str(), m.pitch, m.value, m.elementSize,
                         m.width, m.height));
    cudaMemcpy3DParms c{};
    Say(F("%s/memcpy", name), cudaGraphMemcpyNodeGetParams(node, &c));
    if (node == memcpy)
      Say("memcpy_is",
          F("%s %zu %zu %zu | %s %zu %zu %zu | %zu %zu %zu %d", Relative(c.srcPtr.ptr, w.device).c_str(),
            c.srcPtr.pitch, c.srcPtr.xsize, c.srcPtr.ysize, Relative(c.dstPtr.ptr, w.pinned).c_str(), c.dstPtr.pitch,
            c.dstPtr.xsize, c.dstPtr.ysize, c.extent.width, c.extent.height, c.extent.depth, c.kind));
    cudaHostNodeParams h{};
    Say(F("%s/host", name), cudaGraphHostNodeGetParams(node, &h));
    cudaGraph_t g = nullptr;
    Say(F("%s/child", name), cudaGraphChildGraphNodeGetGraph(node, &g));
    if (node == child) Say("child_same", g == w.child);
    cudaEvent_t e = nullptr;
    Say(F("%s/record", name), cudaGraphEventRecordNodeGetEvent(node, &e));
    Say(F("%s/wait", name), cudaGraphEventWaitNodeGetEvent(node, &e));
    CUgraphNodeType type{};
    Say(F("%s/drvtype", name), cuGraphNodeGetType(node, &type));
    CUDA_KERNEL_NODE_PARAMS dk{};
    Say(F("%s/drvkernel", name), cuGraphKernelNodeGetParams(node, &dk));
    if (node == kernel)
      Say("drvkernel_is", F("%s %s %s", IsSet(dk.func).c_str(), IsSet(dk.kern).c_str(), IsSet(dk.ctx).c_str()));
    unsigned enabled = 77;
    Say(F("%s/enabled", name), cudaGraphNodeGetEnabled(executable, node, &enabled));
    Say(F("%s/enabled_is", name), enabled);
    for (unsigned on : {0u, 1u, 2u}) Say(F("%s/enable%u", name, on), cudaGraphNodeSetEnabled(executable, node, on));
    cudaMemAllocNodeParams a{};
    Say(F("%s/alloc", name), cudaGraphMemAllocNodeGetParams(node, &a));
    void* freed = nullptr;
    Say(F("%s/free", name), cudaGraphMemFreeNodeGetParams(node, &freed));
    // Which new parameters each kind of node accepts.
    auto changed = w.Kernel(5, 6, 0);
    Say(F("%s/setkernel", name), cudaGraphKernelNodeSetParams(node, &changed));
    auto fill = w.Memset(w.device, 0, 1, 4, 1);
    Say(F("%s/setmemset", name), cudaGraphMemsetNodeSetParams(node, &fill));
    Say(F("%s/setmemcpy1d", name), cudaGraphMemcpyNodeSetParams1D(node, w.device, w.pinned, 8, cudaMemcpyHostToDevice));
    Say(F("%s/sethost", name), cudaGraphHostNodeSetParams(node, &host_params));
    Say(F("%s/setrecord", name), cudaGraphEventRecordNodeSetEvent(node, w.event));
    Say(F("%s/setwait", name), cudaGraphEventWaitNodeSetEvent(node, w.event));
    for (unsigned block : {0u, 1u, 1025u}) {
      auto again = w.Kernel(1, block);
      Say(F("%s/execkernel_b%u", name, block), cudaGraphExecKernelNodeSetParams(executable, node, &again));
    }
    auto other = w.Kernel();
    other.func = reinterpret_cast<void*>(Other);
    Say(F("%s/execkernel_other", name), cudaGraphExecKernelNodeSetParams(executable, node, &other));
    Say(F("%s/execmemset", name), cudaGraphExecMemsetNodeSetParams(executable, node, &fill));
    auto rows = w.Memset(w.device, 64, 1, 4, 3);
    Say(F("%s/execmemset2d", name), cudaGraphExecMemsetNodeSetParams(executable, node, &rows));
    auto wide = w.Memset(w.device, 64, 4, 4, 2);
    Say(F("%s/execmemset4", name), cudaGraphExecMemsetNodeSetParams(executable, node, &wide));
    auto managed = w.Memset(w.managed, 64, 4, 4, 2);
    Say(F("%s/execmemset_managed", name), cudaGraphExecMemsetNodeSetParams(executable, node, &managed));
    Say(F("%s/execmemcpy1d", name),
        cudaGraphExecMemcpyNodeSetParams1D(executable, node, w.pinned, w.device + 4, 8, cudaMemcpyDeviceToHost));
    Say(F("%s/execmemcpy1d_reverse", name),
        cudaGraphExecMemcpyNodeSetParams1D(executable, node, w.device, w.pinned, 8, cudaMemcpyHostToDevice));
    Say(F("%s/execmemcpy1d_zero", name),
        cudaGraphExecMemcpyNodeSetParams1D(executable, node, w.pinned, w.device, 0, cudaMemcpyDeviceToHost));
    Say(F("%s/exechost", name), cudaGraphExecHostNodeSetParams(executable, node, &host_params));
    Say(F("%s/execchild", name), cudaGraphExecChildGraphNodeSetParams(executable, node, w.child));
    Say(F("%s/execrecord", name), cudaGraphExecEventRecordNodeSetEvent(executable, node, w.event));
    Say(F("%s/execwait", name), cudaGraphExecEventWaitNodeSetEvent(executable, node, w.event));
    cudaGraphNodeParams any{};
    any.type = cudaGraphNodeTypeKernel;
    any.kernel.func = reinterpret_cast<void*>(Add);
    any.kernel.gridDim = any.kernel.blockDim = dim3(1);
    any.kernel.kernelParams = w.arguments;
    Say(F("%s/setany", name), cudaGraphNodeSetParams(node, &any));
    Say(F("%s/execsetany", name), cudaGraphExecNodeSetParams(executable, node, &any));
    size_t count = 77;
    Say(F("%s/dependencies", name), cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count));
    Say(F("%s/dependents", name), cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &count));
    cudaGraphNode_t in_clone = nullptr;
    cudaGraph_t clone = nullptr;
    Say(F("%s/clone", name), cudaGraphClone(&clone, w.graph));
    Say(F("%s/inclone", name), cudaGraphNodeFindInClone(&in_clone, node, clone));
    Say(F("%s/inclone_notclone", name), cudaGraphNodeFindInClone(&in_clone, node, w.graph));
  }
  Say("launch", cudaGraphLaunch(executable, w.stream));
  Say("sync", cudaStreamSynchronize(w.stream));
}

void Dependencies() {
  World w;
  cudaGraphNode_t n[4] = {};
  for (auto& each : n) cudaGraphAddEmptyNode(&each, w.graph, nullptr, 0);
  cudaGraph_t other = nullptr;
  cudaGraphCreate(&other, 0);
  cudaGraphNode_t foreign = nullptr;
  cudaGraphAddEmptyNode(&foreign, other, nullptr, 0);
  const auto counts = [&](const char* name) {
    size_t nodes = 77, roots = 77, edges = 77;
    cudaGraphGetNodes(w.graph, nullptr, &nodes);
    cudaGraphGetRootNodes(w.graph, nullptr, &roots);
    cudaGraphGetEdges(w.graph, nullptr, nullptr, nullptr, &edges);
    Say(F("%s_counts", name), F("%zu %zu %zu", nodes, roots, edges));
  };
  const auto add = [&](const char* name, cudaGraphNode_t from, cudaGraphNode_t to) {
    Say(name, cudaGraphAddDependencies(w.graph, &from, &to, nullptr, 1));
    counts(name);
  };
  counts("start");
  add("add01", n[0], n[1]);
  add("add01_again", n[0], n[1]);
  add("add12", n[1], n[2]);
  add("add20_cycle", n[2], n[0]);
  add("add_self", n[0], n[0]);
  add("add_foreign", n[0], foreign);
  add("add_null", n[0], nullptr);
  cudaGraphExec_t executable = nullptr;
  Say("instantiate_cycle", cudaGraphInstantiate(&executable, w.graph, 0));
  const auto remove = [&](const char* name, cudaGraphNode_t from, cudaGraphNode_t to) {
    Say(name, cudaGraphRemoveDependencies(w.graph, &from, &to, nullptr, 1));
    counts(name);
  };
  remove("remove20", n[2], n[0]);
  remove("remove01", n[0], n[1]);
  remove("remove01_again", n[0], n[1]);
  remove("remove03_missing", n[0], n[3]);
  remove("remove_foreign", n[0], foreign);
  cudaGraphNode_t from[] = {n[0], n[1]}, to[] = {n[3], n[3]};
  Say("add_two", cudaGraphAddDependencies(w.graph, from, to, nullptr, 2));
  counts("add_two");
  Say("add_0", cudaGraphAddDependencies(w.graph, nullptr, nullptr, nullptr, 0));
  Say("add_nulls", cudaGraphAddDependencies(w.graph, nullptr, nullptr, nullptr, 1));
  for (size_t room : {size_t{0}, size_t{1}, size_t{3}, size_t{10}}) {
    cudaGraphNode_t nodes[10], edges_to[10];
    for (auto& each : nodes) each = reinterpret_cast<cudaGraphNode_t>(7);
    size_t count = room;
    Say(F("nodes%zu", room), cudaGraphGetNodes(w.graph, nodes, &count));
    Say(F("nodes%zu_count", room), count);
    Say(F("nodes%zu_last", room), nodes[9] == nullptr                                ? "null"
                                  : nodes[9] == reinterpret_cast<cudaGraphNode_t>(7) ? "unwritten"
                                                                                     : "set");
    count = room;
    Say(F("edges%zu", room), cudaGraphGetEdges(w.graph, nodes, edges_to, nullptr, &count));
    Say(F("edges%zu_count", room), count);
    count = room;
    Say(F("dependencies%zu", room), cudaGraphNodeGetDependencies(n[3], nodes, nullptr, &count));
    Say(F("dependencies%zu_count", room), count);
    count = room;
    Say(F("dependents%zu", room), cudaGraphNodeGetDependentNodes(n[1], nodes, nullptr, &count));
    Say(F("dependents%zu_count", room), count);
    count = room;
    Say(F("roots%zu", room), cudaGraphGetRootNodes(w.graph, nodes, &count));
    Say(F("roots%zu_count", room), count);
  }
  Say("nodes_nullcount", cudaGraphGetNodes(w.graph, nullptr, nullptr));
  Say("nodes_nullgraph", OUT(size_t, cudaGraphGetNodes(nullptr, nullptr, &out)));
  cudaGraphEdgeData data{};
  for (int type = 0; type <= 2; ++type) {
    for (int port = 0; port <= 3; ++port) {
      data.type = static_cast<unsigned char>(type);
      data.from_port = static_cast<unsigned char>(port);
      Say(F("edge_t%d_p%d", type, port), cudaGraphAddDependencies(w.graph, &n[2], &n[3], &data, 1));
      cudaGraphRemoveDependencies(w.graph, &n[2], &n[3], &data, 1);
      cudaGetLastError();
    }
  }
  Say("destroy_node", cudaGraphDestroyNode(n[1]));
  counts("destroy_node");
  Say("destroy_nullnode", cudaGraphDestroyNode(nullptr));
  cudaGraphNode_t twice[] = {n[0], n[0]}, added = nullptr;
  Say("add_twicedep", cudaGraphAddEmptyNode(&added, w.graph, twice, 2));
  Say("add_foreigndep", cudaGraphAddEmptyNode(&added, w.graph, &foreign, 1));
}

void Executables() {
  World w;
  cudaGraphNode_t node = nullptr, second = nullptr;
  auto params = w.Kernel();
  cudaGraphAddKernelNode(&node, w.graph, nullptr, 0, &params);
  cudaGraphExec_t executable = nullptr, other = nullptr;
  for (unsigned long long flags : {0ull, 1ull, 2ull, 4ull, 8ull, 3ull, 6ull, 12ull, 16ull, 32ull, 256ull}) {
    Say(F("flags%llu", flags), cudaGraphInstantiate(&executable, w.graph, flags));
    unsigned long long read = 77;
    if (executable != nullptr) cudaGraphExecGetFlags(executable, &read);
    Say(F("flags%llu_are", flags), read);
    cudaGraphInstantiateParams with{};
    with.flags = flags;
    with.uploadStream = w.stream;
    with.result_out = static_cast<cudaGraphInstantiateResult>(77);
    Say(F("params%llu", flags), cudaGraphInstantiateWithParams(&other, w.graph, &with));
    Say(F("params%llu_result", flags), static_cast<int>(with.result_out));
    Say(F("params%llu_node", flags), IsSet(with.errNode_out));
    executable = nullptr;
  }
  Say("null", cudaGraphInstantiate(nullptr, w.graph, 0));
  Say("nullgraph", cudaGraphInstantiate(&executable, nullptr, 0));
  Say("empty", cudaGraphInstantiate(&executable, w.child, 0));
  Say("empty_launch", cudaGraphLaunch(executable, w.stream));
  Say("instantiate", cudaGraphInstantiate(&executable, w.graph, 0));
  Say("upload", cudaGraphUpload(executable, w.stream));
  Say("upload_null", cudaGraphUpload(nullptr, w.stream));
  Say("launch_null", cudaGraphLaunch(nullptr, w.stream));
  Say("launch", cudaGraphLaunch(executable, nullptr));
  Say("getflags_null", cudaGraphExecGetFlags(executable, nullptr));
  cudaGraph_t g = nullptr;
  cudaGraphCreate(&g, 0);
  cudaGraphAddKernelNode(&second, g, nullptr, 0, &params);
  Say("update_nullinfo", cudaGraphExecUpdate(executable, w.graph, nullptr));
  cudaGraphExecUpdateResultInfo info{};
  Say("update_nullgraph", cudaGraphExecUpdate(executable, nullptr, &info));
  Say("destroy", cudaGraphExecDestroy(executable));
  Say("destroy_null", cudaGraphExecDestroy(nullptr));
  cudaGraph_t clone = nullptr;
  Say("clone", cudaGraphClone(&clone, g));
  Say("clone_null", cudaGraphClone(&clone, nullptr));
  Say("clone_nullto", cudaGraphClone(nullptr, g));
  Say("destroygraph", cudaGraphDestroy(clone));
  Say("destroygraph_null", cudaGraphDestroy(nullptr));
  for (unsigned flags : {0u, 1u, 2u}) Say(F("create%u", flags), cudaGraphCreate(&clone, flags));
  Say("create_null", cudaGraphCreate(nullptr, 0));
  Say("dot", cudaGraphDebugDotPrint(w.graph, "/dev/null", 0));
  Say("dot_nullpath", cudaGraphDebugDotPrint(w.graph, nullptr, 0));
  Say("dot_badpath", cudaGraphDebugDotPrint(w.graph, "/nonexistent/x", 0));
  cudaUserObject_t object = nullptr;
  for (unsigned flags : {0u, 1u, 2u}) {
    for (unsigned count : {0u, 1u, 2u})
      Say(F("object_f%u_n%u", flags, count), cudaUserObjectCreate(&object, &w, Callback, count, flags));
  }
  cudaUserObjectCreate(&object, &w, Callback, 3, cudaUserObjectNoDestructorSync);
  Say("object_retain0", cudaUserObjectRetain(object, 0));
  Say("object_retain", cudaUserObjectRetain(object, 1));
  Say("object_graphretain0", cudaGraphRetainUserObject(w.graph, object, 0, 0));
  Say("object_graphretain", cudaGraphRetainUserObject(w.graph, object, 1, 0));
  Say("object_graphmove", cudaGraphRetainUserObject(w.graph, object, 1, cudaGraphUserObjectMove));
  Say("object_graphretain_flags9", cudaGraphRetainUserObject(w.graph, object, 1, 9));
  Say("object_graphrelease", cudaGraphReleaseUserObject(w.graph, object, 1));
  Say("object_graphrelease_many", cudaGraphReleaseUserObject(w.graph, object, 100));
  Say("object_release", cudaUserObjectRelease(object, 1));
  Say("object_null", cudaUserObjectRelease(nullptr, 1));
  CUuserObject same = nullptr;
  Say("drvobject", cuUserObjectCreate(&same, &w, Callback, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  Say("drvobject_retain", cuUserObjectRetain(same, 1));
  Say("drvobject_graphretain", cuGraphRetainUserObject(w.graph, same, 1, 0));
  Say("drvobject_graphrelease", cuGraphReleaseUserObject(w.graph, same, 1));
  Say("drvobject_release", cuUserObjectRelease(same, 2));
  cudaGraphConditionalHandle handle = 0;
  for (unsigned flags : {0u, 1u, 2u})
    Say(F("conditional%u", flags), cudaGraphConditionalHandleCreate(&handle, w.graph, 1, flags));
  for (int type : {0, 1, 2, 3}) {
    for (unsigned size : {0u, 1u, 2u, 3u}) {
      cudaGraphNodeParams any{};
      any.type = cudaGraphNodeTypeConditional;
      cudaGraphConditionalHandleCreate(&handle, w.graph, 1, 1);
      any.conditional.handle = handle;
      any.conditional.type = static_cast<cudaGraphConditionalNodeType>(type);
      any.conditional.size = size;
      Say(F("conditional_t%d_n%u", type, size), cudaGraphAddNode(&node, w.graph, nullptr, nullptr, 0, &any));
      Say(F("conditional_t%d_n%u_body", type, size), any.conditional.phGraph_out == nullptr ? "null" : "set");
    }
  }
}

// Nodes that allocate and free.
void MemoryNodes() {
  World w;
  const auto alloc = [&](size_t bytes, int type = cudaMemLocationTypeDevice, int id = 0,
                         int alloc_type = cudaMemAllocationTypePinned) {
    cudaMemAllocNodeParams params{};
    params.poolProps.allocType = static_cast<cudaMemAllocationType>(alloc_type);
    params.poolProps.location = {static_cast<cudaMemLocationType>(type), id};
    params.bytesize = bytes;
    return params;
  };
  cudaGraphNode_t node = nullptr, freeing = nullptr, fill = nullptr;
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{1} << 50}) {
    for (int type : {0, 1, 2, 3}) {
      for (int id : {-1, 0, 1}) {
        for (int alloc_type : {0, 1, 2, 3}) {
          cudaGraph_t g = nullptr;
          cudaGraphCreate(&g, 0);
          auto params = alloc(bytes, type, id, alloc_type);
          Say(F("add_n%zu_l%d.%d_a%d", bytes, type, id, alloc_type),
              cudaGraphAddMemAllocNode(&node, g, nullptr, 0, &params));
          Say(F("add_n%zu_l%d.%d_a%d_ptr", bytes, type, id, alloc_type), IsSet(params.dptr));
        }
      }
    }
  }
  cudaGraph_t g = w.graph;
  auto params = alloc(4096);
  Say("alloc", cudaGraphAddMemAllocNode(&node, g, nullptr, 0, &params));
  void* const p = params.dptr;
  cudaMemAllocNodeParams back{};
  Say("alloc_params", cudaGraphMemAllocNodeGetParams(node, &back));
  Say("alloc_params_are", F("%zu %s %d", back.bytesize, Relative(back.dptr, p).c_str(), back.poolProps.allocType));
  cudaPointerAttributes known{};
  Say("pointer", cudaPointerGetAttributes(&known, p));
  Say("pointer_is", F("%d %d", known.type, known.device));
  Say("memset_outside", cudaMemset(p, 0, 16));
  Say("free_outside", cudaFree(p));
  Say("freeasync_outside", cudaFreeAsync(p, w.stream));
  auto memset = w.Memset(p, 0, 1, 16, 1);
  Say("memset", cudaGraphAddMemsetNode(&fill, g, &node, 1, &memset));
  Say("free", cudaGraphAddMemFreeNode(&freeing, g, &fill, 1, p));
  void* freed = nullptr;
  Say("free_params", cudaGraphMemFreeNodeGetParams(freeing, &freed));
  Say("free_params_are", Relative(freed, p));
  cudaGraphNode_t another = nullptr;
  Say("free_again", cudaGraphAddMemFreeNode(&another, g, &fill, 1, p));
  Say("free_foreign", cudaGraphAddMemFreeNode(&another, g, nullptr, 0, w.device));
  Say("free_null", cudaGraphAddMemFreeNode(&another, g, nullptr, 0, nullptr));
  cudaGraph_t clone = nullptr, parent = nullptr;
  Say("clone", cudaGraphClone(&clone, g));
  cudaGraphCreate(&parent, 0);
  Say("child", cudaGraphAddChildGraphNode(&another, parent, nullptr, 0, g));
  Say("destroy_alloc", cudaGraphDestroyNode(node));
  Say("destroy_free", cudaGraphDestroyNode(freeing));
  Say("destroy_fill", cudaGraphDestroyNode(fill));
  Say("remove", cudaGraphRemoveDependencies(g, &node, &fill, nullptr, 1));
  Say("add", cudaGraphAddDependencies(g, &node, &freeing, nullptr, 1));
  cudaGraphExec_t first = nullptr, second = nullptr;
  Say("instantiate", cudaGraphInstantiate(&first, g, 0));
  Say("instantiate_again", cudaGraphInstantiate(&second, g, 0));
  Say("launch", cudaGraphLaunch(first, w.stream));
  Say("launch_again", cudaGraphLaunch(first, w.stream));
  Say("sync", cudaStreamSynchronize(w.stream));
  const auto memory = [&](const char* name) {
    for (int attribute = -1; attribute <= 5; ++attribute) {
      unsigned long long value = 77;
      Say(F("%s_mem%d", name, attribute),
          cudaDeviceGetGraphMemAttribute(0, static_cast<cudaGraphMemAttributeType>(attribute), &value));
      Say(F("%s_mem%d_is", name, attribute), value);
    }
  };
  memory("launched");
  for (int attribute = 0; attribute <= 4; ++attribute) {
    for (unsigned long long value : {0ull, 1ull}) {
      Say(F("setmem%d_%llu", attribute, value),
          cudaDeviceSetGraphMemAttribute(0, static_cast<cudaGraphMemAttributeType>(attribute), &value));
    }
  }
  memory("reset");
  Say("trim", cudaDeviceGraphMemTrim(0));
  Say("trim1", cudaDeviceGraphMemTrim(1));
  memory("trimmed");
  Say("enabled", cudaGraphNodeSetEnabled(first, node, 0));
  cudaGraphExecUpdateResultInfo info{};
  Say("update", cudaGraphExecUpdate(first, g, &info));
  Say("update_is", static_cast<int>(info.result));
  Say("destroyexec", cudaGraphExecDestroy(first));
  memory("destroyed");
  // An allocation that outlives its graph.
  cudaGraph_t lasting = nullptr;
  cudaGraphCreate(&lasting, 0);
  auto kept = alloc(1 << 20);
  cudaGraphAddMemAllocNode(&node, lasting, nullptr, 0, &kept);
  cudaGraphExec_t exec = nullptr;
  Say("lasting_instantiate", cudaGraphInstantiate(&exec, lasting, 0));
  Say("lasting_launch", cudaGraphLaunch(exec, w.stream));
  Say("lasting_launch_again", cudaGraphLaunch(exec, w.stream));
  memory("lasting");
  Say("lasting_pointer", cudaPointerGetAttributes(&known, kept.dptr));
  Say("lasting_pointer_is", static_cast<int>(known.type));
  Say("lasting_memset", cudaMemsetAsync(kept.dptr, 1, 16, w.stream));
  Say("lasting_free", cudaFreeAsync(kept.dptr, w.stream));
  Say("lasting_free_again", cudaFreeAsync(kept.dptr, w.stream));
  Say("lasting_launch2", cudaGraphLaunch(exec, w.stream));
  Say("lasting_free2", cudaFree(kept.dptr));
  Say("lasting_sync", cudaDeviceSynchronize());
  cudaGraphExec_t autofree = nullptr;
  Say("auto_instantiate", cudaGraphInstantiate(&autofree, lasting, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  Say("auto_launch", cudaGraphLaunch(autofree, w.stream));
  Say("lasting_destroy", cudaGraphExecDestroy(exec));
  Say("auto_instantiate2", cudaGraphInstantiate(&autofree, lasting, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  Say("auto_launch2", cudaGraphLaunch(autofree, w.stream));
  Say("auto_launch3", cudaGraphLaunch(autofree, w.stream));
  Say("auto_sync", cudaDeviceSynchronize());
  memory("auto");
  Say("end", cudaDeviceSynchronize());
}

}  // namespace

void AddCases(Cases& cases) {
  cases("node", [] { Start(), Nodes(); });
  cases("parameter", [] { Start(), Parameters(); });
  cases("dependency", [] { Start(), Dependencies(); });
  cases("exec", [] { Start(), Executables(); });
  cases("memory", [] { Start(), MemoryNodes(); });
}
