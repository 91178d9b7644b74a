// Maps of tensors, for kernels that copy tiles (memory/tensor_map.h).
#include "vgpu/memory/tensor_map.h"

#include <cstring>
#include <iterator>

#include "vgpu/cudart/driver/driver.h"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;
using lockstep::vgpu::TensorMap;

namespace {

using lockstep::vgpu::ptx::Type;

struct Element {
  Type type;
  bool is_float, is_tf32;
};
// The types that a Hopper supports, in the order of CUtensorMapDataType.
constexpr Element kElements[] = {{Type::kU8, false, false},  {Type::kU16, false, false}, {Type::kU32, false, false},
                                 {Type::kS32, false, false}, {Type::kU64, false, false}, {Type::kS64, false, false},
                                 {Type::kF16, true, false},  {Type::kF32, true, false},  {Type::kF64, true, false},
                                 {Type::kBF16, true, false}, {Type::kF32, true, false},  {Type::kF32, true, true},
                                 {Type::kF32, true, true}};

uint32_t SwizzleBytes(CUtensorMapSwizzle swizzle) {
  return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE  ? 0
         : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 32
         : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64
                                                : 128;
}

// Limits from the driver API's documentation, and otherwise as measured on a Hopper.
constexpr uint64_t kAlignment = 16, kWideAlignment = 32;  // kWideAlignment: for 32-byte interleave
constexpr uint64_t kMostStride = uint64_t{1} << 40, kMostExtent = uint64_t{1} << 32;
constexpr uint32_t kMostBox = 256, kMostStep = 8, kMostPixels = 1024;
constexpr uint64_t kMostTileBytes = (256 << 10) - 1;

// Makes what all kinds of maps have in common: everything except the box. False: an argument is invalid.
bool MakeMap(TensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* extents,
             const cuuint64_t* strides, const cuuint32_t* steps, CUtensorMapInterleave interleave,
             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  if (extents == nullptr || strides == nullptr || steps == nullptr || rank == 0 || rank > TensorMap::kMostDimensions ||
      type < 0 || type >= static_cast<int>(std::size(kElements)) || swizzle < 0 ||
      swizzle > CU_TENSOR_MAP_SWIZZLE_128B || interleave < 0 || interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
      promotion < 0 || promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B || fill < 0 ||
      fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) {
    return false;
  }
  const Element& element = kElements[type];
  const bool is_interleaved = interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
  const uint64_t alignment = interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? kWideAlignment : kAlignment;
  map->magic = TensorMap::kMagic;
  map->address = reinterpret_cast<uint64_t>(address);
  map->type = static_cast<uint8_t>(element.type);
  map->is_tf32 = element.is_tf32;
  map->fills_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  map->swizzle_bytes = static_cast<uint8_t>(SwizzleBytes(swizzle));
  map->dimensions = static_cast<uint8_t>(rank);
  map->is_supported = !is_interleaved;
  if (map->address % alignment != 0 || (is_interleaved && rank < 3) || (map->fills_nan && !element.is_float)) {
    return false;
  }
  for (cuuint32_t d = 0; d < rank; ++d) {
    if (extents[d] == 0 || extents[d] > kMostExtent || steps[d] == 0 || steps[d] > kMostStep) return false;
    map->last[d] = static_cast<uint32_t>(extents[d] - 1);
    map->steps[d] = d == 0 ? uint8_t{1} : static_cast<uint8_t>(steps[d]);
    if (d == 0) continue;
    if (strides[d - 1] % alignment != 0 || strides[d - 1] >= kMostStride) return false;
    map->strides[d - 1] = strides[d - 1];
  }
  return true;
}

// Whether the size of a tile's row is valid.
bool RowFits(const TensorMap& map, uint32_t elements) {
  const uint32_t bytes = elements * static_cast<uint32_t>(lockstep::vgpu::ptx::SizeOf(map.element()));
  return elements != 0 && elements <= kMostBox && bytes % kAlignment == 0 &&
         (!map.is_supported || map.swizzle_bytes == 0 || bytes <= map.swizzle_bytes);
}

// Writes an im2col map, with which kernels here can't copy. The first `cornered` spatial dimensions have corners.
cudaError_t PutPixels(CUtensorMap* tensor_map, TensorMap map, const cuuint64_t* extents, const int* lower,
                      const int* upper, cuuint32_t cornered, cuuint32_t channels, cuuint32_t pixels) {
  constexpr int kMostCorner[] = {32767, 127, 15};  // for one, two and three spatial dimensions
  const auto bytes = static_cast<uint64_t>(lockstep::vgpu::ptx::SizeOf(map.element()));
  if (tensor_map == nullptr || lower == nullptr || upper == nullptr || pixels == 0 || pixels > kMostPixels ||
      !RowFits(map, channels) || uint64_t{channels} * pixels * bytes > kMostTileBytes) {
    return cudaErrorInvalidValue;
  }
  const int most = kMostCorner[map.dimensions - 3];
  for (cuuint32_t d = 0; d < cornered; ++d) {
    const bool in_range = lower[d] >= -most - 1 && lower[d] <= most && upper[d] >= -most - 1 && upper[d] <= most;
    if (!in_range || static_cast<int64_t>(extents[d + 1]) + upper[d] - lower[d] <= 0) return cudaErrorInvalidValue;
  }
  map.is_supported = false;
  std::memset(tensor_map, 0, sizeof *tensor_map);
  std::memcpy(tensor_map, &map, sizeof map);
  return cudaSuccess;
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return DriveUnlessFaulted("cuTensorMapEncodeTiled", Needs::kNothing, [&] {
    TensorMap map;
    if (tensor_map == nullptr || box == nullptr ||
        !MakeMap(&map, type, rank, address, extents, strides, steps, interleave, swizzle, promotion, fill) ||
        !RowFits(map, box[0])) {
      return cudaErrorInvalidValue;
    }
    auto bytes = static_cast<uint64_t>(lockstep::vgpu::ptx::SizeOf(map.element()));
    for (cuuint32_t d = 0; d < rank; ++d) {
      if (box[d] == 0 || box[d] > kMostBox) return cudaErrorInvalidValue;
      map.box[d] = static_cast<uint16_t>(box[d]);
      bytes *= box[d] / steps[d];  // rounded down, so that a box smaller than its step counts as 0 bytes
    }
    if (bytes > kMostTileBytes) return cudaErrorInvalidValue;
    std::memset(tensor_map, 0, sizeof *tensor_map);
    std::memcpy(tensor_map, &map, sizeof map);
    return cudaSuccess;
  });
}

// Kernels can't copy with such a map.
CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* extents, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return DriveUnlessFaulted("cuTensorMapEncodeIm2col", Needs::kNothing, [&] {
    TensorMap map;
    const bool made = MakeMap(&map, type, rank, address, extents, strides, steps, interleave, swizzle, promotion, fill);
    return made && rank >= 3 ? PutPixels(tensor_map, map, extents, lower, upper, rank - 2, channels, pixels)
                             : cudaErrorInvalidValue;
  });
}

// Corners are given for one dimension only, and fewer swizzles are allowed.
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                     const cuuint64_t* extents, const cuuint64_t* strides, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                     CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) {
  return DriveUnlessFaulted("cuTensorMapEncodeIm2colWide", Needs::kNothing, [&] {
    TensorMap map;
    const bool made = MakeMap(&map, type, rank, address, extents, strides, steps, interleave, swizzle, promotion, fill);
    const bool known = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W || mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    return made && known && rank >= 3 && swizzle != CU_TENSOR_MAP_SWIZZLE_32B
               ? PutPixels(tensor_map, map, extents, &lower, &upper, 1, channels, pixels)
               : cudaErrorInvalidValue;
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensor_map, void* address) {
  return Drive("cuTensorMapReplaceAddress", Needs::kNothing, [&] {
    TensorMap map;
    if (tensor_map == nullptr || address == nullptr || reinterpret_cast<uint64_t>(address) % kAlignment != 0) {
      return cudaErrorInvalidValue;
    }
    std::memcpy(static_cast<void*>(&map), tensor_map, sizeof map);
    if (!map.valid()) return cudaSuccess;  // not a map: the driver does not check that
    map.address = reinterpret_cast<uint64_t>(address);
    std::memcpy(tensor_map, &map, sizeof map);
    return cudaSuccess;
  });
}

}  // extern "C"
