// Device memory: allocation, copies, fills.
#include <algorithm>
#include <cstdint>

#include "vgpu/cudart/copy.h"
#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr uint64_t kPitchAlignment = 512;

void Allocate(Runtime& r, void** pointer, uint64_t bytes) {
  Require(pointer != nullptr, cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return;
  const uint64_t address = r.backend().Allocate(bytes, r.origin());
  Require(address != 0, cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void*>(address);
}

void Free(Runtime& r, void* pointer) {
  if (pointer == nullptr) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Require(r.backend().Free(address, r.origin()), cudaErrorInvalidValue);
  r.managed().erase(address);
}

void AllocatePitched(Runtime& r, void** pointer, size_t* pitch, uint64_t width, uint64_t rows) {
  Require(pitch != nullptr && width <= SIZE_MAX - kPitchAlignment, cudaErrorInvalidValue);
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  uint64_t bytes = 0;
  Require(!__builtin_mul_overflow(*pitch, rows, &bytes), cudaErrorMemoryAllocation);
  Allocate(r, pointer, bytes);
}

// The linear ends of a cudaMemcpy3D; arrays are texture memory.
struct Ends3D {
  void* to;
  const void* from;
};
Ends3D Linear(const cudaMemcpy3DParms& parms) {
  if (parms.srcArray != nullptr || parms.dstArray != nullptr) NotSupported("a copy of CUDA arrays");
  const auto place = [](const cudaPitchedPtr& base, const cudaPos& position) {
    return static_cast<char*>(base.ptr) + position.z * base.pitch * base.ysize + position.y * base.pitch + position.x;
  };
  Require(parms.srcPtr.ptr != nullptr && parms.dstPtr.ptr != nullptr, cudaErrorInvalidValue);
  return {place(parms.dstPtr, parms.dstPos), place(parms.srcPtr, parms.srcPos)};
}

void Copy3D(Runtime& r, const cudaMemcpy3DParms* parms, cudaStream_t stream) {
  Require(parms != nullptr, cudaErrorInvalidValue);
  const Ends3D ends = Linear(*parms);
  CopyRegion(r, ends.to, {parms->dstPtr.pitch, parms->dstPtr.pitch * parms->dstPtr.ysize}, ends.from,
             {parms->srcPtr.pitch, parms->srcPtr.pitch * parms->srcPtr.ysize},
             {parms->extent.width, parms->extent.height, parms->extent.depth}, parms->kind, stream);
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return Api("cudaMalloc", [&](Runtime& r) { Allocate(r, pointer, bytes); });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return Api("cudaMallocAsync", [&](Runtime& r) {
    r.timeline().StreamOf(stream);
    Allocate(r, pointer, bytes);
  });
}
LOCKSTEP_PER_THREAD(cudaMallocAsync, _ptsz)

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

// Managed memory is device memory where the device lives in this process.
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return Api("cudaMallocManaged", [&](Runtime& r) {
    Require(bytes > 0 && (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost), cudaErrorInvalidValue);
    if (!r.backend().HostSeesDeviceMemory()) NotSupported("managed memory, where the device is another process's,");
    Allocate(r, pointer, bytes);
    // The host's own writes are seen by no checker, so none of it counts as uninitialised.
    r.backend().Fill(reinterpret_cast<uintptr_t>(*pointer), 0, bytes, r.origin());
    r.managed()[reinterpret_cast<uintptr_t>(*pointer)] = bytes;
  });
}

cudaError_t cudaFree(void* pointer) {
  return Api("cudaFree", [&](Runtime& r) {
    r.timeline().SynchronizeDevice();
    Free(r, pointer);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return Api("cudaFreeAsync", [&](Runtime& r) {
    r.timeline().StreamOf(stream);
    Require(pointer != nullptr, cudaErrorInvalidValue);
    Free(r, pointer);
  });
}
LOCKSTEP_PER_THREAD(cudaFreeAsync, _ptsz)

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return Api("cudaMemGetInfo", [&](Runtime& r) {
    Require(free != nullptr && total != nullptr, cudaErrorInvalidValue);
    *total = static_cast<size_t>(r.profile().memory_bytes);
    *free = std::min<size_t>(*total, r.backend().FreeBytes());
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Api("cudaMemcpy", [&](Runtime& r) {
    Copy(r, to, from, bytes, kind, nullptr);
    r.timeline().Synchronize(cudaStream_t{});
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy, _ptds)

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyAsync", [&](Runtime& r) { Copy(r, to, from, bytes, kind, stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyAsync, _ptsz)

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return Api("cudaMemcpyPeer", [&](Runtime& r) {
    Require(to_device == 0 && from_device == 0, cudaErrorInvalidDevice);
    Copy(r, to, from, bytes, cudaMemcpyDeviceToDevice, nullptr);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  return Api("cudaMemcpyPeerAsync", [&](Runtime& r) {
    Require(to_device == 0 && from_device == 0, cudaErrorInvalidDevice);
    Copy(r, to, from, bytes, cudaMemcpyDeviceToDevice, stream);
  });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return Api("cudaMemcpy2D", [&](Runtime& r) {
    CopyRegion(r, to, {to_pitch, to_pitch * height}, from, {from_pitch, from_pitch * height}, {width, height, 1}, kind,
               nullptr);
    r.timeline().Synchronize(cudaStream_t{});
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2D, _ptds)

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpy2DAsync", [&](Runtime& r) {
    CopyRegion(r, to, {to_pitch, to_pitch * height}, from, {from_pitch, from_pitch * height}, {width, height, 1}, kind,
               stream);
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DAsync, _ptsz)

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parms) {
  return Api("cudaMemcpy3D", [&](Runtime& r) {
    Copy3D(r, parms, nullptr);
    r.timeline().Synchronize(cudaStream_t{});
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy3D, _ptds)

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parms, cudaStream_t stream) {
  return Api("cudaMemcpy3DAsync", [&](Runtime& r) { Copy3D(r, parms, stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy3DAsync, _ptsz)

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return Api("cudaMemset", [&](Runtime& r) { Fill(r, to, {bytes, bytes}, value, {bytes, 1, 1}, nullptr); });
}
LOCKSTEP_PER_THREAD(cudaMemset, _ptds)

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return Api("cudaMemsetAsync", [&](Runtime& r) { Fill(r, to, {bytes, bytes}, value, {bytes, 1, 1}, stream); });
}
LOCKSTEP_PER_THREAD(cudaMemsetAsync, _ptsz)

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return Api("cudaMemset2D", [&](Runtime& r) {
    Fill(r, to, {pitch, pitch * height}, value, {width, height, 1}, nullptr);
  });
}
LOCKSTEP_PER_THREAD(cudaMemset2D, _ptds)

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return Api("cudaMemset2DAsync", [&](Runtime& r) {
    Fill(r, to, {pitch, pitch * height}, value, {width, height, 1}, stream);
  });
}
LOCKSTEP_PER_THREAD(cudaMemset2DAsync, _ptsz)

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return Api("cudaMemset3D", [&](Runtime& r) {
    Fill(r, to.ptr, {to.pitch, to.pitch * to.ysize}, value, {extent.width, extent.height, extent.depth}, nullptr);
  });
}
LOCKSTEP_PER_THREAD(cudaMemset3D, _ptds)

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return Api("cudaMemset3DAsync", [&](Runtime& r) {
    Fill(r, to.ptr, {to.pitch, to.pitch * to.ysize}, value, {extent.width, extent.height, extent.depth}, stream);
  });
}
LOCKSTEP_PER_THREAD(cudaMemset3DAsync, _ptsz)

}  // extern "C"
