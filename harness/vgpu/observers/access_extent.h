// The address range of a warp access.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

// The bytes from the lowest to the highest one that an access touches; empty by default.
struct Extent {
  uint64_t low = ~uint64_t{0}, high = 0;

  bool Meets(const Extent& other) const { return low < other.high && other.low < high; }
  void Join(const Extent& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

inline Extent ExtentOf(const MemoryAccess& event) {
  const uint64_t* a = event.address;
  const int first = std::countr_zero(event.mask);
  switch (event.form) {
    case AccessForm::kUnit:
    case AccessForm::kStrided: {
      const uint64_t last = a[kWarpSize - 1 - std::countl_zero(event.mask)];
      return {std::min(a[first], last), std::max(a[first], last) + event.bytes};
    }
    case AccessForm::kHalves: {
      constexpr int kMiddle = kWarpSize / 2;
      return {std::min(a[0], a[kMiddle]), std::max(a[kMiddle - 1], a[kWarpSize - 1]) + event.bytes};
    }
    case AccessForm::kScattered: {
      int64_t low = static_cast<int64_t>(a[first]), high = low;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const int64_t at = static_cast<int64_t>(event.mask >> lane & 1 ? a[lane] : a[first]);
        low = std::min(low, at);
        high = std::max(high, at);
      }
      return {static_cast<uint64_t>(low), static_cast<uint64_t>(high) + event.bytes};
    }
  }
  return {};
}

}  // namespace lockstep::vgpu
