// Whole graphs: creating, inspecting, copying and destroying them, and running executable ones.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

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

// The first node that a graph launched by kernels may not contain: allowed are kernels, copies, fills and child graphs.
const Node* UnfitForKernels(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    const cudaGraphNodeType type = TypeOf(node->work);
    const bool fits = type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
                      type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeGraph;
    if (!fits) return node.get();
  }
  return nullptr;
}

cudaGraphExec_t Instantiate(Runtime& r, cudaGraph_t graph, unsigned long long flags) {
  constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  Require((flags & ~kKnown) == 0, cudaErrorInvalidValue);
  constexpr unsigned long long kApart = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch;
  Require((flags & kApart) != kApart, cudaErrorInvalidValue);
  const std::shared_ptr<Graph> from = GraphOf(graph);
  Require((flags & cudaGraphInstantiateFlagDeviceLaunch) == 0 ||
              (!from->nodes.empty() && UnfitForKernels(*from) == nullptr),
          cudaErrorInvalidValue);
  auto executable = MakeExecutable(*from);
  executable->of = from;
  Require(!from->lost_condition, cudaErrorInvalidValue);
  Require(!HasUnusedCondition(from), cudaErrorInvalidValue);
  CheckConditions(*executable);
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

// Checks a change of an executable graph's node. A copy must keep its direction, given as its kind or by its pointers;
// a fill can change only if it has one row.
void CheckChange(Runtime& r, const Work& before, const Work& after) {
  if (const auto* const copy = std::get_if<CopyWork>(&after)) {
    const auto& old = std::get<CopyWork>(before);
    const auto is_alike = [&](const void* now, const void* then) {
      const auto place = [&](const void* pointer) {
        const auto address = reinterpret_cast<uint64_t>(pointer);
        return std::pair(r.DeviceHolding(address).has_value() && !r.IsPinned(pointer), r.IsManaged(address));
      };
      return copy->kind != cudaMemcpyDefault || copy->of_arrays || place(now) == place(then);
    };
    Require(copy->of_arrays == old.of_arrays && copy->kind == old.kind && is_alike(copy->to, old.to) &&
                is_alike(copy->from, old.from),
            cudaErrorInvalidValue);
  }
  if (const auto* const fill = std::get_if<FillWork>(&after)) {
    Require(fill->region.height == 1 && std::get<FillWork>(before).region.height == 1, cudaErrorInvalidValue);
  }
}

// Common to all cudaGraphExec…SetParams: make() returns the new work.
template <typename Make>
cudaError_t Change(const char* function, cudaGraphExec_t executable, cudaGraphNode_t handle, Make make) {
  return Api(function, [&](Runtime& r) {
    Work work = make(r);
    ExecutableNode& node = NodeIn(ExecutableOf(executable), handle);
    Require(work.index() == node.work.index(), cudaErrorInvalidValue);
    CheckChange(r, node.work, work);
    ReplaceWork(r, node.work, std::move(work));
  });
}

// The nodes that no other depends on.
std::set<size_t> ExitsOf(const ExecutableGraph& graph) {
  std::set<size_t> exits;
  for (size_t i = 0; i < graph.nodes.size(); ++i) exits.insert(i);
  for (const ExecutableNode& node : graph.nodes) {
    for (const size_t before : node.after) exits.erase(before);
  }
  return exits;
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
    for (const auto& other : nodes) std::erase(other->dependencies, &node);
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
    std::vector<const Node*> befores, afters;
    for (const auto& node : GraphOf(graph)->nodes) {
      for (const Node* before : node->dependencies) {
        befores.push_back(before);
        afters.push_back(node.get());
      }
    }
    size_t again = *count;
    if (data != nullptr) std::fill_n(data, std::min(*count, befores.size()), cudaGraphEdgeData{});
    GiveNodes(befores, from, count);
    GiveNodes(afters, to, &again);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                         size_t* count) {
  return Api("cudaGraphNodeGetDependencies", [&](Runtime&) {
    const auto& before = NodeOf(node).dependencies;
    Require(data == nullptr || nodes != nullptr, cudaErrorInvalidValue);
    if (data != nullptr && count != nullptr) std::fill_n(data, std::min(*count, before.size()), cudaGraphEdgeData{});
    GiveNodes({before.begin(), before.end()}, nodes, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                           size_t* count) {
  return Api("cudaGraphNodeGetDependentNodes", [&](Runtime&) {
    Node& node = NodeOf(handle);
    std::vector<const Node*> found;
    for (const auto& other : node.graph->nodes) {
      if (std::count(other->dependencies.begin(), other->dependencies.end(), &node) > 0) found.push_back(other.get());
    }
    Require(data == nullptr || nodes != nullptr, cudaErrorInvalidValue);
    if (data != nullptr && count != nullptr) std::fill_n(data, std::min(*count, found.size()), cudaGraphEdgeData{});
    GiveNodes(found, nodes, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* data, size_t count) {
  return Api("cudaGraphAddDependencies", [&](Runtime&) {
    const auto edges = EdgesBetween(graph, from, to, count);
    // Ports exist only for kernels, which may let dependents start early; that never happens here.
    for (size_t i = 0; data != nullptr && i < count; ++i) {
      const bool plain =
          data[i].type == cudaGraphDependencyTypeDefault && data[i].from_port == 0 && data[i].to_port == 0;
      Require(plain || std::holds_alternative<KernelWork>(edges[i].first->work), cudaErrorInvalidValue);
    }
    for (const auto& [before, after] : edges) {
      Require(std::count(after->dependencies.begin(), after->dependencies.end(), before) == 0, cudaErrorInvalidValue);
      after->dependencies.push_back(before);
    }
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t count) {
  return Api("cudaGraphRemoveDependencies", [&](Runtime&) {
    RequireNoMemoryNodes(*GraphOf(graph));
    const auto edges = EdgesBetween(graph, from, to, count);
    for (const auto& [before, after] : edges) {
      Require(std::erase(after->dependencies, before) > 0, cudaErrorInvalidValue);
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
      params->errNode_out = HandleOf(UnfitForKernels(*GraphOf(graph)));
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

// Only checks its arguments: nothing needs to be uploaded.
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return Api("cudaGraphUpload", [&](Runtime& r) {
    const Stream& in = r.StreamOf(stream);
    if (in.point.capture != nullptr) Spoil(in, cudaErrorStreamCaptureUnsupported);
    ExecutableOf(executable);
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
    const auto fail = [&](cudaGraphExecUpdateResult result, const Node* node) {
      info->result = result;
      info->errorNode = HandleOf(node);
      throw ApiError{cudaErrorGraphExecUpdateFailure};
    };
    if (updated->nodes.size() != executable.nodes.size()) fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    const std::set<size_t> exits = ExitsOf(*updated);
    if (exits.size() > ExitsOf(executable).size())
      fail(cudaGraphExecUpdateErrorTopologyChanged, updated->nodes[*exits.begin()].source);
    for (size_t i = 0; i < updated->nodes.size(); ++i) {
      const ExecutableNode& node = updated->nodes[i];
      const auto& after = executable.nodes[i].after;
      if (node.after != after)
        fail(cudaGraphExecUpdateErrorTopologyChanged, node.after.size() != after.size() ? node.source : nullptr);
    }
    for (size_t i = 0; i < updated->nodes.size(); ++i) {
      ExecutableNode& node = updated->nodes[i];
      if (node.work.index() != executable.nodes[i].work.index()) {
        fail(cudaGraphExecUpdateErrorNodeTypeChanged, node.source);
      }
      // A fill of several rows can't become one of a single row, or the other way round.
      const auto *fill = std::get_if<FillWork>(&node.work), *before = std::get_if<FillWork>(&executable.nodes[i].work);
      if (fill != nullptr && (fill->region.height == 1) != (before->region.height == 1))
        fail(cudaGraphExecUpdateErrorParametersChanged, node.source);
      node.enabled = executable.nodes[i].enabled;
      node.source = executable.nodes[i].source;
    }
    executable.nodes = std::move(updated->nodes);
    info->result = cudaGraphExecUpdateSuccess;
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
  return Change("cudaGraphExecMemcpyNodeSetParamsToSymbol", executable, node,
                [&](Runtime& r) { return MakeNodeCopyToSymbol(r, symbol, from, bytes, offset, kind); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                                       const void* symbol, size_t bytes, size_t offset,
                                                       cudaMemcpyKind kind) {
  return Change("cudaGraphExecMemcpyNodeSetParamsFromSymbol", executable, node,
                [&](Runtime& r) { return MakeNodeCopyFromSymbol(r, to, symbol, bytes, offset, kind); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return Change("cudaGraphExecMemsetNodeSetParams", executable, node, [&](Runtime&) { return MakeFill(params); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return Change("cudaGraphExecEventRecordNodeSetEvent", executable, node, [&](Runtime& r) {
    Require(event != nullptr, cudaErrorInvalidValue);
    r.timeline().EventOf(event);
    return RecordWork{event};
  });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return Change("cudaGraphExecEventWaitNodeSetEvent", executable, node, [&](Runtime& r) {
    Require(event != nullptr, cudaErrorInvalidValue);
    r.timeline().EventOf(event);
    return WaitWork{event};
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return Change("cudaGraphExecHostNodeSetParams", executable, node, [&](Runtime&) { return MakeHost(params); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child) {
  return Change("cudaGraphExecChildGraphNodeSetParams", executable, node,
                [&](Runtime&) { return ChildWork{GraphOf(child), MakeExecutable(*GraphOf(child))}; });
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
