// Compares all 32 elements of a warp at once.
//
// Vectorised by hand: this code runs for every memory access, and compilers unroll such loops into scalar code. One
// version uses the compiler's generic vectors, the other AVX-512, whose comparisons yield lane masks.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define LOCKSTEP_AVX512
#include <immintrin.h>
#endif

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

#ifdef LOCKSTEP_AVX512

namespace lanes_internal {
inline __m512i Load(const void* p) { return _mm512_loadu_si512(p); }
inline __m512i Spread(uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
inline __m512i Spread(uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
inline __m512i Add(__m512i a, __m512i b, uint32_t) { return _mm512_add_epi32(a, b); }
inline __m512i Add(__m512i a, __m512i b, uint64_t) { return _mm512_add_epi64(a, b); }
// start, start + stride, …
inline __m512i Progression(uint32_t start, uint32_t stride) {
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return Add(_mm512_mullo_epi32(steps, Spread(stride)), Spread(start), 0u);
}
inline __m512i Progression(uint64_t start, uint64_t stride) {
  const __m512i steps = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  return Add(_mm512_mullo_epi64(steps, Spread(stride)), Spread(start), uint64_t{0});
}
inline LaneMask Differ(__m512i a, __m512i b, uint32_t) { return _mm512_cmpneq_epi32_mask(a, b); }
inline LaneMask Differ(__m512i a, __m512i b, uint64_t) { return _mm512_cmpneq_epi64_mask(a, b); }
}  // namespace lanes_internal

// Whether a[k] == start + k * stride for all k < kCount in the mask.
template <int kCount, typename Word>
[[gnu::always_inline]] inline bool IsProgression(const Word* a, Word start, Word stride, LaneMask mask) {
  namespace in = lanes_internal;
  constexpr int kWidth = 64 / static_cast<int>(sizeof(Word));
  __m512i expected = in::Progression(start, stride);
  const __m512i on = in::Spread(static_cast<Word>(kWidth * stride));
  if (mask == kFullMask) {
    __m512i different = _mm512_setzero_si512();
    for (int at = 0; at < kCount; at += kWidth) {
      different = _mm512_or_si512(different, _mm512_xor_si512(in::Load(a + at), expected));
      expected = in::Add(expected, on, Word{});
    }
    return _mm512_test_epi64_mask(different, different) == 0;
  }
  LaneMask different = 0;
  for (int at = 0; at < kCount; at += kWidth) {
    different |= in::Differ(in::Load(a + at), expected, Word{}) << at;
    expected = in::Add(expected, on, Word{});
  }
  return (different & mask) == 0;
}

// Whether a[k] == b[k] + shift for all lanes in the mask. care: ~0 for those lanes; unused when the mask is full.
[[gnu::always_inline]] inline bool LanesEqual(const uint32_t* a, const uint32_t* b, uint32_t shift, LaneMask mask,
                                              const uint32_t* /*care*/) {
  namespace in = lanes_internal;
  const __m512i by = in::Spread(shift);
  const LaneMask low = in::Differ(in::Load(a), in::Add(in::Load(b), by, 0u), 0u);
  const LaneMask high = in::Differ(in::Load(a + 16), in::Add(in::Load(b + 16), by, 0u), 0u);
  return ((low | high << 16) & mask) == 0;
}

// d[lane] = r[lane] for the lanes in the mask.
template <typename D>
[[gnu::always_inline]] inline void BlendLanes(D* d, const D* r, LaneMask mask) {
  namespace in = lanes_internal;
  constexpr int kWidth = sizeof(D) == 1 ? kWarpSize : sizeof(D) == 16 ? 1 : 64 / static_cast<int>(sizeof(D));
  for (int at = 0; at < kWarpSize; at += kWidth) {
    if constexpr (sizeof(D) == 16) {
      d[at] = (mask >> at) & 1 ? r[at] : d[at];
    } else if constexpr (sizeof(D) == 1) {
      _mm256_storeu_epi8(d, _mm256_mask_loadu_epi8(_mm256_loadu_epi8(d), mask, r));
    } else if constexpr (sizeof(D) == 2) {
      _mm512_storeu_si512(d + at, _mm512_mask_blend_epi16(mask, in::Load(d + at), in::Load(r + at)));
    } else if constexpr (sizeof(D) == 4) {
      const auto part = static_cast<__mmask16>(mask >> at);
      _mm512_storeu_si512(d + at, _mm512_mask_blend_epi32(part, in::Load(d + at), in::Load(r + at)));
    } else {
      static_assert(sizeof(D) == 8);
      const auto part = static_cast<__mmask8>(mask >> at);
      _mm512_storeu_si512(d + at, _mm512_mask_blend_epi64(part, in::Load(d + at), in::Load(r + at)));
    }
  }
}

#else

template <typename D>
inline void BlendLanes(D* d, const D* r, LaneMask mask) {
  for (int lane = 0; lane < kWarpSize; ++lane) d[lane] = (mask >> lane) & 1 ? r[lane] : d[lane];
}

template <int kCount, typename Word>
[[gnu::always_inline]] inline bool IsProgression(const Word* a, Word start, Word stride, LaneMask mask) {
  using Vector [[gnu::vector_size(32)]] = Word;
  constexpr int kWidth = 32 / static_cast<int>(sizeof(Word));
  Vector step, expected, different{};
  for (int k = 0; k < kWidth; ++k) step[k] = static_cast<Word>(k);
  expected = step * stride + start;
  const Vector shift = step;
  for (int at = 0; at < kCount; at += kWidth) {
    Vector value;
    std::memcpy(&value, a + at, sizeof value);
    value ^= expected;
    if (mask != kFullMask) {
      const Vector on = ((static_cast<Word>(mask >> at) - Vector{}) >> shift) & 1;
      value &= -on;
    }
    different |= value;
    expected += static_cast<Word>(kWidth * stride);
  }
  using Quads [[gnu::vector_size(32)]] = uint64_t;
  const Quads all = reinterpret_cast<Quads>(different);
  return (all[0] | all[1] | all[2] | all[3]) == 0;
}

[[gnu::always_inline]] inline bool LanesEqual(const uint32_t* a, const uint32_t* b, uint32_t shift, LaneMask mask,
                                              const uint32_t* care) {
  using Vector [[gnu::vector_size(32)]] = uint32_t;
  constexpr int kWidth = 8;
  const Vector by = shift - Vector{};
  Vector different{};
  for (int at = 0; at < kWarpSize; at += kWidth) {
    Vector value, expected;
    std::memcpy(&value, a + at, sizeof value);
    std::memcpy(&expected, b + at, sizeof expected);
    value = (value - by) ^ expected;
    if (mask != kFullMask) {
      Vector on;
      std::memcpy(&on, care + at, sizeof on);
      value &= on;
    }
    different |= value;
  }
  using Quads [[gnu::vector_size(32)]] = uint64_t;
  const Quads all = reinterpret_cast<Quads>(different);
  return (all[0] | all[1] | all[2] | all[3]) == 0;
}

#endif

}  // namespace lockstep::vgpu
