// Capturing streams: their work becomes a graph's nodes.
#include <algorithm>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

void Begin(Runtime& r, cudaStream_t handle, std::shared_ptr<Graph> graph, std::vector<Node*> after) {
  Require(handle != nullptr && handle != cudaStreamLegacy, cudaErrorStreamCaptureUnsupported);
  Stream& stream = r.StreamForWork(handle);
  Require(stream.point.capture == nullptr, cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->graph = std::move(graph);
  capture->origin = &stream;
  capture->id = ++graphs().captures;
  stream.point = {capture, std::move(after)};
}

bool IsMode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

std::vector<Node*> NodesOf(const Graph& graph, const cudaGraphNode_t* handles, size_t count) {
  Require(handles != nullptr || count == 0, cudaErrorInvalidValue);
  std::vector<Node*> nodes;
  for (size_t i = 0; i < count; ++i) {
    Node& node = NodeOf(handles[i]);
    Require(node.graph == &graph, cudaErrorInvalidValue);
    nodes.push_back(&node);
  }
  return nodes;
}

// Each thread's mode, which only decides what a thread may do meanwhile; nothing here depends on it.
cudaStreamCaptureMode& ThreadMode() {
  static thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

cudaGraph_t HandleOf(const std::shared_ptr<Graph>& graph) { return reinterpret_cast<cudaGraph_t>(graph.get()); }

cudaStreamCaptureStatus StatusOf(const Stream& stream) {
  if (stream.point.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.point.capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
}

// Whether all that was captured lies before where the first stream stands: every stream that joined was joined again.
bool AllJoined(const Graph& graph, const std::vector<Node*>& after) {
  std::set<const Node*> before;
  std::vector<const Node*> next(after.begin(), after.end());
  while (!next.empty()) {
    const Node* const node = next.back();
    next.pop_back();
    if (!before.insert(node).second) continue;
    next.insert(next.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return before.size() == graph.nodes.size();
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return Api("cudaStreamBeginCapture", [&](Runtime& r) {
    Require(IsMode(mode), cudaErrorInvalidValue);
    auto graph = std::make_shared<Graph>();
    Begin(r, stream, graph, {});
    graphs().graphs[HandleOf(graph)] = graph;
  });
}
LOCKSTEP_PER_THREAD(cudaStreamBeginCapture, _ptsz)

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, size_t count, cudaStreamCaptureMode mode) {
  return Api("cudaStreamBeginCaptureToGraph", [&](Runtime& r) {
    Require(IsMode(mode), cudaErrorInvalidValue);
    const auto target = GraphOf(graph);
    Begin(r, stream, target, NodesOf(*target, dependencies, count));
  });
}
LOCKSTEP_PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz)

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return Api("cudaStreamEndCapture", [&](Runtime& r) {
    Stream& stream = r.StreamOf(handle);
    Require(graph != nullptr, cudaErrorInvalidValue);
    *graph = nullptr;
    const std::shared_ptr<Capture> capture = stream.point.capture;
    Require(capture != nullptr, cudaErrorIllegalState);
    if (capture->origin != &stream) {
      capture->valid = false;
      throw ApiError{cudaErrorStreamCaptureUnmatched};
    }
    const bool joined = AllJoined(*capture->graph, stream.point.after);
    r.timeline().LeaveCapture(capture.get());
    const cudaGraph_t result = HandleOf(capture->graph);
    if (!capture->valid || !joined) graphs().graphs.erase(result);
    Require(capture->valid, cudaErrorStreamCaptureInvalidated);
    Require(joined, cudaErrorStreamCaptureUnjoined);
    *graph = result;
  });
}
LOCKSTEP_PER_THREAD(cudaStreamEndCapture, _ptsz)

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return Api("cudaStreamIsCapturing", Faults::kIgnores, [&](Runtime& r) {
    Require(status != nullptr, cudaErrorInvalidValue);
    *status = StatusOf(r.StreamOf(stream));
  });
}
LOCKSTEP_PER_THREAD(cudaStreamIsCapturing, _ptsz)

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return Api("cudaStreamGetCaptureInfo", Faults::kIgnores, [&](Runtime& r) {
    Require(status != nullptr, cudaErrorInvalidValue);
    Stream& stream = r.StreamOf(handle);
    *status = StatusOf(stream);
    if (*status != cudaStreamCaptureStatusActive) return;
    if (id != nullptr) *id = stream.point.capture->id;
    if (graph != nullptr) *graph = HandleOf(stream.point.capture->graph);
    // A node's handle is its address.
    if (dependencies != nullptr) *dependencies = reinterpret_cast<const cudaGraphNode_t*>(stream.point.after.data());
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = stream.point.after.size();
  });
}
LOCKSTEP_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t count, unsigned flags) {
  return Api("cudaStreamUpdateCaptureDependencies", Faults::kIgnores, [&](Runtime& r) {
    Stream& stream = r.StreamOf(handle);
    Require(stream.point.capture != nullptr, cudaErrorIllegalState);
    Require(flags == cudaStreamAddCaptureDependencies || flags == cudaStreamSetCaptureDependencies,
            cudaErrorInvalidValue);
    const std::vector<Node*> nodes = NodesOf(*stream.point.capture->graph, dependencies, count);
    if (flags == cudaStreamSetCaptureDependencies) stream.point.after.clear();
    stream.point.after.insert(stream.point.after.end(), nodes.begin(), nodes.end());
  });
}
LOCKSTEP_PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz)

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return Api("cudaThreadExchangeStreamCaptureMode", Faults::kIgnores, [&](Runtime&) {
    Require(mode != nullptr && IsMode(*mode), cudaErrorInvalidValue);
    std::swap(*mode, ThreadMode());
  });
}

}  // extern "C"
