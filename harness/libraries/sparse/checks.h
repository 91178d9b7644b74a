// Argument checks shared by SpMV, SpMM and SpGEMM.
#pragma once

#include "libraries/sparse/entries.h"

namespace lockstep::libraries::sparse {

// The answer of bufferSize functions: the program's buffer is not used, but programs expect one.
inline constexpr size_t kBufferBytes = 16;
template <typename Size>
cusparseStatus_t AnswerBuffer(const Function& f, cusparseStatus_t before, Size* bytes) {
  LOCKSTEP_RETURN_UNLESS_OK(before);
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(bytes)}));
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}
template <typename Arguments, typename Size>
cusparseStatus_t BufferSize(const Arguments& arguments, Size* bytes) {
  return AnswerBuffer(arguments.f, arguments.Check(), bytes);
}

inline Function::Condition IsOperation(cusparseOperation_t op, cudaDataType type) {
  return {op == CUSPARSE_OPERATION_NON_TRANSPOSE || op == CUSPARSE_OPERATION_TRANSPOSE ||
              (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && IsComplex(type)),
          "the operation is unknown, or the conjugate of real elements"};
}

inline bool IsFormat(const cusparseSpMatDescr& matrix) {
  return (matrix.format == CUSPARSE_FORMAT_CSR || matrix.format == CUSPARSE_FORMAT_CSC ||
          matrix.format == CUSPARSE_FORMAT_COO) &&
         matrix.first_index != CUSPARSE_INDEX_16U && matrix.second_index != CUSPARSE_INDEX_16U;
}

// Whether a product of A and x in these types is supported.
inline bool IsProduct(cudaDataType a, cudaDataType x, cudaDataType y, cudaDataType compute) {
  if (a != x) return false;
  if (IsBlasType(a)) return y == a && compute == a;
  if (compute == CUDA_R_32I) return a == CUDA_R_8I && y == CUDA_R_32I;
  if (compute != CUDA_R_32F) return false;
  return a == CUDA_R_8I ? y == CUDA_R_32F : (a == CUDA_R_16F || a == CUDA_R_16BF) && (y == a || y == CUDA_R_32F);
}

}  // namespace lockstep::libraries::sparse
