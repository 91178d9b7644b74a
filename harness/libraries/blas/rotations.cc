// Level 1: plane rotations.
#include <cblas.h>

#include <cmath>

#include "libraries/blas/level1.h"

namespace lockstep::libraries::blas {
namespace {

// These arguments are in host or device memory, depending on the pointer mode.
template <typename T>
void AddParameter(const Function& f, Call& call, Access access, const char* name, const T* pointer, int count = 1) {
  if (f.on_device()) {
    call.memory.push_back(Elements(access, name, pointer, count));
  } else {
    call.waits = true;
  }
}

void Generate(float* a, float* b, float* c, float* s) { cblas_srotg(a, b, c, s); }
void Generate(double* a, double* b, double* c, double* s) { cblas_drotg(a, b, c, s); }
template <typename T>
void Generate(std::complex<T>* a, const std::complex<T>* b, T* c, std::complex<T>* s) {
  const T size = std::abs(*a);
  if (size == 0) {
    *c = 0;
    *s = 1;
    *a = *b;
    return;
  }
  const T norm = std::hypot(size, std::abs(*b));
  const std::complex<T> direction = *a / size;
  *c = size / norm;
  *s = direction * std::conj(*b) / norm;
  *a = direction * norm;
}

template <typename T, typename Cosine>
cublasStatus_t MakeRotation(const Function& f, T* a, T* b, Cosine* c, T* s) {
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({{a != nullptr && b != nullptr && c != nullptr && s != nullptr, "a null pointer"}}));
  Call call = f.Begin();
  AddParameter(f, call, Access::kReadWrite, "a", a);
  AddParameter(f, call, Access::kReadWrite, "b", b);
  AddParameter(f, call, Access::kWrite, "c", c);
  AddParameter(f, call, Access::kWrite, "s", s);
  call.run = [=] { Generate(a, b, c, s); };
  return Function::Do(std::move(call));
}

void RotateModified(int n, float* x, int incx, float* y, int incy, const float* param) {
  cblas_srotm(n, x, incx, y, incy, param);
}
void RotateModified(int n, double* x, int incx, double* y, int incy, const double* param) {
  cblas_drotm(n, x, incx, y, incy, param);
}
void GenerateModified(float* d1, float* d2, float* x1, float y1, float* param) { cblas_srotmg(d1, d2, x1, y1, param); }
void GenerateModified(double* d1, double* d2, double* x1, double y1, double* param) {
  cblas_drotmg(d1, d2, x1, y1, param);
}

constexpr int kParameters = 5;  // of a modified rotation: a flag, and four elements of a matrix

template <typename T>
cublasStatus_t Modified(const Function& f, int64_t n, T* x, int64_t incx, T* y, int64_t incy, const T* param) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{param != nullptr, "param is a null pointer"}}));
  if (n != static_cast<int>(n) || incx != static_cast<int>(incx) || incy != static_cast<int>(incy)) {
    return f.Missing("sizes beyond 31 bits");
  }
  Call call = f.Begin(6 * static_cast<double>(n), kArithmetic<T>);
  call.memory = {VectorOf(Access::kReadWrite, "vector x", x, n, incx),
                 VectorOf(Access::kReadWrite, "vector y", y, n, incy)};
  const bool on_device = f.on_device();
  std::array<T, kParameters> kept = {};
  if (on_device) {
    call.memory.push_back(Elements(Access::kRead, "param", param, kParameters));
  } else {
    std::copy_n(param, kParameters, kept.begin());
  }
  call.run = [=] {
    RotateModified(static_cast<int>(n), x, static_cast<int>(incx), y, static_cast<int>(incy),
                   on_device ? param : kept.data());
  };
  return Function::Do(std::move(call));
}

template <typename T>
cublasStatus_t MakeModified(const Function& f, T* d1, T* d2, T* x1, const T* y1, T* param) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check(
      {{d1 != nullptr && d2 != nullptr && x1 != nullptr && y1 != nullptr && param != nullptr, "a null pointer"}}));
  Call call = f.Begin();
  AddParameter(f, call, Access::kReadWrite, "d1", d1);
  AddParameter(f, call, Access::kReadWrite, "d2", d2);
  AddParameter(f, call, Access::kReadWrite, "x1", x1);
  AddParameter(f, call, Access::kRead, "y1", y1);
  AddParameter(f, call, Access::kWrite, "param", param, kParameters);
  call.run = [=] {
    std::fill_n(param, kParameters, T(0));
    GenerateModified(d1, d2, x1, *y1, param);
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define ROTATE(S, T, R, Sine, I, _)                                                                       \
  cublasStatus_t cublas##S##rot_v2##_(cublasHandle_t handle, I n, T* x, I incx, T* y, I incy, const R* c, \
                                      const Sine* s) {                                                    \
    return Rotate({__func__, handle}, n, N(x), incx, N(y), incy, c, N(s));                                \
  }
#define MODIFIED(S, T, I, _)                                                                                     \
  cublasStatus_t cublas##S##rotm_v2##_(cublasHandle_t handle, I n, T* x, I incx, T* y, I incy, const T* param) { \
    return Modified({__func__, handle}, n, x, incx, y, incy, param);                                             \
  }
#define MAKE_ROTATION(S, T, R)                                                       \
  cublasStatus_t cublas##S##rotg_v2(cublasHandle_t handle, T* a, T* b, R* c, T* s) { \
    return MakeRotation({__func__, handle}, N(a), N(b), c, N(s));                    \
  }
#define MAKE_MODIFIED(S, T)                                                                               \
  cublasStatus_t cublas##S##rotmg_v2(cublasHandle_t handle, T* d1, T* d2, T* x1, const T* y1, T* param) { \
    return MakeModified({__func__, handle}, d1, d2, x1, y1, param);                                       \
  }
#define ROTATE_BOTH(S, T, R, Sine) ROTATE(S, T, R, Sine, int, ) ROTATE(S, T, R, Sine, int64_t, _64)

extern "C" {
ROTATE_BOTH(S, float, float, float)
ROTATE_BOTH(D, double, double, double)
ROTATE_BOTH(C, cuComplex, float, cuComplex)
ROTATE_BOTH(Cs, cuComplex, float, float)
ROTATE_BOTH(Z, cuDoubleComplex, double, cuDoubleComplex)
ROTATE_BOTH(Zd, cuDoubleComplex, double, double)
LOCKSTEP_REAL_TYPES(MODIFIED)
MAKE_ROTATION(S, float, float)
MAKE_ROTATION(D, double, double)
MAKE_ROTATION(C, cuComplex, float)
MAKE_ROTATION(Z, cuDoubleComplex, double)
MAKE_MODIFIED(S, float)
MAKE_MODIFIED(D, double)
}
