// Conditional nodes: a value decides whether, how often or which of a node's graphs runs. A graph launch sets it first
// if requested, and kernels may set it (cudaGraphSetConditional).
#include <algorithm>
#include <mutex>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

struct Condition {
  std::weak_ptr<const Graph> graph;
  unsigned value = 0, first = 0;
  bool starts = false;  // each launch resets it to `first`
  bool used = false;    // by a node; at most one
};
struct Conditions {
  std::mutex mutex;  // not the runtime's, which threads that run kernels can't take
  std::map<cudaGraphConditionalHandle, Condition> all;
};
Conditions& Known() {
  static Conditions* const conditions = new Conditions;
  return *conditions;
}

}  // namespace

ConditionWork MakeCondition(const std::shared_ptr<Graph>& graph, cudaConditionalNodeParams& params) {
  const std::lock_guard lock(Known().mutex);
  const auto found = Known().all.find(params.handle);
  Require(found != Known().all.end() && !found->second.used, cudaErrorInvalidValue);
  const std::shared_ptr<const Graph> of = found->second.graph.lock();
  std::shared_ptr<const Graph> within = graph;
  while (within != nullptr && within != of) within = within->around;
  Require(within != nullptr, cudaErrorInvalidValue);
  const bool is_if = params.type == cudaGraphCondTypeIf, is_while = params.type == cudaGraphCondTypeWhile;
  Require((is_if || is_while || params.type == cudaGraphCondTypeSwitch) && params.size > 0 &&
              params.size <= (is_if      ? 2
                              : is_while ? 1
                                         : kMostBodies),
          cudaErrorInvalidValue);
  found->second.used = true;
  ConditionWork work{params.handle, params.type, {}, std::make_shared<std::vector<cudaGraph_t>>()};
  for (unsigned k = 0; k < params.size; ++k) {
    work.bodies.push_back(std::make_shared<Graph>());
    work.bodies.back()->around = graph;
    work.handles->push_back(reinterpret_cast<cudaGraph_t>(work.bodies.back().get()));
    graphs().graphs[work.handles->back()] = work.bodies.back();
  }
  params.phGraph_out = work.handles->data();
  return work;
}

bool HasConditions(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const auto& node) { return std::holds_alternative<ConditionWork>(node->work); });
}
bool HasUnusedCondition(const std::shared_ptr<const Graph>& graph) {
  const std::lock_guard lock(Known().mutex);
  return std::any_of(Known().all.begin(), Known().all.end(), [&](const auto& one) {
    return !one.second.used && !one.second.graph.owner_before(graph) && !graph.owner_before(one.second.graph);
  });
}
bool DeviceCanStart(Runtime& r, const Work& work) {
  const cudaGraphNodeType type = TypeOf(work);
  const auto* const copy = std::get_if<CopyWork>(&work);
  if (copy == nullptr)
    return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeGraph;
  const auto fits = [&](const void* end, bool is_host) {
    const auto address = reinterpret_cast<uint64_t>(end);
    return r.IsPinned(end) || (r.DeviceHolding(address).has_value() && !(is_host && r.IsManaged(address)));
  };
  const bool to_host = copy->kind == cudaMemcpyDeviceToHost || copy->kind == cudaMemcpyHostToHost;
  const bool from_host = copy->kind == cudaMemcpyHostToDevice || copy->kind == cudaMemcpyHostToHost;
  return !copy->of_arrays && fits(copy->to, to_host) && fits(copy->from, from_host);
}
void CheckConditions(Runtime& r, const ExecutableGraph& executable) {
  for (const ExecutableNode& node : executable.nodes) {
    const auto* const work = std::get_if<ConditionWork>(&node.work);
    if (work == nullptr) continue;
    for (const auto& body : work->executables) {
      for (const ExecutableNode& inner : body->nodes) {
        const cudaGraphNodeType type = TypeOf(inner.work);
        Require(DeviceCanStart(r, inner.work) || type == cudaGraphNodeTypeEmpty || type == cudaGraphNodeTypeConditional,
                cudaErrorInvalidValue);
      }
      CheckConditions(r, *body);
    }
  }
}

bool SetCondition(cudaGraphConditionalHandle handle, unsigned value) {
  const std::lock_guard lock(Known().mutex);
  const auto found = Known().all.find(handle);
  if (found == Known().all.end()) return false;
  found->second.value = value;
  return true;
}

void StartConditions(Runtime& r, const ExecutableGraph& executable, Stream& stream) {
  for (const ExecutableNode& node : executable.nodes) {
    const auto* const work = std::get_if<ConditionWork>(&node.work);
    if (work == nullptr) continue;
    r.beside().WaitFor(r, r.beside().Before(r, stream));  // the last launch's kernels may still set it
    {
      const std::lock_guard lock(Known().mutex);
      Condition& condition = Known().all.at(work->handle);
      if (condition.starts) condition.value = condition.first;
    }
    for (const auto& body : work->executables) StartConditions(r, *body, stream);
  }
}

void PerformCondition(Runtime& r, const ConditionWork& work, Stream& stream) {
  constexpr int kMostTurns = 1 << 20;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    r.beside().WaitFor(r, r.beside().Before(r, stream));
    r.RequireNoFault();
    unsigned value = 0;
    {
      const std::lock_guard lock(Known().mutex);
      value = Known().all.at(work.handle).value;
    }
    const size_t body = work.type == cudaGraphCondTypeSwitch ? value : value != 0 ? 0 : 1;
    if (body >= work.executables.size()) return;
    PerformNodes(r, *work.executables[body], stream);
    if (work.type != cudaGraphCondTypeWhile) return;
  }
  NotSupported("a conditional node that runs its graph more than " + std::to_string(kMostTurns) + " times");
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph, unsigned first,
                                             unsigned flags) {
  return Api("cudaGraphConditionalHandleCreate", [&](Runtime&) {
    Require(handle != nullptr && flags <= cudaGraphCondAssignDefault, cudaErrorInvalidValue);
    const std::shared_ptr<const Graph> of = GraphOf(graph);
    const std::lock_guard lock(Known().mutex);
    *handle = Known().all.size() + 1;
    Known().all[*handle] = {of, first, first, flags != 0};
  });
}

}  // extern "C"
