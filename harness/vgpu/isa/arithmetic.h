// Shared by the families of arithmetic opcodes: the element-wise handler, packed halves, and the selectors of opcodes
// (add, mul, min …) that exist for integers, f32/f64 and the 16-bit float types.
//
// Theory of operation. An operation is a captureless lambda from elements to an element. Elementwise turns it into a
// handler, which GCC compiles to straight SIMD code over the 32 lanes. Inactive lanes are computed too and then blended
// away, so operations must be defined for every input (no trap, no undefined behaviour). Signed arithmetic uses
// unsigned types, which wrap.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "vgpu/core/insn.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/core/row.h"

namespace lockstep::vgpu {

// d[lane] = f(lane), where f reads registers of the same lane only. A source row is either the destination's own or
// does not overlap it (decode/register_allocation.cc), so no temporary is needed.
template <typename D, typename F>
inline void ForLanesInPlace(D* d, LaneMask mask, F f) {
  if (mask == kFullMask) {
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) d[lane] = f(lane);
    return;
  }
  D r[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) r[lane] = f(lane);
  BlendLanes(d, r, mask);
}

// Row 0 = kOp(row 1, row 2, …).
template <auto kOp, typename D, typename... S>
void Elementwise(Warp& warp, const Insn& insn, LaneMask mask) {
  const auto run = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    const auto apply = [&](const S*... sources) {
      const auto lane_result = [=](int lane) { return static_cast<D>(kOp(sources[lane]...)); };
      ForLanesInPlace<D>(Destination<D>(warp, insn.row[0]), mask, lane_result);
    };
    apply(Source<S>(warp, insn.row[kIndex + 1])...);
  };
  run(std::index_sequence_for<S...>{});
}

template <auto kOp, typename T>
inline constexpr Handler kUnary = Elementwise<kOp, T, T>;
template <auto kOp, typename T>
inline constexpr Handler kBinary = Elementwise<kOp, T, T, T>;
template <auto kOp, typename T>
inline constexpr Handler kTernary = Elementwise<kOp, T, T, T, T>;

// Applies a 16-bit operation to both halves of a 32-bit element.
template <auto kOp, typename Half = uint16_t>
inline constexpr auto kPacked = [](auto... x) -> uint32_t {
  const uint32_t low = static_cast<uint16_t>(kOp(static_cast<Half>(static_cast<uint16_t>(x))...));
  const uint32_t high = static_cast<uint16_t>(kOp(static_cast<Half>(static_cast<uint16_t>(x >> 16))...));
  return low | high << 16;
};

// pick(T{}) for the C++ type T of an integer type; null for other types.
template <typename F>
Handler ForIntegerType(ptx::Type type, F pick) {
  switch (type) {
    case ptx::Type::kU16:
      return pick(uint16_t{});
    case ptx::Type::kS16:
      return pick(int16_t{});
    case ptx::Type::kU32:
      return pick(uint32_t{});
    case ptx::Type::kS32:
      return pick(int32_t{});
    case ptx::Type::kU64:
      return pick(uint64_t{});
    case ptx::Type::kS64:
      return pick(int64_t{});
    default:
      return nullptr;
  }
}

enum class Domain : uint8_t { kNone, kInteger, kFloat, kHalf, kPredicate };

// The family of a type; kNone for types without arithmetic.
constexpr Domain DomainOf(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::kPred:
      return Domain::kPredicate;
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
    case Type::kS16:
    case Type::kS32:
    case Type::kS64:
    case Type::kU16x2:
    case Type::kS16x2:
      return Domain::kInteger;
    case Type::kF32:
    case Type::kF64:
    case Type::kF32x2:
      return Domain::kFloat;
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBF16:
    case Type::kBF16x2:
      return Domain::kHalf;
    default:
      return Domain::kNone;
  }
}

using Selector = Selection (*)(Modifiers& modifiers);

// isa/integer.cc
Selection SelectIntegerAdd(Modifiers& modifiers);
Selection SelectIntegerSub(Modifiers& modifiers);
Selection SelectIntegerMul(Modifiers& modifiers);
Selection SelectIntegerMad(Modifiers& modifiers);
Selection SelectIntegerDiv(Modifiers& modifiers);
Selection SelectIntegerAbs(Modifiers& modifiers);
Selection SelectIntegerNeg(Modifiers& modifiers);
Selection SelectIntegerMin(Modifiers& modifiers);
Selection SelectIntegerMax(Modifiers& modifiers);

// isa/integer_carry.cc: add.cc, sub.cc, mad.cc
Selection SelectCarryAdd(Modifiers& modifiers);
Selection SelectCarrySub(Modifiers& modifiers);
Selection SelectCarryMad(Modifiers& modifiers);

// isa/float.cc
Selection SelectFloatAdd(Modifiers& modifiers);
Selection SelectFloatSub(Modifiers& modifiers);
Selection SelectFloatMul(Modifiers& modifiers);
Selection SelectFloatFma(Modifiers& modifiers);
Selection SelectFloatAbs(Modifiers& modifiers);
Selection SelectFloatNeg(Modifiers& modifiers);
Selection SelectFloatMin(Modifiers& modifiers);
Selection SelectFloatMax(Modifiers& modifiers);

// isa/float_special.cc
Selection SelectFloatDiv(Modifiers& modifiers);
Selection SelectFloatEx2(Modifiers& modifiers);
Selection SelectFloatTanh(Modifiers& modifiers);

// isa/half.cc
Selection SelectHalfAdd(Modifiers& modifiers);
Selection SelectHalfSub(Modifiers& modifiers);
Selection SelectHalfMul(Modifiers& modifiers);
Selection SelectHalfFma(Modifiers& modifiers);
Selection SelectHalfAbs(Modifiers& modifiers);
Selection SelectHalfNeg(Modifiers& modifiers);
Selection SelectHalfMin(Modifiers& modifiers);
Selection SelectHalfMax(Modifiers& modifiers);
Selection SelectHalfEx2(Modifiers& modifiers);
Selection SelectHalfTanh(Modifiers& modifiers);

}  // namespace lockstep::vgpu
