// Comparisons of two rows, as lane masks.
//
// Vectorised by hand where the host has AVX-512: its comparisons yield masks, but compilers select each lane's bit and
// combine 32 of them. This speeds up dev/bench/speed_bench.cc by 1.06 (reduction) and 1.2 (divergent).
#pragma once

#include <cstdint>
#include <type_traits>

#include "vgpu/core/lanes.h"

namespace lockstep::vgpu {

enum class CompareOp : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };

// Whether a op b holds. The forms with u hold for unordered operands too.
template <CompareOp kOp>
constexpr auto kCompare = [](auto a, auto b) -> bool {
  switch (kOp) {
    case CompareOp::kEq:
      return a == b;
    case CompareOp::kNe:
      return a < b || a > b;
    case CompareOp::kLt:
      return a < b;
    case CompareOp::kLe:
      return a <= b;
    case CompareOp::kGt:
      return a > b;
    case CompareOp::kGe:
      return a >= b;
    case CompareOp::kEqu:
      return !(a < b || a > b);
    case CompareOp::kNeu:
      return !(a == b);
    case CompareOp::kLtu:
      return !(a >= b);
    case CompareOp::kLeu:
      return !(a > b);
    case CompareOp::kGtu:
      return !(a <= b);
    case CompareOp::kGeu:
      return !(a < b);
    case CompareOp::kNum:
      return a == a && b == b;
    case CompareOp::kNan:
      return a != a || b != b;
  }
  return false;
};

template <auto kTest, typename T>
inline LaneMask TestLanes(const T* a, const T* b) {
  LaneMask result = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) result |= LaneMask{kTest(a[lane], b[lane])} << lane;
  return result;
}

#ifdef LOCKSTEP_AVX512

namespace lanes_internal {

// The comparison as an operand of the host's instructions.
template <CompareOp kOp>
inline constexpr int kIntegerPredicate = kOp == CompareOp::kEq   ? _MM_CMPINT_EQ
                                         : kOp == CompareOp::kNe ? _MM_CMPINT_NE
                                         : kOp == CompareOp::kLt ? _MM_CMPINT_LT
                                         : kOp == CompareOp::kLe ? _MM_CMPINT_LE
                                         : kOp == CompareOp::kGt ? _MM_CMPINT_NLE
                                                                 : _MM_CMPINT_NLT;
template <CompareOp kOp>
inline constexpr int kFloatPredicate = [] {
  switch (kOp) {
    case CompareOp::kEq:
      return _CMP_EQ_OQ;
    case CompareOp::kNe:
      return _CMP_NEQ_OQ;
    case CompareOp::kLt:
      return _CMP_LT_OQ;
    case CompareOp::kLe:
      return _CMP_LE_OQ;
    case CompareOp::kGt:
      return _CMP_GT_OQ;
    case CompareOp::kGe:
      return _CMP_GE_OQ;
    case CompareOp::kEqu:
      return _CMP_EQ_UQ;
    case CompareOp::kNeu:
      return _CMP_NEQ_UQ;
    case CompareOp::kLtu:
      return _CMP_NGE_UQ;
    case CompareOp::kLeu:
      return _CMP_NGT_UQ;
    case CompareOp::kGtu:
      return _CMP_NLE_UQ;
    case CompareOp::kGeu:
      return _CMP_NLT_UQ;
    case CompareOp::kNum:
      return _CMP_ORD_Q;
    case CompareOp::kNan:
      break;
  }
  return _CMP_UNORD_Q;
}();

// Compares one vector of elements (64 bytes); bit k of the result is for element k.
template <CompareOp kOp, typename T>
[[gnu::always_inline]] inline LaneMask CompareVectors(const T* a, const T* b) {
  constexpr int kInteger = kIntegerPredicate<kOp>, kFloat = kFloatPredicate<kOp>;
  if constexpr (std::is_same_v<T, float>) {
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(a), _mm512_loadu_ps(b), kFloat);
  } else if constexpr (std::is_same_v<T, double>) {
    return _mm512_cmp_pd_mask(_mm512_loadu_pd(a), _mm512_loadu_pd(b), kFloat);
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return _mm512_cmp_epi32_mask(Load(a), Load(b), kInteger);
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return _mm512_cmp_epu32_mask(Load(a), Load(b), kInteger);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return _mm512_cmp_epi64_mask(Load(a), Load(b), kInteger);
  } else {
    static_assert(std::is_same_v<T, uint64_t>);
    return _mm512_cmp_epu64_mask(Load(a), Load(b), kInteger);
  }
}

}  // namespace lanes_internal

template <CompareOp kOp, typename T>
[[gnu::always_inline]] inline LaneMask CompareLanes(const T* a, const T* b) {
  if constexpr (sizeof(T) < 4) {
    return TestLanes<kCompare<kOp>>(a, b);
  } else {
    constexpr int kWidth = 64 / static_cast<int>(sizeof(T));
    LaneMask result = 0;
    for (int at = 0; at < kWarpSize; at += kWidth)
      result |= LaneMask{lanes_internal::CompareVectors<kOp>(a + at, b + at)} << at;
    return result;
  }
}

#else

template <CompareOp kOp, typename T>
inline LaneMask CompareLanes(const T* a, const T* b) {
  return TestLanes<kCompare<kOp>>(a, b);
}

#endif

}  // namespace lockstep::vgpu
