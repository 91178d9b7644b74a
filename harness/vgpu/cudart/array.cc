// CUDA arrays, and copies of them.
#include "vgpu/cudart/array.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

// Copies of a region between arrays and other memory; kind: as passed by the program.
CopyWork CopyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                     cudaMemcpyKind kind);
CopyWork CopyFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                       cudaMemcpyKind kind);

namespace {

std::map<const void*, std::unique_ptr<Array>>& Arrays() {
  static auto* const arrays = new std::map<const void*, std::unique_ptr<Array>>;
  return *arrays;
}

// The largest extents of arrays on devices of compute capability 3.0 and later.
constexpr uint64_t kMost1D = 131072, kMost2D = 131072, kMost2DHeight = 65536, kMost3D = 16384;
constexpr uint64_t kMostSurface1D = 32768, kMostDeep3D = 8192, kMostDepth3D = 32768;  // the last two: of deep 3D arrays
constexpr uint64_t kMostLayered = 32768, kMostLayers = 2048, kMostCubeLayers = 2046, kFaces = 6;
// The flags accepted on a Hopper; two of them have no name.
constexpr unsigned kKnownFlags = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                                 cudaArrayTextureGather | cudaArraySparse | cudaArrayDeferredMapping | 1u << 8 |
                                 1u << 31;

bool IsWithin(const cudaExtent& e, uint64_t width, uint64_t height, uint64_t depth) {
  return e.width <= width && e.height <= height && e.depth <= depth;
}

ImageShape ShapeOf(const cudaExtent& e, unsigned flags) {
  Require(e.width > 0, cudaErrorInvalidValue);
  const bool layered = (flags & cudaArrayLayered) != 0;
  if ((flags & cudaArrayCubemap) != 0) {
    Require(e.width == e.height && (layered ? e.depth > 0 && e.depth % kFaces == 0 : e.depth == kFaces),
            cudaErrorInvalidValue);
    Require(IsWithin(e, kMostLayered, kMostLayered, layered ? kMostCubeLayers : kFaces), cudaErrorInvalidValue);
    return layered ? ImageShape::kCubeLayered : ImageShape::kCube;
  }
  if (layered) {
    Require(e.depth > 0 && IsWithin(e, kMostLayered, kMostLayered, kMostLayers), cudaErrorInvalidValue);
    return e.height == 0 ? ImageShape::k1DLayered : ImageShape::k2DLayered;
  }
  if (e.depth > 0) {
    Require(
        e.height > 0 && (IsWithin(e, kMost3D, kMost3D, kMost3D) || IsWithin(e, kMostDeep3D, kMostDeep3D, kMostDepth3D)),
        cudaErrorInvalidValue);
    return ImageShape::k3D;
  }
  if (e.height > 0) {
    Require(IsWithin(e, kMost2D, kMost2DHeight, 0), cudaErrorInvalidValue);
    return ImageShape::k2D;
  }
  Require(e.width <= ((flags & cudaArraySurfaceLoadStore) != 0 ? kMostSurface1D : kMost1D), cudaErrorInvalidValue);
  return ImageShape::k1D;
}

// Refuses a shape that is invalid for every format; the size is checked after the format.
void CheckShape(const cudaExtent& e, unsigned flags) {
  const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
  Require(e.width > 0 && (!layered || e.depth > 0), cudaErrorInvalidValue);
  Require(!cube || (e.width == e.height && (layered ? e.depth % kFaces == 0 : e.depth == kFaces)),
          cudaErrorInvalidValue);
  Require(layered || cube || e.depth == 0 || e.height > 0, cudaErrorInvalidValue);
}

void AllocateArray(Runtime& r, cudaArray_t* handle, const cudaChannelFormatDesc* desc, const cudaExtent& extent,
                   unsigned flags) {
  Require(handle != nullptr && desc != nullptr, cudaErrorInvalidValue);
  CheckShape(extent, flags);
  const TexelFormat format = FormatOf(*desc);
  r.RequireContext();
  if (CalledAs() == nullptr) RequireSafeInCapture();
  Require((flags & ~kKnownFlags) == 0, cudaErrorInvalidValue);
  Require((flags & cudaArraySparse) == 0 || extent.height > 0, cudaErrorInvalidValue);
  auto array = std::make_unique<Array>();
  array->device = r.device();
  array->desc = *desc;
  array->extent = extent;
  array->flags = flags;
  vgpu::Image& image = array->image;
  image.is_array = true;
  image.format = format;
  image.shape = ShapeOf(extent, flags);
  constexpr size_t kMostGathered = 32768;
  const bool gatherable =
      image.shape == ImageShape::k2D && extent.width <= kMostGathered && extent.height <= kMostGathered;
  Require((flags & cudaArrayTextureGather) == 0 || gatherable, cudaErrorInvalidValue);
  const auto size = [](size_t n) { return n == 0 ? 1 : static_cast<uint32_t>(n); };
  image.width = size(extent.width);
  image.height = size(extent.height);
  image.depth = size(extent.depth);
  image.pitch = array->RowBytes();
  image.slice = image.pitch * image.height;
  image.base = r.backend().Allocate(image.slice * image.depth, r.OriginWithCallSite());
  Require(image.base != 0, cudaErrorMemoryAllocation);
  r.timeline().clocks().Fence(r.device());
  *handle = reinterpret_cast<cudaArray_t>(array.get());
  const void* const key = array.get();
  Arrays()[key] = std::move(array);
}

void FreeArray(Runtime& r, cudaArray_t handle) {
  if (handle == nullptr) return;
  Array& array = ArrayOf(handle);
  r.timeline().SynchronizeDevice(r.device());
  Require(r.backend(array.device).Free(array.image.base, r.origin()), cudaErrorInvalidValue);
  Arrays().erase(handle);
}

}  // namespace

Array& ArrayOf(cudaArray_const_t handle) {
  const auto found = Arrays().find(handle);
  Require(found != Arrays().end() || !LostHandles().contains(handle), cudaErrorContextIsDestroyed);
  Require(found != Arrays().end(), cudaErrorInvalidResourceHandle);
  return *found->second;
}

void EndArrays(Runtime& r, const void* context) {
  std::erase_if(Arrays(), [&](const auto& array) {
    if (array.second->context != context) return false;
    r.backend(array.second->device).Free(array.second->image.base, r.origin());
    return LostHandles().insert(array.first).second;
  });
}

void ResetArrays(int device) {
  ResetTextureObjects(device);
  std::erase_if(Arrays(), [&](const auto& array) { return array.second->device == device; });
}

namespace {

// Whether the channels have the number and sizes that desc.f, a normalized or compressed kind, requires.
bool IsOfKind(const cudaChannelFormatDesc& desc) {
  struct Channels {
    cudaChannelFormatKind last;  // the group is the kinds up to this one
    int bits, count;
  };
  constexpr Channels kChannels[] = {{cudaChannelFormatKindNV12, 8, 3},
                                    {cudaChannelFormatKindUnsignedNormalized8X1, 8, 1},
                                    {cudaChannelFormatKindUnsignedNormalized8X2, 8, 2},
                                    {cudaChannelFormatKindUnsignedNormalized8X4, 8, 4},
                                    {cudaChannelFormatKindUnsignedNormalized16X1, 16, 1},
                                    {cudaChannelFormatKindUnsignedNormalized16X2, 16, 2},
                                    {cudaChannelFormatKindUnsignedNormalized16X4, 16, 4},
                                    {cudaChannelFormatKindSignedNormalized8X1, 8, 1},
                                    {cudaChannelFormatKindSignedNormalized8X2, 8, 2},
                                    {cudaChannelFormatKindSignedNormalized8X4, 8, 4},
                                    {cudaChannelFormatKindSignedNormalized16X1, 16, 1},
                                    {cudaChannelFormatKindSignedNormalized16X2, 16, 2},
                                    {cudaChannelFormatKindSignedNormalized16X4, 16, 4},
                                    {cudaChannelFormatKindUnsignedBlockCompressed3SRGB, 8, 4},
                                    {cudaChannelFormatKindSignedBlockCompressed4, 8, 1},
                                    {cudaChannelFormatKindSignedBlockCompressed5, 8, 2},
                                    {cudaChannelFormatKindSignedBlockCompressed6H, 16, 3},
                                    {cudaChannelFormatKindUnsignedBlockCompressed7SRGB, 8, 4}};
  for (const Channels& each : kChannels) {
    if (desc.f > each.last) continue;
    const auto bits = [&](int channel) { return channel < each.count ? each.bits : 0; };
    return desc.x == bits(0) && desc.y == bits(1) && desc.z == bits(2) && desc.w == bits(3);
  }
  return false;
}

}  // namespace

TexelFormat FormatOf(const cudaChannelFormatDesc& desc) {
  if (desc.f > cudaChannelFormatKindNone) {
    constexpr cudaChannelFormatDesc kPacked{10, 10, 10, 2, cudaChannelFormatKindUnsignedNormalized1010102};
    if (std::memcmp(&desc, &kPacked, sizeof desc) == 0) NotSupported("channels that share bytes");
    Require(IsOfKind(desc), cudaErrorInvalidChannelDescriptor);
    Require(desc.f != cudaChannelFormatKindNV12, cudaErrorInvalidValue);
    if (desc.f < cudaChannelFormatKindUnsignedNormalized8X1 || desc.f > cudaChannelFormatKindSignedNormalized16X4) {
      NotSupported("a compressed format of channels");
    }
  }
  const int bits = desc.x;
  const int channels = desc.w != 0 ? 4 : desc.z != 0 ? 3 : desc.y != 0 ? 2 : 1;
  const auto same = [&](int channel, int has) { return has == (channel < channels ? bits : 0); };
  Require(same(1, desc.y) && same(2, desc.z) && same(3, desc.w) && channels != 3, cudaErrorInvalidChannelDescriptor);
  const bool is_float = desc.f == cudaChannelFormatKindFloat;
  const bool of_signed = desc.f == cudaChannelFormatKindSigned || desc.f >= cudaChannelFormatKindSignedNormalized8X1;
  Require(desc.f != cudaChannelFormatKindNone && (bits == 16 || bits == 32 || (bits == 8 && !is_float)),
          cudaErrorInvalidChannelDescriptor);
  TexelFormat format;
  format.kind = is_float ? TexelKind::kFloat : of_signed ? TexelKind::kSigned : TexelKind::kUnsigned;
  format.channels = static_cast<uint8_t>(channels);
  format.channel_bytes = static_cast<uint8_t>(bits / 8);
  return format;
}

namespace {

Layout LayoutOf(const Array& array) { return {array.image.pitch, array.image.slice}; }

// The start of a region, with x in bytes. It must be within the array.
void* PlaceIn(const Array& array, uint64_t x, uint64_t y, uint64_t z, const Region& region) {
  if (array.has_no_memory()) NotSupported("a copy of an array whose memory is mapped later");
  const auto within = [](uint64_t begin, uint64_t size, uint64_t end) { return begin <= end && size <= end - begin; };
  Require(within(x, region.width, array.RowBytes()) && within(y, region.height, array.image.height) &&
              within(z, region.depth, array.image.depth),
          cudaErrorInvalidValue);
  return reinterpret_cast<void*>(array.image.AddressOf(0, static_cast<uint32_t>(y), static_cast<uint32_t>(z)) + x);
}

// The address of (x, y), x in bytes, where a run of this many bytes begins; it continues in the next rows.
void* PlaceInRows(const Array& array, uint64_t x, uint64_t y, uint64_t bytes) {
  if (array.has_no_memory()) NotSupported("a copy of an array whose memory is mapped later");
  Require(x < array.RowBytes() && y < array.image.height, cudaErrorInvalidValue);
  const uint64_t offset = y * array.RowBytes() + x;
  Require(bytes <= array.image.slice - offset, cudaErrorInvalidValue);
  return reinterpret_cast<void*>(array.image.base + offset);
}

// Check the direction of a copy to, from or between arrays, which are in device memory.
cudaMemcpyKind KindTo(cudaMemcpyKind kind) {
  Require(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return kind;
}
cudaMemcpyKind KindFrom(cudaMemcpyKind kind) {
  Require(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return kind;
}
cudaMemcpyKind KindBetween(cudaMemcpyKind kind) {
  Require(kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  return kind;
}

// Copies of bytes (cudaMemcpyToArray and the like) treat an invalid kind as cudaMemcpyDefault.
bool IsKind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

CopyWork BytesToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const Array& array = ArrayOf(to);
  if (!IsKind(kind)) kind = cudaMemcpyDefault;
  return bytes == 0 ? CopyWork{} : MakeCopy(PlaceInRows(array, x, y, bytes), from, bytes, KindTo(kind));
}
CopyWork BytesFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  const Array& array = ArrayOf(from);
  if (!IsKind(kind)) kind = cudaMemcpyDefault;
  return bytes == 0 ? CopyWork{} : MakeCopy(to, PlaceInRows(array, x, y, bytes), bytes, KindFrom(kind));
}

}  // namespace

void* PlaceInArray(cudaArray_t handle, uint64_t x, uint64_t y, uint64_t z, const Region& region, Layout* layout) {
  const Array& array = ArrayOf(handle);
  *layout = LayoutOf(array);
  return PlaceIn(array, x, y, z, region);
}

CopyWork CopyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                     cudaMemcpyKind kind) {
  const Array& array = ArrayOf(to);
  const Region region = {width, height, 1};
  if (region.Bytes() == 0) return {};
  Require(height == 1 || pitch >= width, cudaErrorInvalidPitchValue);
  KindTo(kind);
  return {PlaceIn(array, x, y, 0, region), LayoutOf(array), from, {pitch, pitch * height}, region, kind};
}

CopyWork CopyFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                       cudaMemcpyKind kind) {
  const Array& array = ArrayOf(from);
  const Region region = {width, height, 1};
  if (region.Bytes() == 0) return {};
  Require(height == 1 || pitch >= width, cudaErrorInvalidPitchValue);
  KindFrom(kind);
  return {to, {pitch, pitch * height}, PlaceIn(array, x, y, 0, region), LayoutOf(array), region, kind};
}

CopyWork CopyArray3D(const cudaMemcpy3DParms& parms) {
  const Array* const from = parms.srcArray == nullptr ? nullptr : &ArrayOf(parms.srcArray);
  const Array* const to = parms.dstArray == nullptr ? nullptr : &ArrayOf(parms.dstArray);
  Require((from == nullptr) == (parms.srcPtr.ptr != nullptr) && (to == nullptr) == (parms.dstPtr.ptr != nullptr),
          cudaErrorInvalidValue);
  // The extent and the positions are in elements of the array.
  const uint32_t element = (from != nullptr ? from : to)->image.format.Bytes();
  Require(from == nullptr || to == nullptr || to->image.format.Bytes() == element, cudaErrorInvalidValue);
  const Region region = {parms.extent.width * element, parms.extent.height, parms.extent.depth};
  // An array is in device memory, whatever the kind says.
  cudaMemcpyKind kind = parms.kind;
  if (to != nullptr && kind == cudaMemcpyHostToHost) kind = cudaMemcpyHostToDevice;
  if (to != nullptr && kind == cudaMemcpyDeviceToHost) kind = cudaMemcpyDeviceToDevice;
  if (from != nullptr && kind == cudaMemcpyHostToHost) kind = cudaMemcpyDeviceToHost;
  if (from != nullptr && kind == cudaMemcpyHostToDevice) kind = cudaMemcpyDeviceToDevice;
  CopyWork work;
  work.region = region;
  work.of_arrays = true;
  work.kind = from != nullptr && to != nullptr ? KindBetween(kind) : to != nullptr ? KindTo(kind) : KindFrom(kind);
  for (const auto& [array, pointer] : {std::pair(from, parms.srcPtr), {to, parms.dstPtr}}) {
    Require(array != nullptr || region.depth <= 1 || region.height <= pointer.ysize, cudaErrorInvalidPitchValue);
  }
  const auto end = [&](const Array* array, const cudaPitchedPtr& pointer, const cudaPos& at, Layout* layout) -> void* {
    if (array != nullptr) {
      *layout = LayoutOf(*array);
      return PlaceIn(*array, at.x * element, at.y, at.z, region);
    }
    *layout = {pointer.pitch, pointer.pitch * pointer.ysize};
    const auto fits = [](uint64_t begin, uint64_t size, uint64_t all) { return begin <= all && size <= all - begin; };
    Require(fits(at.x * element, region.width, pointer.pitch) && fits(at.y, region.height, pointer.ysize),
            cudaErrorInvalidValue);
    return static_cast<char*>(pointer.ptr) + at.z * layout->slice + at.y * layout->pitch + at.x * element;
  };
  work.from = end(from, parms.srcPtr, parms.srcPos, &work.from_layout);
  work.to = end(to, parms.dstPtr, parms.dstPos, &work.to_layout);
  return work;
}

}  // namespace lockstep::vgpu::cudart

// Old programs still call these.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height,
                            unsigned flags) {
  if (array != nullptr) *array = nullptr;
  return Api("cudaMallocArray", [&](Runtime& r) { AllocateArray(r, array, desc, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                              unsigned flags) {
  if (array != nullptr) *array = nullptr;
  return Api("cudaMalloc3DArray", [&](Runtime& r) { AllocateArray(r, array, desc, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return Api("cudaFreeArray", array == nullptr ? Faults::kNone : Faults::kReports, [&](Runtime& r) {
    if (array != nullptr) RequireSafeInCapture();
    FreeArray(r, array);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t handle) {
  return Api("cudaArrayGetInfo", [&](Runtime& r) {
    if (desc != nullptr) *desc = {};
    if (extent != nullptr) *extent = {};
    if (flags != nullptr) *flags = 0;
    const Array& array = ArrayOf(handle);
    r.RequireContext();
    if (desc != nullptr) *desc = array.desc;
    if (extent != nullptr) *extent = array.extent;
    if (flags != nullptr) *flags = array.flags;
  });
}

// Maximum elements of a texture on linear memory.
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const cudaChannelFormatDesc* desc, int device) {
  return Api("cudaDeviceGetTexture1DLinearMaxWidth", [&](Runtime& r) {
    Require(desc != nullptr, cudaErrorInvalidValue);
    const uint64_t bytes = FormatOf(*desc).Bytes();
    if (CalledAs() == nullptr) r.RequireDevice(device);
    Require(width != nullptr && device >= 0 && device < r.device_count(), cudaErrorInvalidValue);
    constexpr uint64_t kMostElements = uint64_t{1} << 30, kMostBytes = uint64_t{1} << 32;
    *width = std::min(kMostElements, kMostBytes / bytes);
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  return Api("cudaGetChannelDesc", [&](Runtime&) { Set(desc, ArrayOf(array).desc); });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return Api("cudaMemcpy2DToArray",
             [&](Runtime& r) { CopyNow(r, CopyToArray(to, x, y, from, pitch, width, height, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DToArray, _ptds)

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpy2DToArrayAsync",
             [&](Runtime& r) { Submit(r, CopyToArray(to, x, y, from, pitch, width, height, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz)

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  return Api("cudaMemcpy2DFromArray",
             [&](Runtime& r) { CopyNow(r, CopyFromArray(to, pitch, from, x, y, width, height, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DFromArray, _ptds)

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpy2DFromArrayAsync",
             [&](Runtime& r) { Submit(r, CopyFromArray(to, pitch, from, x, y, width, height, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz)

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  return Api("cudaMemcpy2DArrayToArray", [&](Runtime& r) {
    const Array& source = ArrayOf(from);
    if (width == 0 || height == 0) return;
    const void* const place = PlaceIn(source, from_x, from_y, 0, {width, height, 1});
    CopyWork work = CopyToArray(to, to_x, to_y, place, source.image.pitch, width, height, KindBetween(kind));
    work.from_layout = LayoutOf(source);
    CopyNow(r, work);
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds)

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Api("cudaMemcpyToArray", [&](Runtime& r) { CopyNow(r, BytesToArray(to, x, y, from, bytes, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToArray, _ptds)

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyToArrayAsync",
             [&](Runtime& r) { Submit(r, BytesToArray(to, x, y, from, bytes, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToArrayAsync, _ptsz)

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return Api("cudaMemcpyFromArray", [&](Runtime& r) { CopyNow(r, BytesFromArray(to, from, x, y, bytes, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromArray, _ptds)

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyFromArrayAsync",
             [&](Runtime& r) { Submit(r, BytesFromArray(to, from, x, y, bytes, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz)

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t bytes, cudaMemcpyKind kind) {
  return Api("cudaMemcpyArrayToArray", [&](Runtime& r) {
    if (bytes == 0) return;
    const void* const place = PlaceInRows(ArrayOf(from), from_x, from_y, bytes);
    CopyNow(r, BytesToArray(to, to_x, to_y, place, bytes, KindBetween(kind)));
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpyArrayToArray, _ptds)

}  // extern "C"
