// Arrays, texture objects, surface objects.

#include <cstring>

#include "vgpu/cudart/driver/driver.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

struct Format {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

// A normalized format includes the number of channels: 8- and 16-bit, unsigned and signed, with one, two or four
// channels.
constexpr int kFirstNormalized = CU_AD_FORMAT_UNORM_INT8X1, kLastNormalized = CU_AD_FORMAT_SNORM_INT16X4;
constexpr int BitsOfNormalized(int number) { return number / 3 % 2 == 0 ? 8 : 16; }

// cudaErrorInvalidValue for an invalid format; formats that textures here can't read are refused by name.
cudaError_t DescOf(CUarray_format format, unsigned channels, cudaChannelFormatDesc* desc) {
  if (channels != 1 && channels != 2 && channels != 4) return cudaErrorInvalidValue;
  for (const Format& each : kFormats) {
    if (each.format != format) continue;
    const auto bits = [&](unsigned channel) { return channel < channels ? each.bits : 0; };
    *desc = {bits(0), bits(1), bits(2), bits(3), each.kind};
    return cudaSuccess;
  }
  if (format >= kFirstNormalized && format <= kLastNormalized) {
    const int number = format - kFirstNormalized;
    if (channels != 1u << number % 3) return cudaErrorInvalidValue;
    const auto bits = [&](unsigned channel) { return channel < channels ? BitsOfNormalized(number) : 0; };
    *desc = {bits(0), bits(1), bits(2), bits(3),
             static_cast<cudaChannelFormatKind>(cudaChannelFormatKindUnsignedNormalized8X1 + number)};
    return cudaSuccess;
  }
  // Formats with several planes and compressed ones have their own channels.
  struct Channels {
    int format;
    unsigned count;
  };
  constexpr Channels kOthers[] = {{0x50, 4}, {0x91, 4}, {0x92, 4}, {0x93, 4}, {0x94, 4}, {0x95, 4}, {0x96, 4},
                                  {0x97, 1}, {0x98, 1}, {0x99, 2}, {0x9a, 2}, {0x9d, 4}, {0x9e, 4}};
  for (const Channels& each : kOthers) {
    if (each.format == format && each.count == channels) return Missing("an array of this format");
  }
  return cudaErrorInvalidValue;
}

CUarray_format FormatOf(const cudaChannelFormatDesc& desc) {
  for (const Format& each : kFormats) {
    if (each.bits == desc.x && each.kind == desc.f) return each.format;
  }
  const int number = desc.f - cudaChannelFormatKindUnsignedNormalized8X1;
  if (number >= 0 && number <= kLastNormalized - kFirstNormalized) {
    return static_cast<CUarray_format>(kFirstNormalized + number);
  }
  return CU_AD_FORMAT_FLOAT;
}
unsigned ChannelsOf(const cudaChannelFormatDesc& desc) { return desc.w != 0 ? 4 : desc.y != 0 ? 2 : 1; }

// Array flags have the same values in both APIs.
CUresult CreateArray(const char* function, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& desc) {
  return DriveUnlessFaulted(function, [&] {
    cudaChannelFormatDesc channels = {};
    if (const cudaError_t error = DescOf(desc.Format, desc.NumChannels, &channels); error != cudaSuccess) return error;
    return cudaMalloc3DArray(As<cudaArray_t*>(array), &channels, {desc.Width, desc.Height, desc.Depth}, desc.Flags);
  });
}

CUresult DescribeArray(const char* function, CUarray array, CUDA_ARRAY3D_DESCRIPTOR* desc) {
  return Drive(function, [&] {
    cudaChannelFormatDesc channels = {};
    cudaExtent extent = {};
    unsigned flags = 0;
    const cudaError_t error = cudaArrayGetInfo(&channels, &extent, &flags, As<cudaArray_t>(array));
    if (error != cudaSuccess) return error;
    *desc = {extent.width, extent.height, extent.depth, FormatOf(channels), ChannelsOf(channels), flags};
    return cudaSuccess;
  });
}

cudaError_t Convert(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to) {
  *to = {};
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      if (from.res.array.hArray == nullptr) return cudaErrorInvalidValue;
      to->resType = cudaResourceTypeArray;
      to->res.array.array = As<cudaArray_t>(from.res.array.hArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to->resType = cudaResourceTypeMipmappedArray;
      to->res.mipmap.mipmap = As<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR:
      to->resType = cudaResourceTypeLinear;
      to->res.linear.devPtr = Pointer(from.res.linear.devPtr);
      to->res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return DescOf(from.res.linear.format, from.res.linear.numChannels, &to->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
      to->resType = cudaResourceTypePitch2D;
      to->res.pitch2D.devPtr = Pointer(from.res.pitch2D.devPtr);
      to->res.pitch2D.width = from.res.pitch2D.width;
      to->res.pitch2D.height = from.res.pitch2D.height;
      to->res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return DescOf(from.res.pitch2D.format, from.res.pitch2D.numChannels, &to->res.pitch2D.desc);
    default:
      return cudaErrorInvalidValue;
  }
}

CUDA_RESOURCE_DESC Back(const cudaResourceDesc& from) {
  CUDA_RESOURCE_DESC to = {};
  switch (from.resType) {
    case cudaResourceTypeLinear:
      to.resType = CU_RESOURCE_TYPE_LINEAR;
      to.res.linear = {reinterpret_cast<CUdeviceptr>(from.res.linear.devPtr), FormatOf(from.res.linear.desc),
                       ChannelsOf(from.res.linear.desc), from.res.linear.sizeInBytes};
      break;
    case cudaResourceTypePitch2D:
      to.resType = CU_RESOURCE_TYPE_PITCH2D;
      to.res.pitch2D = {reinterpret_cast<CUdeviceptr>(from.res.pitch2D.devPtr),
                        FormatOf(from.res.pitch2D.desc),
                        ChannelsOf(from.res.pitch2D.desc),
                        from.res.pitch2D.width,
                        from.res.pitch2D.height,
                        from.res.pitch2D.pitchInBytes};
      break;
    case cudaResourceTypeMipmappedArray:
      to.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      to.res.mipmap.hMipmappedArray = As<CUmipmappedArray>(from.res.mipmap.mipmap);
      break;
    default:
      to.resType = CU_RESOURCE_TYPE_ARRAY;
      to.res.array.hArray = As<CUarray>(from.res.array.array);
      break;
  }
  return to;
}

// Without CU_TRSF_READ_AS_INTEGER, integers of 8 and 16 bits become floats; others stay what they are.
cudaTextureDesc Convert(const CUDA_TEXTURE_DESC& from, const cudaResourceDesc& resource) {
  cudaTextureDesc to = {};
  for (int axis = 0; axis < 3; ++axis) to.addressMode[axis] = As<cudaTextureAddressMode>(from.addressMode[axis]);
  to.filterMode = As<cudaTextureFilterMode>(from.filterMode);
  cudaChannelFormatDesc desc = resource.res.linear.desc;
  if (resource.resType == cudaResourceTypePitch2D) desc = resource.res.pitch2D.desc;
  if (resource.resType == cudaResourceTypeArray) cudaGetChannelDesc(&desc, resource.res.array.array);
  if (resource.resType == cudaResourceTypeMipmappedArray) {
    cudaArray_t largest = nullptr;
    cudaGetMipmappedArrayLevel(&largest, resource.res.mipmap.mipmap, 0);
    cudaGetChannelDesc(&desc, largest);
  }
  const bool integers = desc.f == cudaChannelFormatKindSigned || desc.f == cudaChannelFormatKindUnsigned;
  const bool as_float = (from.flags & CU_TRSF_READ_AS_INTEGER) == 0 && integers && desc.x < 32;
  to.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  to.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  to.sRGB = (from.flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
  to.seamlessCubemap = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 ? 1 : 0;
  to.disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0 ? 1 : 0;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = As<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int channel = 0; channel < 4; ++channel) to.borderColor[channel] = from.borderColor[channel];
  return to;
}

template <typename... Taken, typename... Given>
CUresult CopyRow(const char* function, size_t bytes, cudaError_t (*copy)(Taken...), Given... given) {
  return Drive(function, [&] {
    const cudaError_t error = bytes == 0 ? cudaSuccess : copy(given...);
    return error == cudaErrorInvalidResourceHandle ? cudaErrorInvalidValue : error;  // a null array
  });
}

}  // namespace

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* desc) {
  if (desc == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return CreateArray("cuArrayCreate", array, {desc->Width, desc->Height, 0, desc->Format, desc->NumChannels, 0});
}
CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* desc) {
  if (desc == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return CreateArray("cuArray3DCreate", array, *desc);
}
CUresult cuArrayDestroy(CUarray array) {
  return Drive("cuArrayDestroy", [&] {
    return array == nullptr ? cudaErrorInvalidResourceHandle : cudaFreeArray(As<cudaArray_t>(array));
  });
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* desc, CUarray array) {
  if (desc == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR all;
  std::memset(&all, 0, sizeof all);
  const CUresult result = DescribeArray("cuArrayGetDescriptor", array, &all);
  if (result == CUDA_SUCCESS) *desc = {all.Width, all.Height, all.Format, all.NumChannels};
  return result;
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* desc, CUarray array) {
  if (desc == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return DescribeArray("cuArray3DGetDescriptor", array, desc);
}

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* desc,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return Drive("cuTexObjectCreate", [&] {
    if (object == nullptr || resource == nullptr || desc == nullptr) return cudaErrorInvalidValue;
    cudaResourceDesc same = {};
    if (const cudaError_t error = Convert(*resource, &same); error != cudaSuccess) return error;
    // A view is ignored for linear memory. Views have the same layout in both APIs.
    static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == sizeof(cudaResourceViewDesc));
    const bool of_array = resource->resType <= CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    const cudaTextureDesc texture = Convert(*desc, same);
    return cudaCreateTextureObject(As<cudaTextureObject_t*>(object), &same, &texture,
                                   of_array ? reinterpret_cast<const cudaResourceViewDesc*>(view) : nullptr);
  });
}
LOCKSTEP_FORWARD1(Pass, cuTexObjectDestroy, cudaDestroyTextureObject, CUtexObject)
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject object) {
  return Drive("cuTexObjectGetResourceDesc", [&] {
    cudaResourceDesc same = {};
    const cudaError_t error = cudaGetTextureObjectResourceDesc(resource == nullptr ? nullptr : &same, object);
    if (error == cudaSuccess) *resource = Back(same);
    return error;
  });
}
CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return Drive("cuSurfObjectCreate", [&] {
    if (object == nullptr || resource == nullptr || resource->flags != 0) return cudaErrorInvalidValue;
    cudaResourceDesc same = {};
    if (const cudaError_t error = Convert(*resource, &same); error != cudaSuccess) return error;
    return cudaCreateSurfaceObject(As<cudaSurfaceObject_t*>(object), &same);
  });
}
LOCKSTEP_FORWARD1(Pass, cuSurfObjectDestroy, cudaDestroySurfaceObject, CUsurfObject)
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return Drive("cuSurfObjectGetResourceDesc", [&] {
    cudaResourceDesc same = {};
    const cudaError_t error = cudaGetSurfaceObjectResourceDesc(resource == nullptr ? nullptr : &same, object);
    if (error == cudaSuccess) *resource = Back(same);
    return error;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* desc, CUtexObject object) {
  return Drive("cuTexObjectGetTextureDesc", [&] {
    cudaTextureDesc same = {};
    const cudaError_t error = cudaGetTextureObjectTextureDesc(desc == nullptr ? nullptr : &same, object);
    if (error != cudaSuccess) return error;
    cudaResourceDesc resource = {};
    cudaGetTextureObjectResourceDesc(&resource, object);
    cudaChannelFormatDesc channels = resource.res.linear.desc;
    if (resource.resType == cudaResourceTypePitch2D) channels = resource.res.pitch2D.desc;
    if (resource.resType == cudaResourceTypeArray) cudaGetChannelDesc(&channels, resource.res.array.array);
    const bool is_read_as_integer =
        same.readMode == cudaReadModeElementType && channels.f != cudaChannelFormatKindFloat;
    *desc = {};
    for (int axis = 0; axis < 3; ++axis) desc->addressMode[axis] = As<CUaddress_mode>(same.addressMode[axis]);
    desc->filterMode = As<CUfilter_mode>(same.filterMode);
    desc->flags = (is_read_as_integer ? CU_TRSF_READ_AS_INTEGER : 0) |
                  (same.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                  (same.sRGB != 0 ? CU_TRSF_SRGB : 0) | (same.seamlessCubemap != 0 ? CU_TRSF_SEAMLESS_CUBEMAP : 0) |
                  (same.disableTrilinearOptimization != 0 ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
    desc->maxAnisotropy = same.maxAnisotropy;
    desc->mipmapFilterMode = As<CUfilter_mode>(same.mipmapFilterMode);
    desc->mipmapLevelBias = same.mipmapLevelBias;
    desc->minMipmapLevelClamp = same.minMipmapLevelClamp;
    desc->maxMipmapLevelClamp = same.maxMipmapLevelClamp;
    for (int channel = 0; channel < 4; ++channel) desc->borderColor[channel] = same.borderColor[channel];
    return cudaSuccess;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject object) {
  return Drive("cuTexObjectGetResourceViewDesc", [&] {
    cudaResourceViewDesc same = {};
    const cudaError_t error = cudaGetTextureObjectResourceViewDesc(view == nullptr ? nullptr : &same, object);
    if (error == cudaSuccess) *view = {};
    return error;
  });
}

// ---- Copies of a part of an array's first row ----

CUresult cuMemcpyDtoA(CUarray to, size_t at, CUdeviceptr from, size_t bytes) {
  return CopyRow("cuMemcpyDtoA", bytes, cudaMemcpy2DToArray, As<cudaArray_t>(to), at, size_t{0}, Pointer(from), bytes,
                 bytes, size_t{1}, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t at, size_t bytes) {
  return CopyRow("cuMemcpyAtoD", bytes, cudaMemcpy2DFromArray, Pointer(to), bytes, As<cudaArray_t>(from), at, size_t{0},
                 bytes, size_t{1}, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyHtoA(CUarray to, size_t at, const void* from, size_t bytes) {
  return CopyRow("cuMemcpyHtoA", bytes, cudaMemcpy2DToArray, As<cudaArray_t>(to), at, size_t{0}, from, bytes, bytes,
                 size_t{1}, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, size_t at, size_t bytes) {
  return CopyRow("cuMemcpyAtoH", bytes, cudaMemcpy2DFromArray, to, bytes, As<cudaArray_t>(from), at, size_t{0}, bytes,
                 size_t{1}, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyHtoAAsync(CUarray to, size_t at, const void* from, size_t bytes, CUstream stream) {
  return CopyRow("cuMemcpyHtoAAsync", bytes, cudaMemcpy2DToArrayAsync, As<cudaArray_t>(to), at, size_t{0}, from, bytes,
                 bytes, size_t{1}, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, size_t at, size_t bytes, CUstream stream) {
  return CopyRow("cuMemcpyAtoHAsync", bytes, cudaMemcpy2DFromArrayAsync, to, bytes, As<cudaArray_t>(from), at,
                 size_t{0}, bytes, size_t{1}, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyAtoA(CUarray to, size_t to_at, CUarray from, size_t from_at, size_t bytes) {
  return CopyRow("cuMemcpyAtoA", bytes, cudaMemcpy2DArrayToArray, As<cudaArray_t>(to), to_at, size_t{0},
                 As<cudaArray_t>(from), from_at, size_t{0}, bytes, size_t{1}, cudaMemcpyDeviceToDevice);
}

// ---- Mipmapped arrays, and queries about sparse and other arrays ----

CUresult cuMipmappedArrayCreate(CUmipmappedArray* mipmap, const CUDA_ARRAY3D_DESCRIPTOR* desc, unsigned levels) {
  if (desc == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Drive("cuMipmappedArrayCreate", [&] {
    cudaChannelFormatDesc channels = {};
    if (const cudaError_t error = DescOf(desc->Format, desc->NumChannels, &channels); error != cudaSuccess)
      return error;
    return cudaMallocMipmappedArray(As<cudaMipmappedArray_t*>(mipmap), &channels,
                                    {desc->Width, desc->Height, desc->Depth}, levels, desc->Flags);
  });
}
LOCKSTEP_FORWARD3(Pass, cuMipmappedArrayGetLevel, cudaGetMipmappedArrayLevel, CUarray*, CUmipmappedArray, unsigned)
CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
  if (mipmap == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return Pass("cuMipmappedArrayDestroy", cudaFreeMipmappedArray, mipmap);
}
LOCKSTEP_FORWARD3(Pass, cuMipmappedArrayGetMemoryRequirements, cudaMipmappedArrayGetMemoryRequirements,
                  CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUmipmappedArray, CUdevice)
LOCKSTEP_FORWARD2(Pass, cuMipmappedArrayGetSparseProperties, cudaMipmappedArrayGetSparseProperties,
                  CUDA_ARRAY_SPARSE_PROPERTIES*, CUmipmappedArray)
LOCKSTEP_FORWARD3(Pass, cuArrayGetMemoryRequirements, cudaArrayGetMemoryRequirements, CUDA_ARRAY_MEMORY_REQUIREMENTS*,
                  CUarray, CUdevice)
LOCKSTEP_FORWARD2(Pass, cuArrayGetSparseProperties, cudaArrayGetSparseProperties, CUDA_ARRAY_SPARSE_PROPERTIES*,
                  CUarray)
LOCKSTEP_FORWARD3(Pass, cuArrayGetPlane, cudaArrayGetPlane, CUarray*, CUarray, unsigned)
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* width, CUarray_format format, unsigned channels, CUdevice device) {
  return Drive("cuDeviceGetTexture1DLinearMaxWidth", Needs::kInit, [&] {
    cudaChannelFormatDesc desc = {};
    if (const cudaError_t error = DescOf(format, channels, &desc); error != cudaSuccess) return error;
    if (device != 0) return cudaErrorInvalidDevice;
    return cudaDeviceGetTexture1DLinearMaxWidth(width, &desc, device);
  });
}

}  // extern "C"
