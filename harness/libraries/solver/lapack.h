// LAPACK by type: Lapack<float>::getrf is sgetrf_ in OpenBLAS's archive. Also maps constants between cuSOLVER and
// LAPACK.
#pragma once

#include <algorithm>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include "libraries/number.h"
#include "libraries/solver/handle.h"

namespace lockstep::libraries::solver {

template <typename T>
struct Lapack;

// Fortran functions take addresses, and the lengths of strings at the end.
#define LOCKSTEP_FORTRAN(T, R, s, orthogonal)                                                                          \
  void s##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);                            \
  void s##getrs_(const char* trans, const int* n, const int* columns, const T* a, const int* lda, const int* pivots,   \
                 T* b, const int* ldb, int* info, size_t);                                                             \
  void s##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* size, int* info);       \
  void s##orthogonal##gqr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,      \
                           const int* size, int* info);                                                                \
  void s##orthogonal##mqr_(const char* side, const char* trans, const int* m, const int* n, const int* k, const T* a,  \
                           const int* lda, const T* tau, T* c, const int* ldc, T* work, const int* size, int* info,    \
                           size_t, size_t);                                                                            \
  void s##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                             \
  void s##potrs_(const char* uplo, const int* n, const int* columns, const T* a, const int* lda, T* b, const int* ldb, \
                 int* info, size_t);                                                                                   \
  void s##potri_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                             \
  void s##trtri_(const char* uplo, const char* diagonal, const int* n, T* a, const int* lda, int* info, size_t, size_t);
#define LOCKSTEP_FORTRAN_REAL(T, s)                                                                                  \
  LOCKSTEP_FORTRAN(T, T, s, or)                                                                                      \
  void s##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,               \
                 const int* size, int* integers, const int* integer_size, int* info, size_t, size_t);                \
  void s##sygvd_(const int* type, const char* job, const char* uplo, const int* n, T* a, const int* lda, T* b,       \
                 const int* ldb, T* w, T* work, const int* size, int* integers, const int* integer_size, int* info,  \
                 size_t, size_t);                                                                                    \
  void s##geev_(const char* jobvl, const char* jobvr, const int* n, T* a, const int* lda, T* wr, T* wi, T* vl,       \
                const int* ldvl, T* vr, const int* ldvr, T* work, const int* size, int* info, size_t, size_t);       \
  void s##gesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, T* a, const int* lda, T* s_values, \
                 T* u, const int* ldu, T* vt, const int* ldvt, T* work, const int* size, int* info, size_t, size_t);
#define LOCKSTEP_FORTRAN_COMPLEX(T, R, s)                                                                             \
  LOCKSTEP_FORTRAN(T, R, s, un)                                                                                       \
  void s##heevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,                \
                 const int* size, R* reals, const int* real_size, int* integers, const int* integer_size, int* info,  \
                 size_t, size_t);                                                                                     \
  void s##hegvd_(const int* type, const char* job, const char* uplo, const int* n, T* a, const int* lda, T* b,        \
                 const int* ldb, R* w, T* work, const int* size, R* reals, const int* real_size, int* integers,       \
                 const int* integer_size, int* info, size_t, size_t);                                                 \
  void s##geev_(const char* jobvl, const char* jobvr, const int* n, T* a, const int* lda, T* w, T* vl,                \
                const int* ldvl, T* vr, const int* ldvr, T* work, const int* size, R* reals, int* info, size_t,       \
                size_t);                                                                                              \
  void s##gesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, T* a, const int* lda, R* s_values,  \
                 T* u, const int* ldu, T* vt, const int* ldvt, T* work, const int* size, R* reals, int* info, size_t, \
                 size_t);

extern "C" {
LOCKSTEP_FORTRAN_REAL(float, s)
LOCKSTEP_FORTRAN_REAL(double, d)
LOCKSTEP_FORTRAN_COMPLEX(std::complex<float>, float, c)
LOCKSTEP_FORTRAN_COMPLEX(std::complex<double>, double, z)
}

#define LOCKSTEP_LAPACK(s, orthogonal, symmetric)    \
  static constexpr auto getrf = s##getrf_;           \
  static constexpr auto getrs = s##getrs_;           \
  static constexpr auto geqrf = s##geqrf_;           \
  static constexpr auto orgqr = s##orthogonal##gqr_; \
  static constexpr auto ormqr = s##orthogonal##mqr_; \
  static constexpr auto potrf = s##potrf_;           \
  static constexpr auto potrs = s##potrs_;           \
  static constexpr auto potri = s##potri_;           \
  static constexpr auto trtri = s##trtri_;           \
  static constexpr auto syevd = s##symmetric##evd_;  \
  static constexpr auto sygvd = s##symmetric##gvd_;  \
  static constexpr auto geev = s##geev_;             \
  static constexpr auto gesvd = s##gesvd_;
template <>
struct Lapack<float> {
  LOCKSTEP_LAPACK(s, or, sy)
};
template <>
struct Lapack<double> {
  LOCKSTEP_LAPACK(d, or, sy)
};
template <>
struct Lapack<std::complex<float>> {
  LOCKSTEP_LAPACK(c, un, he)
};
template <>
struct Lapack<std::complex<double>> {
  LOCKSTEP_LAPACK(z, un, he)
};
#undef LOCKSTEP_FORTRAN
#undef LOCKSTEP_FORTRAN_REAL
#undef LOCKSTEP_FORTRAN_COMPLEX
#undef LOCKSTEP_LAPACK

// Queries the workspace's size, then calls run(work, &size) with a workspace.
template <typename T, typename Run>
void WithWork(Run run) {
  const int ask = -1;
  T answer = 0;
  run(&answer, &ask);
  const int size = std::max(1, static_cast<int>(std::real(answer)));
  std::vector<T> work(static_cast<size_t>(size));
  run(work.data(), &size);
}

inline const char* Of(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_UPPER ? "U" : "L"; }
inline const char* Of(cublasOperation_t op) { return op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C"; }
inline const char* Of(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? "L" : "R"; }
inline const char* Of(cublasDiagType_t diagonal) { return diagonal == CUBLAS_DIAG_UNIT ? "U" : "N"; }
inline const char* Of(cusolverEigMode_t mode) { return mode == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N"; }

inline Function::Condition IsOperation(cublasOperation_t op) {
  return {op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C, "the operation is unknown"};
}
inline Function::Condition IsFill(cublasFillMode_t fill) {
  return {fill == CUBLAS_FILL_MODE_UPPER || fill == CUBLAS_FILL_MODE_LOWER, "the fill mode is neither upper nor lower"};
}
inline Function::Condition IsMode(cusolverEigMode_t mode) {
  return {mode == CUSOLVER_EIG_MODE_VECTOR || mode == CUSOLVER_EIG_MODE_NOVECTOR, "the mode is unknown"};
}
inline Function::Condition IsSize(int64_t size) { return {size >= 0, "a size is negative"}; }
inline Function::Condition Leads(int64_t leading, int64_t rows) {
  return {leading >= std::max<int64_t>(1, rows), "a leading dimension is smaller than the matrix's rows, or than 1"};
}
inline Function::Condition NotNull(const void* pointer) {
  return {pointer != nullptr, "an argument is a null pointer"};
}

// Whether all of these fit LAPACK's integers.
template <typename... I>
bool Fit(I... values) {
  return ((values <= std::numeric_limits<int>::max()) && ...);
}
#define LOCKSTEP_REFUSE_UNLESS_FIT(f, ...) \
  if (!Fit(__VA_ARGS__)) return (f).Missing("sizes beyond 31 bits")

template <typename T>
inline constexpr Arithmetic kArithmetic = std::is_same_v<Real<T>, double> ? Arithmetic::kFloat64 : Arithmetic::kFloat32;
// Number of operations of this many multiply-adds.
template <typename T>
double MultiplyAdds(double count) {
  return count * (kIsComplex<T> ? 8 : 2);
}

template <typename T>
Range MatrixOf(Access access, const char* what, const T* matrix, int64_t rows, int64_t columns, int64_t leading) {
  return Matrix(access, what, matrix, sizeof(T), rows, columns, leading);
}
// The columns of a triangle; without its diagonal if that is taken to be 1.
template <typename T>
void AddTriangle(std::vector<Range>* to, Access access, const char* what, const T* matrix, int64_t n, int64_t leading,
                 cublasFillMode_t fill, bool without_diagonal = false) {
  const int64_t skipped = without_diagonal ? 1 : 0;
  for (int64_t column = 0; column < n; ++column) {
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    const int64_t first = upper ? 0 : column + skipped, end = upper ? column + 1 - skipped : n;
    if (end > first) to->push_back(Elements(access, what, matrix + first + column * leading, end - first));
  }
}
// The order in which Jacobi's method leaves its vectors (columns) if it does not sort them, assuming that it turned
// them little: each place gets the one of the remaining vectors whose component there is largest.
template <typename T>
std::vector<int> Places(int n, const T* vectors, int64_t leading) {
  std::vector<int> order;
  std::vector<bool> is_taken(static_cast<size_t>(n));
  for (int place = 0; place < n; ++place) {
    int best = -1;
    for (int column = 0; column < n; ++column) {
      const auto size = [&](int at) { return std::abs(vectors[place + at * leading]); };
      if (!is_taken[static_cast<size_t>(column)] && (best < 0 || size(column) > size(best))) best = column;
    }
    is_taken[static_cast<size_t>(best)] = true;
    order.push_back(best);
  }
  return order;
}
// The factor of magnitude 1 that makes a number positive.
template <typename T>
T Turn(const T& value) {
  return value == T(0) ? T(1) : Conjugate(value) / std::abs(value);
}
// Column i becomes what column order[i] was, times factors[i].
template <typename T>
void Reorder(const std::vector<int>& order, const std::vector<T>& factors, int64_t rows, T* columns, int64_t leading) {
  std::vector<T> before;
  for (size_t i = 0; i < order.size(); ++i) {
    const T* const from = columns + static_cast<int64_t>(i) * leading;
    before.insert(before.end(), from, from + rows);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (int64_t row = 0; row < rows; ++row) {
      columns[row + static_cast<int64_t>(i) * leading] =
          factors[i] * before[static_cast<size_t>(row + order[i] * rows)];
    }
  }
}

// Marks a workspace as overwritten.
template <typename T>
Range Work(T* work, int64_t size) {
  return Elements(Access::kWrite, "the workspace", work, size);
}
inline Range WorkOf(void* work, size_t bytes) { return Work(static_cast<char*>(work), static_cast<int64_t>(bytes)); }
inline Range Info(int* info, int64_t count = 1) { return Elements(Access::kWrite, "info", info, count); }

using libraries::N;
using libraries::NN;
using libraries::NumberOf;

// f(type_identity<T>) for the four types of LAPACK; other types are refused.
template <typename F>
cusolverStatus_t OfType(const Function& f, cudaDataType type, F run) {
  switch (type) {
    case CUDA_R_32F:
      return run(std::type_identity<float>());
    case CUDA_R_64F:
      return run(std::type_identity<double>());
    case CUDA_C_32F:
      return run(std::type_identity<std::complex<float>>());
    case CUDA_C_64F:
      return run(std::type_identity<std::complex<double>>());
    default:
      return f.Missing("this type");
  }
}
template <typename T>
inline constexpr cudaDataType kData =
    kIsComplex<T> ? (sizeof(T) == 8 ? CUDA_C_32F : CUDA_C_64F) : (sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F);

}  // namespace lockstep::libraries::solver

// M(letter, type, real type, or/un, sy/he) for each type.
#define LOCKSTEP_ALL_TYPES(M)    \
  M(S, float, float, or, sy)     \
  M(D, double, double, or, sy)   \
  M(C, cuComplex, float, un, he) \
  M(Z, cuDoubleComplex, double, un, he)
