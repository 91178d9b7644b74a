// Texture and surface objects.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "vgpu/core/half_format.h"
#include "vgpu/cudart/array.h"

namespace lockstep::vgpu::cudart {

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
  Require(desc.readMode == cudaReadModeElementType || narrow, cudaErrorInvalidNormSetting);
  if (desc.maxAnisotropy > 1) NotSupported("anisotropic filtering");
  if (sampler.srgb) NotSupported("a texture of sRGB colors");
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

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* desc, const cudaResourceViewDesc* view) {
  return Api("cudaCreateTextureObject", [&](Runtime& r) {
    Require(object != nullptr && resource != nullptr && desc != nullptr, cudaErrorInvalidValue);
    if (view != nullptr) NotSupported("a view of a texture's resource");
    *object = Create(r, resource, desc);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return Api("cudaDestroyTextureObject", [&](Runtime& r) { Destroy(r, object, false); });
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
    Require(object != nullptr && resource != nullptr && resource->resType == cudaResourceTypeArray,
            cudaErrorInvalidValue);
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
