// Texture references, from before CUDA 12: a program's settings for one, and the texture object made from them. A
// module's .texref is 8 bytes of global memory with the object's handle, which fetches read.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "vgpu/cudart/driver/driver.h"

struct CUtexref_st {
  void* variable = nullptr;  // a module's variable; nullptr: created by cuTexRefCreate
  CUtexObject object = 0;    // the texture object stored in `variable`, if bound
  bool bound = false;
  CUDA_RESOURCE_DESC resource = {};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 1;
  CUDA_TEXTURE_DESC desc = {{CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};

  bool IsBound(CUresourcetype type) const { return bound && resource.resType == type; }
};

namespace lockstep::vgpu::cudart::driver {

namespace {

constexpr uint64_t kBaseAlignment = 512, kPitchAlignment = 32;
constexpr int kAxes = 3;
constexpr unsigned kKnownFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | 0xC | CU_TRSF_SRGB |
                                 CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;

struct References {
  std::mutex mutex;
  std::map<CUtexref, std::unique_ptr<CUtexref_st>> all;
  std::set<void*> destroyed;  // variables whose reference was destroyed
};
References& KnownReferences() {
  static References* const references = new References;
  return *references;
}

using Texture = CUDA_TEXTURE_DESC;

// Calls body(the reference) if there is such a reference; the body returns whether the arguments are valid.
template <typename Body>
CUresult With(const char* function, CUtexref handle, Body body) {
  return DriveHandle(function, handle, [&] {
    const std::lock_guard lock(KnownReferences().mutex);
    const auto found = KnownReferences().all.find(handle);
    return found != KnownReferences().all.end() && body(*found->second) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
template <typename T, typename From>
bool Write(T* to, From value) {
  return to != nullptr && (*to = static_cast<T>(value), true);
}

// A module's fetches use the last settings; running kernels still use the previous ones.
void Update(CUtexref_st& own) {
  if (own.variable == nullptr || !own.bound) return;
  cudaDeviceSynchronize();
  if (own.object != 0) cuTexObjectDestroy(own.object);
  auto& linear = own.resource.res.linear;
  if (own.resource.resType == CU_RESOURCE_TYPE_LINEAR) linear.format = own.format, linear.numChannels = own.channels;
  own.object = 0;  // stays 0 if the settings are invalid: then a fetch reports it
  cuTexObjectCreate(&own.object, &own.resource, &own.desc, nullptr);
  cudaMemcpy(own.variable, &own.object, sizeof own.object, cudaMemcpyHostToDevice);
}
template <typename Body>
CUresult Change(const char* function, CUtexref handle, Body body) {
  return With(function, handle, [&](CUtexref_st& own) { return body(own) && (Update(own), true); });
}
// Set and read a member of the texture description.
template <typename T>
CUresult Put(const char* function, CUtexref handle, T Texture::* member, T value) {
  return Change(function, handle, [&](auto& own) { return Write(&(own.desc.*member), value); });
}
template <typename Out, typename T>
CUresult Tell(const char* function, CUtexref handle, Out* out, T Texture::* member) {
  return With(function, handle, [&](auto& own) { return Write(out, own.desc.*member); });
}

bool Bind(CUtexref_st& own, const CUDA_RESOURCE_DESC& resource, CUarray_format format, unsigned channels) {
  own.bound = true;
  own.resource = resource;
  own.format = format;
  own.channels = channels;
  return true;
}
bool BindArray(CUtexref_st& own, const CUDA_RESOURCE_DESC& resource, CUarray first, unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR desc;
  return flags <= CU_TRSA_OVERRIDE_FORMAT && cuArray3DGetDescriptor(&desc, first) == CUDA_SUCCESS &&
         Bind(own, resource, desc.Format, desc.NumChannels);
}

uint64_t BytesOf(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 2;
  }
}
bool IsAxis(int axis) { return axis >= 0 && axis < kAxes; }

}  // namespace

CUtexref ReferenceAt(void* variable) {
  const std::lock_guard lock(KnownReferences().mutex);
  if (KnownReferences().destroyed.contains(variable)) return nullptr;
  for (const auto& [handle, reference] : KnownReferences().all) {
    if (variable != nullptr && reference->variable == variable) return handle;
  }
  auto made = std::make_unique<CUtexref_st>();
  made->variable = variable;
  CUtexref const handle = made.get();
  KnownReferences().all[handle] = std::move(made);
  return handle;
}

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuTexRefCreate(CUtexref* t) {
  return DriveUnlessFaulted(
      __func__, [&] { return t == nullptr ? cudaErrorInvalidValue : (*t = ReferenceAt(nullptr), cudaSuccess); });
}
CUresult cuTexRefDestroy(CUtexref t) {
  return With(__func__, t, [&](auto& own) {
    if (own.variable != nullptr) KnownReferences().destroyed.insert(own.variable);
    return KnownReferences().all.erase(t) != 0;
  });
}

CUresult cuTexRefSetArray(CUtexref t, CUarray array, unsigned flags) {
  CUDA_RESOURCE_DESC resource = {CU_RESOURCE_TYPE_ARRAY};
  resource.res.array.hArray = array;
  return Change(__func__, t, [&](auto& own) { return BindArray(own, resource, array, flags); });
}
CUresult cuTexRefSetMipmappedArray(CUtexref t, CUmipmappedArray mipmap, unsigned flags) {
  CUDA_RESOURCE_DESC resource = {CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
  resource.res.mipmap.hMipmappedArray = mipmap;
  CUarray first = nullptr;
  return Change(__func__, t, [&](auto& own) {
    return cuMipmappedArrayGetLevel(&first, mipmap, 0) == CUDA_SUCCESS && BindArray(own, resource, first, flags);
  });
}
// If the memory is not aligned for a texture, *offset gets the bytes that fetches have to add.
CUresult cuTexRefSetAddress(size_t* offset, CUtexref t, CUdeviceptr memory, size_t bytes) {
  return Change("cuTexRefSetAddress", t, [&](auto& own) {
    const uint64_t beyond = memory % kBaseAlignment;
    if (beyond != 0 && offset == nullptr) return false;
    if (offset != nullptr) *offset = beyond;
    CUDA_RESOURCE_DESC resource = {CU_RESOURCE_TYPE_LINEAR};
    resource.res.linear = {memory - beyond, own.format, own.channels, bytes + beyond};
    return Bind(own, resource, own.format, own.channels);
  });
}
CUresult cuTexRefSetAddress2D(CUtexref t, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr memory, size_t pitch) {
  return Change("cuTexRefSetAddress2D", t, [&](auto& own) {
    if (desc == nullptr || memory % kBaseAlignment != 0 || (desc->Height > 0 && pitch % kPitchAlignment != 0) ||
        desc->Width * desc->NumChannels * BytesOf(desc->Format) > pitch) {
      return false;
    }
    CUDA_RESOURCE_DESC resource = {CU_RESOURCE_TYPE_PITCH2D};
    resource.res.pitch2D = {memory, desc->Format, desc->NumChannels, desc->Width, desc->Height, pitch};
    return Bind(own, resource, desc->Format, desc->NumChannels);
  });
}
CUresult cuTexRefSetFormat(CUtexref t, CUarray_format format, int channels) {
  return Change(__func__, t, [&](auto& own) {
    return channels >= 0 && channels <= 4 && channels != 3 && Write(&own.format, format) &&
           Write(&own.channels, channels);
  });
}
CUresult cuTexRefSetAddressMode(CUtexref t, int axis, CUaddress_mode mode) {
  if (mode > CU_TR_ADDRESS_MODE_BORDER) mode = CU_TR_ADDRESS_MODE_CLAMP;
  return Change(__func__, t, [&](auto& own) { return IsAxis(axis) && Write(&own.desc.addressMode[axis], mode); });
}
CUresult cuTexRefSetFilterMode(CUtexref t, CUfilter_mode mode) { return Put(__func__, t, &Texture::filterMode, mode); }
CUresult cuTexRefSetMipmapFilterMode(CUtexref t, CUfilter_mode mode) {
  const bool is_mode = mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR;
  return Change(__func__, t, [&](auto& own) { return is_mode && Write(&own.desc.mipmapFilterMode, mode); });
}
CUresult cuTexRefSetMipmapLevelBias(CUtexref t, float bias) {
  return Put(__func__, t, &Texture::mipmapLevelBias, bias);
}
CUresult cuTexRefSetMipmapLevelClamp(CUtexref t, float least, float most) {
  return Change(__func__, t, [&](auto& own) {
    return Write(&own.desc.minMipmapLevelClamp, least) && Write(&own.desc.maxMipmapLevelClamp, most);
  });
}
CUresult cuTexRefSetMaxAnisotropy(CUtexref t, unsigned most) { return Put(__func__, t, &Texture::maxAnisotropy, most); }
CUresult cuTexRefSetBorderColor(CUtexref t, float* color) {
  return Change(__func__, t, [&](auto& own) {
    return color != nullptr && (std::copy_n(color, std::size(own.desc.borderColor), own.desc.borderColor), true);
  });
}
CUresult cuTexRefSetFlags(CUtexref t, unsigned flags) {
  return Change(__func__, t, [&](auto& own) { return (flags & ~kKnownFlags) == 0 && Write(&own.desc.flags, flags); });
}
CUresult cuParamSetTexRef(CUfunction, int, CUtexref t) {
  return With(__func__, t, [](auto& own) { return own.bound; });
}

CUresult cuTexRefGetAddress(CUdeviceptr* memory, CUtexref t) {
  return With("cuTexRefGetAddress", t, [&](auto& own) {
    const auto& [pitched, linear] = std::pair(own.resource.res.pitch2D.devPtr, own.resource.res.linear.devPtr);
    return own.IsBound(CU_RESOURCE_TYPE_PITCH2D) ? Write(memory, pitched)
                                                 : own.IsBound(CU_RESOURCE_TYPE_LINEAR) && Write(memory, linear);
  });
}
CUresult cuTexRefGetArray(CUarray* array, CUtexref t) {
  return With(__func__, t, [&](auto& own) {
    return own.IsBound(CU_RESOURCE_TYPE_ARRAY) && Write(array, own.resource.res.array.hArray);
  });
}
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* mipmap, CUtexref t) {
  return With(__func__, t, [&](auto& own) {
    return own.IsBound(CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) && Write(mipmap, own.resource.res.mipmap.hMipmappedArray);
  });
}
CUresult cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref t, int axis) {
  return With(__func__, t, [&](auto& own) { return IsAxis(axis) && Write(mode, own.desc.addressMode[axis]); });
}
CUresult cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref t) {
  return Tell(__func__, t, mode, &Texture::filterMode);
}
CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* mode, CUtexref t) {
  return Tell(__func__, t, mode, &Texture::mipmapFilterMode);
}
CUresult cuTexRefGetMipmapLevelBias(float* bias, CUtexref t) {
  return Tell(__func__, t, bias, &Texture::mipmapLevelBias);
}
CUresult cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref t) {
  return With(__func__, t, [&](auto& own) {
    return Write(least, own.desc.minMipmapLevelClamp) && Write(most, own.desc.maxMipmapLevelClamp);
  });
}
CUresult cuTexRefGetMaxAnisotropy(int* most, CUtexref t) { return Tell(__func__, t, most, &Texture::maxAnisotropy); }
CUresult cuTexRefGetBorderColor(float* color, CUtexref t) {
  return With(__func__, t, [&](auto& own) {
    return color != nullptr && std::copy_n(own.desc.borderColor, std::size(own.desc.borderColor), color) != nullptr;
  });
}
CUresult cuTexRefGetFlags(unsigned* flags, CUtexref t) { return Tell(__func__, t, flags, &Texture::flags); }
CUresult cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref t) {
  return With(__func__, t, [&](auto& own) { return Write(format, own.format) && Write(channels, own.channels); });
}

}  // extern "C"
