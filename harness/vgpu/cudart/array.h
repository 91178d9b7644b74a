// CUDA arrays and their handles.
#pragma once

#include <vector>

#include "vgpu/cudart/runtime.h"
#include "vgpu/texture/texture.h"

namespace lockstep::vgpu::cudart {

// An array is memory of its device with tightly packed rows; its handle is its address in this process.
struct Array {
  int device = 0;
  const void* context = OwnContext();
  cudaChannelFormatDesc desc = {};
  cudaExtent extent = {};  // as requested: 0 for a missing dimension
  unsigned flags = 0;
  vgpu::Image image;

  // Its memory would be mapped later, which is not supported.
  bool has_no_memory() const { return (flags & (cudaArraySparse | cudaArrayDeferredMapping)) != 0; }
  uint64_t RowBytes() const { return uint64_t{image.width} * image.format.Bytes(); }
};

// Throws ApiError.
Array& ArrayOf(cudaArray_const_t handle);

// The texel format for textures. Throws ApiError if textures can't read the array.
TexelFormat FormatOf(const cudaChannelFormatDesc& desc);

// mipmap.cc: the arrays of a mipmapped array, the largest first. Throws ApiError.
const std::vector<cudaArray_t>& LevelsOf(cudaMipmappedArray_const_t handle);

// texture_object.cc: the device was reset.
void ResetTextureObjects(int device);

}  // namespace lockstep::vgpu::cudart
