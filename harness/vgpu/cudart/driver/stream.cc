// Streams and events.
#include <initializer_list>

#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart::driver {

cudaError_t Usable(CUstream stream) {
  return Api("cuStreamGetFlags", Faults::kIgnores, [&](Runtime& r) { r.StreamToUse(stream); });
}

namespace {

cudaError_t WriteWords(CUstream stream, CUdeviceptr address, std::initializer_list<uint32_t> words, unsigned flags) {
  return Api("cuStreamWriteValue", Faults::kIgnores, [&](Runtime& r) {
    constexpr unsigned kWord = 4;
    r.StreamToUse(stream);
    Require(address != 0 && address % (kWord * words.size()) == 0 && flags == 0, cudaErrorInvalidValue);
    const auto memory = MemoryAt(r, Pointer(address));
    Require(memory && memory->type != cudaMemoryTypeManaged && memory->pool == nullptr, cudaErrorInvalidValue);
    CUdeviceptr at = address;
    for (const uint32_t word : words) {
      Submit(r, FillWork{Pointer(at), {kWord, kWord}, word, kWord, {kWord, 1, 1}}, stream);
      at += kWord;
    }
  });
}

// What was asked for before is done here, so a value that is not there yet would have to come from the host.
template <typename T>
cudaError_t WaitFor(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  const unsigned condition = flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
  if (address == 0 || address % sizeof(T) != 0 || condition > CU_STREAM_WAIT_VALUE_NOR) return cudaErrorInvalidValue;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status); error != cudaSuccess) return error;
  if (status != cudaStreamCaptureStatusNone) return Missing("a captured stream that waits for a value");
  T now = 0;
  if (const cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess) return error;
  const cudaError_t error = cudaMemcpy(&now, Pointer(address), sizeof now, cudaMemcpyDefault);
  if (error != cudaSuccess) return error;
  const T wanted = static_cast<T>(value);
  const bool there = condition == CU_STREAM_WAIT_VALUE_GEQ
                         ? static_cast<T>(static_cast<uint64_t>(now) - static_cast<uint64_t>(wanted)) >= 0
                     : condition == CU_STREAM_WAIT_VALUE_EQ  ? now == wanted
                     : condition == CU_STREAM_WAIT_VALUE_AND ? (now & wanted) != 0
                                                             : ~(now | wanted) != 0;
  return there ? cudaSuccess : Missing("a stream that waits for a value which nothing has written yet");
}

}  // namespace

}  // namespace lockstep::vgpu::cudart::driver

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
  return DriveHandle("cuStreamDestroy", stream, [&] { return cudaStreamDestroy(stream); });
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
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return Drive("cuStreamGetCtx", [&] {
    return Api("cuStreamGetCtx", Faults::kIgnores, [&](Runtime& r) {
      r.StreamToUse(stream);
      Set(context, reinterpret_cast<CUcontext>(CurrentContext()));
    });
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
  return DriveHandle("cuEventDestroy", event, [&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return Drive("cuEventRecord", [&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return Drive("cuEventRecordWithFlags", [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return DriveHandle("cuEventQuery", event, [&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return DriveHandle("cuEventSynchronize", event, [&] { return cudaEventSynchronize(event); });
}
#undef cuEventElapsedTime
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return Drive("cuEventElapsedTime", [&] {
    if (milliseconds == nullptr) return cudaErrorInvalidResourceHandle;
    return cudaEventElapsedTime(milliseconds, begin, end);
  });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

// ---- Words that a stream writes or waits for ----

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return Drive("cuStreamWriteValue32", [&] { return WriteWords(stream, address, {value}, flags); });
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  constexpr unsigned kBits = 32;
  return Drive("cuStreamWriteValue64", [&] {
    return WriteWords(stream, address, {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> kBits)}, flags);
  });
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return Drive("cuStreamWaitValue32", [&] { return WaitFor<int32_t>(stream, address, value, flags); });
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return Drive("cuStreamWaitValue64", [&] { return WaitFor<int64_t>(stream, address, value, flags); });
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  const CUresult usable = Drive("cuStreamBatchMemOp", [&] { return Usable(stream); });
  if (usable != CUDA_SUCCESS) return usable;
  if (flags != 0 || (count > 0 && operations == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const CUstreamBatchMemOpParams& one = operations[i];
    CUresult result = CUDA_SUCCESS;
    switch (one.operation) {
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        result = cuStreamWriteValue32(stream, one.writeValue.address, one.writeValue.value, one.writeValue.flags);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        result = cuStreamWriteValue64(stream, one.writeValue.address, one.writeValue.value64, one.writeValue.flags);
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        result = cuStreamWaitValue32(stream, one.waitValue.address, one.waitValue.value, one.waitValue.flags);
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        result = cuStreamWaitValue64(stream, one.waitValue.address, one.waitValue.value64, one.waitValue.flags);
        break;
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        result = CUDA_ERROR_NOT_SUPPORTED;  // as of a GPU that nothing writes to from outside
        break;
      case CU_STREAM_MEM_OP_BARRIER:
        break;  // work is done in order
      default:
        result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

}  // extern "C"
