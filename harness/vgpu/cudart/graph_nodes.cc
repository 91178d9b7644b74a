// Nodes of graphs: adding them, and reading and changing what they do.
#include <algorithm>
#include <type_traits>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/launch_attributes.h"

namespace lockstep::vgpu::cudart {

namespace {

// The node's work, which must be of this kind.
template <typename T>
T& WorkOf(Node& node) {
  T* const work = std::get_if<T>(&node.work);
  Require(work != nullptr, cudaErrorInvalidValue);
  return *work;
}

// Common to all cudaGraphAdd…Node: make() returns the new node's work.
template <typename Make>
cudaError_t Add(const char* function, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                size_t count, Make make, const cudaGraphEdgeData* data = nullptr) {
  return Api(function, [&](Runtime& r) {
    // The work is validated before the graph.
    auto work = make(r);
    const auto target = GraphOf(graph);
    Require(node != nullptr && (dependencies != nullptr || count == 0), cudaErrorInvalidValue);
    std::vector<Node*> before;
    for (size_t i = 0; i < count; ++i) {
      before.push_back(&NodeOf(dependencies[i]));
      Require(before.back()->graph == target.get(), cudaErrorInvalidValue);
    }
    for (size_t i = 0; i < before.size(); ++i) {
      Require(std::count(before.begin(), before.end(), before[i]) == 1, cudaErrorInvalidValue);
    }
    CheckNode(r, work);
    for (size_t i = 0; data != nullptr && i < count; ++i) CheckEdge(data[i], before[i]->work, work);
    Node* const added = AddNode(*target, std::move(work), before);
    for (size_t i = 0; data != nullptr && i < count; ++i) added->SetEdge(before[i], data[i]);
    *node = HandleOf(added);
  });
}

// Common to all cudaGraph…NodeSetParams: make() returns the node's new work.
template <typename Make>
cudaError_t Change(const char* function, cudaGraphNode_t handle, Make make) {
  return Api(function, [&](Runtime& r) {
    auto work = make(r);
    Node& node = NodeOf(handle);
    if constexpr (std::is_same_v<decltype(work), Work>) {
      Require(work.index() == node.work.index(), cudaErrorInvalidValue);
      Require(!std::holds_alternative<AllocateWork>(work), cudaErrorNotSupported);
    } else {
      WorkOf<decltype(work)>(node);
    }
    ReplaceWork(r, node.work, std::move(work));
  });
}

ChildWork MakeChild(cudaGraph_t graph) {
  ChildWork child{Clone(*GraphOf(graph))};
  // Makes it a valid handle for cudaGraphChildGraphNodeGetGraph to return.
  graphs().graphs[reinterpret_cast<cudaGraph_t>(child.graph.get())] = child.graph;
  return child;
}

// graph_of() finds the node's graph. It is called late, because other parameters are checked before the graph.
template <typename GraphFinder>
Work MakeAny(Runtime& r, GraphFinder graph_of, cudaGraphNodeParams* params) {
  constexpr int kUnnamed = 12;
  Require(params != nullptr && params->reserved2 == 0 && params->type != kUnnamed, cudaErrorInvalidValue);
  switch (params->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParamsV2& kernel = params->kernel;
      const cudaKernelNodeParams plain{kernel.func,           kernel.gridDim,      kernel.blockDim,
                                       kernel.sharedMemBytes, kernel.kernelParams, kernel.extra};
      return MakeKernel(r, &plain);
    }
    case cudaGraphNodeTypeMemcpy:
      return MakeCopy3D(&params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& fill = params->memset;
      const cudaMemsetParams plain{fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height};
      return MakeFill(&plain);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams plain{params->host.fn, params->host.userData};
      return MakeHost(&plain);
    }
    case cudaGraphNodeTypeGraph:
      return MakeChild(params->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return EmptyWork{};
    case cudaGraphNodeTypeEventRecord:
      return RecordWork{EventOfNode(r, params->eventRecord.event)};
    case cudaGraphNodeTypeWaitEvent:
      return WaitWork{EventOfNode(r, params->eventWait.event)};
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParamsV2& asked = params->alloc;
      cudaMemAllocNodeParams plain{asked.poolProps, asked.accessDescs, asked.accessDescCount, asked.bytesize, nullptr};
      AllocateWork work = MakeAllocation(r, &plain);
      asked.dptr = plain.dptr;
      return work;
    }
    case cudaGraphNodeTypeMemFree: {
      Graph& graph = graph_of();
      graph.memory_tried = true;
      return MakeFree(graph, params->free.dptr);
    }
    case cudaGraphNodeTypeConditional:
      return MakeCondition(GraphOf(reinterpret_cast<cudaGraph_t>(&graph_of())), params->conditional);
    default:
      Require(params->type >= cudaGraphNodeTypeKernel && params->type < cudaGraphNodeTypeCount, cudaErrorInvalidValue);
      NotSupported("a graph's node of type " + std::to_string(params->type));
  }
}

}  // namespace

bool IsFillable(Runtime& r, const FillWork& fill) {
  const auto address = reinterpret_cast<uint64_t>(fill.to);
  if (address % fill.element_bytes != 0) return false;
  const auto& [width, height, depth] = fill.region;
  const uint64_t rows = height > 0 ? height - 1 : 0, slices = depth > 0 ? depth - 1 : 0;
  const std::optional<int> device = r.DeviceHolding(address);
  if (!device) return r.IsPinned(fill.to) || IsOfGraph(r, address);
  return r.backend(*device).Contains(address, slices * fill.layout.slice + rows * fill.layout.pitch + width);
}

namespace {

// A node's cluster must divide its grid, be portable, and be the kernel's own if that has one. Zeros: no cluster.
bool IsClusterOf(Runtime& r, const KernelWork& work, const dim3& cluster) {
  constexpr uint64_t kMostBlocks = 8;  // blocks per cluster supported by every device with clusters
  const auto& [x, y, z] = cluster;
  if (x == 0 && y == 0 && z == 0) return true;
  if (x == 0 || y == 0 || z == 0) return false;
  const Dim3 own = r.InfoOf(*work.kernel).cluster;
  const dim3& grid = work.configuration.grid;
  return (own.x == 0 || own == Dim3{x, y, z}) && grid.x % x == 0 && grid.y % y == 0 && grid.z % z == 0 &&
         uint64_t{x} * y * z <= kMostBlocks;
}

// A node keeps its attributes when its parameters change.
void CopyAttributes(Runtime& r, const KernelWork& from, KernelWork& to) {
  const bool is_set = from.attributes.count(cudaLaunchAttributeClusterDimension) != 0;
  Require(!is_set || IsClusterOf(r, to, from.cluster), cudaErrorInvalidClusterSize);
  if (from.attributes.count(cudaLaunchAttributeCooperative) != 0) to.cooperative = from.cooperative;
  if (is_set) to.cluster = from.cluster;
  to.attributes = from.attributes;
}

// Whether the source and the destination of a copy, if in device memory, are each within one allocation.
bool AreWithin(Runtime& r, const CopyWork& copy) {
  const auto is_within = [&](const void* base, const Layout& layout) {
    const auto address = reinterpret_cast<uint64_t>(base);
    const auto& [width, height, depth] = copy.region;
    const std::optional<int> device = r.DeviceHolding(address);
    return !device ||
           r.backend(*device).Contains(address, (depth - 1) * layout.slice + (height - 1) * layout.pitch + width);
  };
  return copy.of_arrays || (is_within(copy.to, copy.to_layout) && is_within(copy.from, copy.from_layout));
}

}  // namespace

void CheckNode(Runtime& r, const Work& work) {
  if (const auto* const kernel = std::get_if<KernelWork>(&work)) CheckKernel(r, *kernel);
  if (const auto* const copy = std::get_if<CopyWork>(&work)) {
    // Memory of a graph may be allocated by the time the node runs.
    const bool later =
        IsOfGraph(r, reinterpret_cast<uint64_t>(copy->to)) || IsOfGraph(r, reinterpret_cast<uint64_t>(copy->from));
    Require(later || (CheckCopy(r, *copy) && AreWithin(r, *copy)), cudaErrorInvalidValue);
  }
  if (const auto* const fill = std::get_if<FillWork>(&work)) Require(IsFillable(r, *fill), cudaErrorInvalidValue);
  if (const auto* const words = std::get_if<WordsWork>(&work)) CheckWords(r, *words);
}

bool IsUpdatable(const KernelWork& work) {
  const auto set = work.attributes.find(cudaLaunchAttributeDeviceUpdatableKernelNode);
  return set != work.attributes.end() && set->second.deviceUpdatableKernelNode.deviceUpdatable != 0;
}

void ReplaceWork(Runtime& r, Work& own, Work work) {
  if (auto* const kernel = std::get_if<KernelWork>(&work)) CopyAttributes(r, std::get<KernelWork>(own), *kernel);
  CheckNode(r, work);
  own = std::move(work);
}

cudaError_t AddWords(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     const WordsWork& words) {
  return Add("cuGraphAddBatchMemOpNode", node, graph, after, count, [&](Runtime&) { return words; });
}
cudaError_t GetWords(cudaGraphNode_t node, WordsWork** words) {
  return Api("cuGraphBatchMemOpNodeGetParams", [&](Runtime&) { *words = &WorkOf<WordsWork>(NodeOf(node)); });
}
cudaError_t SetWords(cudaGraphNode_t node, const WordsWork& words) {
  return Change("cuGraphBatchMemOpNodeSetParams", node, [&](Runtime&) { return words; });
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData* data, size_t count, cudaGraphNodeParams* params) {
  const auto make = [&](Runtime& r) { return MakeAny(r, [&]() -> Graph& { return *GraphOf(graph); }, params); };
  return Add("cudaGraphAddNode", node, graph, dependencies, count, make, data);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return Change("cudaGraphNodeSetParams", node, [&](Runtime& r) {
    const bool is_condition = params != nullptr && params->type == cudaGraphNodeTypeConditional;
    Require(!is_condition || !std::holds_alternative<ConditionWork>(NodeOf(node).work), cudaErrorNotSupported);
    return MakeAny(r, [&]() -> Graph& { return *NodeOf(node).graph; }, params);
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                       cudaGraphNodeParams* params) {
  return Api("cudaGraphExecNodeSetParams", [&](Runtime& r) {
    Work work = MakeAny(r, [&]() -> Graph& { return *NodeOf(handle).graph; }, params);
    ChangeWork(r, NodeIn(ExecutableOf(executable), handle), std::move(work));
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t count) {
  return Add("cudaGraphAddEmptyNode", node, graph, dependencies, count, [](Runtime&) { return EmptyWork{}; });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaKernelNodeParams* params) {
  return Add("cudaGraphAddKernelNode", node, graph, dependencies, count,
             [&](Runtime& r) { return MakeKernel(r, params); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemcpy3DParms* params) {
  return Add("cudaGraphAddMemcpyNode", node, graph, dependencies, count, [&](Runtime&) { return MakeCopy3D(params); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Add("cudaGraphAddMemcpyNode1D", node, graph, dependencies, count,
             [&](Runtime&) { return MakeNodeCopy(to, from, bytes, kind); });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count, const void* symbol,
                                           const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Add("cudaGraphAddMemcpyNodeToSymbol", node, graph, dependencies, count,
             [&](Runtime& r) { return MakeNodeSymbolCopy(r, SymbolIs::kTarget, symbol, from, bytes, offset, kind); });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count, void* to,
                                             const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Add("cudaGraphAddMemcpyNodeFromSymbol", node, graph, dependencies, count,
             [&](Runtime& r) { return MakeNodeSymbolCopy(r, SymbolIs::kSource, symbol, to, bytes, offset, kind); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemsetParams* params) {
  return Add("cudaGraphAddMemsetNode", node, graph, dependencies, count, [&](Runtime&) { return MakeFill(params); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, const cudaHostNodeParams* params) {
  return Add("cudaGraphAddHostNode", node, graph, dependencies, count, [&](Runtime&) { return MakeHost(params); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child) {
  return Add("cudaGraphAddChildGraphNode", node, graph, dependencies, count,
             [&](Runtime&) { return MakeChild(child); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, cudaEvent_t event) {
  return Add("cudaGraphAddEventRecordNode", node, graph, dependencies, count,
             [&](Runtime& r) { return RecordWork{EventOfNode(r, event)}; });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      size_t count, cudaEvent_t event) {
  return Add("cudaGraphAddEventWaitNode", node, graph, dependencies, count,
             [&](Runtime& r) { return WaitWork{EventOfNode(r, event)}; });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, cudaMemAllocNodeParams* params) {
  return Add("cudaGraphAddMemAllocNode", node, graph, dependencies, count,
             [&](Runtime& r) { return MakeAllocation(r, params); });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    size_t count, void* pointer) {
  return Add("cudaGraphAddMemFreeNode", node, graph, dependencies, count, [&](Runtime&) {
    GraphOf(graph)->memory_tried = true;
    return MakeFree(*GraphOf(graph), pointer);
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return Api("cudaGraphMemAllocNodeGetParams", [&](Runtime&) {
    const GraphMemory& memory = *WorkOf<AllocateWork>(NodeOf(node)).memory;
    cudaMemAllocNodeParams same = {};
    same.poolProps.allocType = cudaMemAllocationTypePinned;
    same.poolProps.location = {cudaMemLocationTypeDevice, {memory.device}};
    same.bytesize = memory.bytes;
    same.dptr = reinterpret_cast<void*>(memory.address);
    Set(params, same);
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return Api("cudaGraphMemFreeNodeGetParams",
             [&](Runtime&) { Set(static_cast<uint64_t*>(pointer), WorkOf<FreeWork>(NodeOf(node)).memory->address); });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* params) {
  return Api("cudaGraphKernelNodeGetParams", [&](Runtime&) {
    Node& node = NodeOf(handle);
    Set(params, ParamsOf(node, WorkOf<KernelWork>(node)));
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return Api("cudaGraphMemsetNodeGetParams", [&](Runtime&) { Set(params, ParamsOf(WorkOf<FillWork>(NodeOf(node)))); });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return Api("cudaGraphMemcpyNodeGetParams", [&](Runtime&) { Set(params, ParamsOf(WorkOf<CopyWork>(NodeOf(node)))); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return Api("cudaGraphHostNodeGetParams", [&](Runtime&) {
    const HostWork& work = WorkOf<HostWork>(NodeOf(node));
    Set(params, cudaHostNodeParams{work.function, work.data});
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return Api("cudaGraphChildGraphNodeGetGraph",
             [&](Runtime&) { Set(graph, reinterpret_cast<cudaGraph_t>(WorkOf<ChildWork>(NodeOf(node)).graph.get())); });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return Api("cudaGraphEventRecordNodeGetEvent", [&](Runtime&) { Set(event, WorkOf<RecordWork>(NodeOf(node)).event); });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return Api("cudaGraphEventWaitNodeGetEvent", [&](Runtime&) { Set(event, WorkOf<WaitWork>(NodeOf(node)).event); });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return Change("cudaGraphKernelNodeSetParams", node, [&](Runtime& r) { return MakeKernel(r, params); });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return Change("cudaGraphMemsetNodeSetParams", node, [&](Runtime&) { return MakeFill(params); });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return Change("cudaGraphMemcpyNodeSetParams", node, [&](Runtime&) { return MakeCopy3D(params); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
  return Change("cudaGraphMemcpyNodeSetParams1D", node, [&](Runtime&) { return MakeNodeCopy(to, from, bytes, kind); });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                 size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Change("cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](Runtime& r) {
    return MakeNodeSymbolCopy(r, SymbolIs::kTarget, symbol, from, bytes, offset, kind);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol, size_t bytes,
                                                   size_t offset, cudaMemcpyKind kind) {
  return Change("cudaGraphMemcpyNodeSetParamsFromSymbol", node,
                [&](Runtime& r) { return MakeNodeSymbolCopy(r, SymbolIs::kSource, symbol, to, bytes, offset, kind); });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return Change("cudaGraphHostNodeSetParams", node, [&](Runtime&) { return MakeHost(params); });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return Change("cudaGraphEventRecordNodeSetEvent", node,
                [&](Runtime& r) { return RecordWork{EventOfNode(r, event)}; });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return Change("cudaGraphEventWaitNodeSetEvent", node, [&](Runtime& r) { return WaitWork{EventOfNode(r, event)}; });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return Api("cudaGraphNodeGetType", [&](Runtime&) {
    const Work& work = NodeOf(node).work;
    Require(type != nullptr, cudaErrorInvalidValue);
    // Only the driver API has nodes of stream memory operations.
    Require(CalledAs() != nullptr || !std::holds_alternative<WordsWork>(work), cudaErrorUnknown);
    Set(type, TypeOf(work));
  });
}

// Attributes of kernel nodes: cooperative launch and clusters have an effect; the others are hints.
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue* value) {
  return Api("cudaGraphKernelNodeSetAttribute", [&](Runtime& r) {
    KernelWork& work = WorkOf<KernelWork>(NodeOf(node));
    Require(value != nullptr, cudaErrorInvalidValue);
    CheckAttribute(AttributeOwner::kNode, attribute, *value);
    if (attribute == cudaLaunchAttributeCooperative) work.cooperative = value->cooperative != 0;
    if (attribute == cudaLaunchAttributeClusterDimension) {
      const auto& [x, y, z] = value->clusterDim;
      Require(IsClusterOf(r, work, dim3(x, y, z)), cudaErrorInvalidClusterSize);
      work.cluster = dim3(x, y, z);
    }
    cudaLaunchAttributeValue& kept = work.attributes[attribute] = Kept(attribute, *value);
    if (attribute == cudaLaunchAttributeDeviceUpdatableKernelNode)
      kept.deviceUpdatableKernelNode.devNode =
          IsUpdatable(work) ? reinterpret_cast<cudaGraphDeviceNode_t>(node) : nullptr;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue* value) {
  return Api("cudaGraphKernelNodeGetAttribute", [&](Runtime&) {
    const KernelWork& work = WorkOf<KernelWork>(NodeOf(node));
    Require(value != nullptr && CanGet(AttributeOwner::kNode, attribute), cudaErrorInvalidValue);
    const auto set = work.attributes.find(attribute);
    cudaLaunchAttributeValue now = set != work.attributes.end() ? set->second : InitialAttribute(attribute);
    if (attribute == cudaLaunchAttributeCooperative && set == work.attributes.end()) now.cooperative = work.cooperative;
    if (attribute == cudaLaunchAttributeClusterDimension) {
      now.clusterDim = {work.cluster.x, work.cluster.y, work.cluster.z};
    }
    WriteAttribute(attribute, now, value);
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return Api("cudaGraphKernelNodeCopyAttributes", [&](Runtime& r) {
    KernelWork& target = WorkOf<KernelWork>(NodeOf(to));
    const KernelWork& source = WorkOf<KernelWork>(NodeOf(from));
    Require(!r.faulted() && IsClusterOf(r, target, source.cluster), cudaErrorInvalidValue);
    Require(!IsUpdatable(source), cudaErrorNotSupported);
    target.cooperative = source.cooperative;
    target.cluster = source.cluster;
    target.attributes = source.attributes;
  });
}

}  // extern "C"
