#include "vgpu/cudart/work.h"

#include <utility>

#include "vgpu/cudart/graph.h"
#include "vgpu/ptx/overloaded.h"

namespace lockstep::vgpu::cudart {

namespace {

// An event is recorded only in streams of its own context. A graph's nodes have theirs, wherever it is launched.
Event& EventFor(Runtime& r, const RecordWork& work, const Stream& stream) {
  Event& event = r.timeline().EventOf(work.event);
  const bool fits = stream.graph != nullptr || event.context == stream.context.value_or(OwnContext());
  Require(event.device == stream.device && fits, cudaErrorInvalidResourceHandle);
  return event;
}

void RecordInCapture(Runtime& r, const RecordWork& work, const Stream& stream) {
  Event& event = EventFor(r, work, stream);
  event.point = stream.point;
  event.of_ended_capture = false;
}

// The stream joins the capture in which the event was recorded; if it is already part of it, it gets dependencies.
void WaitInCapture(const Event& event, Stream& stream) {
  if (stream.point.capture == nullptr) return Join(stream, event.point);
  Require(stream.point.capture->valid, cudaErrorStreamCaptureInvalidated);
  if (stream.point.capture != event.point.capture) {
    event.point.capture->valid = false;
    Spoil(stream, cudaErrorStreamCaptureMerge);
  }
  for (Node* node : event.point.after) stream.point.after.push_back(node);
}

}  // namespace

void Perform(Runtime& r, const Work& work, Stream& stream) {
  std::visit(
      Overloaded{
          [&](const KernelWork& kernel) { PerformKernel(r, kernel, stream); },
          [&](const CopyWork& copy) { PerformCopy(r, copy, stream); },
          [&](const FillWork& fill) { PerformFill(r, fill, stream); },
          [&](const HostWork& host) { r.host_calls().Put(r, stream, host.data, [host] { host.function(host.data); }); },
          [](const EmptyWork&) {},
          [&](const RecordWork& record) { RecordInOrder(r, EventFor(r, record, stream), stream); },
          [&](const WaitWork& wait) { WaitInOrder(r, r.timeline().EventOf(wait.event), stream); },
          [&](const LibraryWork& library) { PerformLibrary(r, library, stream); },
          [&](const ChildWork& child) { PerformNodes(r, *child.executable, stream); },
          [&](const AllocateWork& allocation) { PerformAllocation(r, allocation, stream); },
          [&](const WordsWork& words) { PerformWords(r, words, stream); },
          [&](const ConditionWork& condition) { PerformCondition(r, condition, stream); },
          [&](const FreeWork& freed) { PerformFree(r, freed, stream); },
      },
      work);
}

void RecordInOrder(Runtime& r, Event& event, Stream& stream) {
  event.point = {};
  event.of_ended_capture = false;
  event.later.reset();
  event.operation = 0;
  ConcurrentWork::Ids before = r.beside().Before(r, stream);
  if (before.empty()) return r.timeline().Record(event, stream);
  auto later = std::make_shared<Event>();
  event.later = later;
  event.operation = r.beside().Put(r, stream, std::move(before),
                                   [later, &stream](Runtime& then) { then.timeline().Record(*later, stream); });
}

void WaitInOrder(Runtime& r, const Event& event, Stream& stream) {
  ConcurrentWork::Ids before = r.beside().Before(r, stream);
  if (r.beside().IsPending(event.operation)) before.insert(event.operation);
  if (before.empty()) return r.timeline().Wait(stream, event);
  r.beside().Put(r, stream, std::move(before), [as_now = event, &stream](Runtime& then) {
    then.timeline().Wait(stream, as_now.later != nullptr ? *as_now.later : as_now);
  });
}

namespace {

bool HostWaits(Runtime& r, const Work& work) {
  if (const auto* copy = std::get_if<CopyWork>(&work)) return HostWaits(r, *copy);
  if (const auto* fill = std::get_if<FillWork>(&work)) return HostWaits(r, *fill);
  // The host waits for library work, whose function may refer to the caller's stack.
  return std::holds_alternative<LibraryWork>(work);
}

}  // namespace

void PerformInOrder(Runtime& r, const Work& work, Stream& stream) {
  ConcurrentWork& beside = r.beside();
  if (beside.empty()) return Perform(r, work, stream);
  if (const auto* record = std::get_if<RecordWork>(&work)) {
    return RecordInOrder(r, EventFor(r, *record, stream), stream);
  }
  if (const auto* wait = std::get_if<WaitWork>(&work)) {
    return WaitInOrder(r, r.timeline().EventOf(wait->event), stream);
  }
  // The nodes of graphs are queued individually.
  if (std::holds_alternative<ChildWork>(work) || std::holds_alternative<ConditionWork>(work))
    return Perform(r, work, stream);
  ConcurrentWork::Ids before = beside.Before(r, stream);
  if (!before.empty() && HostWaits(r, work)) {
    beside.WaitFor(r, before);
    r.RequireNoFault();
    before.clear();
  }
  if (before.empty()) return Perform(r, work, stream);
  Work kept = work;
  if (const auto* kernel = std::get_if<KernelWork>(&work)) CheckKernel(r, *kernel);
  if (const auto* copy = std::get_if<CopyWork>(&work)) kept = Staged(r, *copy);
  const uint32_t slot = stream.slot;
  const bool in_graph = stream.in_graph;
  const ExecutableGraph* const graph = stream.graph;
  beside.Put(r, stream, std::move(before), [kept = std::move(kept), &stream, slot, in_graph, graph](Runtime& then) {
    const InLane in_lane(stream, slot, in_graph, graph);
    Perform(then, kept, stream);
  });
}

void Submit(Runtime& r, Work work, cudaStream_t handle) {
  if (const auto* copy = std::get_if<CopyWork>(&work)) {
    if (copy->region.Bytes() == 0) return r.NothingToDo();
    Require(copy->kind >= cudaMemcpyHostToHost && copy->kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  }
  if (const auto* fill = std::get_if<FillWork>(&work); fill != nullptr && fill->region.Bytes() == 0) return;
  // Copies, records and waits may be submitted to another device's stream.
  const bool any_device = std::holds_alternative<WaitWork>(work) || std::holds_alternative<RecordWork>(work) ||
                          std::holds_alternative<CopyWork>(work);
  Stream& stream = any_device ? r.StreamOf(handle) : r.StreamForWork(handle);
  if (const auto* wait = std::get_if<WaitWork>(&work)) {
    const Event& event = r.timeline().EventOf(wait->event);
    if (event.point.capture != nullptr && IsLegacy(handle)) {
      event.point.capture->valid = false;
      throw ApiError{cudaErrorStreamCaptureImplicit};
    }
    Require(!event.IsOfLostCapture(), cudaErrorInvalidValue);
    if (event.point.capture != nullptr) return WaitInCapture(event, stream);
  }
  if (stream.point.capture == nullptr) return PerformInOrder(r, work, stream);
  Require(stream.point.capture->valid, cudaErrorStreamCaptureInvalidated);
  if (const auto* record = std::get_if<RecordWork>(&work)) return RecordInCapture(r, *record, stream);
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    try {
      CheckKernel(r, *kernel);
    } catch (const ApiError& error) {
      Spoil(stream, error.code);
    }
  }
  if (const auto* copy = std::get_if<CopyWork>(&work); copy != nullptr && !CheckCopy(r, *copy)) return;
  if (const auto* fill = std::get_if<FillWork>(&work); fill != nullptr && fill->region.Bytes() == 0) return;
  AddToCapture(stream, std::move(work));
}

}  // namespace lockstep::vgpu::cudart
