// OpenBLAS by type: Blas<float>::gemv is cblas_sgemv. Also maps constants between OpenBLAS and cuBLAS.
#pragma once

#include <cblas.h>

#include <limits>

#include "libraries/blas/number.h"

namespace lockstep::libraries::blas {

template <typename T>
struct Blas;

#define LOCKSTEP_BLAS_COMMON(s)                                         \
  static constexpr auto gemv = cblas_##s##gemv;                         \
  static constexpr auto gbmv = cblas_##s##gbmv;                         \
  static constexpr auto trmv = cblas_##s##trmv, trsv = cblas_##s##trsv; \
  static constexpr auto tbmv = cblas_##s##tbmv, tbsv = cblas_##s##tbsv; \
  static constexpr auto tpmv = cblas_##s##tpmv, tpsv = cblas_##s##tpsv; \
  static constexpr auto gemm = cblas_##s##gemm;                         \
  static constexpr auto symm = cblas_##s##symm;                         \
  static constexpr auto syrk = cblas_##s##syrk;                         \
  static constexpr auto syr2k = cblas_##s##syr2k;                       \
  static constexpr auto trmm = cblas_##s##trmm, trsm = cblas_##s##trsm
// Symmetric for real types is Hermitian for complex ones: one name for both.
#define LOCKSTEP_BLAS_REAL(T, s)                                        \
  template <>                                                           \
  struct Blas<T> {                                                      \
    LOCKSTEP_BLAS_COMMON(s);                                            \
    static constexpr auto hemv = cblas_##s##symv;                       \
    static constexpr auto hbmv = cblas_##s##sbmv;                       \
    static constexpr auto hpmv = cblas_##s##spmv;                       \
    static constexpr auto her = cblas_##s##syr;                         \
    static constexpr auto hpr = cblas_##s##spr;                         \
    static constexpr auto her2 = cblas_##s##syr2;                       \
    static constexpr auto hpr2 = cblas_##s##spr2;                       \
    static constexpr auto geru = cblas_##s##ger, gerc = cblas_##s##ger; \
  }
#define LOCKSTEP_BLAS_COMPLEX(T, s)                                       \
  template <>                                                             \
  struct Blas<T> {                                                        \
    LOCKSTEP_BLAS_COMMON(s);                                              \
    static constexpr auto hemv = cblas_##s##hemv;                         \
    static constexpr auto hbmv = cblas_##s##hbmv;                         \
    static constexpr auto hpmv = cblas_##s##hpmv;                         \
    static constexpr auto her = cblas_##s##her;                           \
    static constexpr auto hpr = cblas_##s##hpr;                           \
    static constexpr auto her2 = cblas_##s##her2;                         \
    static constexpr auto hpr2 = cblas_##s##hpr2;                         \
    static constexpr auto geru = cblas_##s##geru, gerc = cblas_##s##gerc; \
    static constexpr auto hemm = cblas_##s##hemm;                         \
    static constexpr auto herk = cblas_##s##herk;                         \
    static constexpr auto her2k = cblas_##s##her2k;                       \
  }
LOCKSTEP_BLAS_REAL(float, s);
LOCKSTEP_BLAS_REAL(double, d);
LOCKSTEP_BLAS_COMPLEX(std::complex<float>, c);
LOCKSTEP_BLAS_COMPLEX(std::complex<double>, z);

// A scalar in OpenBLAS's form: real ones by value, complex ones by a pointer valid as long as the argument.
template <typename T>
auto V(const T& value) {
  if constexpr (kIsComplex<T>) {
    return static_cast<const void*>(&value);
  } else {
    return value;
  }
}

inline CBLAS_TRANSPOSE Of(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? CblasNoTrans : operation == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO Of(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower; }
inline CBLAS_DIAG Of(cublasDiagType_t diagonal) { return diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit; }
inline CBLAS_SIDE Of(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight; }

inline Function::Condition IsOperation(cublasOperation_t operation) {
  return {operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C,
          "the operation is none of CUBLAS_OP_N, CUBLAS_OP_T and CUBLAS_OP_C"};
}
inline Function::Condition IsFill(cublasFillMode_t fill) {
  return {fill == CUBLAS_FILL_MODE_UPPER || fill == CUBLAS_FILL_MODE_LOWER,
          "the fill mode is neither CUBLAS_FILL_MODE_UPPER nor CUBLAS_FILL_MODE_LOWER"};
}
inline Function::Condition IsDiagonal(cublasDiagType_t diagonal) {
  return {diagonal == CUBLAS_DIAG_UNIT || diagonal == CUBLAS_DIAG_NON_UNIT,
          "the diagonal is neither CUBLAS_DIAG_UNIT nor CUBLAS_DIAG_NON_UNIT"};
}
inline Function::Condition IsSide(cublasSideMode_t side) {
  return {side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT,
          "the side is neither CUBLAS_SIDE_LEFT nor CUBLAS_SIDE_RIGHT"};
}
inline Function::Condition IsSize(int64_t size) { return {size >= 0, "a size is negative"}; }
inline Function::Condition IsIncrement(int64_t increment) { return {increment != 0, "an increment is 0"}; }
inline Function::Condition IsGiven(const void* pointer) { return {pointer != nullptr, "a factor is a null pointer"}; }
inline Function::Condition HasMemory(const void* pointer) {
  return {pointer != nullptr, "a matrix or vector is a null pointer"};
}
inline Function::Condition Leads(int64_t leading, int64_t rows) {
  return {leading >= std::max<int64_t>(1, rows), "a leading dimension is smaller than the matrix's rows, or than 1"};
}

// Whether all of these fit OpenBLAS's integers.
template <typename... I>
bool Fit(I... values) {
  return ((values >= std::numeric_limits<blasint>::min() && values <= std::numeric_limits<blasint>::max()) && ...);
}
inline blasint B(int64_t value) { return static_cast<blasint>(value); }
#define LOCKSTEP_REFUSE_UNLESS_FIT(f, ...) \
  if (!Fit(__VA_ARGS__)) return (f).Missing("sizes beyond 31 bits")

// The upper or lower triangle of a matrix of order n, in full storage; without its diagonal if that is taken to be 1.
std::vector<Range> Triangle(Access access, const char* what, const void* address, uint32_t element, int64_t n,
                            int64_t leading, cublasFillMode_t fill, bool without_diagonal = false);
// A band matrix of m × n in band storage, whose rows are diagonals: `lower` below and `upper` above the main one.
std::vector<Range> Band(Access access, const char* what, const void* address, uint32_t element, int64_t m, int64_t n,
                        int64_t lower, int64_t upper, int64_t leading);

inline void Append(std::vector<Range>& to, std::vector<Range> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace lockstep::libraries::blas
