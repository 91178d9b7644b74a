// Whole graphs: creating, inspecting, copying and destroying them, and running executable ones.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

cudaGraph_t Adopt(std::shared_ptr<Graph> graph) {
  const auto handle = reinterpret_cast<cudaGraph_t>(graph.get());
  graphs().graphs[handle] = std::move(graph);
  return handle;
}

// Returns a list as the API does. nodes null: only *count. Else: at most *count entries, padded with null.
void GiveNodes(const std::vector<const Node*>& found, cudaGraphNode_t* nodes, size_t* count) {
  Require(count != nullptr && (nodes == nullptr || *count > 0), cudaErrorInvalidValue);
  if (nodes != nullptr) {
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < found.size() ? HandleOf(found[i]) : nullptr;
    *count = std::min(*count, found.size());
  } else {
    *count = found.size();
  }
}

struct Edges {
  std::vector<const Node*> from, to;
  std::vector<cudaGraphEdgeData> data;
  // Those into a node; only those from `before` if it is given.
  void AddInto(const Node& after, const Node* before = nullptr) {
    for (const Node* node : after.dependencies) {
      if (before != nullptr && node != before) continue;
      from.push_back(node);
      to.push_back(&after);
      data.push_back(after.EdgeFrom(node));
    }
  }
  // The same for edges' ends, `from` or `to`: a list of nodes without their data must lose nothing.
  void Give(const std::vector<const Node*>& ends, cudaGraphNode_t* nodes, cudaGraphEdgeData* to_data,
            size_t* count) const {
    Require(to_data == nullptr || nodes != nullptr, cudaErrorInvalidValue);
    Require(to_data != nullptr || nodes == nullptr || std::ranges::all_of(data, IsPlain), cudaErrorLossyQuery);
    if (to_data != nullptr && count != nullptr) std::copy_n(data.begin(), std::min(*count, data.size()), to_data);
    GiveNodes(ends, nodes, count);
  }
};

// The first node that a graph launched by kernels may not contain.
const Node* UnfitForKernels(Runtime& r, const Graph& graph) {
  const auto node = std::ranges::find_if_not(graph.nodes, [&](auto& one) { return DeviceCanStart(r, one->work); });
  return node == graph.nodes.end() ? nullptr : node->get();
}

cudaGraphExec_t Instantiate(Runtime& r, cudaGraph_t graph, unsigned long long flags) {
  constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  Require((flags & ~kKnown) == 0, cudaErrorInvalidValue);
  constexpr unsigned long long kApart = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch;
  Require((flags & kApart) != kApart, cudaErrorInvalidValue);
  const std::shared_ptr<Graph> from = GraphOf(graph);
  Require((flags & cudaGraphInstantiateFlagDeviceLaunch) == 0 ||
              (!from->nodes.empty() && UnfitForKernels(r, *from) == nullptr),
          cudaErrorInvalidValue);
  auto executable = MakeExecutable(*from);
  executable->of = from;
  Require(!from->lost_condition, cudaErrorInvalidValue);
  Require(!HasUnusedCondition(from), cudaErrorInvalidValue);
  CheckConditions(r, *executable);
  const bool once = from->memory_tried || HasConditions(*from);
  // A graph can have only one executable graph if it has conditional nodes, or had a memory node added, even in vain.
  for (const auto& [handle, other] : graphs().executables) {
    Require(!once || other->of.lock() != from, cudaErrorNotSupported);
    for (const ExecutableNode& node : other->nodes) {
      const auto* const theirs = std::get_if<AllocateWork>(&node.work);
      const auto is_same = [&](const ExecutableNode& own) {
        const auto* const allocation = std::get_if<AllocateWork>(&own.work);
        return theirs != nullptr && allocation != nullptr && allocation->memory == theirs->memory;
      };
      Require(std::none_of(executable->nodes.begin(), executable->nodes.end(), is_same), cudaErrorNotSupported);
    }
  }
  for (const ExecutableNode& node : executable->nodes) {
    const auto* const fill = std::get_if<FillWork>(&node.work);
    Require(fill == nullptr || IsFillable(r, *fill), cudaErrorInvalidValue);
  }
  // Kernel priorities are hints and not stored. A graph for device launch can be launched by the host too.
  executable->flags = flags & ~cudaGraphInstantiateFlagUseNodePriority;
  const auto handle = reinterpret_cast<cudaGraphExec_t>(executable.get());
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) OfferToKernels(*executable);
  graphs().executables[handle] = std::move(executable);
  return handle;
}

// A node that can be disabled: a kernel, a copy or a fill.
ExecutableNode& Switchable(ExecutableGraph& executable, cudaGraphNode_t handle) {
  ExecutableNode& node = NodeIn(executable, handle);
  Require(std::holds_alternative<KernelWork>(node.work) || std::holds_alternative<CopyWork>(node.work) ||
              std::holds_alternative<FillWork>(node.work),
          cudaErrorInvalidValue);
  return node;
}

// Whether an executable graph's node can change to other work of its type. A copy keeps its kind, and stays as it is if it
// has several rows or an array; a fill of several rows keeps their form.
bool MayBecome(const Work& before, const Work& after) {
  if (const auto* const copy = std::get_if<CopyWork>(&after)) {
    const auto& old = std::get<CopyWork>(before);
    const auto is_flat = [](const CopyWork& one) { return IsOneRow(one.region) && !one.of_arrays; };
    const auto all = [](const CopyWork& one) {
      return std::tuple(one.to, one.to_layout, one.from, one.from_layout, one.region);
    };
    return copy->kind == old.kind && ((is_flat(*copy) && is_flat(old)) || all(*copy) == all(old));
  }
  if (const auto* const fill = std::get_if<FillWork>(&after)) {
    const auto& old = std::get<FillWork>(before);
    return (IsOneRow(fill->region) && IsOneRow(old.region)) ||
           (fill->region == old.region && fill->layout == old.layout && fill->element_bytes == old.element_bytes);
  }
  return true;
}

// Common to all cudaGraphExec…SetParams: make() returns the new work.
template <typename Make>
cudaError_t Change(const char* function, cudaGraphExec_t executable, cudaGraphNode_t handle, Make make) {
  return Api(function, [&](Runtime& r) {
    Work work = make(r);
    ChangeWork(r, NodeIn(ExecutableOf(executable), handle), std::move(work));
  });
}

// The nodes that no other depends on, the last one first.
std::vector<size_t> ExitsOf(const ExecutableGraph& graph) {
  std::set<size_t, std::greater<>> exits;
  for (size_t i = 0; i < graph.nodes.size(); ++i) exits.insert(i);
  for (const ExecutableNode& node : graph.nodes) {
    for (const size_t before : node.after) exits.erase(before);
  }
  return {exits.begin(), exits.end()};
}

// Why an executable graph can't take over another's parameters.
struct Mismatch {
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  const Node *node = nullptr, *dependency = nullptr;
};

// Compares an executable graph with another whose work its nodes are to take; does it, if `takes`. As the API's reference
// says, exits are paired, then the dependencies of paired nodes, in their order.
Mismatch Compare(ExecutableGraph& own, ExecutableGraph& other, bool takes) {
  constexpr auto kTopology = cudaGraphExecUpdateErrorTopologyChanged;
  const std::vector<size_t> exits = ExitsOf(own), others = ExitsOf(other);
  if (own.nodes.size() != other.nodes.size() || others.size() < exits.size()) return {kTopology};
  if (others.size() > exits.size()) return {kTopology, other.nodes[others[exits.size()]].source};
  std::map<size_t, size_t> mates, back;
  std::vector<std::pair<size_t, size_t>> next, pairs;
  for (size_t i = exits.size(); i-- > 0;) next.emplace_back(exits[i], others[i]);
  while (!next.empty()) {
    const auto [mine, theirs] = next.back();
    next.pop_back();
    if (!mates.try_emplace(mine, theirs).second) continue;
    back[theirs] = mine;
    pairs.emplace_back(mine, theirs);
    ExecutableNode &node = own.nodes[mine], &updated = other.nodes[theirs];
    if (node.after.size() != updated.after.size()) return {kTopology, updated.source};
    for (size_t i = node.after.size(); i-- > 0;) {
      const size_t before = node.after[i], others_before = updated.after[i];
      const auto mate = mates.find(before);
      if (mate != mates.end() ? mate->second != others_before : back.count(others_before) != 0)
        return {kTopology, updated.source, other.nodes[others_before].source};
      if (mate == mates.end()) next.emplace_back(before, others_before);
    }
  }
  for (const auto& [mine, theirs] : pairs) {
    const Node* const source = other.nodes[theirs].source;
    Work &before = own.nodes[mine].work, &after = other.nodes[theirs].work;
    if (before.index() != after.index()) return {cudaGraphExecUpdateErrorNodeTypeChanged, source};
    if (auto* const child = std::get_if<ChildWork>(&before)) {
      const Mismatch inner = Compare(*child->executable, *std::get<ChildWork>(after).executable, takes);
      if (inner.result != cudaGraphExecUpdateSuccess) return inner;
    } else if (!MayBecome(before, after)) {
      return {cudaGraphExecUpdateErrorParametersChanged, source};
    } else if (takes) {
      before = std::move(after);
    }
  }
  return {};
}

Mismatch Update(ExecutableGraph& own, ExecutableGraph& other) {
  const Mismatch mismatch = Compare(own, other, false);
  return mismatch.result == cudaGraphExecUpdateSuccess ? Compare(own, other, true) : mismatch;
}

using Edge = std::pair<Node*, Node*>;

std::vector<Edge> EdgesBetween(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                               size_t count) {
  const auto of = GraphOf(graph);
  Require(count == 0 || (from != nullptr && to != nullptr), cudaErrorInvalidValue);
  std::vector<Edge> edges;
  for (size_t i = 0; i < count; ++i) {
    edges.emplace_back(&NodeOf(from[i]), &NodeOf(to[i]));
    Require(edges.back().first != edges.back().second, cudaErrorInvalidValue);
    Require(edges.back().first->graph == of.get() && edges.back().second->graph == of.get(), cudaErrorInvalidValue);
  }
  return edges;
}

}  // namespace

void ChangeWork(Runtime& r, ExecutableNode& node, Work work) {
  Require(work.index() == node.work.index(), cudaErrorInvalidValue);
  if (const auto* const child = std::get_if<ChildWork>(&work)) {
    const auto updated = MakeExecutable(*child->graph);
    const Mismatch mismatch = Update(*std::get<ChildWork>(node.work).executable, *updated);
    return Require(mismatch.result == cudaGraphExecUpdateSuccess, cudaErrorGraphExecUpdateFailure);
  }
  Require(MayBecome(node.work, work), cudaErrorInvalidValue);
  ReplaceWork(r, node.work, std::move(work));
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return Api("cudaGraphCreate", Faults::kNone, [&](Runtime&) {
    Require(graph != nullptr && flags == 0, cudaErrorInvalidValue);
    *graph = Adopt(std::make_shared<Graph>());
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return Api("cudaGraphDestroy", [&](Runtime&) {
    Require(GraphOf(graph)->around == nullptr, cudaErrorInvalidValue);
    graphs().graphs.erase(graph);
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return Api("cudaGraphClone", [&](Runtime&) {
    Require(clone != nullptr, cudaErrorInvalidValue);
    std::map<const Node*, const Node*> originals;
    auto copy = Clone(*GraphOf(original), &originals);
    for (const auto& node : copy->nodes) node->original = originals.at(node.get());
    *clone = Adopt(std::move(copy));
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return Api("cudaGraphNodeFindInClone", [&](Runtime&) {
    Require(node != nullptr, cudaErrorInvalidValue);
    for (const auto& copy : GraphOf(clone)->nodes) {
      if (copy->original != nullptr && HandleOf(copy->original) == original) {
        *node = HandleOf(copy.get());
        return;
      }
    }
    throw ApiError{cudaErrorInvalidValue};
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return Api("cudaGraphDestroyNode", [&](Runtime& r) {
    Node& node = NodeOf(handle);
    RequireNoMemoryNodes(*node.graph);
    r.timeline().ForgetNode(&node);
    node.graph->lost_condition |= std::holds_alternative<ConditionWork>(node.work);
    auto& nodes = node.graph->nodes;
    for (const auto& other : nodes) std::erase(other->dependencies, &node), other->edges.erase(&node);
    std::erase_if(nodes, [&](const auto& own) { return own.get() == &node; });
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return Api("cudaGraphGetNodes", [&](Runtime&) {
    std::vector<const Node*> found;
    for (const auto& node : GraphOf(graph)->nodes) found.push_back(node.get());
    GiveNodes(found, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return Api("cudaGraphGetRootNodes", [&](Runtime&) {
    std::vector<const Node*> found;
    for (const auto& node : GraphOf(graph)->nodes) {
      if (node->dependencies.empty()) found.push_back(node.get());
    }
    GiveNodes(found, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              size_t* count) {
  return Api("cudaGraphGetEdges", [&](Runtime&) {
    Require(count != nullptr, cudaErrorInvalidValue);
    Edges edges;
    for (const auto& node : GraphOf(graph)->nodes) edges.AddInto(*node);
    size_t again = *count;
    edges.Give(edges.from, from, data, count);
    GiveNodes(edges.to, to, &again);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                         size_t* count) {
  return Api("cudaGraphNodeGetDependencies", [&](Runtime&) {
    Edges edges;
    edges.AddInto(NodeOf(node));
    edges.Give(edges.from, nodes, data, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                           size_t* count) {
  return Api("cudaGraphNodeGetDependentNodes", [&](Runtime&) {
    Node& node = NodeOf(handle);
    Edges edges;
    for (const auto& other : node.graph->nodes) edges.AddInto(*other, &node);
    edges.Give(edges.to, nodes, data, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* data, size_t count) {
  return Api("cudaGraphAddDependencies", [&](Runtime&) {
    const auto edges = EdgesBetween(graph, from, to, count);
    for (size_t i = 0; data != nullptr && i < count; ++i)
      CheckEdge(data[i], edges[i].first->work, edges[i].second->work);
    for (size_t i = 0; i < count; ++i) {
      const auto& [before, after] = edges[i];
      Require(std::count(after->dependencies.begin(), after->dependencies.end(), before) == 0, cudaErrorInvalidValue);
      after->dependencies.push_back(before);
      if (data != nullptr) after->SetEdge(before, data[i]);
    }
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* data, size_t count) {
  return Api("cudaGraphRemoveDependencies", [&](Runtime&) {
    RequireNoMemoryNodes(*GraphOf(graph));
    const auto edges = EdgesBetween(graph, from, to, count);
    for (size_t i = 0; i < count; ++i) {
      const auto& [before, after] = edges[i];
      const cudaGraphEdgeData own = after->EdgeFrom(before);
      Require(data == nullptr || IsPlain(data[i]) || std::memcmp(&data[i], &own, sizeof own) == 0,
              cudaErrorInvalidValue);
      Require(std::erase(after->dependencies, before) > 0, cudaErrorInvalidValue);
      after->edges.erase(before);
    }
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return Api("cudaGraphInstantiate", [&](Runtime& r) {
    // Uploading at instantiation needs a stream, which only the parameters provide.
    constexpr unsigned long long kNamed = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                          cudaGraphInstantiateFlagDeviceLaunch |
                                          cudaGraphInstantiateFlagUseNodePriority;
    r.RequireAtSight(executable != nullptr && (flags & ~kNamed) == 0, cudaErrorInvalidValue);
    if (CalledAs() == nullptr) RequireSafeInCapture();
    r.RequireContext();
    *executable = Instantiate(r, graph, flags);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return Api("cudaGraphInstantiateWithFlags", [&](Runtime& r) {
    r.RequireAtSight(executable != nullptr && (flags & cudaGraphInstantiateFlagUpload) == 0, cudaErrorInvalidValue);
    r.RequireContext();
    *executable = Instantiate(r, graph, flags);
  });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  return Api("cudaGraphInstantiateWithParams", [&](Runtime& r) {
    Require(executable != nullptr && params != nullptr, cudaErrorInvalidValue);
    params->errNode_out = nullptr;
    params->result_out = cudaGraphInstantiateError;
    constexpr unsigned long long kForKernels =
        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagUseNodePriority;
    if ((params->flags & cudaGraphInstantiateFlagDeviceLaunch) != 0 && (params->flags & ~kForKernels) == 0) {
      params->errNode_out = HandleOf(UnfitForKernels(r, *GraphOf(graph)));
      if (params->errNode_out != nullptr) params->result_out = cudaGraphInstantiateNodeOperationNotSupported;
    }
    if (HasUnusedCondition(GraphOf(graph))) params->result_out = cudaGraphInstantiateConditionalHandleUnused;
    *executable = Instantiate(r, graph, params->flags);
    params->result_out = cudaGraphInstantiateSuccess;
  });
}
LOCKSTEP_PER_THREAD(cudaGraphInstantiateWithParams, _ptsz)

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return Api("cudaGraphExecDestroy", [&](Runtime& r) {
    ExecutableOf(executable);
    auto destroyed = graphs().executables.extract(executable);
    WithdrawFromKernels(*destroyed.mapped());
    // Its work may still be pending, and uses its lanes.
    if (!r.beside().empty()) r.beside().Keep(std::shared_ptr<ExecutableGraph>(std::move(destroyed.mapped())));
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return Api("cudaGraphExecGetFlags", [&](Runtime&) {
    Require(flags != nullptr, cudaErrorInvalidValue);
    *flags = ExecutableOf(executable).flags;
  });
}

// The graph in Graphviz format; the flags request details beyond node types.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return Api("cudaGraphDebugDotPrint", [&](Runtime&) {
    const auto of = GraphOf(graph);
    Require(path != nullptr, cudaErrorInvalidValue);
    std::ofstream file(path);
    Require(file.good(), cudaErrorOperatingSystem);
    std::map<const Node*, size_t> numbers;
    file << "digraph dot {\n";
    for (const auto& node : of->nodes) {
      numbers[node.get()] = numbers.size();
      file << "  n" << numbers[node.get()] << " [label=\"" << numbers[node.get()] << ": type " << TypeOf(node->work)
           << "\"];\n";
    }
    for (const auto& node : of->nodes) {
      for (const Node* before : node->dependencies) {
        file << "  n" << numbers[before] << " -> n" << numbers[node.get()] << ";\n";
      }
    }
    file << "}\n";
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
  return Api("cudaGraphLaunch", Faults::kIgnores, [&](Runtime& r) {
    Stream& stream = r.StreamForWork(handle);
    if (stream.point.capture != nullptr) Spoil(stream, cudaErrorStreamCaptureUnsupported);
    LaunchGraph(r, ExecutableOf(executable), stream);
  });
}
LOCKSTEP_PER_THREAD(cudaGraphLaunch, _ptsz)

// Nothing needs to be uploaded, but only then may kernels launch the graph.
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return Api("cudaGraphUpload", [&](Runtime& r) {
    const Stream& in = r.StreamOf(stream);
    if (in.point.capture != nullptr) Spoil(in, cudaErrorStreamCaptureUnsupported);
    NoteUpload(ExecutableOf(executable));
  });
}
LOCKSTEP_PER_THREAD(cudaGraphUpload, _ptsz)

// Copies the parameters of a graph with the same topology.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  return Api("cudaGraphExecUpdate", [&](Runtime&) {
    cudaGraphExecUpdateResultInfo unused;
    if (info == nullptr) info = &unused;
    ExecutableGraph& executable = ExecutableOf(handle);
    *info = {};
    const auto updated = MakeExecutable(*GraphOf(graph));
    const Mismatch mismatch = Update(executable, *updated);
    *info = {mismatch.result, HandleOf(mismatch.node), HandleOf(mismatch.dependency)};
    Require(mismatch.result == cudaGraphExecUpdateSuccess, cudaErrorGraphExecUpdateFailure);
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return Change("cudaGraphExecKernelNodeSetParams", executable, node,
                [&](Runtime& r) { return MakeKernel(r, params); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  return Change("cudaGraphExecMemcpyNodeSetParams", executable, node, [&](Runtime&) { return MakeCopy3D(params); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Change("cudaGraphExecMemcpyNodeSetParams1D", executable, node,
                [&](Runtime&) { return MakeNodeCopy(to, from, bytes, kind); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                     const void* symbol, const void* from, size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
  return Change("cudaGraphExecMemcpyNodeSetParamsToSymbol", executable, node, [&](Runtime& r) {
    return MakeNodeSymbolCopy(r, SymbolIs::kTarget, symbol, from, bytes, offset, kind);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                                       const void* symbol, size_t bytes, size_t offset,
                                                       cudaMemcpyKind kind) {
  return Change("cudaGraphExecMemcpyNodeSetParamsFromSymbol", executable, node,
                [&](Runtime& r) { return MakeNodeSymbolCopy(r, SymbolIs::kSource, symbol, to, bytes, offset, kind); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return Change("cudaGraphExecMemsetNodeSetParams", executable, node, [&](Runtime&) { return MakeFill(params); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return Change("cudaGraphExecEventRecordNodeSetEvent", executable, node,
                [&](Runtime& r) { return RecordWork{EventOfNode(r, event)}; });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return Change("cudaGraphExecEventWaitNodeSetEvent", executable, node,
                [&](Runtime& r) { return WaitWork{EventOfNode(r, event)}; });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return Change("cudaGraphExecHostNodeSetParams", executable, node, [&](Runtime&) { return MakeHost(params); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child) {
  return Change("cudaGraphExecChildGraphNodeSetParams", executable, node,
                [&](Runtime&) { return ChildWork{GraphOf(child)}; });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled) {
  return Api("cudaGraphNodeSetEnabled",
             [&](Runtime&) { Switchable(ExecutableOf(executable), node).enabled = enabled != 0; });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled) {
  return Api("cudaGraphNodeGetEnabled", [&](Runtime&) {
    Require(enabled != nullptr, cudaErrorInvalidValue);
    *enabled = Switchable(ExecutableOf(executable), node).enabled ? 1 : 0;
  });
}

}  // extern "C"
