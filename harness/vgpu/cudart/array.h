// CUDA arrays: what the functions that make, copy and read them share.
#pragma once

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
// The device was reset: its arrays and objects are gone.
void ResetArrays(int device);
void ResetTextureObjects(int device);

// How texels are stored, where textures can read it. Throws ApiError.
TexelFormat FormatOf(const cudaChannelFormatDesc& desc);

// Copies of a region between arrays and other memory; kind: as the program said.
CopyWork CopyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                     cudaMemcpyKind kind);
CopyWork CopyFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                       cudaMemcpyKind kind);
// With an array at one end or both.
CopyWork CopyArray3D(const cudaMemcpy3DParms& parms);

}  // namespace lockstep::vgpu::cudart
