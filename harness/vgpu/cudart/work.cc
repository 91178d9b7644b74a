#include "vgpu/cudart/work.h"

#include <utility>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

// Host functions may wait for other threads of the program, which call CUDA: they run without the lock.
void PerformHost(Runtime& r, const HostWork& work, const Stream& stream) {
  // After a fault the functions of a stream no longer run.
  if (r.faulted()) return;
  r.transfers().BeforeHostFunction(r, r.timeline().Begin(stream).before);
  const Runtime::Unlocked unlocked(r);
  work.function(work.data);
}

void RecordInCapture(Runtime& r, const RecordWork& work, const Stream& stream) {
  Event& event = r.timeline().EventOf(work.event);
  event.point = stream.point;
}

// The stream joins the capture in which the event was recorded, or waits for more of its own.
void WaitInCapture(const Event& event, Stream& stream) {
  if (stream.point.capture == nullptr) {
    stream.point = event.point;
    return;
  }
  Require(stream.point.capture == event.point.capture, cudaErrorStreamCaptureMerge);
  for (Node* node : event.point.after) stream.point.after.push_back(node);
}

}  // namespace

void Perform(Runtime& r, const Work& work, Stream& stream) {
  std::visit(Overloaded{
                 [&](const KernelWork& kernel) { PerformKernel(r, kernel, stream); },
                 [&](const CopyWork& copy) { PerformCopy(r, copy, stream); },
                 [&](const FillWork& fill) { PerformFill(r, fill, stream); },
                 [&](const HostWork& host) { PerformHost(r, host, stream); },
                 [](const EmptyWork&) {},
                 [&](const RecordWork& record) {
                   Event& event = r.timeline().EventOf(record.event);
                   Require(event.device == stream.device, cudaErrorInvalidResourceHandle);
                   event.point = {};
                   r.timeline().Record(event, stream);
                 },
                 [&](const WaitWork& wait) { r.timeline().Wait(stream, r.timeline().EventOf(wait.event)); },
                 [&](const LibraryWork& library) { PerformLibrary(r, library, stream); },
                 [&](const ChildWork& child) { PerformNodes(r, *child.executable, stream); },
             },
             work);
}

void Submit(Runtime& r, Work work, cudaStream_t handle) {
  Stream& stream = std::holds_alternative<WaitWork>(work) || std::holds_alternative<RecordWork>(work)
                       ? r.StreamOf(handle)
                       : r.StreamForWork(handle);
  if (const auto* wait = std::get_if<WaitWork>(&work)) {
    const Event& event = r.timeline().EventOf(wait->event);
    if (event.point.capture != nullptr) return WaitInCapture(event, stream);
  }
  if (stream.point.capture == nullptr) return Perform(r, work, stream);
  if (const auto* record = std::get_if<RecordWork>(&work)) return RecordInCapture(r, *record, stream);
  Node* const node = AddNode(*stream.point.capture->graph, std::move(work), stream.point.after);
  stream.point.after = {node};
}

}  // namespace lockstep::vgpu::cudart
