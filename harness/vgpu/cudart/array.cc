// CUDA arrays: allocation and what they are like.
#include "vgpu/cudart/array.h"

#include <map>
#include <memory>
#include <utility>

namespace lockstep::vgpu::cudart {

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

void AllocateArray(Runtime& r, cudaArray_t* handle, const cudaChannelFormatDesc* desc, const cudaExtent& extent,
                   unsigned flags) {
  Require(handle != nullptr && desc != nullptr, cudaErrorInvalidValue);
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
  image.format = FormatOf(*desc);
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
  std::erase_if(Arrays(), [&](const auto& array) { return array.second->device == device; });
}

TexelFormat FormatOf(const cudaChannelFormatDesc& desc) {
  if (desc.f > cudaChannelFormatKindNone) NotSupported("a packed, normalized or compressed format of channels");
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

}  // namespace lockstep::vgpu::cudart

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
  return Api("cudaFreeArray", [&](Runtime& r) { FreeArray(r, array); });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t handle) {
  return Api("cudaArrayGetInfo", [&](Runtime&) {
    const Array& array = ArrayOf(handle);
    if (desc != nullptr) *desc = array.desc;
    if (extent != nullptr) *extent = array.extent;
    if (flags != nullptr) *flags = array.flags;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  return Api("cudaGetChannelDesc", [&](Runtime&) { Set(desc, ArrayOf(array).desc); });
}

}  // extern "C"
