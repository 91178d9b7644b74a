// Streams and events.
#include "vgpu/cudart/driver/driver.h"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return Drive("cuStreamCreate", [&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return Drive("cuStreamCreateWithPriority", [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return Drive("cuStreamDestroy", [&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return Drive("cuStreamSynchronize", [&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return Drive("cuStreamQuery", [&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return Drive("cuStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return Drive("cuStreamGetFlags", [&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return Drive("cuStreamGetPriority", [&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return Drive("cuStreamGetId", [&] { return cudaStreamGetId(stream, id); });
}
CUresult cuStreamGetCtx(CUstream, CUcontext* context) {
  return Drive("cuStreamGetCtx", [&] {
    if (context == nullptr) return cudaErrorInvalidValue;
    *context = reinterpret_cast<CUcontext>(CurrentContext());
    return cudaSuccess;
  });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
  return Drive("cuStreamAddCallback", [&] {
    // The errors that a callback gets have the same numbers in both APIs.
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags);
  });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return Drive("cuEventCreate", [&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return Drive("cuEventDestroy", [&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return Drive("cuEventRecord", [&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return Drive("cuEventRecordWithFlags", [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return Drive("cuEventQuery", [&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return Drive("cuEventSynchronize", [&] { return cudaEventSynchronize(event); });
}
#undef cuEventElapsedTime
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return Drive("cuEventElapsedTime", [&] { return cudaEventElapsedTime(milliseconds, begin, end); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

}  // extern "C"
