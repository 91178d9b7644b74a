// Events, whose times come from the modelled clock.
#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/work.h"

using namespace lockstep::vgpu::cudart;

namespace {

constexpr unsigned kEventFlags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
constexpr double kMicrosecondsInMillisecond = 1000;

void Create(Runtime& r, cudaEvent_t* event, unsigned flags) {
  Require(event != nullptr && (flags & ~kEventFlags) == 0, cudaErrorInvalidValue);
  // An interprocess event has no timing; in this process it works like any other.
  Require((flags & cudaEventInterprocess) == 0 || (flags & cudaEventDisableTiming) != 0, cudaErrorInvalidValue);
  // Turns on the counters that give launches a modelled time. Earlier launches have none, so they count as finished.
  if ((flags & cudaEventDisableTiming) == 0 && CountFromNow()) r.timeline().MoveHostToEnd();
  *event = r.timeline().CreateEvent(r.device(), flags);
}

// The event, if the host may wait for it.
const lockstep::vgpu::cudart::Event& Awaited(Runtime& r, cudaEvent_t event) {
  const auto& awaited = r.timeline().EventOf(event);
  Require(!awaited.IsOfLostCapture(), cudaErrorInvalidValue);
  if (awaited.point.capture != nullptr) {
    awaited.point.capture->valid = false;
    throw ApiError{cudaErrorCapturedEvent};
  }
  RequireSafeInCapture();
  return awaited;
}

const lockstep::vgpu::cudart::Event& Timed(Runtime& r, cudaEvent_t event) {
  const auto& timed = r.timeline().EventOf(event);
  Require(!timed.IsOfLostCapture(), cudaErrorInvalidValue);
  Require(timed.point.capture == nullptr, cudaErrorCapturedEvent);
  Require((timed.recorded || timed.later != nullptr) && (timed.flags & cudaEventDisableTiming) == 0,
          cudaErrorInvalidResourceHandle);
  return timed;
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return Api("cudaEventCreate", [&](Runtime& r) { Create(r, event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return Api("cudaEventCreateWithFlags", [&](Runtime& r) { Create(r, event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return Api("cudaEventDestroy", Faults::kIgnores, [&](Runtime& r) { r.timeline().DestroyEvent(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return Api("cudaEventRecord", Faults::kIgnores, [&](Runtime& r) {
    r.About(event);
    Submit(r, RecordWork{event}, stream);
  });
}
LOCKSTEP_PER_THREAD(cudaEventRecord, _ptsz)

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return Api("cudaEventRecordWithFlags", Faults::kIgnores, [&](Runtime& r) {
    Stream& in = r.StreamToUse(stream);
    r.About(event);
    r.timeline().EventOf(event);
    Require(flags == cudaEventRecordDefault || flags == cudaEventRecordExternal, cudaErrorInvalidValue);
    if (flags == cudaEventRecordExternal) {
      Require(in.point.capture != nullptr, cudaErrorIllegalState);
      return AddToCapture(in, RecordWork{event});
    }
    Submit(r, RecordWork{event}, stream);
  });
}
LOCKSTEP_PER_THREAD(cudaEventRecordWithFlags, _ptsz)

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return Api("cudaEventQuery", [&](Runtime& r) {
    const ConcurrentWork::Ids record = {Awaited(r, event).operation};
    Require(r.beside().AreDone(r, record), cudaErrorNotReady);
    r.RequireNoFault();
    Event& asked = r.timeline().EventOf(event);
    Require(r.timeline().AskWhetherOver(asked), cudaErrorNotReady);
    r.timeline().Synchronize(asked);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return Api("cudaEventSynchronize", [&](Runtime& r) {
    r.beside().WaitFor(r, {Awaited(r, event).operation});
    r.RequireNoFault();
    r.timeline().Synchronize(r.timeline().EventOf(event));
    ReleasePools(r.timeline().EventOf(event).stream);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return Api("cudaEventElapsedTime", [&](Runtime& r) {
    Require(milliseconds != nullptr, cudaErrorInvalidValue);
    r.RequireAtSight(begin != nullptr, cudaErrorInvalidResourceHandle);
    const Event &first = Timed(r, begin), &last = Timed(r, end);
    Require(first.context == last.context, cudaErrorInvalidResourceHandle);
    // On the modelled clock, work lasts until the host has waited for it, as on a GPU, although it is done immediately
    // here.
    for (const Event* timed : {&first, &last}) {
      Require(!r.beside().IsPending(timed->operation) && r.timeline().IsOver(*timed), cudaErrorNotReady);
    }
    r.About(begin, end);
    *milliseconds = static_cast<float>((last.at_us - first.at_us) / kMicrosecondsInMillisecond);
  });
}

}  // extern "C"
