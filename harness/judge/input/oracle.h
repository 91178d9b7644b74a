// Expected results, computed on the CPU, and their error bounds.
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
int32_t Largest(std::span<const int32_t> values);   // INT32_MIN, the identity, if empty
int32_t Smallest(std::span<const int32_t> values);  // INT32_MAX if empty

// A float sum, and the largest error of a sum of the same numbers in any order: n·ε·Σ|x|, with the type's ε.
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
