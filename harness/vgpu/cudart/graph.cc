#include "vgpu/cudart/graph.h"

#include <algorithm>
#include <utility>

namespace lockstep::vgpu::cudart {

namespace {

// Positions of nodes in their graph.
std::map<const Node*, size_t> Positions(const Graph& graph) {
  std::map<const Node*, size_t> positions;
  for (size_t i = 0; i < graph.nodes.size(); ++i) positions[graph.nodes[i].get()] = i;
  return positions;
}

template <typename Map, typename Key>
auto& Look(Map& map, Key handle) {
  const auto found = map.find(handle);
  Require(found != map.end(), cudaErrorInvalidValue);
  return found->second;
}

}  // namespace

Graphs& graphs() {
  static Graphs* const instance = new Graphs;
  return *instance;
}

std::vector<const Node*> InOrder(const Graph& graph) {
  const std::map<const Node*, size_t> positions = Positions(graph);
  std::vector<size_t> waits(graph.nodes.size());
  std::vector<std::vector<size_t>> followers(graph.nodes.size());
  std::set<size_t> ready;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    waits[i] = graph.nodes[i]->dependencies.size();
    for (const Node* before : graph.nodes[i]->dependencies) followers[positions.at(before)].push_back(i);
    if (waits[i] == 0) ready.insert(i);
  }
  std::vector<const Node*> order;
  while (!ready.empty()) {
    const size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(graph.nodes[next].get());
    for (const size_t follower : followers[next]) {
      if (--waits[follower] == 0) ready.insert(follower);
    }
  }
  Require(order.size() == graph.nodes.size(), cudaErrorInvalidValue);
  return order;
}

std::shared_ptr<Graph> Clone(const Graph& graph, std::map<const Node*, const Node*>* originals) {
  RequireNoMemoryNodes(graph);
  Require(!HasConditions(graph), cudaErrorNotSupported);
  for (const auto& node : graph.nodes) {
    const auto* const kernel = std::get_if<KernelWork>(&node->work);
    Require(kernel == nullptr || !IsUpdatable(*kernel), cudaErrorNotSupported);
  }
  const std::map<const Node*, size_t> positions = Positions(graph);
  auto copy = std::make_shared<Graph>();
  copy->objects = graph.objects;
  for (const auto& node : graph.nodes) {
    Node* const added = AddNode(*copy, node->work, {});
    if (auto* child = std::get_if<ChildWork>(&added->work)) child->graph = Clone(*child->graph);
    if (originals != nullptr) (*originals)[added] = node.get();
  }
  for (const auto& node : graph.nodes) {
    auto& dependencies = copy->nodes[positions.at(node.get())]->dependencies;
    for (const Node* before : node->dependencies) dependencies.push_back(copy->nodes[positions.at(before)].get());
    for (const auto& [before, data] : node->edges) {
      copy->nodes[positions.at(node.get())]->edges[copy->nodes[positions.at(before)].get()] = data;
    }
  }
  return copy;
}

std::shared_ptr<Graph> GraphOf(cudaGraph_t handle) { return Look(graphs().graphs, handle); }

Node& NodeOf(cudaGraphNode_t handle) {
  for (const auto& [key, graph] : graphs().graphs) {
    for (const auto& node : graph->nodes) {
      if (HandleOf(node.get()) == handle) return *node;
    }
  }
  throw ApiError{cudaErrorInvalidValue};
}

ExecutableGraph& ExecutableOf(cudaGraphExec_t handle) { return *Look(graphs().executables, handle); }

ExecutableNode& NodeIn(ExecutableGraph& executable, cudaGraphNode_t node) {
  const auto found = std::find_if(executable.nodes.begin(), executable.nodes.end(),
                                  [node](const ExecutableNode& own) { return HandleOf(own.source) == node; });
  Require(node != nullptr && found != executable.nodes.end(), cudaErrorInvalidValue);
  return *found;
}

Node* AddNode(Graph& graph, Work work, std::vector<Node*> dependencies) {
  std::sort(dependencies.begin(), dependencies.end());
  dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
  graph.nodes.push_back(std::make_unique<Node>(Node{&graph, std::move(work), std::move(dependencies), nullptr, {}}));
  return graph.nodes.back().get();
}

void Node::SetEdge(const Node* before, const cudaGraphEdgeData& data) {
  if (!IsPlain(data)) edges[before] = data;
}

bool IsPlain(const cudaGraphEdgeData& edge) {
  return edge.type == cudaGraphDependencyTypeDefault && edge.from_port == 0 && edge.to_port == 0;
}

// Only a kernel may let another start early, once its blocks have triggered that or started. Here none does.
void CheckEdge(const cudaGraphEdgeData& edge, const Work& from, const Work& to) {
  const bool is_early = edge.type == cudaGraphDependencyTypeProgrammatic && edge.to_port == 0 &&
                        (edge.from_port == cudaGraphKernelNodePortProgrammatic ||
                         edge.from_port == cudaGraphKernelNodePortLaunchCompletion);
  const bool of_kernels = std::holds_alternative<KernelWork>(from) && std::holds_alternative<KernelWork>(to);
  Require(IsPlain(edge) || (is_early && of_kernels), cudaErrorInvalidValue);
}

cudaGraphNodeType TypeOf(const Work& work) {
  // In the order of Work's alternatives.
  constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeKernel,     cudaGraphNodeTypeMemcpy,
      cudaGraphNodeTypeMemset,     cudaGraphNodeTypeHost,
      cudaGraphNodeTypeEmpty,      cudaGraphNodeTypeEventRecord,
      cudaGraphNodeTypeWaitEvent,  cudaGraphNodeTypeGraph,
      cudaGraphNodeTypeKernel,     cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree,    static_cast<cudaGraphNodeType>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP),
      cudaGraphNodeTypeConditional};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

std::unique_ptr<ExecutableGraph> MakeExecutable(const Graph& graph) {
  auto executable = std::make_unique<ExecutableGraph>();
  executable->objects = graph.objects;
  std::map<const Node*, size_t> places;
  for (const Node* node : InOrder(graph)) {
    std::vector<size_t> after;
    for (const Node* before : node->dependencies) after.push_back(places.at(before));
    places[node] = executable->nodes.size();
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) child->executable = MakeExecutable(*child->graph);
    if (auto* condition = std::get_if<ConditionWork>(&work)) {
      for (const auto& body : condition->bodies) condition->executables.push_back(MakeExecutable(*body));
    }
    executable->nodes.push_back({node, std::move(work), true, std::move(after)});
  }
  return executable;
}

}  // namespace lockstep::vgpu::cudart
