// Capturing streams: their work becomes a graph's nodes.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <thread>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

void Begin(Runtime& r, cudaStream_t handle, std::shared_ptr<Graph> graph, std::vector<Node*> after,
           cudaStreamCaptureMode mode) {
  Stream& stream = r.StreamForWork(handle);
  Require(!IsLegacy(handle), cudaErrorStreamCaptureUnsupported);
  Require(stream.point.capture == nullptr, cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->graph = std::move(graph);
  capture->origin = &stream;
  capture->id = ++graphs().captures;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  graphs().active.insert(capture);
  Join(stream, {capture, std::move(after)});
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

// Each thread's capture mode, which restricts its calls while streams are captured.
cudaStreamCaptureMode& ThreadMode() {
  static thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

cudaGraph_t HandleOf(const std::shared_ptr<Graph>& graph) { return reinterpret_cast<cudaGraph_t>(graph.get()); }

// The legacy stream can't be queried while a stream that synchronises with it is captured; captures stay valid.
Stream& Asked(Runtime& r, cudaStream_t handle) {
  Require(!IsLegacy(handle) || SpoilByLegacyStream(false) == cudaSuccess, cudaErrorStreamCaptureImplicit);
  return r.timeline().StreamOf(r.device(), handle);
}

cudaStreamCaptureStatus StatusOf(const Stream& stream) {
  if (stream.point.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.point.capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
}

// Functions allowed only in relaxed captures, whatever their arguments: they may wait for the device, or allocate or
// free memory that captured work needs.
constexpr std::string_view kUnsafe[] = {"cudaCreateSurfaceObject",
                                        "cudaCreateTextureObject",
                                        "cudaDeviceSetCacheConfig",
                                        "cudaDeviceSetLimit",
                                        "cudaDeviceSetMemPool",
                                        "cudaFree",
                                        "cudaFreeHost",
                                        "cudaGraphExecDestroy",
                                        "cudaGraphInstantiate",
                                        "cudaGraphInstantiateWithFlags",
                                        "cudaGraphInstantiateWithParams",
                                        "cudaHostAlloc",
                                        "cudaHostRegister",
                                        "cudaHostUnregister",
                                        "cudaMallocHost",
                                        "cudaMallocManaged",
                                        "cudaMallocPitch",
                                        "cudaMalloc3D",
                                        "cudaMalloc3DArray",
                                        "cudaMallocArray",
                                        "cudaMemAdvise",
                                        "cudaMemPoolCreate",
                                        "cudaMemPoolDestroy",
                                        "cudaMemPoolGetAccess",
                                        "cudaMemPoolGetAttribute",
                                        "cudaMemPoolSetAccess",
                                        "cudaMemPoolSetAttribute",
                                        "cudaMemPoolTrimTo",
                                        "cuCtxRecordEvent",
                                        "cuCtxWaitEvent",
                                        "cudaLibraryUnload",
                                        "cuModuleUnload",
                                        "cuPointerSetAttribute",
                                        "cudaProfilerStart",
                                        "cudaProfilerStop"};
// Unsafe functions that check their arguments first, then call RequireSafeInCapture themselves.
constexpr std::string_view kLooksFirst[] = {"cudaGraphInstantiate", "cudaMalloc3DArray", "cudaMallocArray",
                                            "cudaMallocPitch"};
// Functions not even allowed in a relaxed capture.
constexpr std::string_view kNever[] = {"cudaDeviceSynchronize"};

// Whether the capture forbids unsafe calls in this thread.
bool Forbids(const Capture& capture) {
  if (ThreadMode() == cudaStreamCaptureModeRelaxed || capture.mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return ThreadMode() == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

// Whether the condition holds for any active capture. `spoils`: invalidates the captures for which it does.
template <typename Condition>
bool SpoilIf(bool spoils, Condition condition) {
  bool any = false;
  for (const auto& capture : graphs().active) {
    if (!condition(*capture)) continue;
    any = true;
    if (spoils) capture->valid = false;
  }
  return any;
}

// Whether all nodes captured in other streams precede the first stream's position: each stream was joined back.
bool AllJoined(const Capture& capture, const std::vector<Node*>& after) {
  std::set<const Node*> before;
  std::vector<const Node*> next(after.begin(), after.end());
  while (!next.empty()) {
    const Node* const node = next.back();
    next.pop_back();
    if (!before.insert(node).second) continue;
    next.insert(next.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::all_of(capture.aside.begin(), capture.aside.end(),
                     [&](const Node* node) { return before.count(node) != 0; });
}

}  // namespace

cudaError_t SpoilByUnsafeCall() { return SpoilIf(true, Forbids) ? cudaErrorStreamCaptureUnsupported : cudaSuccess; }

cudaError_t SpoilByCallOf(std::string_view function) {
  if (graphs().active.empty()) return cudaSuccess;
  const auto is = [&](std::string_view name) { return name == function; };
  if (CalledAs() == nullptr && std::any_of(std::begin(kLooksFirst), std::end(kLooksFirst), is)) return cudaSuccess;
  if (std::any_of(std::begin(kUnsafe), std::end(kUnsafe), is)) return SpoilByUnsafeCall();
  if (std::none_of(std::begin(kNever), std::end(kNever), is)) return cudaSuccess;
  return SpoilIf(true, [](const Capture&) { return true; }) ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t SpoilByLegacyStream(bool spoils) {
  const bool any = SpoilIf(spoils, [](const Capture& capture) { return capture.blocking; });
  return any ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

Stream& Runtime::StreamToUse(cudaStream_t handle) {
  Stream& stream = StreamOf(handle);
  Require(stream.point.capture == nullptr || stream.point.capture->valid, cudaErrorStreamCaptureInvalidated);
  return stream;
}

void Spoil(const Stream& stream, cudaError_t error) {
  if (stream.point.capture != nullptr) stream.point.capture->valid = false;
  throw ApiError{error};
}

void AbandonCapture(Runtime& r, const Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.point.capture;
  if (capture == nullptr || capture->origin != &stream) return;
  r.timeline().LeaveCapture(capture.get());
  graphs().active.erase(capture);
  graphs().graphs.erase(HandleOf(capture->graph));
}

void AddToCapture(Stream& stream, Work work) {
  Require(stream.point.capture->valid, cudaErrorStreamCaptureInvalidated);
  Capture& capture = *stream.point.capture;
  const auto* const kernel = std::get_if<KernelWork>(&work);
  const std::vector<Node*>& after = stream.point.after;
  const bool early =
      kernel != nullptr && kernel->early && after.size() == 1 && std::holds_alternative<KernelWork>(after[0]->work);
  Node* const node = AddNode(*capture.graph, std::move(work), after);
  if (early) node->SetEdge(after[0], {cudaGraphKernelNodePortProgrammatic, 0, cudaGraphDependencyTypeProgrammatic, {}});
  if (capture.origin != &stream) capture.aside.push_back(node);
  stream.point.after = {node};
}

bool Event::IsOfLostCapture() const { return of_ended_capture || (point.capture != nullptr && !point.capture->valid); }

void Join(Stream& stream, const CapturePoint& point) {
  stream.point = point;
  if ((stream.flags & cudaStreamNonBlocking) == 0) point.capture->blocking = true;
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return Api("cudaStreamBeginCapture", [&](Runtime& r) {
    Require(IsMode(mode), cudaErrorInvalidValue);
    r.RequireContext();
    auto graph = std::make_shared<Graph>();
    Begin(r, stream, graph, {}, mode);
    graphs().graphs[HandleOf(graph)] = graph;
  });
}
LOCKSTEP_PER_THREAD(cudaStreamBeginCapture, _ptsz)

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, size_t count, cudaStreamCaptureMode mode) {
  return Api("cudaStreamBeginCaptureToGraph", [&](Runtime& r) {
    r.StreamForWork(stream);
    Require(!IsLegacy(stream), cudaErrorStreamCaptureUnsupported);
    Require(IsMode(mode), cudaErrorInvalidValue);
    const auto target = GraphOf(graph);
    // Only one stream at a time can be captured into a graph.
    for (const auto& other : graphs().active) Require(other->graph != target, cudaErrorIllegalState);
    Begin(r, stream, target, NodesOf(*target, dependencies, count), mode);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz)

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  if (graph != nullptr) *graph = nullptr;
  return Api("cudaStreamEndCapture", [&](Runtime& r) {
    Stream& stream = r.StreamOf(handle);
    const std::shared_ptr<Capture> capture = stream.point.capture;
    Require(capture != nullptr, cudaErrorIllegalState);
    if (capture->origin != &stream) {
      capture->valid = false;
      throw ApiError{cudaErrorStreamCaptureUnmatched};
    }
    const bool joined = AllJoined(*capture, stream.point.after);
    r.timeline().LeaveCapture(capture.get());
    graphs().active.erase(capture);
    const cudaGraph_t result = HandleOf(capture->graph);
    const bool of_other_thread =
        capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id();
    if (!capture->valid || !joined || of_other_thread || graph == nullptr) graphs().graphs.erase(result);
    Require(capture->valid, cudaErrorStreamCaptureInvalidated);
    Require(joined, cudaErrorStreamCaptureUnjoined);
    Require(!of_other_thread, cudaErrorStreamCaptureWrongThread);
    if (graph != nullptr) *graph = result;
  });
}
LOCKSTEP_PER_THREAD(cudaStreamEndCapture, _ptsz)

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return Api("cudaStreamIsCapturing", Faults::kIgnores, [&](Runtime& r) {
    Require(status != nullptr, cudaErrorInvalidValue);
    *status = StatusOf(Asked(r, stream));
  });
}
LOCKSTEP_PER_THREAD(cudaStreamIsCapturing, _ptsz)

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return Api("cudaStreamGetCaptureInfo", Faults::kIgnores, [&](Runtime& r) {
    Require(status != nullptr, cudaErrorInvalidValue);
    Stream& stream = Asked(r, handle);
    *status = StatusOf(stream);
    if (*status != cudaStreamCaptureStatusActive) return;
    if (id != nullptr) *id = stream.point.capture->id;
    if (graph != nullptr) *graph = HandleOf(stream.point.capture->graph);
    // A node's handle is its address.
    if (dependencies != nullptr) *dependencies = reinterpret_cast<const cudaGraphNode_t*>(stream.point.after.data());
    thread_local std::vector<cudaGraphEdgeData> plain;
    plain.resize(stream.point.after.size());
    if (edges != nullptr) *edges = plain.data();
    if (count != nullptr) *count = stream.point.after.size();
  });
}
LOCKSTEP_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t count, unsigned flags) {
  return Api("cudaStreamUpdateCaptureDependencies", Faults::kIgnores, [&](Runtime& r) {
    Stream& stream = r.StreamToUse(handle);
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
  return Api("cudaThreadExchangeStreamCaptureMode", Faults::kNone, [&](Runtime&) {
    Require(mode != nullptr, cudaErrorInvalidValue);
    std::swap(*mode, ThreadMode());
  });
}

}  // extern "C"
