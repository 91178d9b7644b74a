// Compares a submission's results with the expected ones.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "judge/device/device.h"

namespace lockstep::judge {

struct Mismatch {
  uint64_t index = 0;  // of the first element that differs
  uint64_t count = 0;  // how many differ
  std::string expected, found;
};

// "element 17 of 1,000 differs (3 in total): expected 4, found 5"
std::string MismatchText(const Mismatch& mismatch, uint64_t elements);

// Shortest text that gives the same number back.
std::string NumberText(double value);

// Enough digits to distinguish two floats; two digits for a bound.
std::string FloatText(double value);
std::string BoundText(double bound);

// An output element for messages; marks elements that were never written.
template <class T>
std::string FoundText(T value) {
  T poison;
  std::memset(&poison, kPoisonByte, sizeof poison);
  if (std::memcmp(&value, &poison, sizeof value) == 0) return "the old contents (nothing was written)";
  if constexpr (std::is_floating_point_v<T>) {
    return FloatText(static_cast<double>(value));
  } else {
    return std::to_string(value);
  }
}

// An element for messages.
template <class T>
std::string ValueText(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return NumberText(static_cast<double>(value));
  } else {
    return std::to_string(value);
  }
}

// Integers, bit for bit. If lengths differ, elements past the end of the shorter span count as different.
template <std::integral T>
std::optional<Mismatch> CompareExact(std::span<const T> expected, std::span<const T> found) {
  if (expected.size() == found.size() &&
      (expected.empty() || std::memcmp(expected.data(), found.data(), expected.size_bytes()) == 0)) {
    return std::nullopt;
  }
  Mismatch mismatch;
  const uint64_t length = expected.size() > found.size() ? expected.size() : found.size();
  for (uint64_t i = 0; i < length; ++i) {
    const bool both = i < expected.size() && i < found.size();
    if (both && expected[i] == found[i]) continue;
    if (mismatch.count++ > 0) continue;
    mismatch.index = i;
    mismatch.expected = i < expected.size() ? std::to_string(expected[i]) : "nothing";
    mismatch.found = i < found.size() ? FoundText(found[i]) : "nothing";
  }
  if (mismatch.count == 0) return std::nullopt;
  return mismatch;
}

// Floating point: an element is right if |found - expected| <= bound, which is false for NaN, or if both are the same
// infinity. The bound has to be finite.
template <std::floating_point T>
std::optional<Mismatch> CompareBounded(std::span<const double> expected, std::span<const T> found,
                                       std::span<const double> bound) {
  Mismatch mismatch;
  const uint64_t length = expected.size() > found.size() ? expected.size() : found.size();
  for (uint64_t i = 0; i < length; ++i) {
    const bool all = i < expected.size() && i < found.size() && i < bound.size();
    if (all && std::isfinite(bound[i])) {
      const auto value = static_cast<double>(found[i]);
      if (value == expected[i] || std::abs(value - expected[i]) <= bound[i]) continue;
    }
    if (mismatch.count++ > 0) continue;
    mismatch.index = i;
    mismatch.expected = i < expected.size() ? FloatText(expected[i]) : "nothing";
    if (all && bound[i] != 0) mismatch.expected += " ± " + BoundText(bound[i]);
    mismatch.found = i < found.size() ? FoundText(found[i]) : "nothing";
  }
  if (mismatch.count == 0) return std::nullopt;
  return mismatch;
}

}  // namespace lockstep::judge
