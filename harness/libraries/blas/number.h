// Scalars in host or device memory, and the real types of complex ones.
#pragma once

#include <complex>
#include <type_traits>

#include "libraries/blas/handle.h"
#include "libraries/number.h"

namespace lockstep::libraries::blas {

using libraries::N;
using libraries::NN;
using libraries::NumberOf;

template <typename T>
inline constexpr Arithmetic kArithmetic = std::is_same_v<Real<T>, double> ? Arithmetic::kFloat64 : Arithmetic::kFloat32;
// Operations of a multiply-add in this type.
template <typename T>
inline constexpr double kMultiplyAdd = kIsComplex<T> ? 8 : 2;

// A scalar passed by pointer: read now from host memory, or from device memory when the work is done.
template <typename T>
class Scalar {
 public:
  Scalar(const Function& function, const T* pointer)
      : device_(function.on_device() ? pointer : nullptr), value_(function.on_device() ? T() : *pointer) {}
  T operator()() const { return device_ != nullptr ? *device_ : value_; }
  // Whether it is already known to have this value.
  bool Is(T value) const { return device_ == nullptr && value_ == value; }
  void AddTo(Call& call, const char* name) const {
    if (device_ != nullptr) call.memory.push_back(Elements(Access::kRead, name, device_, 1));
  }

 private:
  const T* device_;
  T value_;
};

// A result passed by pointer: in host memory, for which the call waits, or in device memory.
template <typename T>
void AddResult(const Function& function, Call& call, T* result, const char* name = "the result") {
  if (function.on_device()) {
    call.memory.push_back(Elements(Access::kWrite, name, result, 1));
  } else {
    call.waits = true;
  }
}

// A vector's element i of n: with a negative increment the first is at the end.
template <typename T>
T& At(T* vector, int64_t i, int64_t n, int64_t increment) {
  return vector[increment >= 0 ? i * increment : (n - 1 - i) * -increment];
}

template <typename T>
Range VectorOf(Access access, const char* what, const T* vector, int64_t count, int64_t increment) {
  return Vector(access, what, vector, sizeof(T), count, increment);
}
template <typename T>
Range MatrixOf(Access access, const char* what, const T* matrix, int64_t rows, int64_t columns, int64_t leading) {
  return Matrix(access, what, matrix, sizeof(T), rows, columns, leading);
}

// The access to an output: it is read unless its factor beta is 0.
template <typename T, typename Beta>
void AddOutputs(Call& call, const Scalar<Beta>& beta, std::vector<Range> ranges) {
  beta.AddTo(call, "beta");
  call.more_memory = [beta, ranges = std::move(ranges)](Memory& memory) {
    const Access access = beta() == Beta(0) ? Access::kWrite : Access::kReadWrite;
    for (Range range : ranges) {
      range.access = access;
      if (!memory.Touch(range)) return false;
    }
    return true;
  };
}
template <typename T, typename Beta>
void AddOutput(Call& call, const Scalar<Beta>& beta, Range range) {
  AddOutputs<T>(call, beta, {std::move(range)});
}

}  // namespace lockstep::libraries::blas
