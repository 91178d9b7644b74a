// CUDA arrays: what their handles stand for.
#pragma once

#include <vector>

#include "vgpu/cudart/runtime.h"
#include "vgpu/texture/texture.h"

namespace lockstep::vgpu::cudart {

// An array is memory of its device, rows packed one behind the other; its handle is its address in this process.
struct Array {
  int device = 0;
  cudaChannelFormatDesc desc = {};
  cudaExtent extent = {};  // as it was asked for: 0 where there is no such dimension
  unsigned flags = 0;
  vgpu::Image image;

  // Its memory would be mapped later, which is refused.
  bool has_no_memory() const { return (flags & (cudaArraySparse | cudaArrayDeferredMapping)) != 0; }
  uint64_t RowBytes() const { return uint64_t{image.width} * image.format.Bytes(); }
};

// Throws ApiError.
Array& ArrayOf(cudaArray_const_t handle);

// How texels are stored, where textures can read it. Throws ApiError.
TexelFormat FormatOf(const cudaChannelFormatDesc& desc);

// mipmap.cc: the arrays of a mipmapped array, the largest first. Throws ApiError.
const std::vector<cudaArray_t>& LevelsOf(cudaMipmappedArray_const_t handle);

// texture_object.cc: the device was reset.
void ResetTextureObjects(int device);

}  // namespace lockstep::vgpu::cudart
