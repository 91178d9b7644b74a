// Level 1: vectors, for all types of elements.
#pragma once

#include <cmath>

#include "libraries/blas/number.h"
#include "libraries/matrix/elements.h"

namespace lockstep::libraries::blas {

inline constexpr Function::Condition NotNull(const void* pointer, const char* why) { return {pointer != nullptr, why}; }

// The type of the computation: single precision for 16-bit elements.
template <typename T>
inline constexpr bool kIsNarrow = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <typename T>
using Wider = std::conditional_t<kIsNarrow<T>, float, T>;
template <typename T>
Wider<T> From(const T& element) {
  if constexpr (kIsNarrow<T>) {
    return element.Load();
  } else {
    return element;
  }
}
template <typename T>
T To(const Wider<T>& value) {
  if constexpr (kIsNarrow<T>) {
    return T::Store(value);
  } else {
    return value;
  }
}

template <typename T>
cublasStatus_t Axpy(const Function& f, int64_t n, const Wider<T>* alpha, const T* x, int64_t incx, T* y, int64_t incy) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha, "alpha is a null pointer")}));
  const Scalar<Wider<T>> factor(f, alpha);
  if (!kIsNarrow<T> && factor.Is(Wider<T>(0))) return CUBLAS_STATUS_SUCCESS;
  Call call = f.Begin(kMultiplyAdd<T> * static_cast<double>(n), kArithmetic<T>);
  factor.AddTo(call, "alpha");
  call.memory.push_back(VectorOf(Access::kRead, "vector x", x, n, incx));
  call.memory.push_back(VectorOf(Access::kReadWrite, "vector y", y, n, incy));
  call.run = [=] {
    const Wider<T> scale = factor();
    for (int64_t i = 0; i < n; ++i) {
      T& to = At(y, i, n, incy);
      to = To<T>(From(to) + scale * From(At(x, i, n, incx)));
    }
  };
  return Function::Do(std::move(call));
}

template <typename T>
cublasStatus_t Copy(const Function& f, int64_t n, const T* x, int64_t incx, T* y, int64_t incy) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  Call call = f.Begin();
  call.memory = {VectorOf(Access::kRead, "vector x", x, n, incx), VectorOf(Access::kWrite, "vector y", y, n, incy)};
  call.run = [=] {
    for (int64_t i = 0; i < n; ++i) At(y, i, n, incy) = At(x, i, n, incx);
  };
  return Function::Do(std::move(call));
}

template <typename T>
cublasStatus_t Swap(const Function& f, int64_t n, T* x, int64_t incx, T* y, int64_t incy) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  Call call = f.Begin();
  call.memory = {VectorOf(Access::kReadWrite, "vector x", x, n, incx),
                 VectorOf(Access::kReadWrite, "vector y", y, n, incy)};
  call.run = [=] {
    for (int64_t i = 0; i < n; ++i) std::swap(At(x, i, n, incx), At(y, i, n, incy));
  };
  return Function::Do(std::move(call));
}

template <typename T, typename Factor>
cublasStatus_t Scale(const Function& f, int64_t n, const Factor* alpha, T* x, int64_t incx) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha, "alpha is a null pointer")}));
  const Scalar<Factor> factor(f, alpha);
  Call call = f.Begin(kMultiplyAdd<T> / 2 * static_cast<double>(n), kArithmetic<T>);
  factor.AddTo(call, "alpha");
  call.memory.push_back(VectorOf(Access::kReadWrite, "vector x", x, n, incx));
  call.run = [=] {
    const Factor scale = factor();
    for (int64_t i = 0; i < n; ++i) x[i * incx] = To<T>(From(x[i * incx]) * scale);
  };
  return Function::Do(std::move(call));
}

// (x, y) becomes (c x + s y, c y - conj(s) x).
template <typename T, typename Sine>
cublasStatus_t Rotate(const Function& f, int64_t n, T* x, int64_t incx, T* y, int64_t incy, const Real<T>* c,
                      const Sine* s) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{c != nullptr && s != nullptr, "c or s is a null pointer"}}));
  const Scalar<Real<T>> cosine(f, c);
  const Scalar<Sine> sine(f, s);
  Call call = f.Begin(3 * kMultiplyAdd<T> * static_cast<double>(n), kArithmetic<T>);
  cosine.AddTo(call, "c");
  sine.AddTo(call, "s");
  call.memory.push_back(VectorOf(Access::kReadWrite, "vector x", x, n, incx));
  call.memory.push_back(VectorOf(Access::kReadWrite, "vector y", y, n, incy));
  call.run = [=] {
    const Wider<Real<T>> cos = From(cosine());
    const Wider<Sine> sin = From(sine());
    for (int64_t i = 0; i < n; ++i) {
      T &left = At(x, i, n, incx), &right = At(y, i, n, incy);
      const Wider<T> before = From(left);
      left = To<T>(cos * before + sin * From(right));
      right = To<T>(cos * From(right) - Conjugate(sin) * before);
    }
  };
  return Function::Do(std::move(call));
}

// Results computed in double precision are accurate enough for any order of additions.
template <typename T>
using Wide = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

template <typename T>
cublasStatus_t Dot(const Function& f, bool conjugates, int64_t n, const T* x, int64_t incx, const T* y, int64_t incy,
                   T* result) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (result == nullptr) return CUBLAS_STATUS_MAPPING_ERROR;
  const int64_t count = std::max<int64_t>(n, 0);
  Call call = f.Begin(kMultiplyAdd<T> * static_cast<double>(count), kArithmetic<T>);
  call.memory = {VectorOf(Access::kRead, "vector x", x, count, incx),
                 VectorOf(Access::kRead, "vector y", y, count, incy)};
  AddResult(f, call, result);
  call.run = [=] {
    Wide<T> sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Wider<T> left = From(At(x, i, count, incx));
      sum += Wide<T>(conjugates ? Conjugate(left) : left) * Wide<T>(From(At(y, i, count, incy)));
    }
    *result = To<T>(static_cast<Wider<T>>(sum));
  };
  return Function::Do(std::move(call));
}

// A reduction of a vector; 0 if it is empty, or the increment is not positive.
template <typename T, typename Result, typename Reduce>
cublasStatus_t Reduction(const Function& f, int64_t n, const T* x, int64_t incx, Result* result, Reduce reduce) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(result, "result is a null pointer")}));
  const int64_t count = n <= 0 || incx <= 0 ? 0 : n;
  Call call = f.Begin(kMultiplyAdd<T> * static_cast<double>(count), kArithmetic<T>);
  call.memory = {VectorOf(Access::kRead, "vector x", x, count, incx)};
  AddResult(f, call, result);
  call.run = [=] { *result = reduce(count, x, incx); };
  return Function::Do(std::move(call));
}

// The square root of a sum of squares that may overflow or underflow.
template <typename T>
Real<T> Norm(int64_t n, const T* x, int64_t incx) {
  Real<T> most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T value = x[i * incx];
    const Real<T> here = std::max(std::abs(std::real(value)), std::abs(std::imag(value)));
    if (!(here <= most)) most = here;  // also if it is NaN
  }
  if (most == 0 || !std::isfinite(most)) return most;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double re = static_cast<double>(std::real(x[i * incx])) / most;
    const double im = static_cast<double>(std::imag(x[i * incx])) / most;
    sum += re * re + im * im;
  }
  return static_cast<Real<T>>(std::sqrt(sum) * most);
}

template <typename T>
Real<T> Absolute(const T& value) {
  return std::abs(std::real(value)) + std::abs(std::imag(value));
}

template <typename T>
Real<T> SumOfAbsolutes(int64_t n, const T* x, int64_t incx) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(Absolute(x[i * incx]));
  return static_cast<Real<T>>(sum);
}

// The first index, from 1, of the largest or smallest element.
template <typename T>
int64_t IndexOf(bool largest, int64_t n, const T* x, int64_t incx) {
  if (n == 0) return 0;
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    const Real<T> here = Absolute(x[i * incx]), than = Absolute(x[best * incx]);
    if (largest ? here > than : here < than) best = i;
  }
  return best + 1;
}

}  // namespace lockstep::libraries::blas
