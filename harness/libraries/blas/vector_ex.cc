// Level 1 functions that take types as arguments. 16-bit vectors are computed in single precision.
#include "libraries/blas/level1.h"

namespace lockstep::libraries::blas {
namespace {

// The supported combinations of the types of a vector's elements and of the computation.
enum class Kind : uint8_t { kNone, kHalf, kBfloat, kSingle, kDouble, kSingleComplex, kDoubleComplex };

// scalar: the type of a factor, which must be the computation's.
Kind KindOf(cudaDataType element, cudaDataType scalar, cudaDataType execution) {
  if (scalar != execution) return Kind::kNone;
  switch (element) {
    case CUDA_R_16F:
      return execution == CUDA_R_32F ? Kind::kHalf : Kind::kNone;
    case CUDA_R_16BF:
      return execution == CUDA_R_32F ? Kind::kBfloat : Kind::kNone;
    case CUDA_R_32F:
      return execution == element ? Kind::kSingle : Kind::kNone;
    case CUDA_R_64F:
      return execution == element ? Kind::kDouble : Kind::kNone;
    case CUDA_C_32F:
      return execution == element ? Kind::kSingleComplex : Kind::kNone;
    case CUDA_C_64F:
      return execution == element ? Kind::kDoubleComplex : Kind::kNone;
    default:
      return Kind::kNone;
  }
}

// Calls f with a null pointer of the type T* for the elements' type T.
template <typename F>
cublasStatus_t ByKind(const Function& function, Kind kind, F f) {
  switch (kind) {
    case Kind::kHalf:
      return f(static_cast<Float16*>(nullptr));
    case Kind::kBfloat:
      return f(static_cast<BFloat16*>(nullptr));
    case Kind::kSingle:
      return f(static_cast<float*>(nullptr));
    case Kind::kDouble:
      return f(static_cast<double*>(nullptr));
    case Kind::kSingleComplex:
      return f(static_cast<std::complex<float>*>(nullptr));
    case Kind::kDoubleComplex:
      return f(static_cast<std::complex<double>*>(nullptr));
    case Kind::kNone:
      break;
  }
  return function.Missing("this combination of types");
}

cublasStatus_t ScaleEx(const Function& f, int64_t n, const void* alpha, cudaDataType alpha_type, void* x,
                       cudaDataType type, int64_t incx, cudaDataType execution) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  return ByKind(f, KindOf(type, alpha_type, execution), [&]<typename T>(T*) {
    return Scale(f, n, static_cast<const Wider<T>*>(alpha), static_cast<T*>(x), incx);
  });
}

cublasStatus_t AxpyEx(const Function& f, int64_t n, const void* alpha, cudaDataType alpha_type, const void* x,
                      cudaDataType x_type, int64_t incx, void* y, cudaDataType y_type, int64_t incy,
                      cudaDataType execution) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  return ByKind(f, x_type == y_type ? KindOf(x_type, alpha_type, execution) : Kind::kNone, [&]<typename T>(T*) {
    return Axpy(f, n, static_cast<const Wider<T>*>(alpha), static_cast<const T*>(x), incx, static_cast<T*>(y), incy);
  });
}

cublasStatus_t DotEx(const Function& f, bool conjugates, int64_t n, const void* x, cudaDataType x_type, int64_t incx,
                     const void* y, cudaDataType y_type, int64_t incy, void* result, cudaDataType result_type,
                     cudaDataType execution) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (result == nullptr) return CUBLAS_STATUS_MAPPING_ERROR;
  const bool alike = x_type == y_type && x_type == result_type;
  return ByKind(f, alike ? KindOf(x_type, execution, execution) : Kind::kNone, [&]<typename T>(T*) {
    return Dot(f, conjugates, n, static_cast<const T*>(x), incx, static_cast<const T*>(y), incy,
               static_cast<T*>(result));
  });
}

// c and s are of the elements' type, or real.
cublasStatus_t RotateEx(const Function& f, int64_t n, void* x, cudaDataType x_type, int64_t incx, void* y,
                        cudaDataType y_type, int64_t incy, const void* c, const void* s, cudaDataType type,
                        cudaDataType execution) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  const bool is_real = (x_type == CUDA_C_32F && type == CUDA_R_32F) || (x_type == CUDA_C_64F && type == CUDA_R_64F);
  const Kind kind =
      x_type != y_type || (type != x_type && !is_real) ? Kind::kNone : KindOf(x_type, execution, execution);
  return ByKind(f, kind, [&]<typename T>(T*) {
    T *const from = static_cast<T*>(x), *const to = static_cast<T*>(y);
    const auto* const cosine = static_cast<const Real<T>*>(c);  // of a complex number, its real part
    return is_real ? Rotate(f, n, from, incx, to, incy, cosine, static_cast<const Real<T>*>(s))
                   : Rotate(f, n, from, incx, to, incy, cosine, static_cast<const T*>(s));
  });
}

template <typename T>
T NarrowNorm(int64_t n, const T* x, int64_t incx) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i * incx].Load()) * x[i * incx].Load();
  return T::Store(static_cast<float>(std::sqrt(sum)));
}
bool IsNarrow(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }

// The norm of a complex vector is real.
cublasStatus_t NormEx(const Function& f, int64_t n, const void* x, cudaDataType type, int64_t incx, void* result,
                      cudaDataType result_type, cudaDataType execution) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  const cudaDataType real = type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
  const bool computes = execution == (real == type && type != CUDA_R_64F ? CUDA_R_32F : real);
  const Kind kind = result_type != real || !computes ? Kind::kNone
                    : IsNarrow(type)                 ? KindOf(type, CUDA_R_32F, CUDA_R_32F)
                                                     : KindOf(type, type, type);
  return ByKind(f, kind, [&]<typename T>(T*) {
    if constexpr (kIsNarrow<T>) {
      return Reduction(f, n, static_cast<const T*>(x), incx, static_cast<T*>(result), NarrowNorm<T>);
    } else {
      return Reduction(f, n, static_cast<const T*>(x), incx, static_cast<Real<T>*>(result),
                       [](int64_t count, const T* v, int64_t inc) { return Norm(count, v, inc); });
    }
  });
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define TYPED(I, _)                                                                                                    \
  cublasStatus_t cublasScalEx##_(cublasHandle_t handle, I n, const void* alpha, cudaDataType alpha_type, void* x,      \
                                 cudaDataType x_type, I incx, cudaDataType execution) {                                \
    return ScaleEx({__func__, handle}, n, alpha, alpha_type, x, x_type, incx, execution);                              \
  }                                                                                                                    \
  cublasStatus_t cublasAxpyEx##_(cublasHandle_t handle, I n, const void* alpha, cudaDataType alpha_type,               \
                                 const void* x, cudaDataType x_type, I incx, void* y, cudaDataType y_type, I incy,     \
                                 cudaDataType execution) {                                                             \
    return AxpyEx({__func__, handle}, n, alpha, alpha_type, x, x_type, incx, y, y_type, incy, execution);              \
  }                                                                                                                    \
  cublasStatus_t cublasDotEx##_(cublasHandle_t handle, I n, const void* x, cudaDataType x_type, I incx, const void* y, \
                                cudaDataType y_type, I incy, void* result, cudaDataType result_type,                   \
                                cudaDataType execution) {                                                              \
    return DotEx({__func__, handle}, false, n, x, x_type, incx, y, y_type, incy, result, result_type, execution);      \
  }                                                                                                                    \
  cublasStatus_t cublasDotcEx##_(cublasHandle_t handle, I n, const void* x, cudaDataType x_type, I incx,               \
                                 const void* y, cudaDataType y_type, I incy, void* result, cudaDataType result_type,   \
                                 cudaDataType execution) {                                                             \
    return DotEx({__func__, handle}, true, n, x, x_type, incx, y, y_type, incy, result, result_type, execution);       \
  }                                                                                                                    \
  cublasStatus_t cublasNrm2Ex##_(cublasHandle_t handle, I n, const void* x, cudaDataType x_type, I incx, void* result, \
                                 cudaDataType result_type, cudaDataType execution) {                                   \
    return NormEx({__func__, handle}, n, x, x_type, incx, result, result_type, execution);                             \
  }                                                                                                                    \
  cublasStatus_t cublasRotEx##_(cublasHandle_t handle, I n, void* x, cudaDataType x_type, I incx, void* y,             \
                                cudaDataType y_type, I incy, const void* c, const void* s, cudaDataType type,          \
                                cudaDataType execution) {                                                              \
    return RotateEx({__func__, handle}, n, x, x_type, incx, y, y_type, incy, c, s, type, execution);                   \
  }

extern "C" {
TYPED(int, )
TYPED(int64_t, _64)
}
