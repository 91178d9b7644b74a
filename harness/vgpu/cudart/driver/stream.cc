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

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return Pass("cuStreamBeginCapture", cudaStreamBeginCapture, stream, mode);
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* data, size_t count, CUstreamCaptureMode mode) {
  return Pass("cuStreamBeginCaptureToGraph", cudaStreamBeginCaptureToGraph, stream, graph, after, data, count, mode);
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return Pass("cuStreamEndCapture", cudaStreamEndCapture, stream, graph);
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return Pass("cuStreamIsCapturing", cudaStreamIsCapturing, stream, status);
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                const CUgraphNode** after, const CUgraphEdgeData** data, size_t* count) {
  return Pass("cuStreamGetCaptureInfo", cudaStreamGetCaptureInfo, stream, status, id, graph, after, data, count);
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* after, const CUgraphEdgeData* data,
                                           size_t count, unsigned flags) {
  return Pass("cuStreamUpdateCaptureDependencies", cudaStreamUpdateCaptureDependencies, stream, after, data, count,
              flags);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return Pass("cuThreadExchangeStreamCaptureMode", cudaThreadExchangeStreamCaptureMode, mode);
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return Pass("cuStreamGetDevice", cudaStreamGetDevice, stream, device);
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return Pass("cuStreamCopyAttributes", cudaStreamCopyAttributes, to, from);
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return Pass("cuStreamGetAttribute", cudaStreamGetAttribute, stream, attribute, value);
}
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue* value) {
  return Pass("cuStreamSetAttribute", cudaStreamSetAttribute, stream, attribute, value);
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t bytes, unsigned flags) {
  return Pass("cuStreamAttachMemAsync", cudaStreamAttachMemAsync, stream, pointer, bytes, flags);
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
