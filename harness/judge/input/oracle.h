// The right answer, computed on the CPU, and how far from it a result may be.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace lockstep::judge {

// Modulo 2^32, as int adds on the GPU.
int32_t WrappingSum(std::span<const int32_t> values);
// The mathematical sum; n stays below 2^32, so it fits.
int64_t ExactSum(std::span<const int32_t> values);
int32_t Largest(std::span<const int32_t> values);   // INT32_MIN for none: the identity
int32_t Smallest(std::span<const int32_t> values);  // INT32_MAX for none

// A float sum and how far a sum of the same numbers in any order may be from it: n·ε·Σ|x|, with the type's ε.
struct BoundedSum {
  double sum = 0;
  double bound = 0;
};

template <class T>
BoundedSum SumWithBound(std::span<const T> values) {
  BoundedSum result;
  double magnitude = 0;
  for (const T value : values) {
    result.sum += static_cast<double>(value);
    magnitude += std::abs(static_cast<double>(value));
  }
  result.bound =
      static_cast<double>(values.size()) * static_cast<double>(std::numeric_limits<T>::epsilon()) * magnitude;
  return result;
}

}  // namespace lockstep::judge
