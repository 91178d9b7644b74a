// Streams.
#include <algorithm>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/launch_attributes.h"
#include "vgpu/cudart/memory.h"

using namespace lockstep::vgpu::cudart;

namespace {

void Create(Runtime& r, cudaStream_t* stream, unsigned flags, int priority) {
  Require(stream != nullptr && (flags == cudaStreamDefault || flags == cudaStreamNonBlocking), cudaErrorInvalidValue);
  // Priorities are clamped to this range.
  constexpr int kMostUrgent = -5, kLeastUrgent = 0;
  *stream = r.timeline().CreateStream(r.device(), flags, std::clamp(priority, kMostUrgent, kLeastUrgent));
}

// The stream, if it is not being captured.
Stream& NotCapturing(Runtime& r, cudaStream_t handle) {
  Stream& stream = r.StreamOf(handle);
  if (stream.point.capture != nullptr) Spoil(stream, cudaErrorStreamCaptureUnsupported);
  return stream;
}

// The stream, if the host may wait for it.
Stream& Awaited(Runtime& r, cudaStream_t handle) {
  Stream& stream = NotCapturing(r, handle);
  RequireSafeInCapture();
  return stream;
}

// Destroys the stream. Work that was enqueued is still done.
void Destroy(Runtime& r, cudaStream_t handle) {
  Stream& stream = r.StreamOf(handle);
  AbandonCapture(r, stream);
  ConcurrentWork::Ids before = r.beside().Before(r, stream);
  if (before.empty()) return r.timeline().DestroyStream(handle);
  r.beside().Put(r, stream, std::move(before), [handle](Runtime& then) { then.timeline().DestroyStream(handle); });
  stream.destroyed = true;
}

void PerformCallback(Runtime& r, cudaStreamCallback_t callback, cudaStream_t handle, Stream& stream, void* data) {
  r.host_calls().Put(r, stream, data, [=] { callback(handle, cudaSuccess, data); });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return Api("cudaStreamCreate", [&](Runtime& r) { Create(r, stream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return Api("cudaStreamCreateWithFlags", [&](Runtime& r) {
    r.RequireAtSight(flags <= cudaStreamNonBlocking, cudaErrorInvalidValue);
    Create(r, stream, flags, 0);
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return Api("cudaStreamCreateWithPriority", [&](Runtime& r) { Create(r, stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return Api("cudaStreamDestroy", Faults::kIgnores, [&](Runtime& r) {
    r.RequireAtSight(stream != nullptr, cudaErrorInvalidResourceHandle);
    Destroy(r, stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return Api("cudaStreamSynchronize", [&](Runtime& r) {
    const Stream& waited = Awaited(r, stream);
    r.beside().WaitFor(r, r.beside().Before(r, waited));
    r.RequireNoFault();
    r.timeline().Synchronize(waited);
    ReleasePools(&waited);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamSynchronize, _ptsz)

// Most work is done when it is submitted. Still, the first queries report "not ready", as on a GPU that has not run it
// yet.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return Api("cudaStreamQuery", [&](Runtime& r) {
    Stream& asked = Awaited(r, stream);
    Require(r.beside().AreDone(r, r.beside().Before(r, asked)), cudaErrorNotReady);
    r.RequireNoFault();
    Require(r.timeline().AskWhetherOver(asked), cudaErrorNotReady);
    r.timeline().Synchronize(asked);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamQuery, _ptsz)

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return Api("cudaStreamWaitEvent", Faults::kIgnores, [&](Runtime& r) {
    const Stream& waiting = r.StreamToUse(stream);
    Require(flags == cudaEventWaitDefault || flags == cudaEventWaitExternal, cudaErrorInvalidValue);
    const Event& awaited = r.timeline().EventOf(event);
    if (waiting.point.capture != nullptr && awaited.IsOfLostCapture()) Spoil(waiting, cudaErrorInvalidValue);
    Require(waiting.point.capture != nullptr || flags != cudaEventWaitExternal,
            awaited.IsOfLostCapture() ? cudaErrorInvalidValue : cudaErrorIllegalState);
    // In a capture, a wait for an event recorded outside it is allowed only if it is requested as a node.
    if (waiting.point.capture != nullptr && awaited.point.capture == nullptr && flags != cudaEventWaitExternal) {
      if (!awaited.recorded && awaited.later == nullptr) return;
      Spoil(waiting, cudaErrorStreamCaptureIsolation);
    }
    Submit(r, WaitWork{event}, stream);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamWaitEvent, _ptsz)

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  return Api("cudaStreamAddCallback", Faults::kIgnores, [&](Runtime& r) {
    Require(callback != nullptr && flags == 0, cudaErrorInvalidValue);
    Stream& in = NotCapturing(r, stream);
    ConcurrentWork::Ids before = r.beside().Before(r, in);
    if (before.empty()) return PerformCallback(r, callback, stream, in, data);
    r.beside().Put(r, in, std::move(before),
                   [=, &in](Runtime& then) { PerformCallback(then, callback, stream, in, data); });
  });
}
LOCKSTEP_PER_THREAD(cudaStreamAddCallback, _ptsz)

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return Api("cudaStreamGetFlags", Faults::kIgnores, [&](Runtime& r) { Set(flags, NotCapturing(r, stream).flags); });
}
LOCKSTEP_PER_THREAD(cudaStreamGetFlags, _ptsz)

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return Api("cudaStreamGetPriority", Faults::kIgnores,
             [&](Runtime& r) { Set(priority, r.StreamOf(stream).priority); });
}
LOCKSTEP_PER_THREAD(cudaStreamGetPriority, _ptsz)

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return Api("cudaStreamGetId", Faults::kIgnores, [&](Runtime& r) { Set(id, NotCapturing(r, stream).id); });
}
LOCKSTEP_PER_THREAD(cudaStreamGetId, _ptsz)

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return Api("cudaStreamGetDevice", Faults::kIgnores, [&](Runtime& r) {
    const Stream& of = NotCapturing(r, stream);
    if (of.context) r.NeedNoContext();
    Set(device, of.device);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamGetDevice, _ptsz)

// The attributes don't affect the model: they are stored to be read back.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  return Api("cudaStreamSetAttribute", Faults::kIgnores, [&](Runtime& r) {
    Require(value != nullptr, cudaErrorInvalidValue);
    Stream& of = r.StreamToUse(stream);
    r.RequireAtSight(CanSet(AttributeOwner::kStream, attribute), cudaErrorInvalidValue);
    CheckAttribute(AttributeOwner::kStream, attribute, *value);
    of.attributes[attribute] = Kept(attribute, *value);
    if (attribute == cudaLaunchAttributePriority) of.priority = of.attributes[attribute].priority;
  });
}
LOCKSTEP_PER_THREAD(cudaStreamSetAttribute, _ptsz)

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  return Api("cudaStreamGetAttribute", Faults::kIgnores, [&](Runtime& r) {
    Require(value != nullptr, cudaErrorInvalidValue);
    Stream& of = r.StreamToUse(stream);
    Require(CanGet(AttributeOwner::kStream, attribute), cudaErrorInvalidValue);
    const auto [found, is_new] = of.attributes.try_emplace(attribute, InitialAttribute(attribute));
    if (is_new && attribute == cudaLaunchAttributePriority) found->second.priority = of.priority;
    WriteAttribute(attribute, found->second, value);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamGetAttribute, _ptsz)

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return Api("cudaStreamCopyAttributes", Faults::kIgnores, [&](Runtime& r) {
    const Stream& source = r.StreamToUse(from);
    r.StreamToUse(to).attributes = source.attributes;
    if (!(to == nullptr || to == cudaStreamLegacy || to == cudaStreamPerThread)) {
      r.StreamOf(to).priority = source.priority;
    }
  });
}
LOCKSTEP_PER_THREAD(cudaStreamCopyAttributes, _ptsz)

// Managed memory is visible everywhere at all times.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes, unsigned flags) {
  return Api("cudaStreamAttachMemAsync", [&](Runtime& r) {
    if (IsLegacy(stream)) r.StreamOf(stream);
    RequireSafeInCapture();
    NotCapturing(r, stream);
    Require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle,
            cudaErrorInvalidValue);
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const auto range = r.managed().find(address);
    Require(range != r.managed().end() && (bytes == 0 || bytes == range->second.bytes), cudaErrorInvalidValue);
    Require(flags != cudaMemAttachSingle || !IsLegacy(stream), cudaErrorInvalidValue);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamAttachMemAsync, _ptsz)

}  // extern "C"
