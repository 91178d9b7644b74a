// Maps of tensors, for kernels that copy tiles (memory/tensor_map.h).
#include "vgpu/memory/tensor_map.h"

#include <cstring>

#include "vgpu/cudart/driver/driver.h"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;
using lockstep::vgpu::TensorMap;

namespace {

using lockstep::vgpu::ptx::Type;

// kNone: a type that is not supported.
Type ElementOf(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return Type::kU8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
      return Type::kU16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
      return Type::kU32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
      return Type::kS32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
      return Type::kU64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
      return Type::kS64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
      return Type::kF16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return Type::kF32;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return Type::kF64;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return Type::kBF16;
    default:
      return Type::kNone;
  }
}

uint32_t SwizzleBytes(CUtensorMapSwizzle swizzle) {
  return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE  ? 0
         : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 32
         : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64
                                                : 128;
}

// Limits of the driver API's documentation.
constexpr uint64_t kAlignment = 16, kMapAlignment = 64;
constexpr uint64_t kMostStride = uint64_t{1} << 40, kMostExtent = uint64_t{1} << 32;
constexpr uint32_t kMostBox = 256, kMostStep = 8;

bool MakeMap(TensorMap* map, cuuint32_t rank, const cuuint64_t* extents, const cuuint64_t* strides,
             const cuuint32_t* box, const cuuint32_t* steps) {
  map->dimensions = static_cast<uint8_t>(rank);
  for (cuuint32_t d = 0; d < rank; ++d) {
    if (extents[d] == 0 || extents[d] > kMostExtent || box[d] == 0 || box[d] > kMostBox || steps[d] == 0 ||
        steps[d] > kMostStep) {
      return false;
    }
    map->last[d] = static_cast<uint32_t>(extents[d] - 1);
    map->box[d] = static_cast<uint16_t>(box[d]);
    map->steps[d] = d == 0 ? uint8_t{1} : static_cast<uint8_t>(steps[d]);
    if (d == 0) continue;
    if (strides[d - 1] % kAlignment != 0 || strides[d - 1] >= kMostStride) return false;
    map->strides[d - 1] = strides[d - 1];
  }
  const uint32_t row_bytes = box[0] * static_cast<uint32_t>(lockstep::vgpu::ptx::SizeOf(map->element()));
  return row_bytes % kAlignment == 0 && (map->swizzle_bytes == 0 || row_bytes <= map->swizzle_bytes);
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  return Drive("cuTensorMapEncodeTiled", Needs::kNothing, [&] {
    if (tensor_map == nullptr || reinterpret_cast<uint64_t>(tensor_map) % kMapAlignment != 0 || extents == nullptr ||
        box == nullptr || steps == nullptr || rank == 0 || rank > TensorMap::kMostDimensions ||
        (strides == nullptr && rank > 1) || reinterpret_cast<uint64_t>(address) % kAlignment != 0) {
      return cudaErrorInvalidValue;
    }
    TensorMap map;
    map.magic = TensorMap::kMagic;
    map.address = reinterpret_cast<uint64_t>(address);
    const Type element = ElementOf(type);
    if (type < CU_TENSOR_MAP_DATA_TYPE_UINT8 || type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
      return cudaErrorInvalidValue;
    if (element == Type::kNone) return Missing("cuTensorMapEncodeTiled of this type of elements");
    map.type = static_cast<uint8_t>(element);
    map.swizzle_bytes = static_cast<uint8_t>(SwizzleBytes(swizzle));
    if (!MakeMap(&map, rank, extents, strides, box, steps)) return cudaErrorInvalidValue;
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
      return Missing("cuTensorMapEncodeTiled with an interleaved layout");
    if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
      return Missing("cuTensorMapEncodeTiled with NaNs outside of the tensor");
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return Missing("cuTensorMapEncodeTiled with a swizzle of larger atoms");
    std::memset(tensor_map, 0, sizeof *tensor_map);
    std::memcpy(tensor_map, &map, sizeof map);
    return cudaSuccess;
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensor_map, void* address) {
  return Drive("cuTensorMapReplaceAddress", Needs::kNothing, [&] {
    TensorMap map;
    if (tensor_map == nullptr || reinterpret_cast<uint64_t>(address) % kAlignment != 0) return cudaErrorInvalidValue;
    std::memcpy(&map, tensor_map, sizeof map);
    if (!map.valid()) return cudaErrorInvalidValue;
    map.address = reinterpret_cast<uint64_t>(address);
    std::memcpy(tensor_map, &map, sizeof map);
    return cudaSuccess;
  });
}

}  // extern "C"
