// Level 1: vectors.
#include "libraries/blas/level1.h"

using namespace lockstep::libraries::blas;

#define AXPY(S, T, I, _)                                                                                               \
  cublasStatus_t cublas##S##axpy_v2##_(cublasHandle_t handle, I n, const T* alpha, const T* x, I incx, T* y, I incy) { \
    return Axpy({__func__, handle}, n, N(alpha), N(x), incx, N(y), incy);                                              \
  }                                                                                                                    \
  cublasStatus_t cublas##S##copy_v2##_(cublasHandle_t handle, I n, const T* x, I incx, T* y, I incy) {                 \
    return Copy({__func__, handle}, n, N(x), incx, N(y), incy);                                                        \
  }                                                                                                                    \
  cublasStatus_t cublas##S##swap_v2##_(cublasHandle_t handle, I n, T* x, I incx, T* y, I incy) {                       \
    return Swap({__func__, handle}, n, N(x), incx, N(y), incy);                                                        \
  }                                                                                                                    \
  cublasStatus_t cublas##S##scal_v2##_(cublasHandle_t handle, I n, const T* alpha, T* x, I incx) {                     \
    return Scale({__func__, handle}, n, N(alpha), N(x), incx);                                                         \
  }

#define DOT(S, T, I, _)                                                                                                \
  cublasStatus_t cublas##S##dot_v2##_(cublasHandle_t handle, I n, const T* x, I incx, const T* y, I incy, T* result) { \
    return Dot({__func__, handle}, false, n, x, incx, y, incy, result);                                                \
  }
#define COMPLEX_DOT(S, T, I, _)                                                                            \
  cublasStatus_t cublas##S##dotu_v2##_(cublasHandle_t handle, I n, const T* x, I incx, const T* y, I incy, \
                                       T* result) {                                                        \
    return Dot({__func__, handle}, false, n, N(x), incx, N(y), incy, N(result));                           \
  }                                                                                                        \
  cublasStatus_t cublas##S##dotc_v2##_(cublasHandle_t handle, I n, const T* x, I incx, const T* y, I incy, \
                                       T* result) {                                                        \
    return Dot({__func__, handle}, true, n, N(x), incx, N(y), incy, N(result));                            \
  }

// S: the letters of the norm's function; s: those of the index functions; R: the type of the norm.
#define REDUCTIONS(S, s, T, R, I, _)                                                                      \
  cublasStatus_t cublas##S##nrm2_v2##_(cublasHandle_t handle, I n, const T* x, I incx, R* result) {       \
    return Reduction({__func__, handle}, n, N(x), incx, result,                                           \
                     [](int64_t count, auto* v, int64_t inc) { return Norm(count, v, inc); });            \
  }                                                                                                       \
  cublasStatus_t cublas##S##asum_v2##_(cublasHandle_t handle, I n, const T* x, I incx, R* result) {       \
    return Reduction({__func__, handle}, n, N(x), incx, result,                                           \
                     [](int64_t count, auto* v, int64_t inc) { return SumOfAbsolutes(count, v, inc); });  \
  }                                                                                                       \
  cublasStatus_t cublasI##s##amax_v2##_(cublasHandle_t handle, I n, const T* x, I incx, I* result) {      \
    return Reduction({__func__, handle}, n, N(x), incx, result, [](int64_t count, auto* v, int64_t inc) { \
      return static_cast<I>(IndexOf(true, count, v, inc));                                                \
    });                                                                                                   \
  }                                                                                                       \
  cublasStatus_t cublasI##s##amin_v2##_(cublasHandle_t handle, I n, const T* x, I incx, I* result) {      \
    return Reduction({__func__, handle}, n, N(x), incx, result, [](int64_t count, auto* v, int64_t inc) { \
      return static_cast<I>(IndexOf(false, count, v, inc));                                               \
    });                                                                                                   \
  }
#define REAL_SCALE(S, T, R, I, _)                                                                  \
  cublasStatus_t cublas##S##scal_v2##_(cublasHandle_t handle, I n, const R* alpha, T* x, I incx) { \
    return Scale({__func__, handle}, n, alpha, N(x), incx);                                        \
  }

extern "C" {
LOCKSTEP_ALL_TYPES(AXPY)
LOCKSTEP_REAL_TYPES(DOT)
LOCKSTEP_COMPLEX_TYPES(COMPLEX_DOT)
REDUCTIONS(S, s, float, float, int, )
REDUCTIONS(S, s, float, float, int64_t, _64)
REDUCTIONS(D, d, double, double, int, )
REDUCTIONS(D, d, double, double, int64_t, _64)
REDUCTIONS(Sc, c, cuComplex, float, int, )
REDUCTIONS(Sc, c, cuComplex, float, int64_t, _64)
REDUCTIONS(Dz, z, cuDoubleComplex, double, int, )
REDUCTIONS(Dz, z, cuDoubleComplex, double, int64_t, _64)
REAL_SCALE(Cs, cuComplex, float, int, )
REAL_SCALE(Cs, cuComplex, float, int64_t, _64)
REAL_SCALE(Zd, cuDoubleComplex, double, int, )
REAL_SCALE(Zd, cuDoubleComplex, double, int64_t, _64)
}
