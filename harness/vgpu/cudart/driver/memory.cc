// Memory: allocation, copies, fills, pointer attributes.
#include <algorithm>
#include <cstring>
#include <optional>

#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart::driver {

cudaMemcpyKind KindOf(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (from == CU_MEMORYTYPE_HOST) return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

namespace {

// One end of a copy.
struct End {
  CUmemorytype type;
  const void* base;
  CUarray array;
  size_t x, y, z, pitch, height;  // x in bytes
};

// The start of the region at that end. A given pitch or height must be large enough for the region.
void* Place(const End& end, const Region& region, Layout* layout) {
  if (end.type == CU_MEMORYTYPE_ARRAY) {
    return PlaceInArray(As<cudaArray_t>(end.array), end.x, end.y, end.z, region, layout);
  }
  Require(end.type >= CU_MEMORYTYPE_HOST && end.type <= CU_MEMORYTYPE_UNIFIED && end.base != nullptr,
          cudaErrorInvalidValue);
  const size_t width = end.x + region.width, height = end.y + region.height;
  Require(width >= end.x && height >= end.y && (end.pitch == 0 || width <= end.pitch) &&
              (end.height == 0 || height <= end.height),
          cudaErrorInvalidValue);
  layout->pitch = end.pitch == 0 ? width : end.pitch;
  layout->slice = layout->pitch * (end.height == 0 ? height : end.height);
  return static_cast<char*>(const_cast<void*>(end.base)) + end.z * layout->slice + end.y * layout->pitch + end.x;
}

CUresult CopyBox(const char* function, const CUDA_MEMCPY3D& copy, bool waits, CUstream stream) {
  return Drive(function, [&] {
    return Api(function, Faults::kReports, [&](Runtime& r) {
      r.StreamToUse(waits ? nullptr : stream);
      const auto base = [](CUmemorytype type, const void* host, CUdeviceptr device) -> const void* {
        return type == CU_MEMORYTYPE_HOST ? host : Pointer(device);
      };
      const End from = {copy.srcMemoryType, base(copy.srcMemoryType, copy.srcHost, copy.srcDevice),
                        copy.srcArray,      copy.srcXInBytes,
                        copy.srcY,          copy.srcZ,
                        copy.srcPitch,      copy.srcHeight};
      const End to = {copy.dstMemoryType, base(copy.dstMemoryType, copy.dstHost, copy.dstDevice),
                      copy.dstArray,      copy.dstXInBytes,
                      copy.dstY,          copy.dstZ,
                      copy.dstPitch,      copy.dstHeight};
      CopyWork work;
      work.region = {copy.WidthInBytes, copy.Height, copy.Depth};
      if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return r.NothingToDo();
      work.from = Place(from, work.region, &work.from_layout);
      work.to = Place(to, work.region, &work.to_layout);
      work.kind = KindOf(to.type, from.type);
      work.of_arrays = from.type == CU_MEMORYTYPE_ARRAY || to.type == CU_MEMORYTYPE_ARRAY;
      waits ? CopyNow(r, std::move(work)) : Submit(r, std::move(work), stream);
    });
  });
}

CUresult Copy2D(const char* function, const CUDA_MEMCPY2D* copy, bool waits, CUstream stream) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D box;
  std::memset(&box, 0, sizeof box);
  box.srcXInBytes = copy->srcXInBytes;
  box.srcY = copy->srcY;
  box.srcMemoryType = copy->srcMemoryType;
  box.srcHost = copy->srcHost;
  box.srcDevice = copy->srcDevice;
  box.srcArray = copy->srcArray;
  box.srcPitch = copy->srcPitch;
  box.dstXInBytes = copy->dstXInBytes;
  box.dstY = copy->dstY;
  box.dstMemoryType = copy->dstMemoryType;
  box.dstHost = copy->dstHost;
  box.dstDevice = copy->dstDevice;
  box.dstArray = copy->dstArray;
  box.dstPitch = copy->dstPitch;
  box.WidthInBytes = copy->WidthInBytes;
  box.Height = copy->Height;
  box.Depth = 1;
  return CopyBox(function, box, waits, stream);
}

CUresult Copy3D(const char* function, const CUDA_MEMCPY3D* copy, bool waits, CUstream stream) {
  const auto has_level = [&](CUmemorytype type, size_t level) { return type == CU_MEMORYTYPE_ARRAY && level != 0; };
  const bool wrong =
      copy == nullptr || has_level(copy->srcMemoryType, copy->srcLOD) || has_level(copy->dstMemoryType, copy->dstLOD);
  return wrong && (copy == nullptr || copy->WidthInBytes * copy->Height * copy->Depth != 0)
             ? CUDA_ERROR_INVALID_VALUE
             : CopyBox(function, *copy, waits, stream);
}

// A copy between contexts: an ordinary copy, because all contexts share memory.
CUresult CopyPeer3D(const char* function, const CUDA_MEMCPY3D_PEER* copy, bool waits, CUstream stream) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_MEMCPY3D same = {
      copy->srcXInBytes,   copy->srcY,        copy->srcZ,         copy->srcLOD,   copy->srcMemoryType,
      copy->srcHost,       copy->srcDevice,   copy->srcArray,     nullptr,        copy->srcPitch,
      copy->srcHeight,     copy->dstXInBytes, copy->dstY,         copy->dstZ,     copy->dstLOD,
      copy->dstMemoryType, copy->dstHost,     copy->dstDevice,    copy->dstArray, nullptr,
      copy->dstPitch,      copy->dstHeight,   copy->WidthInBytes, copy->Height,   copy->Depth};
  return Copy3D(function, &same, waits, stream);
}

// Fills rows with elements of 1, 2 or 4 bytes.
CUresult Fill(const char* function, CUdeviceptr to, size_t pitch, unsigned value, unsigned element_bytes, size_t width,
              size_t height, bool waits, CUstream stream) {
  return DriveUnlessFaulted(function, NeedsOf(waits ? nullptr : stream), [&] {
    if (const cudaError_t error = Usable(waits ? nullptr : stream); error != cudaSuccess) return error;
    if (width == 0 || height == 0) return cudaSuccess;
    const size_t of_row = pitch;
    const bool has_rows = height > 1;  // otherwise the pitch of device memory is ignored
    if (to % element_bytes != 0 || (has_rows && pitch % element_bytes != 0)) return cudaErrorInvalidValue;
    if (!has_rows) pitch = width * element_bytes;
    return Api(function, waits ? Faults::kReports : Faults::kIgnores, [&](Runtime& r) {
      const size_t bytes = width * element_bytes;
      Require(bytes <= of_row || r.DeviceHolding(to).has_value(), cudaErrorInvalidValue);
      Submit(r, FillWork{Pointer(to), {pitch, pitch * height}, value, element_bytes, {bytes, height, 1}, waits},
             waits ? nullptr : stream);
    });
  });
}

// If the current context has ended, unknown memory is assumed to have been freed with it.
cudaError_t UnlessGone(cudaError_t error) {
  const bool gone = CurrentContext() != nullptr && Ready("", Needs::kContext) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return error == cudaErrorInvalidValue && gone ? cudaErrorContextIsDestroyed : error;
}

template <typename T>
cudaError_t Give(void* to, T value) {
  *static_cast<T*>(to) = value;
  return cudaSuccess;
}

// The driver's values for an unknown address when several attributes are queried at once.
cudaError_t AttributeOfNothing(void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return Give<uint64_t>(value, 0);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return Give(value, Pointer(pointer));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return Give<int>(value, cudaInvalidDeviceId);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return cudaSuccess;
    default:
      return Give<unsigned>(value, 0);
  }
}

cudaError_t AttributeOf(void* value, CUpointer_attribute attribute, CUdeviceptr pointer, const KnownMemory& memory) {
  const bool of_host = memory.type == cudaMemoryTypeHost, managed = memory.type == cudaMemoryTypeManaged;
  const bool for_host = (of_host || managed) && !memory.off_host;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      const bool of_none = memory.pool != nullptr || memory.mapped || (managed && memory.of_variable);
      return Give<void*>(value, of_none ? nullptr : HandleOf(memory.context, memory.device));
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return Give<unsigned>(value, of_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      Give(value, memory.device_pointer);
      return memory.device_pointer != nullptr ? cudaSuccess : cudaErrorInvalidValue;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      Give<void*>(value, for_host ? Pointer(pointer) : nullptr);
      return for_host ? cudaSuccess : cudaErrorInvalidValue;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      if (of_host) return cudaErrorInvalidValue;
      NotesOf(memory).sync_memops = true;  // as a driver does before it gives a peer access
      return Give(value, CUDA_POINTER_ATTRIBUTE_P2P_TOKENS{});
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return Give<unsigned>(value, NotesOf(memory).sync_memops ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return Give<uint64_t>(value, NotesOf(memory).id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return Give<unsigned>(value, managed ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return Give(value, memory.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return Give<unsigned>(value, memory.of_malloc ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      if (of_host && memory.pool != nullptr) return Give<uint64_t>(value, 0);
      return Give(value, memory.mapped ? memory.reserved_base : memory.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return Give<size_t>(value, memory.mapped ? memory.reserved_bytes : memory.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return Give<unsigned>(value, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return Give<uint64_t>(value, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: {
      const bool accessible = !memory.mapped || memory.device_pointer != nullptr;
      return Give<unsigned>(value, !accessible        ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE
                                   : memory.read_only ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                                                      : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    }
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return Give(value, memory.pool);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return Give<size_t>(value, memory.mapping_bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return Give(value, memory.mapping_base);
    default:
      return cudaErrorInvalidValue;
  }
}

cudaMemLocation Runtimes(const CUmemLocation& location) {
  cudaMemLocation same = {};
  same.type = static_cast<cudaMemLocationType>(location.type);
  same.id = location.id;
  return same;
}

bool IsPointerAttribute(CUpointer_attribute attribute) {
  return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT && attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE;
}

// Runs with the runtime's lock, and returns its errors.
template <typename Body>
cudaError_t WithMemory(const char* function, CUdeviceptr pointer, Body body) {
  return Api(function, Faults::kNone, [&](Runtime& r) {
    const cudaError_t error = body(MemoryAt(r, Pointer(pointer)));
    if (error != cudaSuccess) throw ApiError{error};
  });
}

}  // namespace

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  return DriveUnlessFaulted("cuMemAlloc", [&] {
    // For size 0 the runtime returns a null pointer.
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned element) {
  const bool is_size = element == 4 || element == 8 || element == 16;
  if (pitch != nullptr && (width == 0 || height == 0 || !is_size)) *pitch = 0;
  return DriveUnlessFaulted("cuMemAllocPitch", [&] {
    if (width == 0 || height == 0 || !is_size) return cudaErrorInvalidValue;
    return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned flags) {
  return Drive("cuMemAllocManaged", [&] {
    if (bytes == 0 && pointer != nullptr) *pointer = 0;
    if (bytes == 0) return cudaErrorInvalidValue;
    return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
  });
}

CUresult cuMemFree(CUdeviceptr pointer) {
  return Drive("cuMemFree", Needs::kInit, [&] { return UnlessGone(cudaFree(Pointer(pointer))); });
}

LOCKSTEP_FORWARD3(Pass, cuMemAllocAsync, cudaMallocAsync, CUdeviceptr*, size_t, CUstream)

LOCKSTEP_FORWARD2(Pass, cuMemFreeAsync, cudaFreeAsync, CUdeviceptr, CUstream)

LOCKSTEP_FORWARD2(Pass, cuMemGetInfo, cudaMemGetInfo, size_t*, size_t*)

CUresult cuMemAllocHost(void** pointer, size_t bytes) {
  return Drive("cuMemAllocHost", [&] { return cudaHostAlloc(pointer, bytes, cudaHostAllocMapped); });
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  return Drive("cuMemHostAlloc",
               [&] { return (flags & ~kFlags) != 0 ? cudaErrorInvalidValue : cudaHostAlloc(pointer, bytes, flags); });
}

CUresult cuMemFreeHost(void* pointer) {
  return Drive("cuMemFreeHost", Needs::kInit, [&] { return UnlessGone(cudaFreeHost(pointer)); });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned flags) {
  return DriveUnlessFaulted("cuMemHostGetDevicePointer",
                            [&] { return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags); });
}

LOCKSTEP_FORWARD2(Pass, cuMemHostGetFlags, cudaHostGetFlags, unsigned*, void*)

LOCKSTEP_FORWARD3(Pass, cuMemHostRegister, cudaHostRegister, void*, size_t, unsigned)

LOCKSTEP_FORWARD1(Pass, cuMemHostUnregister, cudaHostUnregister, void*)

// ---- Copies ----

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return DriveUnlessFaulted("cuMemcpy",
                            [&] { return cudaMemcpy(Pointer(to), Pointer(from), bytes, cudaMemcpyDefault); });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Drive("cuMemcpyAsync", NeedsOf(stream), [&] {
    const cudaError_t error = Usable(stream);
    return error != cudaSuccess ? error : cudaMemcpyAsync(Pointer(to), Pointer(from), bytes, cudaMemcpyDefault, stream);
  });
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return DriveUnlessFaulted("cuMemcpyHtoD", [&] {
    const cudaError_t usable = bytes == 0 ? Usable(nullptr) : cudaSuccess;
    return usable != cudaSuccess ? usable : cudaMemcpy(Pointer(to), from, bytes, cudaMemcpyHostToDevice);
  });
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return Drive("cuMemcpyHtoDAsync", NeedsOf(stream), [&] {
    const cudaError_t error = Usable(stream);
    return error != cudaSuccess ? error : cudaMemcpyAsync(Pointer(to), from, bytes, cudaMemcpyHostToDevice, stream);
  });
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return DriveUnlessFaulted("cuMemcpyDtoH", [&] {
    const cudaError_t usable = bytes == 0 ? Usable(nullptr) : cudaSuccess;
    return usable != cudaSuccess ? usable : cudaMemcpy(to, Pointer(from), bytes, cudaMemcpyDeviceToHost);
  });
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Drive("cuMemcpyDtoHAsync", NeedsOf(stream), [&] {
    const cudaError_t error = Usable(stream);
    return error != cudaSuccess ? error : cudaMemcpyAsync(to, Pointer(from), bytes, cudaMemcpyDeviceToHost, stream);
  });
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return DriveUnlessFaulted("cuMemcpyDtoD",
                            [&] { return cudaMemcpy(Pointer(to), Pointer(from), bytes, cudaMemcpyDeviceToDevice); });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Drive("cuMemcpyDtoDAsync", NeedsOf(stream), [&] {
    const cudaError_t error = Usable(stream);
    return error != cudaSuccess ? error
                                : cudaMemcpyAsync(Pointer(to), Pointer(from), bytes, cudaMemcpyDeviceToDevice, stream);
  });
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) { return Copy2D("cuMemcpy2D", copy, true, nullptr); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) { return Copy2D("cuMemcpy2DUnaligned", copy, true, nullptr); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return Copy2D("cuMemcpy2DAsync", copy, false, stream);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) { return Copy3D("cuMemcpy3D", copy, true, nullptr); }
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return Copy3D("cuMemcpy3DAsync", copy, false, stream);
}

// ---- Fills ----

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return Fill("cuMemsetD8", to, count, value, 1, count, 1, true, nullptr);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return Fill("cuMemsetD16", to, 2 * count, value, 2, count, 1, true, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return Fill("cuMemsetD32", to, 4 * count, value, 4, count, 1, true, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return Fill("cuMemsetD8Async", to, count, value, 1, count, 1, false, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return Fill("cuMemsetD16Async", to, 2 * count, value, 2, count, 1, false, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return Fill("cuMemsetD32Async", to, 4 * count, value, 4, count, 1, false, stream);
}
CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return Fill("cuMemsetD2D8", to, pitch, value, 1, width, height, true, nullptr);
}
CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return Fill("cuMemsetD2D16", to, pitch, value, 2, width, height, true, nullptr);
}
CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
  return Fill("cuMemsetD2D32", to, pitch, value, 4, width, height, true, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return Fill("cuMemsetD2D8Async", to, pitch, value, 1, width, height, false, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return Fill("cuMemsetD2D16Async", to, pitch, value, 2, width, height, false, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return Fill("cuMemsetD2D32Async", to, pitch, value, 4, width, height, false, stream);
}

// ---- Pointers ----

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return Drive("cuPointerGetAttribute", Needs::kInit, [&] {
    return WithMemory("cuPointerGetAttribute", pointer, [&](const std::optional<KnownMemory>& memory) {
      if (value == nullptr || !memory) return cudaErrorInvalidValue;
      return AttributeOf(value, attribute, pointer, *memory);
    });
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr pointer) {
  return Drive("cuPointerGetAttributes", Needs::kInit, [&] {
    if (count == 0 || attributes == nullptr || values == nullptr) return cudaErrorInvalidValue;
    return WithMemory("cuPointerGetAttributes", pointer, [&](const std::optional<KnownMemory>& memory) {
      const auto is_asked = [](CUpointer_attribute attribute) {
        return IsPointerAttribute(attribute) && attribute != CU_POINTER_ATTRIBUTE_P2P_TOKENS;
      };
      if (!std::all_of(attributes, attributes + count, is_asked)) return cudaErrorInvalidValue;
      for (unsigned k = 0; k < count; ++k) {
        // The result is ignored: an attribute that has no value is not an error here.
        if (memory) {
          AttributeOf(values[k], attributes[k], pointer, *memory);
        } else {
          AttributeOfNothing(values[k], attributes[k], pointer);
        }
      }
      return cudaSuccess;
    });
  });
}

// Only SYNC_MEMOPS can be set. It has no effect here, because copies of one pointer's memory are always in order.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return Drive("cuPointerSetAttribute", [&] {
    if (SpoilByCallOf("cuPointerSetAttribute") != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    return WithMemory("cuPointerSetAttribute", pointer, [&](const std::optional<KnownMemory>& memory) {
      if (value == nullptr || !memory) return cudaErrorInvalidValue;
      if (memory->mapped) return cudaErrorNotSupported;
      if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return cudaErrorInvalidValue;
      NotesOf(*memory).sync_memops = *static_cast<const int*>(value) != 0;
      return cudaSuccess;
    });
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  return DriveUnlessFaulted("cuMemGetAddressRange", [&] {
    return WithMemory("cuMemGetAddressRange", pointer, [&](const std::optional<KnownMemory>& memory) {
      const bool always = memory && !memory->mapped && (memory->pool == nullptr || memory->type != cudaMemoryTypeHost);
      const bool found = always || (memory && memory->device_pointer != nullptr);
      if (base != nullptr) *base = found ? memory->base : 0;
      if (bytes != nullptr) *bytes = found ? memory->bytes : 0;
      return found ? cudaSuccess : cudaErrorSymbolNotFound;
    });
  });
}

// ---- Managed memory ----

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return Drive("cuMemAdvise", [&] {
    return cudaMemAdvise(Pointer(pointer), bytes, static_cast<cudaMemoryAdvise>(advice), Runtimes(location));
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned flags,
                            CUstream stream) {
  return Drive("cuMemPrefetchAsync",
               [&] { return cudaMemPrefetchAsync(Pointer(pointer), bytes, Runtimes(location), flags, stream); });
}

CUresult cuMemRangeGetAttribute(void* data, size_t data_bytes, CUmem_range_attribute attribute, CUdeviceptr pointer,
                                size_t bytes) {
  return Drive("cuMemRangeGetAttribute", [&] {
    return cudaMemRangeGetAttribute(data, data_bytes, static_cast<cudaMemRangeAttribute>(attribute), Pointer(pointer),
                                    bytes);
  });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* data_bytes, CUmem_range_attribute* attributes, size_t count,
                                 CUdeviceptr pointer, size_t bytes) {
  return Drive("cuMemRangeGetAttributes", [&] {
    return cudaMemRangeGetAttributes(data, data_bytes, reinterpret_cast<cudaMemRangeAttribute*>(attributes), count,
                                     Pointer(pointer), bytes);
  });
}

// The runtime's batches, with the driver's types.
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* groups, size_t group_count, CUstream stream) {
  return Pass("cuMemcpyBatchAsync", cudaMemcpyBatchAsync, to, from, bytes, count, attributes, groups, group_count,
              stream);
}
LOCKSTEP_FORWARD4(Pass, cuMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync, size_t, CUDA_MEMCPY3D_BATCH_OP*,
                  unsigned long long, CUstream)
CUresult cuMemPrefetchBatchAsync(CUdeviceptr* pointers, size_t* bytes, size_t count, CUmemLocation* locations,
                                 size_t* groups, size_t group_count, unsigned long long flags, CUstream stream) {
  return Pass("cuMemPrefetchBatchAsync", cudaMemPrefetchBatchAsync, pointers, bytes, count, locations, groups,
              group_count, flags, stream);
}
LOCKSTEP_FORWARD5(Pass, cuMemDiscardBatchAsync, cudaMemDiscardBatchAsync, CUdeviceptr*, size_t*, size_t,
                  unsigned long long, CUstream)
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* pointers, size_t* bytes, size_t count, CUmemLocation* locations,
                                           size_t* groups, size_t group_count, unsigned long long flags,
                                           CUstream stream) {
  return Pass("cuMemDiscardAndPrefetchBatchAsync", cudaMemDiscardAndPrefetchBatchAsync, pointers, bytes, count,
              locations, groups, group_count, flags, stream);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) { return CopyPeer3D("cuMemcpy3DPeer", copy, true, nullptr); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return CopyPeer3D("cuMemcpy3DPeerAsync", copy, false, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return Drive("cuMemcpyPeer", [&] { return cudaMemcpy(Pointer(to), Pointer(from), bytes, cudaMemcpyDeviceToDevice); });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  return Drive("cuMemcpyPeerAsync",
               [&] { return cudaMemcpyAsync(Pointer(to), Pointer(from), bytes, cudaMemcpyDeviceToDevice, stream); });
}

}  // extern "C"
