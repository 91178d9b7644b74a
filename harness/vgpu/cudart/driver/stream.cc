// Streams and events.
#include <cstring>

#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart::driver {

cudaError_t Usable(CUstream stream) {
  return Api("cuStreamGetFlags", Faults::kIgnores, [&](Runtime& r) { r.StreamToUse(stream); });
}

namespace {

using Operation = CUstreamBatchMemOpParams;

constexpr unsigned kWord = 4;
bool IsWide(const Operation& one) {
  return one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 || one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}
bool Writes(const Operation& one) {
  return one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}
// An operation that writes a value or waits for one: both structures have the same layout.
Operation Make(CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  Operation one{};
  one.writeValue.operation = type;
  one.writeValue.address = address;
  one.writeValue.value64 = value;
  one.writeValue.flags = flags;
  return one;
}

// in_node: a graph's node, whose memory may also be null, as long as it is not launched, or come from a pool. Of a
// captured node's memory only the alignment is checked.
void Check(Runtime& r, const Operation& one, bool in_node, bool captured) {
  if (one.operation == CU_STREAM_MEM_OP_BARRIER) return;  // work is done in order
  // Not supported by GPUs without remote writers.
  Require(one.operation != CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, cudaErrorNotSupported);
  const CUstreamBatchMemOpType type = one.operation;
  const CUdeviceptr address = one.writeValue.address;
  const unsigned flags = one.writeValue.flags;
  const bool waits = type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  Require(!waits || (flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, cudaErrorNotSupported);
  const unsigned condition = flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
  Require((Writes(one) ? flags == 0 : waits && condition <= CU_STREAM_WAIT_VALUE_NOR) && (address != 0 || in_node) &&
              address % (kWord * (IsWide(one) ? 2 : 1)) == 0,
          cudaErrorInvalidValue);
  if (waits || address == 0 || captured) return;
  const auto memory = MemoryAt(r, Pointer(address));
  Require(memory && memory->type != cudaMemoryTypeManaged && (in_node || memory->pool == nullptr),
          cudaErrorInvalidValue);
}

// Calls body(a fill) for each 32-bit word that the operation writes.
template <typename Body>
void ForFills(const Operation& one, Body body) {
  constexpr unsigned kBits = 32;
  for (unsigned word = 0; word < (IsWide(one) ? 2 : 1); ++word) {
    const auto value = static_cast<unsigned>(one.writeValue.value64 >> (kBits * word));
    body(FillWork{Pointer(one.writeValue.address + kWord * word), {kWord, kWord}, value, kWord, {kWord, 1, 1}});
  }
}

// Whether the word, which is `now`, meets the condition that the operation waits for.
template <typename T>
bool IsThere(const Operation& one, T now) {
  const auto wanted = static_cast<T>(one.waitValue.value64);
  switch (one.waitValue.flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH)) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<T>(static_cast<uint64_t>(now) - static_cast<uint64_t>(wanted)) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & wanted) != 0;
    default:
      return ~(now | wanted) != 0;
  }
}
bool IsThere(const Operation& one, int64_t now) {
  return IsWide(one) ? IsThere<int64_t>(one, now) : IsThere<int32_t>(one, static_cast<int32_t>(now));
}

// The stream's earlier work is done, so a value that is still missing could only come from the host: not supported.
void RequireThere(Runtime& r, const Operation& one) {
  int64_t now = 0;
  const uint64_t address = one.waitValue.address, bytes = IsWide(one) ? 2 * kWord : kWord;
  if (const std::optional<int> device = r.DeviceHolding(address)) {
    Require(r.backend(*device).Read(&now, address, bytes, r.origin()), cudaErrorInvalidValue);
  } else {
    Require(r.IsPinned(Pointer(address)), cudaErrorInvalidValue);
    std::memcpy(&now, Pointer(address), bytes);
  }
  if (!IsThere(one, now)) NotSupported("a stream that waits for a value that nothing has written yet");
}

cudaError_t Do(CUstream stream, const Operation* operations, unsigned count) {
  bool captured = false;
  const cudaError_t error = Api("cuStreamWriteValue", Faults::kIgnores, [&](Runtime& r) {
    Stream& in = r.StreamToUse(stream);
    captured = in.point.capture != nullptr;
    for (unsigned i = 0; i < count; ++i) Check(r, operations[i], captured, captured);
    if (captured && count > 0) AddToCapture(in, WordsWork{{operations, operations + count}});
  });
  for (unsigned i = 0; error == cudaSuccess && !captured && i < count; ++i) {
    const Operation& one = operations[i];
    const bool is_barrier = one.operation == CU_STREAM_MEM_OP_BARRIER;
    if (is_barrier) continue;  // work is done in order
    const cudaError_t done = Api("cuStreamWriteValue", Faults::kIgnores, [&](Runtime& r) {
      if (Writes(one)) return ForFills(one, [&](FillWork fill) { Submit(r, fill, stream); });
      const Stream& waits = r.StreamToUse(stream);
      r.beside().WaitFor(r, r.beside().Before(r, waits));
      r.timeline().Synchronize(waits);
      RequireThere(r, one);
    });
    if (done != cudaSuccess) return done;
  }
  return error;
}
CUresult DoOne(const char* function, CUstream stream, const Operation& one) {
  return Drive(function, NeedsOf(stream), [&] { return Do(stream, &one, 1); });
}

}  // namespace

}  // namespace lockstep::vgpu::cudart::driver

void lockstep::vgpu::cudart::CheckWords(Runtime& r, const WordsWork& work) {
  for (const CUstreamBatchMemOpParams& one : work.operations) driver::Check(r, one, true, false);
}
void lockstep::vgpu::cudart::PerformWords(Runtime& r, const WordsWork& work, Stream& stream) {
  for (const CUstreamBatchMemOpParams& one : work.operations) {
    Require(one.operation == CU_STREAM_MEM_OP_BARRIER || one.writeValue.address != 0, cudaErrorInvalidValue);
  }
  for (const CUstreamBatchMemOpParams& one : work.operations) {
    if (driver::Writes(one)) driver::ForFills(one, [&](const FillWork& fill) { PerformFill(r, fill, stream); });
    if (driver::Writes(one) || one.operation == CU_STREAM_MEM_OP_BARRIER) continue;
    const StreamOperation operation(r, stream, false, {});
    r.transfers().ArriveBefore(r, operation.point().before);  // of words in the host's memory
    driver::RequireThere(r, one);
  }
}

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  if (flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return Drive("cuStreamCreate", [&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  if (flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return Drive("cuStreamCreateWithPriority", [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return DriveHandle("cuStreamDestroy", stream, [&] { return cudaStreamDestroy(stream); });
}
LOCKSTEP_FORWARD1(PassOnStream, cuStreamSynchronize, cudaStreamSynchronize, CUstream)
LOCKSTEP_FORWARD1(PassOnStream, cuStreamQuery, cudaStreamQuery, CUstream)
LOCKSTEP_FORWARD3(PassOnStream, cuStreamWaitEvent, cudaStreamWaitEvent, CUstream, CUevent, unsigned)
LOCKSTEP_FORWARD2(PassOnStream, cuStreamGetFlags, cudaStreamGetFlags, CUstream, unsigned*)
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return Drive("cuStreamGetPriority", NeedsOf(stream), [&] {
    const cudaError_t error = IsMade(stream) ? Usable(stream) : cudaSuccess;
    return error != cudaSuccess ? error : cudaStreamGetPriority(stream, priority);
  });
}
LOCKSTEP_FORWARD2(PassOnStream, cuStreamGetId, cudaStreamGetId, CUstream, unsigned long long*)
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return Drive("cuStreamGetCtx", NeedsOf(stream), [&] {
    return Api("cuStreamGetCtx", Faults::kIgnores, [&](Runtime& r) {
      const Stream& of = r.StreamToUse(stream);
      Set(context, HandleOf(of.context ? *of.context : OwnContext(), of.device));
    });
  });
}
// Green contexts are refused, so no stream belongs to one.
CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* context) {
  CUcontext unused = nullptr;
  return cuStreamGetCtx_v2(stream, &unused, context);
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
  return Drive("cuStreamAddCallback", NeedsOf(stream), [&] {
    // The errors that a callback gets have the same numbers in both APIs.
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags);
  });
}

LOCKSTEP_FORWARD2(Pass, cuStreamBeginCapture, cudaStreamBeginCapture, CUstream, CUstreamCaptureMode)
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* data, size_t count, CUstreamCaptureMode mode) {
  return Pass("cuStreamBeginCaptureToGraph", cudaStreamBeginCaptureToGraph, stream, graph, after, data, count, mode);
}
LOCKSTEP_FORWARD2(Pass, cuStreamEndCapture, cudaStreamEndCapture, CUstream, CUgraph*)
LOCKSTEP_FORWARD2(Pass, cuStreamIsCapturing, cudaStreamIsCapturing, CUstream, CUstreamCaptureStatus*)
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                const CUgraphNode** after, const CUgraphEdgeData** data, size_t* count) {
  return Pass("cuStreamGetCaptureInfo", cudaStreamGetCaptureInfo, stream, status, id, graph, after, data, count);
}
LOCKSTEP_FORWARD5(Pass, cuStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies, CUstream, CUgraphNode*,
                  const CUgraphEdgeData*, size_t, unsigned)
LOCKSTEP_FORWARD1(Pass, cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, CUstreamCaptureMode*)
LOCKSTEP_FORWARD2(PassOnStream, cuStreamGetDevice, cudaStreamGetDevice, CUstream, CUdevice*)
LOCKSTEP_FORWARD2(Pass, cuStreamCopyAttributes, cudaStreamCopyAttributes, CUstream, CUstream)
LOCKSTEP_FORWARD3(Pass, cuStreamGetAttribute, cudaStreamGetAttribute, CUstream, CUstreamAttrID, CUstreamAttrValue*)
LOCKSTEP_FORWARD3(Pass, cuStreamSetAttribute, cudaStreamSetAttribute, CUstream, CUstreamAttrID,
                  const CUstreamAttrValue*)
LOCKSTEP_FORWARD4(Pass, cuStreamAttachMemAsync, cudaStreamAttachMemAsync, CUstream, CUdeviceptr, size_t, unsigned)

LOCKSTEP_FORWARD2(Pass, cuEventCreate, cudaEventCreateWithFlags, CUevent*, unsigned)
CUresult cuEventDestroy(CUevent event) {
  return DriveHandle("cuEventDestroy", event, [&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return Drive("cuEventRecord", NeedsOf(stream), [&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return Drive("cuEventRecordWithFlags", NeedsOf(stream),
               [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return DriveHandle("cuEventQuery", event, [&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return DriveHandle("cuEventSynchronize", event, [&] { return cudaEventSynchronize(event); });
}
#undef cuEventElapsedTime
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return Drive("cuEventElapsedTime", Needs::kInit, [&] {
    if (milliseconds == nullptr) return cudaErrorInvalidResourceHandle;
    return cudaEventElapsedTime(milliseconds, begin, end);
  });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

// ---- Words that a stream writes or waits for ----

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return DoOne("cuStreamWriteValue32", stream, Make(CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags));
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return DoOne("cuStreamWriteValue64", stream, Make(CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags));
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return DoOne("cuStreamWaitValue32", stream, Make(CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags));
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return DoOne("cuStreamWaitValue64", stream, Make(CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags));
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  return Drive("cuStreamBatchMemOp", NeedsOf(stream), [&] {
    if (const cudaError_t error = Usable(stream); error != cudaSuccess) return error;
    if (flags != 0 || (count > 0 && operations == nullptr)) return cudaErrorInvalidValue;
    return Do(stream, operations, count);
  });
}

}  // extern "C"
