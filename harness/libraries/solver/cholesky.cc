// Cholesky factors of positive definite matrices, and solutions and inverses computed from them, single or in batches;
// inverses of triangular matrices.
#include "libraries/solver/arguments.h"

namespace lockstep::libraries::solver {
namespace {

template <typename T>
cusolverStatus_t Potrf(const Function& f, cublasFillMode_t fill, int64_t n, T* a, int64_t lda, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info, {{Fill(fill), 1}, {n >= 0, 2}, {Leading(lda, n), 4}}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, n, lda);
  const int order = static_cast<int>(n), leading = static_cast<int>(lda);
  const double side = order;
  Call call = f.Begin(MultiplyAdds<T>(side * side * side / 6), kArithmetic<T>);
  AddTriangle(&call.memory, Access::kReadWrite, "matrix A", a, n, lda, fill);
  call.memory.push_back(Info(info));
  call.run = [=] {
    int result = 0;
    Lapack<T>::potrf(Of(fill), &order, a, &leading, &result, 1);
    *info = result;
  };
  return Function::Do(std::move(call));
}

template <typename T>
cusolverStatus_t Potrs(const Function& f, cublasFillMode_t fill, int64_t n, int64_t columns, const T* a, int64_t lda,
                       T* b, int64_t ldb, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(
      f, info, {{Fill(fill), 1}, {n >= 0, 2}, {columns >= 0, 3}, {Leading(lda, n), 5}, {Leading(ldb, n), 7}}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, n, columns, lda, ldb);
  const int order = static_cast<int>(n), many = static_cast<int>(columns), leading = static_cast<int>(lda),
            b_leading = static_cast<int>(ldb);
  Call call = f.Begin(MultiplyAdds<T>(static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(columns)),
                      kArithmetic<T>);
  AddTriangle(&call.memory, Access::kRead, "matrix A", a, n, lda, fill);
  call.memory.push_back(MatrixOf(Access::kReadWrite, "matrix B", b, n, columns, ldb));
  call.memory.push_back(Info(info));
  call.run = [=] {
    int result = 0;
    Lapack<T>::potrs(Of(fill), &order, &many, a, &leading, b, &b_leading, &result, 1);
    *info = result;
  };
  return Function::Do(std::move(call));
}

template <typename T>
cusolverStatus_t Potri(const Function& f, cublasFillMode_t fill, int n, T* a, int lda, Range work, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info, {{Fill(fill), 1}, {n >= 0, 2}, {Leading(lda, n), 4}}));
  if (n == 0) return CUSOLVER_STATUS_SUCCESS;
  const double side = n;
  Call call = f.Begin(MultiplyAdds<T>(side * side * side / 3), kArithmetic<T>);
  AddTriangle(&call.memory, Access::kReadWrite, "matrix A", a, n, lda, fill);
  call.memory.push_back(work);
  call.memory.push_back(Info(info));
  call.run = [=, name = f.name] {
    int result = 0;
    Lapack<T>::potri(Of(fill), &n, a, &lda, &result, 1);
    *info = 0;
    if (result <= 0) return;
    // LAPACK reports which element is 0. NVIDIA's function returns no error, and leaves NaNs.
    lockstep_say(name, ("element " + std::to_string(result) + " of the factor's diagonal is 0").c_str());
    for (int column = 0; column < n; ++column) {
      const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
      for (int row = upper ? 0 : column; row < (upper ? column + 1 : n); ++row) {
        a[row + static_cast<int64_t>(column) * lda] = std::numeric_limits<Real<T>>::quiet_NaN();
      }
    }
  };
  return Function::Do(std::move(call));
}

template <typename T>
cusolverStatus_t Trtri(const Function& f, cublasFillMode_t fill, cublasDiagType_t diagonal, int64_t n, T* a,
                       int64_t lda, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsFill(fill), IsSize(n), Leads(lda, n)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, n, lda);
  const int order = static_cast<int>(n), leading = static_cast<int>(lda);
  const double side = order;
  Call call = f.Begin(MultiplyAdds<T>(side * side * side / 6), kArithmetic<T>);
  AddTriangle(&call.memory, Access::kReadWrite, "matrix A", a, n, lda, fill, diagonal == CUBLAS_DIAG_UNIT);
  call.memory.push_back(Info(info));
  call.run = [=] {
    int result = 0;
    Lapack<T>::trtri(Of(fill), Of(diagonal), &order, a, &leading, &result, 1, 1);
    *info = result;
  };
  return Function::Do(std::move(call));
}

// Matrices at pointers in device memory.
template <typename T>
cusolverStatus_t PotrfBatched(const Function& f, cublasFillMode_t fill, int n, T* const* a, int lda, int* info,
                              int count) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsFill(fill), IsSize(n), Leads(lda, n), IsSize(count)}));
  if (n == 0 || count == 0) return CUSOLVER_STATUS_SUCCESS;
  const double side = n;
  Call call = f.Begin(MultiplyAdds<T>(side * side * side / 6 * count), kArithmetic<T>);
  call.memory = {Elements(Access::kRead, "the pointers to matrices A", a, count), Info(info, count)};
  call.more_memory = [=](Memory& memory) {
    std::vector<Range> ranges;
    for (int i = 0; i < count; ++i) AddTriangle(&ranges, Access::kReadWrite, "matrix A", a[i], n, lda, fill);
    for (const Range& range : ranges) {
      if (!memory.Touch(range)) return false;
    }
    return true;
  };
  call.run = [=] {
    for (int i = 0; i < count; ++i) {
      int result = 0;
      Lapack<T>::potrf(Of(fill), &n, a[i], &lda, &result, 1);
      info[i] = result;
    }
  };
  return Function::Do(std::move(call));
}

template <typename T>
cusolverStatus_t PotrsBatched(const Function& f, cublasFillMode_t fill, int n, int columns, T* const* a, int lda,
                              T* const* b, int ldb, int* info, int count) {
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({IsFill(fill), IsSize(n), IsSize(columns), Leads(lda, n), Leads(ldb, n), IsSize(count)}));
  if (columns != 1) return f.Missing("more than one right-hand side");
  if (n == 0 || count == 0) return CUSOLVER_STATUS_SUCCESS;
  Call call = f.Begin(MultiplyAdds<T>(static_cast<double>(n) * n * count), kArithmetic<T>);
  call.memory = {Elements(Access::kRead, "the pointers to matrices A", a, count),
                 Elements(Access::kRead, "the pointers to matrices B", b, count), Info(info)};
  call.more_memory = [=](Memory& memory) {
    std::vector<Range> ranges;
    for (int i = 0; i < count; ++i) {
      AddTriangle(&ranges, Access::kRead, "matrix A", a[i], n, lda, fill);
      ranges.push_back(Elements(Access::kReadWrite, "matrix B", b[i], n));
    }
    for (const Range& range : ranges) {
      if (!memory.Touch(range)) return false;
    }
    return true;
  };
  call.run = [=] {
    int result = 0;
    for (int i = 0; i < count; ++i) {
      Lapack<T>::potrs(Of(fill), &n, &columns, a[i], &lda, b[i], &ldb, &result, 1);
    }
    *info = result;
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::solver

using namespace lockstep::libraries;
using namespace lockstep::libraries::solver;

#define CHOLESKY(S, T, R, orthogonal, symmetric)                                                                     \
  cusolverStatus_t cusolverDn##S##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t fill, int, T*, int,   \
                                                   int* size) {                                                      \
    return AnswerWork({__func__, handle}, {IsFill(fill)}, size);                                                     \
  }                                                                                                                  \
  cusolverStatus_t cusolverDn##S##potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int lda, T*,  \
                                        int, int* info) {                                                            \
    return Potrf({__func__, handle}, fill, n, N(a), lda, info);                                                      \
  }                                                                                                                  \
  cusolverStatus_t cusolverDn##S##potrs(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, int columns,        \
                                        const T* a, int lda, T* b, int ldb, int* info) {                             \
    return Potrs({__func__, handle}, fill, n, columns, N(a), lda, N(b), ldb, info);                                  \
  }                                                                                                                  \
  cusolverStatus_t cusolverDn##S##potri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t fill, int, T*, int,   \
                                                   int* size) {                                                      \
    return AnswerWork({__func__, handle}, {IsFill(fill)}, size);                                                     \
  }                                                                                                                  \
  cusolverStatus_t cusolverDn##S##potri(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int lda,      \
                                        T* work, int size, int* info) {                                              \
    return Potri({__func__, handle}, fill, n, N(a), lda, Work(work, size), info);                                    \
  }                                                                                                                  \
  cusolverStatus_t cusolverDn##S##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a[],      \
                                               int lda, int* info, int count) {                                      \
    return PotrfBatched({__func__, handle}, fill, n, NN(a), lda, info, count);                                       \
  }                                                                                                                  \
  cusolverStatus_t cusolverDn##S##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, int columns, \
                                               T* a[], int lda, T* b[], int ldb, int* info, int count) {             \
    return PotrsBatched({__func__, handle}, fill, n, columns, NN(a), lda, NN(b), ldb, info, count);                  \
  }

extern "C" {

LOCKSTEP_ALL_TYPES(CHOLESKY)

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill,
                                             int64_t, cudaDataType, const void*, int64_t, cudaDataType,
                                             size_t* on_device, size_t* on_host) {
  return AnswerWork({__func__, handle}, {IsFill(fill)}, on_device, on_host);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType, void*, size_t, void*, size_t,
                                  int* info) {
  const Function f{__func__, handle};
  return OfType(f, type,
                [&](auto t) { return Potrf(f, fill, n, static_cast<typename decltype(t)::type*>(a), lda, info); });
}
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                  int64_t columns, cudaDataType type, const void* a, int64_t lda, cudaDataType b_type,
                                  void* b, int64_t ldb, int* info) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{type == b_type, "the matrices are of different types"}}));
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    return Potrs(f, fill, n, columns, static_cast<const T*>(a), lda, static_cast<T*>(b), ldb, info);
  });
}
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t fill, cublasDiagType_t,
                                             int64_t n, cudaDataType, void*, int64_t lda, size_t* on_device,
                                             size_t* on_host) {
  return AnswerWork({__func__, handle}, {IsFill(fill), IsSize(n), Leads(lda, n)}, on_device, on_host);
}
cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t fill, cublasDiagType_t diagonal,
                                  int64_t n, cudaDataType type, void* a, int64_t lda, void*, size_t, void*, size_t,
                                  int* info) {
  const Function f{__func__, handle};
  return OfType(f, type, [&](auto t) {
    return Trtri(f, fill, diagonal, n, static_cast<typename decltype(t)::type*>(a), lda, info);
  });
}

}  // extern "C"
