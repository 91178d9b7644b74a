// The lanes in which an operand affects the result, depending on another operand's value (UsePlan::Shows).
#pragma once

#include <cstdint>
#include <cstring>

#include "vgpu/core/row.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

template <typename T, typename F>
LaneMask LanesWhere(const Warp& warp, RowRef row, const F& f) {
  const T* values = Source<T>(warp, row);
  uint8_t holds[kWarpSize];  // a loop that vectorises
  for (int lane = 0; lane < kWarpSize; ++lane) holds[lane] = f(values[lane]) ? 1 : 0;
  LaneMask lanes = 0;
  for (int lane = 0; lane < kWarpSize; lane += 8) {
    uint64_t eight;
    std::memcpy(&eight, holds + lane, sizeof eight);
    lanes |= static_cast<LaneMask>(eight * 0x0102040810204080 >> 56) << lane;  // gathers one bit from each byte
  }
  return lanes;
}

template <typename F>
LaneMask LanesWhereBits(const Warp& warp, RowRef row, uint8_t bytes, const F& f) {
  switch (bytes) {
    case 8:
      return LanesWhere<uint64_t>(warp, row, f);
    case 4:
      return LanesWhere<uint32_t>(warp, row, f);
    default:
      return LanesWhere<uint16_t>(warp, row, f);
  }
}

// The lanes in which the operand in `row_index` lets the other one through. bits: the integer's relevant bits.
inline LaneMask ShownLanes(const Warp& warp, const Insn& insn, UsePlan::Shows shows, uint8_t bytes, uint8_t row_index,
                           uint64_t bits = ~uint64_t{0}) {
  using Shows = UsePlan::Shows;
  const RowRef row = insn.row[row_index];
  switch (shows) {
    case Shows::kAlways:
      return kFullMask;
    case Shows::kIfTrue:
      return PredicateSource(warp, insn, row_index);
    case Shows::kIfFalse:
      return ~PredicateSource(warp, insn, row_index);
    case Shows::kIfBits:
      return LanesWhereBits(warp, row, bytes, [=](auto value) { return (value & bits) != 0; });
    case Shows::kIfZeros:
      return LanesWhereBits(warp, row, bytes,
                            [=](auto value) { return (static_cast<decltype(value)>(~value) & bits) != 0; });
    case Shows::kIfPositive:
      return LanesWhere<int32_t>(warp, row, [](int32_t value) { return value >= 0; });
    case Shows::kIfNegative:
      return LanesWhere<int32_t>(warp, row, [](int32_t value) { return value < 0; });
    case Shows::kIfPositiveFloat:
      return LanesWhere<float>(warp, row, [](float value) { return value >= 0; });
    case Shows::kIfNegativeFloat:
      return LanesWhere<float>(warp, row, [](float value) { return !(value >= 0); });
  }
  return kFullMask;
}

}  // namespace lockstep::vgpu
