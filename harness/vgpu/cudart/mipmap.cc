// Mipmapped arrays: an array for each level, each half as large as the one before.
#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "vgpu/cudart/array.h"
#include "vgpu/cudart/memory.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr uint64_t kTileBytes = 65536;

std::map<const void*, std::vector<cudaArray_t>>& Mipmaps() {
  static auto* const mipmaps = new std::map<const void*, std::vector<cudaArray_t>>;
  return *mipmaps;
}

}  // namespace

const std::vector<cudaArray_t>& LevelsOf(cudaMipmappedArray_const_t handle) {
  const auto found = Mipmaps().find(handle);
  Require(found != Mipmaps().end(), cudaErrorInvalidResourceHandle);
  return found->second;
}

namespace {

// Common to queries about kinds of arrays that don't exist here, such as those with several planes: always an error.
cudaError_t OfOtherArrays(const char* function, const void* out, cudaArray_t array) {
  return Api(function, [&](Runtime&) {
    cudaExtent extent = {};
    unsigned flags = 0;
    Require(out != nullptr, cudaErrorInvalidValue);
    Require(array != nullptr, cudaErrorInvalidValue);
    const cudaError_t error = cudaArrayGetInfo(nullptr, &extent, &flags, array);
    throw ApiError{error != cudaSuccess ? error : cudaErrorInvalidValue};
  });
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmap, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  return Api("cudaMallocMipmappedArray", [&](Runtime&) {
    Require(mipmap != nullptr && desc != nullptr, cudaErrorInvalidValue);
    const bool has_layers = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    const size_t largest = std::max({extent.width, extent.height, has_layers ? size_t{1} : extent.depth});
    const unsigned most = static_cast<unsigned>(std::bit_width(largest));
    std::vector<cudaArray_t> arrays(std::clamp(levels, 1u, std::max(most, 1u)));
    for (cudaArray_t& array : arrays) {
      const cudaError_t error = cudaMalloc3DArray(&array, desc, extent, flags);
      if (error != cudaSuccess) {
        for (cudaArray_t made : arrays) cudaFreeArray(made);
        throw ApiError{error};
      }
      const auto half = [](size_t size) { return size == 0 ? 0 : std::max<size_t>(size / 2, 1); };
      extent = {half(extent.width), half(extent.height), has_layers ? extent.depth : half(extent.depth)};
    }
    *mipmap = reinterpret_cast<cudaMipmappedArray_t>(arrays[0]);
    Mipmaps()[*mipmap] = std::move(arrays);
  });
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t mipmap, unsigned level) {
  return Api("cudaGetMipmappedArrayLevel", [&](Runtime&) {
    const std::vector<cudaArray_t>& levels = LevelsOf(mipmap);
    Require(array != nullptr && level < levels.size(), cudaErrorInvalidValue);
    *array = levels[level];
  });
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  return Api("cudaFreeMipmappedArray", [&](Runtime&) {
    if (mipmap == nullptr) return;
    for (cudaArray_t array : LevelsOf(mipmap)) cudaFreeArray(array);
    Mipmaps().erase(mipmap);
  });
}
cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out, cudaMipmappedArray_t mipmap,
                                                    int) {
  return OfOtherArrays("cudaMipmappedArrayGetMemoryRequirements", out, reinterpret_cast<cudaArray_t>(mipmap));
}
cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* out, cudaMipmappedArray_t mipmap) {
  return OfOtherArrays("cudaMipmappedArrayGetSparseProperties", out, reinterpret_cast<cudaArray_t>(mipmap));
}
cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out, cudaArray_t array, int) {
  return Api("cudaArrayGetMemoryRequirements", [&](Runtime&) {
    Require(out != nullptr && array != nullptr, cudaErrorInvalidValue);
    const Array& of = ArrayOf(array);
    Require((of.flags & cudaArrayDeferredMapping) != 0, cudaErrorInvalidValue);
    *out = {RoundedUp(of.image.slice * of.image.depth, kTileBytes), kTileBytes, {}};
  });
}
// A tile's extent in four-byte texels. Levels smaller than a tile in any dimension are in the mip tail.
cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* out, cudaArray_t array) {
  return Api("cudaArrayGetSparseProperties", [&](Runtime&) {
    Require(out != nullptr && array != nullptr, cudaErrorInvalidValue);
    const Array& of = ArrayOf(array);
    Require((of.flags & cudaArraySparse) != 0, cudaErrorInvalidValue);
    const bool is_box = of.image.shape == lockstep::vgpu::ImageShape::k3D;
    if (of.image.format.Bytes() != 4 || (!is_box && of.image.shape != lockstep::vgpu::ImageShape::k2D)) {
      NotSupported("tiles of such a sparse array");
    }
    *out = {};
    out->tileExtent = {is_box ? 32u : 128u, is_box ? 32u : 128u, is_box ? 16u : 1u};
    const auto& tile = out->tileExtent;
    if (of.image.width >= tile.width && of.image.height >= tile.height && of.image.depth >= tile.depth) return;
    out->miptailSize = RoundedUp(of.image.slice * of.image.depth, kTileBytes);
    out->flags = cudaArraySparsePropertiesSingleMipTail;
  });
}
cudaError_t cudaArrayGetPlane(cudaArray_t* out, cudaArray_t array, unsigned) {
  if (array == nullptr)
    return Api("cudaArrayGetPlane", [](Runtime&) { throw ApiError{cudaErrorInvalidResourceHandle}; });
  return OfOtherArrays("cudaArrayGetPlane", out, array);
}

}  // extern "C"
