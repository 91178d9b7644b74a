// Descriptors: making them, and reading and setting their attributes.
#include "libraries/blaslt/descriptors.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include "vgpu/cudart/libraries/library_call.h"

namespace lockstep::libraries::blaslt {
namespace {

// Where an attribute is in its descriptor.
struct Attribute {
  int id;
  size_t offset, bytes;
};
#define LOCKSTEP_ATTRIBUTE(id, type, field) {id, offsetof(type, field), sizeof(type::field)}
constexpr Attribute kLayout[] = {
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, columns),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, Layout, leading),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, batch_count),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, batch_stride),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, Layout, plane_offset),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, Layout, batch_mode),
};
constexpr Attribute kMatmul[] = {
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, Matmul, compute),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, Matmul, scale),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, Matmul, pointers),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, Matmul, transa),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, Matmul, transb),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, Matmul, transc),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FILL_MODE, Matmul, fill),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, Matmul, epilogue),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, Matmul, bias),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, Matmul, bias_stride),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, Matmul, bias_type),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, Matmul, sm_count_target),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, Matmul, fast_accumulation),
};
constexpr Attribute kPreference[] = {
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, Preference, search_mode),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Preference, workspace_bytes),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, Preference, reduction_schemes),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Preference, alignment[0]),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Preference, alignment[1]),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Preference, alignment[2]),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Preference, alignment[3]),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, Preference, waves),
    LOCKSTEP_ATTRIBUTE(CUBLASLT_MATMUL_PREF_IMPL_MASK, Preference, implementations),
};
#undef LOCKSTEP_ATTRIBUTE

template <size_t kCount>
const Attribute* Find(const Attribute (&attributes)[kCount], int id) {
  for (const Attribute& attribute : attributes) {
    if (attribute.id == id) return &attribute;
  }
  return nullptr;
}

cublasStatus_t Refuse(const char* function, int id) {
  lockstep_refuse("cuBLASLt", function, ("the attribute " + std::to_string(id)).c_str());
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

template <size_t kCount>
cublasStatus_t Set(const char* function, const Attribute (&attributes)[kCount], void* descriptor, int id,
                   const void* value, size_t bytes) {
  if (descriptor == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Attribute* const attribute = Find(attributes, id);
  if (attribute == nullptr) return Refuse(function, id);
  if (value == nullptr || bytes != attribute->bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(static_cast<char*>(descriptor) + attribute->offset, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <size_t kCount>
cublasStatus_t Get(const char* function, const Attribute (&attributes)[kCount], const void* descriptor, int id,
                   void* value, size_t bytes, size_t* written) {
  if (descriptor == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Attribute* const attribute = Find(attributes, id);
  if (attribute == nullptr) return Refuse(function, id);
  if (written != nullptr) *written = attribute->bytes;
  if (bytes == 0 && written != nullptr) return CUBLAS_STATUS_SUCCESS;
  if (value == nullptr || bytes != attribute->bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, static_cast<const char*>(descriptor) + attribute->offset, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

// Makes a descriptor in memory of its opaque type.
template <typename T, typename Opaque>
cublasStatus_t Init(Opaque* memory, size_t bytes, const T& value) {
  if (memory == nullptr || bytes < sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memset(memory, 0, bytes);
  new (memory) T(value);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T, typename Opaque>
cublasStatus_t Create(Opaque** descriptor, const T& value) {
  if (descriptor == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *descriptor = new Opaque;
  return Init(*descriptor, sizeof(Opaque), value);
}

template <typename Opaque>
cublasStatus_t Destroy(Opaque* descriptor) {
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}

Layout LayoutOf(cudaDataType type, uint64_t rows, uint64_t columns, int64_t leading) {
  Layout layout;
  layout.type = type;
  layout.rows = rows;
  layout.columns = columns;
  layout.leading = leading;
  return layout;
}

Matmul MatmulOf(cublasComputeType_t compute, cudaDataType_t scale) {
  Matmul matmul;
  matmul.compute = compute;
  matmul.scale = scale;
  return matmul;
}

}  // namespace
}  // namespace lockstep::libraries::blaslt

using namespace lockstep::libraries::blaslt;

extern "C" {

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t bytes, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t leading) {
  return Init(layout, bytes, LayoutOf(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  return Create(layout, LayoutOf(type, rows, columns, leading));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return Destroy(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t id,
                                                const void* value, size_t bytes) {
  return Set(__func__, kLayout, layout, id, value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t id,
                                                void* value, size_t bytes, size_t* written) {
  return Get(__func__, kLayout, layout, id, value, bytes, written);
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmul, size_t bytes, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  return Init(matmul, bytes, MatmulOf(compute, scale));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmul, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return Create(matmul, MatmulOf(compute, scale));
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmul) { return Destroy(matmul); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmul, cublasLtMatmulDescAttributes_t id,
                                              const void* value, size_t bytes) {
  return Set(__func__, kMatmul, matmul, id, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmul, cublasLtMatmulDescAttributes_t id,
                                              void* value, size_t bytes, size_t* written) {
  return Get(__func__, kMatmul, matmul, id, value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t bytes) {
  return Init(preference, bytes, Preference());
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return Create(preference, Preference());
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return Destroy(preference); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t id, const void* value,
                                                    size_t bytes) {
  return Set(__func__, kPreference, preference, id, value, bytes);
}
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t id, void* value, size_t bytes,
                                                    size_t* written) {
  return Get(__func__, kPreference, preference, id, value, bytes, written);
}

}  // extern "C"
