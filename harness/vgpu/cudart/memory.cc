// Device memory: allocation, copies, fills.
#include "vgpu/cudart/memory.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

// Addresses returned by cudaMalloc and the like, with the context that was current.
std::map<uint64_t, const void*>& OfMalloc() {
  static auto* const bases = new std::map<uint64_t, const void*>;
  return *bases;
}

}  // namespace

std::optional<const void*> ContextOfMalloc(uint64_t base) {
  const auto found = OfMalloc().find(base);
  return found == OfMalloc().end() ? std::nullopt : std::optional(found->second);
}
void ForgetAllocations() { OfMalloc().clear(); }
void EndAllocations(Runtime& r, const void* context) {
  const auto all = OfMalloc();
  for (const auto& [base, of] : all) {
    if (of == context) r.backend(r.DeviceHolding(base).value_or(r.device())).NoteLeak(base);
    if (of == context) Free(r, reinterpret_cast<void*>(base));
  }
}

void Allocate(Runtime& r, void** pointer, uint64_t bytes) {
  Require(pointer != nullptr, cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return;
  const uint64_t address = r.backend().Allocate(bytes, r.OriginWithCallSite());
  Require(address != 0, cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void*>(address);
}

void Free(Runtime& r, void* pointer) {
  if (pointer == nullptr) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Require(r.host_ranges().count(address) == 0, cudaErrorInvalidValue);
  if (FreeGraphMemory(r, pointer) || FreeOnHost(r, pointer)) return;
  Require(r.backend(r.DeviceHolding(address).value_or(r.device())).Free(address, r.origin()), cudaErrorInvalidValue);
  r.managed().erase(address);
  OfMalloc().erase(address);
  ForgetNotes(address);
  ForgetPooled(pointer);
}

void AddManaged(Runtime& r, void* pointer, uint64_t bytes) {
  // Host writes are invisible to checkers, so none of it counts as uninitialised.
  r.backend().Fill(reinterpret_cast<uintptr_t>(pointer), 0, bytes, r.origin());
  r.managed()[reinterpret_cast<uintptr_t>(pointer)] = {bytes, r.device()};
}

namespace {

constexpr uint64_t kPitchAlignment = 512;

// cudaMalloc and cudaFree are ordered after earlier and before later work of streams, as documented.
void AllocateBetween(Runtime& r, void** pointer, uint64_t bytes) {
  if (pointer != nullptr && bytes > 0) RequireSafeInCapture();
  Allocate(r, pointer, bytes);
  if (*pointer != nullptr) OfMalloc()[reinterpret_cast<uintptr_t>(*pointer)] = OwnContext();
  r.timeline().clocks().Fence(r.device());
}

void AllocatePitched(Runtime& r, void** pointer, size_t* pitch, uint64_t width, uint64_t rows) {
  Require(pitch != nullptr && width <= SIZE_MAX - kPitchAlignment, cudaErrorInvalidValue);
  if (rows == 0) width = 0;
  *pitch = 0;
  if (width > 0 && CalledAs() == nullptr) RequireSafeInCapture();
  if (width > 0) r.RequireContext();
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  uint64_t bytes = 0;
  Require(!__builtin_mul_overflow(*pitch, rows, &bytes), cudaErrorMemoryAllocation);
  if (bytes == 0) r.NothingToDo();
  AllocateBetween(r, pointer, bytes);
}

// A synchronous fill: it behaves like an asynchronous one, unless the host can access the memory.
void FillNow(Runtime& r, FillWork work) {
  work.waits = true;
  if (work.region.Bytes() == 0) return r.NothingToDo();
  Submit(r, work, nullptr);
}

FillWork Linear(void* to, int value, size_t bytes) {
  return {to, {bytes, bytes}, static_cast<unsigned>(value), 1, {bytes, 1, 1}};
}
FillWork Rows(void* to, size_t pitch, int value, size_t width, size_t height) {
  return {to, {pitch, pitch * height}, static_cast<unsigned>(value), 1, {width, height, 1}};
}
FillWork Box(const cudaPitchedPtr& to, int value, const cudaExtent& extent) {
  return {to.ptr,
          {to.pitch, to.pitch * to.ysize},
          static_cast<unsigned>(value),
          1,
          {extent.width, extent.height, extent.depth},
          false,
          true};
}
CopyWork CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                  cudaMemcpyKind kind) {
  return {to, {to_pitch, to_pitch * height}, from, {from_pitch, from_pitch * height}, {width, height, 1}, kind};
}

// A copy between devices. The devices' ordinals must be those of the pointers.
CopyWork CopyPeer(Runtime& r, void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (bytes == 0) return {};
  r.RequireDevice(to_device);
  r.RequireDevice(from_device);
  for (const auto& [pointer, device] : {std::pair<const void*, int>{to, to_device}, {from, from_device}}) {
    Require(r.DeviceHolding(reinterpret_cast<uintptr_t>(pointer)) == device, cudaErrorInvalidValue);
  }
  return MakeCopy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

// A copy between devices that comes after all work of both, except in non-blocking streams, and before what follows.
void SubmitBetween(Runtime& r, const CopyWork& copy, int to_device, int from_device) {
  const auto order = [&](int first, int second) {
    if (first == second || copy.region.Bytes() == 0) return;
    Event done;
    RecordInOrder(r, done, r.timeline().StreamOf(first, cudaStreamLegacy));
    WaitInOrder(r, done, r.timeline().StreamOf(second, cudaStreamLegacy));
  };
  for (const int device : {to_device, from_device}) order(device, r.device());
  Submit(r, copy, nullptr);
  for (const int device : {to_device, from_device}) order(r.device(), device);
}

CopyWork CopyPeer3D(Runtime& r, const cudaMemcpy3DPeerParms* parms) {
  Require(parms != nullptr, cudaErrorInvalidValue);
  for (const int device : {parms->srcDevice, parms->dstDevice}) {
    Require(device >= 0 && device < r.device_count(), cudaErrorInvalidDevice);
  }
  cudaMemcpy3DParms plain = {};
  plain.srcArray = parms->srcArray;
  plain.srcPos = parms->srcPos;
  plain.srcPtr = parms->srcPtr;
  plain.dstArray = parms->dstArray;
  plain.dstPos = parms->dstPos;
  plain.dstPtr = parms->dstPtr;
  plain.extent = parms->extent;
  plain.kind = cudaMemcpyDeviceToDevice;
  return MakeCopy3D(&plain);
}

// One copy of a batch. Row lengths and layer heights are in elements: an array's, or bytes if neither end is an array.
CopyWork CopyOfBatch(const cudaMemcpy3DBatchOp& asked) {
  const auto is_order = [&](int order) {
    return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny;
  };
  const cudaExtent& extent = asked.extent;
  Require(is_order(asked.srcAccessOrder) && asked.flags <= cudaMemcpyFlagPreferOverlapWithCompute && extent.width > 0 &&
              extent.height > 0 && extent.depth > 0,
          cudaErrorInvalidValue);
  size_t element = 1;
  for (const cudaMemcpy3DOperand* end : {&asked.src, &asked.dst}) {
    const bool is_array = end->type == cudaMemcpyOperandTypeArray;
    Require(is_array || (end->type == cudaMemcpyOperandTypePointer && end->op.ptr.ptr != nullptr),
            cudaErrorInvalidValue);
    if (!is_array) continue;
    cudaChannelFormatDesc of{};
    Require(cudaGetChannelDesc(&of, end->op.array.array) == cudaSuccess, cudaErrorInvalidValue);
    element = static_cast<size_t>(of.x + of.y + of.z + of.w) / CHAR_BIT;
  }
  cudaMemcpy3DParms plain = {};
  plain.extent = extent;
  plain.kind = cudaMemcpyDefault;
  const auto place = [&](const cudaMemcpy3DOperand& end, cudaArray_t* array, cudaPos* at, cudaPitchedPtr* memory) {
    if (end.type == cudaMemcpyOperandTypeArray) {
      *array = end.op.array.array;
      *at = {end.op.array.offset.x, end.op.array.offset.y, end.op.array.offset.z};
      return;
    }
    const auto& [base, row, layer, hint] = end.op.ptr;
    Require((row == 0 || row >= extent.width) && (layer == 0 || layer >= extent.height), cudaErrorInvalidValue);
    const size_t width = (row != 0 ? row : extent.width) * element;
    *memory = {base, width, width, layer != 0 ? layer : extent.height};
  };
  place(asked.src, &plain.srcArray, &plain.srcPos, &plain.srcPtr);
  place(asked.dst, &plain.dstArray, &plain.dstPos, &plain.dstPtr);
  return MakeCopy3D(&plain);
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return Api("cudaMalloc", bytes == 0 ? Faults::kNone : Faults::kReports,
             [&](Runtime& r) { AllocateBetween(r, pointer, bytes); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return Api("cudaMallocPitch", [&](Runtime& r) { AllocatePitched(r, pointer, pitch, width, height); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return Api("cudaMalloc3D", [&](Runtime& r) {
    Require(pitched != nullptr, cudaErrorInvalidValue);
    uint64_t rows = 0;
    Require(!__builtin_mul_overflow(extent.height, extent.depth, &rows), cudaErrorMemoryAllocation);
    *pitched = {nullptr, 0, extent.width, extent.height};
    AllocatePitched(r, &pitched->ptr, &pitched->pitch, extent.width, rows);
  });
}

// Managed memory is device memory if the device is in this process.
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return Api("cudaMallocManaged", bytes == 0 ? Faults::kNone : Faults::kReports, [&](Runtime& r) {
    Require(pointer != nullptr, cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0) return;
    Require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost, cudaErrorInvalidValue);
    if (!r.backend().HostSeesDeviceMemory()) NotSupported("managed memory in submissions");
    AllocateBetween(r, pointer, bytes);
    if (*pointer != nullptr) AddManaged(r, *pointer, bytes);
  });
}

cudaError_t cudaFree(void* pointer) {
  return Api("cudaFree", [&](Runtime& r) {
    r.WaitForDevice(r.backend().FreeShowsResults());
    Free(r, pointer);
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return Api("cudaMemGetInfo", [&](Runtime& r) {
    size_t unused = 0;
    if (free == nullptr) free = &unused;
    if (total == nullptr) total = &unused;
    *total = static_cast<size_t>(r.profile().memory_bytes);
    *free = std::min<size_t>(*total, r.backend().FreeBytes());
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Api("cudaMemcpy", bytes == 0 ? Faults::kNone : Faults::kReports,
             [&](Runtime& r) { CopyNow(r, MakeCopy(to, from, bytes, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy, _ptds)

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyAsync", [&](Runtime& r) { Submit(r, MakeCopy(to, from, bytes, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyAsync, _ptsz)

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return Api("cudaMemcpyPeer", [&](Runtime& r) {
    SubmitBetween(r, CopyPeer(r, to, to_device, from, from_device, bytes), to_device, from_device);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  return Api("cudaMemcpyPeerAsync", [&](Runtime& r) {
    const Stream& in = r.StreamOf(stream);
    if (in.point.capture != nullptr) Spoil(in, cudaErrorStreamCaptureUnsupported);
    Submit(r, CopyPeer(r, to, to_device, from, from_device, bytes), stream);
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parms) {
  return Api("cudaMemcpy3DPeer", [&](Runtime& r) {
    const CopyWork copy = CopyPeer3D(r, parms);
    SubmitBetween(r, copy, parms->dstDevice, parms->srcDevice);
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy3DPeer, _ptds)

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parms, cudaStream_t stream) {
  return Api("cudaMemcpy3DPeerAsync", [&](Runtime& r) { Submit(r, CopyPeer3D(r, parms), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz)

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return Api("cudaMemcpy2D",
             [&](Runtime& r) { CopyNow(r, CopyRows(to, to_pitch, from, from_pitch, width, height, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2D, _ptds)

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpy2DAsync",
             [&](Runtime& r) { Submit(r, CopyRows(to, to_pitch, from, from_pitch, width, height, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DAsync, _ptsz)

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parms) {
  return Api("cudaMemcpy3D", [&](Runtime& r) { CopyNow(r, MakeCopy3D(parms)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy3D, _ptds)

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parms, cudaStream_t stream) {
  return Api("cudaMemcpy3DAsync", [&](Runtime& r) {
    r.StreamToUse(stream);
    Submit(r, MakeCopy3D(parms), stream);
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy3DAsync, _ptsz)

// Several copies, with attributes per group. The attribute for when a source is read has no effect, because here it is
// always read during the call.
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* groups, size_t group_count,
                                 cudaStream_t stream) {
  return Api("cudaMemcpyBatchAsync", [&](Runtime& r) {
    Require(!IsLegacy(stream), cudaErrorInvalidValue);
    Require(to != nullptr && from != nullptr && bytes != nullptr && count > 0, cudaErrorInvalidValue);
    Require(attributes != nullptr && groups != nullptr && group_count > 0 && groups[0] == 0, cudaErrorInvalidValue);
    for (size_t i = 0; i < group_count; ++i) {
      const auto order = attributes[i].srcAccessOrder;
      Require(order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny, cudaErrorInvalidValue);
      Require(attributes[i].flags <= cudaMemcpyFlagPreferOverlapWithCompute, cudaErrorInvalidValue);
      Require(groups[i] < count && (i == 0 || groups[i] > groups[i - 1]), cudaErrorInvalidValue);
      for (const cudaMemLocation& hint : {attributes[i].srcLocHint, attributes[i].dstLocHint}) {
        Require(hint.type == cudaMemLocationTypeInvalid || IsPlace(r, hint), cudaErrorInvalidValue);
      }
    }
    Require(r.StreamToUse(stream).point.capture == nullptr, cudaErrorStreamCaptureUnsupported);
    std::vector<CopyWork> copies;
    for (size_t i = 0; i < count; ++i) {
      Require(bytes[i] > 0, cudaErrorInvalidValue);
      copies.push_back(MakeCopy(to[i], from[i], bytes[i], cudaMemcpyDefault));
      CheckCopy(r, copies.back());
    }
    for (CopyWork& copy : copies) Submit(r, std::move(copy), stream);
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpyBatchAsync, _ptsz)

cudaError_t cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* copies, unsigned long long flags,
                                   cudaStream_t stream) {
  return Api("cudaMemcpy3DBatchAsync", [&](Runtime& r) {
    Require(!IsLegacy(stream) && count > 0 && copies != nullptr && flags == 0, cudaErrorInvalidValue);
    std::vector<CopyWork> works;
    for (size_t i = 0; i < count; ++i) {
      works.push_back(CopyOfBatch(copies[i]));
      CheckCopy(r, works.back());
    }
    for (CopyWork& work : works) Submit(r, std::move(work), stream);
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy3DBatchAsync, _ptsz)

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return Api("cudaMemset", [&](Runtime& r) { FillNow(r, Linear(to, value, bytes)); });
}
LOCKSTEP_PER_THREAD(cudaMemset, _ptds)

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return Api("cudaMemsetAsync", [&](Runtime& r) {
    Submit(r, Linear(to, value, bytes), stream);
    if (bytes == 0) r.NothingToDo();
  });
}
LOCKSTEP_PER_THREAD(cudaMemsetAsync, _ptsz)

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return Api("cudaMemset2D", [&](Runtime& r) { FillNow(r, Rows(to, pitch, value, width, height)); });
}
LOCKSTEP_PER_THREAD(cudaMemset2D, _ptds)

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return Api("cudaMemset2DAsync", [&](Runtime& r) { Submit(r, Rows(to, pitch, value, width, height), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemset2DAsync, _ptsz)

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return Api("cudaMemset3D", [&](Runtime& r) { FillNow(r, Box(to, value, extent)); });
}
LOCKSTEP_PER_THREAD(cudaMemset3D, _ptds)

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return Api("cudaMemset3DAsync", [&](Runtime& r) {
    FillWork work = Box(to, value, extent);
    // In a capture, slices with a gap between them become one node each.
    const bool apart = extent.height != to.ysize && r.StreamOf(stream).point.capture != nullptr;
    const uint64_t slices = apart ? extent.depth : 1;
    if (apart) work.region.depth = 1;
    for (uint64_t z = 0; z < slices; ++z) {
      Submit(r, work, stream);
      work.to = static_cast<char*>(work.to) + work.layout.slice;
    }
  });
}
LOCKSTEP_PER_THREAD(cudaMemset3DAsync, _ptsz)

}  // extern "C"
