// CUDA arrays, texture objects, surface objects.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "vgpu/core/half_format.h"
#include "vgpu/cudart/work.h"
#include "vgpu/texture/texture.h"

namespace lockstep::vgpu::cudart {

// An array is memory of its device, rows packed one behind the other; its handle is its address in this process.
struct Array {
  int device = 0;
  cudaChannelFormatDesc desc = {};
  cudaExtent extent = {};  // as it was asked for: 0 where there is no such dimension
  unsigned flags = 0;
  vgpu::Image image;

  uint64_t RowBytes() const { return uint64_t{image.width} * image.format.Bytes(); }
};

// Throws ApiError.
Array& ArrayOf(cudaArray_const_t handle);

// How texels are stored, where textures can read it. Throws ApiError.
TexelFormat FormatOf(const cudaChannelFormatDesc& desc);

// Copies of a region between arrays and other memory; kind: as the program said.
CopyWork CopyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                     cudaMemcpyKind kind);
CopyWork CopyFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                       cudaMemcpyKind kind);

void ResetTextureObjects(int device);

namespace {

std::map<const void*, std::unique_ptr<Array>>& Arrays() {
  static auto* const arrays = new std::map<const void*, std::unique_ptr<Array>>;
  return *arrays;
}

// Of devices of compute capability 3.0 and later.
constexpr uint64_t kMost1D = 131072, kMost2D = 131072, kMost2DHeight = 65536, kMost3D = 16384;
constexpr uint64_t kMostLayered = 32768, kMostLayers = 2048, kMostCubeLayers = 2046, kFaces = 6;
constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;

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
    Require(e.height > 0 && IsWithin(e, kMost3D, kMost3D, kMost3D), cudaErrorInvalidValue);
    return ImageShape::k3D;
  }
  if (e.height > 0) {
    Require(IsWithin(e, kMost2D, kMost2DHeight, 0), cudaErrorInvalidValue);
    return ImageShape::k2D;
  }
  Require(e.width <= kMost1D, cudaErrorInvalidValue);
  return ImageShape::k1D;
}

// Refuses a shape that is wrong whatever the format; the size is checked after the format.
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
  constexpr unsigned kUnknown = 16;  // between those that CUDA has
  Require((flags & kUnknown) == 0, cudaErrorInvalidValue);
  if ((flags & cudaArraySparse) != 0) NotSupported("a sparse array");
  if ((flags & cudaArrayDeferredMapping) != 0) NotSupported("an array whose memory is mapped later");
  if ((flags & ~kKnownFlags) != 0) NotSupported("an array with these flags");
  auto array = std::make_unique<Array>();
  array->device = r.device();
  array->desc = *desc;
  array->extent = extent;
  array->flags = flags;
  vgpu::Image& image = array->image;
  image.is_array = true;
  image.format = format;
  image.shape = ShapeOf(extent, flags);
  Require((flags & cudaArrayTextureGather) == 0 || image.shape == ImageShape::k2D, cudaErrorInvalidValue);
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
  Require(found != Arrays().end(), cudaErrorInvalidResourceHandle);
  return *found->second;
}

void ResetArrays(int device) {
  ResetTextureObjects(device);
  std::erase_if(Arrays(), [&](const auto& array) { return array.second->device == device; });
}

namespace {

// Whether the channels are those of a normalized or compressed kind.
bool IsOfKind(const cudaChannelFormatDesc& desc) {
  struct Channels {
    cudaChannelFormatKind last;  // of the kinds with these
    int bits, count;
  };
  constexpr Channels kChannels[] = {{cudaChannelFormatKindNV12, 0, 0},
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
    return each.count > 0 && desc.x == bits(0) && desc.y == bits(1) && desc.z == bits(2) && desc.w == bits(3);
  }
  return false;
}

}  // namespace

TexelFormat FormatOf(const cudaChannelFormatDesc& desc) {
  if (desc.f > cudaChannelFormatKindNone) {
    Require(IsOfKind(desc), cudaErrorInvalidChannelDescriptor);
    NotSupported("a normalized or compressed format of channels");
  }
  const int bits = desc.x;
  const int channels = desc.w != 0 ? 4 : desc.z != 0 ? 3 : desc.y != 0 ? 2 : 1;
  const auto same = [&](int channel, int has) { return has == (channel < channels ? bits : 0); };
  Require(same(1, desc.y) && same(2, desc.z) && same(3, desc.w) && channels != 3, cudaErrorInvalidChannelDescriptor);
  const bool is_float = desc.f == cudaChannelFormatKindFloat;
  Require(desc.f != cudaChannelFormatKindNone && (bits == 16 || bits == 32 || (bits == 8 && !is_float)),
          cudaErrorInvalidChannelDescriptor);
  TexelFormat format;
  format.kind = is_float                                ? TexelKind::kFloat
                : desc.f == cudaChannelFormatKindSigned ? TexelKind::kSigned
                                                        : TexelKind::kUnsigned;
  format.channels = static_cast<uint8_t>(channels);
  format.channel_bytes = static_cast<uint8_t>(bits / 8);
  return format;
}

namespace {

Layout LayoutOf(const Array& array) { return {array.image.pitch, array.image.slice}; }

// Where a region begins: x in bytes. It must be within the array.
void* PlaceIn(const Array& array, uint64_t x, uint64_t y, uint64_t z, const Region& region) {
  const auto within = [](uint64_t begin, uint64_t size, uint64_t end) { return begin <= end && size <= end - begin; };
  Require(within(x, region.width, array.RowBytes()) && within(y, region.height, array.image.height) &&
              within(z, region.depth, array.image.depth),
          cudaErrorInvalidValue);
  return reinterpret_cast<void*>(array.image.AddressOf(0, static_cast<uint32_t>(y), static_cast<uint32_t>(z)) + x);
}

// Some bytes from a place on, row after row.
void* PlaceInRows(const Array& array, uint64_t x, uint64_t y, uint64_t bytes) {
  Require(x < array.RowBytes() && y < array.image.height, cudaErrorInvalidValue);
  const uint64_t offset = y * array.RowBytes() + x;
  Require(bytes <= array.image.slice - offset, cudaErrorInvalidValue);
  return reinterpret_cast<void*>(array.image.base + offset);
}

// An array is the device's.
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

// What is no kind counts as the default one where bytes go row after row.
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

CopyWork CopyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                     cudaMemcpyKind kind) {
  const Array& array = ArrayOf(to);
  const Region region = {width, height, 1};
  if (region.Bytes() == 0) return {};
  KindTo(kind);
  Require(height == 1 || pitch >= width, cudaErrorInvalidPitchValue);
  return {PlaceIn(array, x, y, 0, region), LayoutOf(array), from, {pitch, pitch * height}, region, kind};
}

CopyWork CopyFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                       cudaMemcpyKind kind) {
  const Array& array = ArrayOf(from);
  const Region region = {width, height, 1};
  if (region.Bytes() == 0) return {};
  KindFrom(kind);
  Require(height == 1 || pitch >= width, cudaErrorInvalidPitchValue);
  return {to, {pitch, pitch * height}, PlaceIn(array, x, y, 0, region), LayoutOf(array), region, kind};
}

CopyWork CopyArray3D(const cudaMemcpy3DParms& parms) {
  const Array* const from = parms.srcArray == nullptr ? nullptr : &ArrayOf(parms.srcArray);
  const Array* const to = parms.dstArray == nullptr ? nullptr : &ArrayOf(parms.dstArray);
  Require((from == nullptr) == (parms.srcPtr.ptr != nullptr) && (to == nullptr) == (parms.dstPtr.ptr != nullptr),
          cudaErrorInvalidValue);
  // The extent and the positions count the array's elements.
  const uint32_t element = (from != nullptr ? from : to)->image.format.Bytes();
  Require(from == nullptr || to == nullptr || to->image.format.Bytes() == element, cudaErrorInvalidValue);
  const Region region = {parms.extent.width * element, parms.extent.height, parms.extent.depth};
  if (parms.kind == cudaMemcpyHostToHost ||
      parms.kind == (to != nullptr ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice)) {
    throw ApiError{cudaErrorInvalidValue};
  }
  CopyWork work;
  work.region = region;
  work.of_arrays = true;
  work.kind = from != nullptr && to != nullptr ? KindBetween(parms.kind)
              : to != nullptr                  ? KindTo(parms.kind)
                                               : KindFrom(parms.kind);
  const auto end = [&](const Array* array, const cudaPitchedPtr& pointer, const cudaPos& at, Layout* layout) -> void* {
    if (array != nullptr) {
      *layout = LayoutOf(*array);
      return PlaceIn(*array, at.x * element, at.y, at.z, region);
    }
    *layout = {pointer.pitch, pointer.pitch * pointer.ysize};
    Require(pointer.pitch >= region.width || region.Bytes() == 0, cudaErrorInvalidValue);
    return static_cast<char*>(pointer.ptr) + at.z * layout->slice + at.y * layout->pitch + at.x * element;
  };
  work.from = end(from, parms.srcPtr, parms.srcPos, &work.from_layout);
  work.to = end(to, parms.dstPtr, parms.dstPos, &work.to_layout);
  return work;
}

namespace {

constexpr uint64_t kMemoryAlignment = 512, kPitchAlignment = 32;  // of textures in memory, as device properties say
constexpr uint64_t kMostBufferTexels = uint64_t{1} << 28;
constexpr uint64_t kMostPitched = 131072, kMostPitchedHeight = 65000, kMostPitch = (1 << 21) - kPitchAlignment;

struct Object {
  cudaResourceDesc resource = {};
  cudaTextureDesc texture = {};
  bool is_surface = false;
};
using Key = std::pair<int, unsigned long long>;  // device and handle

std::map<Key, Object>& Objects() {
  static auto* const objects = new std::map<Key, Object>;
  return *objects;
}

const Object& ObjectOf(Runtime& r, unsigned long long handle, bool is_surface) {
  const auto found = Objects().find({r.device(), handle});
  Require(found != Objects().end() && found->second.is_surface == is_surface, cudaErrorInvalidValue);
  return found->second;
}

// As the hardware's allocations are aligned.
bool IsAligned(Runtime& r, uint64_t address) {
  const std::optional<int> device = r.DeviceHolding(address);
  if (!device) return false;
  const auto range = r.backend(*device).RangeHolding(address);
  return range && (address - range->first) % kMemoryAlignment == 0;
}

vgpu::Image LinearImage(Runtime& r, const cudaResourceDesc& resource) {
  const auto& linear = resource.res.linear;
  vgpu::Image image;
  image.shape = ImageShape::kBuffer;
  image.base = reinterpret_cast<uintptr_t>(linear.devPtr);
  image.format = FormatOf(linear.desc);
  Require(IsAligned(r, image.base), cudaErrorInvalidValue);
  const uint64_t texels = linear.sizeInBytes / image.format.Bytes();
  Require(texels <= kMostBufferTexels, cudaErrorInvalidValue);
  image.width = static_cast<uint32_t>(texels);
  return image;
}

vgpu::Image PitchedImage(Runtime& r, const cudaResourceDesc& resource) {
  const auto& pitched = resource.res.pitch2D;
  vgpu::Image image;
  image.shape = ImageShape::k2D;
  image.base = reinterpret_cast<uintptr_t>(pitched.devPtr);
  image.format = FormatOf(pitched.desc);
  Require(IsAligned(r, image.base), cudaErrorInvalidValue);
  Require(
      pitched.width > 0 && pitched.width <= kMostPitched && pitched.height > 0 && pitched.height <= kMostPitchedHeight,
      cudaErrorInvalidValue);
  Require(pitched.pitchInBytes % kPitchAlignment == 0 && pitched.pitchInBytes <= kMostPitch &&
              pitched.pitchInBytes >= pitched.width * image.format.Bytes(),
          cudaErrorInvalidValue);
  image.width = static_cast<uint32_t>(pitched.width);
  image.height = static_cast<uint32_t>(pitched.height);
  image.pitch = pitched.pitchInBytes;
  return image;
}

vgpu::Image ImageOf(Runtime& r, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return ArrayOf(resource.res.array.array).image;
    case cudaResourceTypeLinear:
      return LinearImage(r, resource);
    case cudaResourceTypePitch2D:
      return PitchedImage(r, resource);
    case cudaResourceTypeMipmappedArray:
      NotSupported("a texture with mipmaps");
  }
  throw ApiError{cudaErrorInvalidValue};
}

AddressMode ModeOf(cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap:
      return AddressMode::kWrap;
    case cudaAddressModeClamp:
      return AddressMode::kClamp;
    case cudaAddressModeMirror:
      return AddressMode::kMirror;
    case cudaAddressModeBorder:
      return AddressMode::kBorder;
  }
  throw ApiError{cudaErrorInvalidValue};
}

// A border's color has the precision of the texels.
float BorderOf(float color, const TexelFormat& format, bool as_float) {
  if (format.kind == TexelKind::kFloat) {
    if (format.channel_bytes == 2 && Half::ToFloat(Half::FromFloat(color)) != color) {
      NotSupported("a border's color that is no 16-bit float");
    }
    return color;
  }
  if (color == 0) return 0;
  if (!as_float || std::isnan(color)) NotSupported("a border's color among integers");
  const bool is_signed = format.kind == TexelKind::kSigned;
  const auto most = static_cast<float>((1 << (8 * format.channel_bytes - (is_signed ? 1 : 0))) - 1);
  return std::round(std::clamp(color, is_signed ? -1.0f : 0.0f, 1.0f) * most) / most;
}

Sampler SamplerOf(const cudaTextureDesc& desc, const vgpu::Image& image) {
  Sampler sampler;
  for (int axis = 0; axis < 3; ++axis) {
    sampler.mode[axis] = ModeOf(desc.addressMode[axis]);
  }
  Require(desc.filterMode == cudaFilterModePoint || desc.filterMode == cudaFilterModeLinear, cudaErrorInvalidValue);
  Require(desc.readMode == cudaReadModeElementType || desc.readMode == cudaReadModeNormalizedFloat,
          cudaErrorInvalidValue);
  const bool integers = image.format.kind != TexelKind::kFloat;
  const bool narrow = image.format.channel_bytes < 4;
  sampler.linear = desc.filterMode == cudaFilterModeLinear;
  sampler.normalized = desc.normalizedCoords != 0;
  sampler.as_float = integers && desc.readMode == cudaReadModeNormalizedFloat;
  sampler.srgb = desc.sRGB != 0;
  Require(!sampler.linear || !integers || (sampler.as_float && narrow), cudaErrorInvalidFilterSetting);
  Require(desc.readMode == cudaReadModeElementType || (narrow && integers), cudaErrorInvalidNormSetting);
  // Only bytes that are read as floats are colors. Anisotropy needs derivatives, which a kernel does not give.
  if (sampler.srgb && sampler.as_float && image.format.channel_bytes == 1) NotSupported("a texture of sRGB colors");
  const bool cube = image.shape == ImageShape::kCube || image.shape == ImageShape::kCubeLayered;
  Require(desc.seamlessCubemap == 0 || cube, cudaErrorInvalidValue);
  if (desc.seamlessCubemap != 0) NotSupported("filtering across the edges of a cube");
  if (sampler.linear && image.format.kind == TexelKind::kSigned && image.format.channel_bytes == 1) {
    NotSupported("linear filtering of signed 8-bit texels");
  }
  if (sampler.linear && image.format.channel_bytes == 2 && !integers && image.shape == ImageShape::k3D) {
    NotSupported("linear filtering of 16-bit floats in three dimensions");
  }
  const bool has_border =
      image.shape != ImageShape::kBuffer && std::count(sampler.mode, sampler.mode + 3, AddressMode::kBorder) > 0;
  for (int channel = 0; channel < 4 && has_border; ++channel) {
    sampler.border[channel] = BorderOf(desc.borderColor[channel], image.format, sampler.as_float);
  }
  return sampler;
}

unsigned long long Create(Runtime& r, const cudaResourceDesc* resource, const cudaTextureDesc* desc) {
  Texture texture;
  texture.image = ImageOf(r, *resource);
  texture.is_surface = desc == nullptr;
  Object object;
  object.resource = *resource;
  object.is_surface = texture.is_surface;
  if (desc != nullptr) {
    texture.sampler = SamplerOf(*desc, texture.image);
    object.texture = *desc;
  }
  const uint64_t handle = r.backend().AddTexture(texture);
  if (handle == 0) NotSupported("textures and surfaces, where the device is another process's,");
  Objects()[{r.device(), handle}] = object;
  return handle;
}

void Destroy(Runtime& r, unsigned long long handle, bool is_surface) {
  if (handle == 0) return;
  ObjectOf(r, handle, is_surface);
  r.backend().RemoveTexture(handle);
  Objects().erase({r.device(), handle});
}

}  // namespace

void ResetTextureObjects(int device) {
  std::erase_if(Objects(), [&](const auto& object) { return object.first.first == device; });
}

}  // namespace lockstep::vgpu::cudart

// Programs of old call them still.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height,
                            unsigned flags) {
  return Api("cudaMallocArray", [&](Runtime& r) { AllocateArray(r, array, desc, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                              unsigned flags) {
  return Api("cudaMalloc3DArray", [&](Runtime& r) { AllocateArray(r, array, desc, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return Api("cudaFreeArray", [&](Runtime& r) {
    if (array != nullptr) RequireSafeInCapture();
    FreeArray(r, array);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t handle) {
  return Api("cudaArrayGetInfo", [&](Runtime&) {
    if (desc != nullptr) *desc = {};
    if (extent != nullptr) *extent = {};
    if (flags != nullptr) *flags = 0;
    const Array& array = ArrayOf(handle);
    if (desc != nullptr) *desc = array.desc;
    if (extent != nullptr) *extent = array.extent;
    if (flags != nullptr) *flags = array.flags;
  });
}

// Elements of the widest texture on linear memory.
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const cudaChannelFormatDesc* desc, int device) {
  return Api("cudaDeviceGetTexture1DLinearMaxWidth", [&](Runtime& r) {
    Require(width != nullptr && desc != nullptr && device >= 0 && device < r.device_count(), cudaErrorInvalidValue);
    constexpr uint64_t kMostElements = uint64_t{1} << 30, kMostBytes = uint64_t{1} << 32;
    *width = std::min(kMostElements, kMostBytes / FormatOf(*desc).Bytes());
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
    KindBetween(kind);
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
    KindBetween(kind);
    if (bytes == 0) return;
    const void* const place = PlaceInRows(ArrayOf(from), from_x, from_y, bytes);
    CopyNow(r, BytesToArray(to, to_x, to_y, place, bytes, KindBetween(kind)));
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpyArrayToArray, _ptds)

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* desc, const cudaResourceViewDesc* view) {
  return Api("cudaCreateTextureObject", [&](Runtime& r) {
    Require(object != nullptr && resource != nullptr && desc != nullptr, cudaErrorInvalidValue);
    const bool linear = resource->resType == cudaResourceTypeLinear;
    if (linear || resource->resType == cudaResourceTypePitch2D) {
      const cudaChannelFormatDesc& channels = linear ? resource->res.linear.desc : resource->res.pitch2D.desc;
      Require(desc->readMode != cudaReadModeNormalizedFloat || channels.f != cudaChannelFormatKindFloat,
              cudaErrorInvalidNormSetting);
    }
    if (view != nullptr) NotSupported("a view of a texture's resource");
    *object = Create(r, resource, desc);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return Api("cudaDestroyTextureObject", [&](Runtime& r) { Destroy(r, object, false); });
}

// No texture has a view.
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view, cudaTextureObject_t object) {
  cudaResourceDesc resource;
  const cudaError_t error = cudaGetTextureObjectResourceDesc(view == nullptr ? nullptr : &resource, object);
  if (error == cudaSuccess) *view = {};
  return error;
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t object) {
  return Api("cudaGetTextureObjectResourceDesc",
             [&](Runtime& r) { Set(resource, ObjectOf(r, object, false).resource); });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* desc, cudaTextureObject_t object) {
  return Api("cudaGetTextureObjectTextureDesc", [&](Runtime& r) { Set(desc, ObjectOf(r, object, false).texture); });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return Api("cudaCreateSurfaceObject", [&](Runtime& r) {
    Require(object != nullptr && resource != nullptr, cudaErrorInvalidValue);
    if (resource->resType == cudaResourceTypeLinear) FormatOf(resource->res.linear.desc);
    if (resource->resType == cudaResourceTypePitch2D) FormatOf(resource->res.pitch2D.desc);
    Require(resource->resType == cudaResourceTypeArray, cudaErrorInvalidValue);
    *object = Create(r, resource, nullptr);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return Api("cudaDestroySurfaceObject", [&](Runtime& r) { Destroy(r, object, true); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t object) {
  return Api("cudaGetSurfaceObjectResourceDesc",
             [&](Runtime& r) { Set(resource, ObjectOf(r, object, true).resource); });
}

}  // extern "C"
