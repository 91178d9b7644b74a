// Streams.
#include "vgpu/cudart/runtime.h"

using namespace lockstep::vgpu::cudart;

namespace {

void Create(Runtime& r, cudaStream_t* stream, unsigned flags, int priority) {
  Require(stream != nullptr && (flags == cudaStreamDefault || flags == cudaStreamNonBlocking), cudaErrorInvalidValue);
  *stream = r.timeline().CreateStream(flags, priority);
}

template <typename T>
void Set(T* to, T value) {
  Require(to != nullptr, cudaErrorInvalidValue);
  *to = value;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return Api("cudaStreamCreate", [&](Runtime& r) { Create(r, stream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return Api("cudaStreamCreateWithFlags", [&](Runtime& r) { Create(r, stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return Api("cudaStreamCreateWithPriority", [&](Runtime& r) { Create(r, stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return Api("cudaStreamDestroy", Faults::kIgnores, [&](Runtime& r) { r.timeline().DestroyStream(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return Api("cudaStreamSynchronize", [&](Runtime& r) { r.timeline().Synchronize(stream); });
}
LOCKSTEP_PER_THREAD(cudaStreamSynchronize, _ptsz)

// All work is done when it is asked for.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return Api("cudaStreamQuery", [&](Runtime& r) { r.timeline().StreamOf(stream); });
}
LOCKSTEP_PER_THREAD(cudaStreamQuery, _ptsz)

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return Api("cudaStreamWaitEvent", Faults::kIgnores, [&](Runtime& r) {
    Require(flags == cudaEventWaitDefault || flags == cudaEventWaitExternal, cudaErrorInvalidValue);
    r.timeline().Wait(stream, event);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamWaitEvent, _ptsz)

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  return Api("cudaStreamAddCallback", Faults::kIgnores, [&](Runtime& r) {
    Require(callback != nullptr && flags == 0, cudaErrorInvalidValue);
    r.timeline().StreamOf(stream);
    callback(stream, cudaSuccess, data);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamAddCallback, _ptsz)

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return Api("cudaStreamGetFlags", Faults::kIgnores,
             [&](Runtime& r) { Set(flags, r.timeline().StreamOf(stream).flags); });
}
LOCKSTEP_PER_THREAD(cudaStreamGetFlags, _ptsz)

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return Api("cudaStreamGetPriority", Faults::kIgnores,
             [&](Runtime& r) { Set(priority, r.timeline().StreamOf(stream).priority); });
}
LOCKSTEP_PER_THREAD(cudaStreamGetPriority, _ptsz)

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return Api("cudaStreamGetId", Faults::kIgnores, [&](Runtime& r) { Set(id, r.timeline().StreamOf(stream).id); });
}
LOCKSTEP_PER_THREAD(cudaStreamGetId, _ptsz)

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return Api("cudaStreamGetDevice", Faults::kIgnores, [&](Runtime& r) {
    r.timeline().StreamOf(stream);
    Set(device, 0);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamGetDevice, _ptsz)

// Libraries ask before they synchronise. Capture can't begin (cudaStreamBeginCapture is absent), so it never runs.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return Api("cudaStreamIsCapturing", Faults::kIgnores, [&](Runtime& r) {
    r.timeline().StreamOf(stream);
    Set(status, cudaStreamCaptureStatusNone);
  });
}
LOCKSTEP_PER_THREAD(cudaStreamIsCapturing, _ptsz)

}  // extern "C"
