// Texture objects and surface objects: their checks and their samplers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "vgpu/core/half_format.h"
#include "vgpu/cudart/array.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/texture/sampling.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr uint64_t kMemoryAlignment = 512, kPitchAlignment = 32;  // of textures in memory, as in the device properties
constexpr uint64_t kMostBufferTexels = uint64_t{1} << 28;
constexpr uint64_t kMostPitched = 131072, kMostPitchedHeight = 65000, kMostPitch = (1 << 21) - kPitchAlignment;

struct Object {
  cudaResourceDesc resource = {};
  cudaTextureDesc texture = {};
  cudaResourceViewDesc view = {};
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

// Whether memory is aligned for a texture, judged by its offset in the allocation: allocations are aligned less here.
bool IsAligned(Runtime& r, uint64_t address) {
  const std::optional<int> device = r.DeviceHolding(address);
  const auto memory = MemoryAt(r, reinterpret_cast<const void*>(address));
  if (!device || !memory) return false;
  if (memory->of_variable && memory->type == cudaMemoryTypeDevice) return false;
  const auto range = r.backend(*device).RangeHolding(address);
  return range && (address - range->first) % kMemoryAlignment == 0;
}

vgpu::Image ImageOfMemory(Runtime& r, ImageShape shape, const void* memory, const cudaChannelFormatDesc& desc) {
  vgpu::Image image;
  image.shape = shape;
  image.base = reinterpret_cast<uintptr_t>(memory);
  image.format = FormatOf(desc);
  Require(IsAligned(r, image.base), cudaErrorInvalidValue);
  return image;
}

vgpu::Image LinearImage(Runtime& r, const cudaResourceDesc& resource) {
  const auto& linear = resource.res.linear;
  vgpu::Image image = ImageOfMemory(r, ImageShape::kBuffer, linear.devPtr, linear.desc);
  const uint64_t texels = linear.sizeInBytes / image.format.Bytes();
  Require(texels <= kMostBufferTexels, cudaErrorInvalidValue);
  image.width = static_cast<uint32_t>(texels);
  return image;
}

vgpu::Image PitchedImage(Runtime& r, const cudaResourceDesc& resource) {
  const auto& pitched = resource.res.pitch2D;
  vgpu::Image image = ImageOfMemory(r, ImageShape::k2D, pitched.devPtr, pitched.desc);
  Require(pitched.width <= kMostPitched && pitched.height <= kMostPitchedHeight, cudaErrorInvalidValue);
  Require(pitched.pitchInBytes % kPitchAlignment == 0 && pitched.pitchInBytes <= kMostPitch, cudaErrorInvalidValue);
  // Accepted as on a GPU, but nothing can be fetched. Rows longer than the pitch overlap.
  if (pitched.width == 0 || pitched.height == 0 || pitched.pitchInBytes == 0) image.shape = ImageShape::kNone;
  image.width = static_cast<uint32_t>(pitched.width);
  image.height = static_cast<uint32_t>(pitched.height);
  image.pitch = pitched.pitchInBytes;
  return image;
}

vgpu::Image Readable(const Array& array) {
  vgpu::Image image = array.image;
  if (array.has_no_memory()) image.shape = ImageShape::kNone;
  return image;
}

vgpu::Image ImageOf(Runtime& r, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return Readable(ArrayOf(resource.res.array.array));
    case cudaResourceTypeLinear:
      return LinearImage(r, resource);
    case cudaResourceTypePitch2D:
      return PitchedImage(r, resource);
    case cudaResourceTypeMipmappedArray:
      return Readable(ArrayOf(LevelsOf(resource.res.mipmap.mipmap).front()));
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

// The nearest multiple of 1 / most; on a tie the one closer to 0.
float Nearest(float value, float most) {
  return std::copysign(std::ceil(std::fabs(value) * most - 0.5f) / most, value);
}

// A border colour is rounded to the texels' precision. For integers it is the bits of the given float.
float BorderOf(float color, const TexelFormat& format, const Sampler& sampler, int channel) {
  if (format.kind == TexelKind::kFloat) {
    if (format.channel_bytes == 2 && Half::ToFloat(Half::FromFloat(color)) != color) {
      NotSupported("a border color that a 16-bit float can't represent");
    }
    return color;
  }
  const bool is_signed = format.kind == TexelKind::kSigned;
  const int width = 8 * format.channel_bytes;
  if (!sampler.as_float) {
    const uint32_t bits = std::bit_cast<uint32_t>(color) << (32 - width);
    const auto extended = static_cast<uint32_t>(static_cast<int32_t>(bits) >> (32 - width));
    return std::bit_cast<float>(is_signed ? extended : bits >> (32 - width));
  }
  if (std::isnan(color)) NotSupported("a border color that is NaN");
  if (sampler.srgb && !is_signed && width == 8 && channel < (format.channels == 4 ? 3 : 1)) {
    return LightOf(ColorOf(color));
  }
  return Nearest(std::clamp(color, is_signed ? -1.0f : 0.0f, 1.0f),
                 static_cast<float>((1 << (width - (is_signed ? 1 : 0))) - 1));
}

// declared: the format of the resource, which a view may reinterpret.
Sampler SamplerOf(const cudaTextureDesc& desc, const vgpu::Image& image, const TexelFormat& declared, bool has_view,
                  bool always_normalized) {
  Sampler sampler;
  const bool integers = declared.kind != TexelKind::kFloat;
  const bool narrow = declared.channel_bytes < 4;
  const bool normalizes = desc.readMode == cudaReadModeNormalizedFloat;
  sampler.linear = desc.filterMode == cudaFilterModeLinear;
  sampler.normalized = desc.normalizedCoords != 0;
  sampler.as_float = integers && normalizes;
  // A view's narrow integers are also read as floats if the resource's own format is float.
  if (has_view) {
    sampler.as_float =
        image.format.kind != TexelKind::kFloat && image.format.channel_bytes < 4 && (!integers || normalizes);
  }
  sampler.srgb = desc.sRGB != 0;
  Require(normalizes || !always_normalized, cudaErrorInvalidNormSetting);
  Require(!sampler.linear || !integers || (normalizes && narrow), cudaErrorInvalidFilterSetting);
  Require(!normalizes || (narrow && integers), cudaErrorInvalidNormSetting);
  for (int axis = 0; axis < 3; ++axis) sampler.mode[axis] = ModeOf(desc.addressMode[axis]);
  Require(desc.filterMode == cudaFilterModePoint || desc.filterMode == cudaFilterModeLinear, cudaErrorInvalidValue);
  // Only bytes read as floats can be sRGB colours. Anisotropy needs derivatives, which kernels don't have.
  const bool signed_bytes = image.format.kind == TexelKind::kSigned && image.format.channel_bytes == 1;
  if (sampler.srgb && sampler.as_float && signed_bytes) NotSupported("a texture of signed sRGB colors");
  const bool between = desc.mipmapFilterMode == cudaFilterModeLinear || image.shape == ImageShape::k3D;
  if (sampler.srgb && sampler.as_float && sampler.linear && between && image.format.channel_bytes == 1) {
    NotSupported("linear filtering of sRGB colors in three dimensions or between levels");
  }
  if (sampler.linear && !sampler.as_float && image.format.kind != TexelKind::kFloat) {
    NotSupported("linear filtering of a view's integers");
  }
  const bool cube = image.shape == ImageShape::kCube || image.shape == ImageShape::kCubeLayered;
  Require(desc.seamlessCubemap == 0 || cube, cudaErrorInvalidValue);
  if (desc.seamlessCubemap != 0) NotSupported("filtering across the edges of a cube");
  if (sampler.linear && signed_bytes) {
    NotSupported("linear filtering of signed 8-bit texels");
  }
  if (sampler.linear && image.format.channel_bytes == 2 && !integers && image.shape == ImageShape::k3D) {
    NotSupported("linear filtering of 16-bit floats in three dimensions");
  }
  const bool has_border =
      image.shape != ImageShape::kBuffer && std::count(sampler.mode, sampler.mode + 3, AddressMode::kBorder) > 0;
  for (int channel = 0; channel < 4 && has_border; ++channel) {
    sampler.border[channel] = BorderOf(desc.borderColor[channel], image.format, sampler, channel);
  }
  sampler.levels_linear = desc.mipmapFilterMode == cudaFilterModeLinear;
  sampler.trilinear_optimized = desc.maxAnisotropy > 1 && desc.disableTrilinearOptimization == 0;
  sampler.bias = LevelParts(desc.mipmapLevelBias);
  sampler.lowest = LevelParts(desc.minMipmapLevelClamp);
  sampler.highest = LevelParts(desc.maxMipmapLevelClamp);
  return sampler;
}

// Applies a view, which reinterprets the resource's texels as others of the same size.
void LookThrough(const cudaResourceViewDesc& view, const cudaResourceDesc& resource, vgpu::Image& image) {
  constexpr cudaResourceViewFormat kLast = cudaResViewFormatFloat4;
  const bool is_mipmap = resource.resType == cudaResourceTypeMipmappedArray;
  Require(is_mipmap || resource.resType == cudaResourceTypeArray, cudaErrorInvalidValue);
  const Array& array = ArrayOf(is_mipmap ? LevelsOf(resource.res.mipmap.mipmap).front() : resource.res.array.array);
  const auto has_size = [&](size_t times) {
    return view.width == times * array.extent.width && view.height == times * array.extent.height &&
           view.depth == array.extent.depth;
  };
  if (view.format > kLast && view.format <= cudaResViewFormatUnsignedBlockCompressed7 && has_size(4)) {
    NotSupported("a view of compressed texels");
  }
  Require(view.format > cudaResViewFormatNone && view.format <= kLast && has_size(1), cudaErrorInvalidValue);
  const bool layered = (array.flags & cudaArrayLayered) != 0;
  Require(view.firstLayer == 0 && view.lastLayer == (layered ? array.extent.depth - 1 : 0) &&
              image.shape != ImageShape::kCube,
          cudaErrorInvalidValue);
  Require(view.firstMipmapLevel <= view.lastMipmapLevel, cudaErrorInvalidValue);
  const size_t levels = is_mipmap ? LevelsOf(resource.res.mipmap.mipmap).size() : 1;
  if (view.firstMipmapLevel != 0 || view.lastMipmapLevel + size_t{1} < levels) NotSupported("a view of some levels");
  // View formats: each kind has three consecutive ones, with one, two and four channels.
  constexpr TexelKind kUnsigned = TexelKind::kUnsigned, kSigned = TexelKind::kSigned, kFloat = TexelKind::kFloat;
  constexpr std::pair<TexelKind, uint8_t> kKinds[] = {{kUnsigned, 1}, {kSigned, 1}, {kUnsigned, 2}, {kSigned, 2},
                                                      {kUnsigned, 4}, {kSigned, 4}, {kFloat, 2},    {kFloat, 4}};
  const auto number = static_cast<size_t>(view.format - 1);
  const auto& [kind, bytes] = kKinds[number / 3];
  const TexelFormat format = {kind, static_cast<uint8_t>(1 << number % 3), bytes};
  Require(format.Bytes() == image.format.Bytes(), cudaErrorInvalidValue);
  image.format = format;
}

unsigned long long Create(Runtime& r, const cudaResourceDesc* resource, const cudaTextureDesc* desc,
                          const cudaResourceViewDesc* view) {
  Texture texture;
  texture.image = ImageOf(r, *resource);
  texture.is_surface = desc == nullptr;
  Object object;
  object.resource = *resource;
  object.is_surface = texture.is_surface;
  if (desc != nullptr) {
    const TexelFormat declared = texture.image.format;
    const bool of_array = resource->resType == cudaResourceTypeArray;
    if (resource->resType == cudaResourceTypeLinear) view = nullptr;  // is ignored
    if (view != nullptr) LookThrough(object.view = *view, *resource, texture.image);
    const bool always_normalized = of_array && ArrayOf(resource->res.array.array).desc.f > cudaChannelFormatKindNone;
    texture.sampler = SamplerOf(*desc, texture.image, declared, view != nullptr, always_normalized);
    object.texture = *desc;
    if (desc->readMode != cudaReadModeNormalizedFloat) object.texture.readMode = cudaReadModeElementType;
    if (resource->resType == cudaResourceTypeMipmappedArray) {
      const std::vector<cudaArray_t>& levels = LevelsOf(resource->res.mipmap.mipmap);
      for (size_t k = 1; k < levels.size(); ++k) {
        texture.smaller.push_back(ArrayOf(levels[k]).image);
        texture.smaller.back().format = texture.image.format;
      }
    }
  }
  const uint64_t handle = r.backend().AddTexture(texture);
  if (handle == 0) NotSupported("textures and surfaces in submissions");
  Objects()[{r.device(), handle}] = object;
  return handle;
}

void Destroy(Runtime& r, unsigned long long handle, bool is_surface) {
  // An unknown handle is not an error.
  const auto found = Objects().find({r.device(), handle});
  if (found == Objects().end() || found->second.is_surface != is_surface) return;
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
    Require(resource != nullptr, cudaErrorInvalidValue);
    if (resource->resType == cudaResourceTypeArray) ArrayOf(resource->res.array.array);
    Require(object != nullptr, cudaErrorInvalidValue);
    Require(desc != nullptr, cudaErrorInvalidResourceHandle);
    const bool linear = resource->resType == cudaResourceTypeLinear;
    if (linear || resource->resType == cudaResourceTypePitch2D) {
      const cudaChannelFormatDesc& channels = linear ? resource->res.linear.desc : resource->res.pitch2D.desc;
      Require(desc->readMode != cudaReadModeNormalizedFloat || channels.f != cudaChannelFormatKindFloat,
              cudaErrorInvalidNormSetting);
    }
    *object = Create(r, resource, desc, view);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return Api("cudaDestroyTextureObject", [&](Runtime& r) { Destroy(r, object, false); });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view, cudaTextureObject_t object) {
  return Api("cudaGetTextureObjectResourceViewDesc", [&](Runtime& r) { Set(view, ObjectOf(r, object, false).view); });
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
    *object = Create(r, resource, nullptr, nullptr);
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
