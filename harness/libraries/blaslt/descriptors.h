// The contents of cuBLASLt's opaque descriptors. They are stored in memory of the header's type, which programs may
// allocate themselves and copy.
#pragma once

// The library exports only these functions; everything else in it is hidden.
#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop

#include <cstdint>

namespace lockstep::libraries::blaslt {

struct Layout {
  uint32_t type = CUDA_R_32F;
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int64_t batch_stride = 0;  // elements
  int64_t plane_offset = 0;  // of planar complex matrices; 0: interleaved
  int32_t batch_count = 1;
  uint32_t batch_mode = 0;  // CUBLASLT_BATCH_MODE_STRIDED
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

struct Matmul {
  int32_t compute = CUBLAS_COMPUTE_32F, scale = CUDA_R_32F;
  int32_t pointers = CUBLASLT_POINTER_MODE_HOST;
  int32_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N, transc = CUBLAS_OP_N;
  int32_t fill = CUBLAS_FILL_MODE_FULL;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int64_t bias_stride = 0;
  int32_t bias_type = -1;  // that of D
  int32_t sm_count_target = 0;
  int8_t fast_accumulation = 0;
};
static_assert(sizeof(Matmul) <= sizeof(cublasLtMatmulDescOpaque_t));

struct Preference {
  uint32_t search_mode = 0, reduction_schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint64_t workspace_bytes = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C, D
  float waves = 0;
  uint64_t implementations = ~uint64_t{0};
};
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

inline Layout& Of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout*>(layout); }
inline Matmul& Of(cublasLtMatmulDesc_t matmul) { return *reinterpret_cast<Matmul*>(matmul); }
inline Preference& Of(cublasLtMatmulPreference_t preference) { return *reinterpret_cast<Preference*>(preference); }

}  // namespace lockstep::libraries::blaslt
