// The cost of one warp's memory access: sectors of global memory, wavefronts of shared memory.
//
// The engine calls these functions for every counted access, so they first try the common shapes: *affine* accesses, in
// which lane k's address is base + k * stride (unit stride, uniform, constant stride; also with some lanes inactive).
// Only other shapes take the general path.
//
// Every address is aligned to the bytes per lane (the engine faults other addresses before counting them), so a lane's
// access never crosses a sector boundary. A lane accesses 1, 2, 4, 8, 16 or 32 bytes. docs/concepts/counting.md
// explains the numbers.
#pragma once

#include <bit>
#include <cstdint>

#include "vgpu/core/finding.h"
#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

inline constexpr int kSectorShift = 5;   // 32-byte sectors
inline constexpr int kSharedBanks = 32;  // each 4 bytes wide

// Whether the active lanes' addresses are a linear function of the lane, and which one.
struct AccessShape {
  bool affine = false;
  uint64_t base = 0;   // lane 0's address, active or not; may wrap
  int64_t stride = 0;  // bytes from lane to lane; 0 if only one lane is active
  uint64_t step() const { return stride < 0 ? 0 - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride); }
};

// mask must not be 0.
inline AccessShape ShapeOf(const uint64_t address[kWarpSize], LaneMask mask) {
  const int first = std::countr_zero(mask);
  const LaneMask rest = mask & (mask - 1);
  if (rest == 0) return {true, address[first], 0};
  const int second = std::countr_zero(rest);
  const int64_t span = static_cast<int64_t>(address[second] - address[first]);
  const int64_t stride = second - first == 1 ? span : span / (second - first);
  const uint64_t base = address[first] - static_cast<uint64_t>(stride) * static_cast<uint64_t>(first);
  uint64_t expected = base;
  uint64_t difference = 0;
  if (mask == kFullMask) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      difference |= address[lane] ^ expected;
      expected += static_cast<uint64_t>(stride);
    }
  } else {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      difference |= (address[lane] ^ expected) & (uint64_t{0} - ((mask >> lane) & 1));
      expected += static_cast<uint64_t>(stride);
    }
  }
  return {difference == 0, base, stride};
}

inline bool IsContiguous(LaneMask mask) {
  const LaneMask low = mask >> std::countr_zero(mask);
  return (low & (low + 1)) == 0;
}

namespace coalescing_internal {

// Number of distinct sectors among the active lanes. Comparing the low 32 bits of sector numbers is enough for
// addresses up to 128 GiB apart, more than a device's memory.
inline uint32_t CountDistinctSectors(const uint64_t address[kWarpSize], LaneMask mask) {
  uint32_t sector[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) sector[lane] = static_cast<uint32_t>(address[lane] >> kSectorShift);
  // Addresses that increase with the lane need one comparison each.
  uint32_t previous = sector[std::countr_zero(mask)];
  uint32_t count = 1;
  bool rising = true;
  for (LaneMask left = mask & (mask - 1); left != 0; left &= left - 1) {
    const uint32_t current = sector[std::countr_zero(left)];
    rising &= current >= previous;
    count += current != previous;
    previous = current;
  }
  if (rising) return count;
  // Others go into a hash table with 64 slots and linear probing.
  uint32_t slot[64];
  uint64_t used = 0;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const uint32_t value = sector[std::countr_zero(left)];
    uint32_t i = (value * 0x9e3779b1u) >> 26;
    while ((used >> i & 1) && slot[i] != value) i = (i + 1) % 64;
    slot[i] = value;
    used |= uint64_t{1} << i;
  }
  return static_cast<uint32_t>(std::popcount(used));
}

// The largest number of distinct words in any one bank, if each active lane accesses words_per_lane words.
inline uint32_t LargestBankLoad(const uint64_t address[kWarpSize], LaneMask mask, int words_per_lane) {
  uint32_t in_bank[kSharedBanks][kWarpSize];
  uint8_t count[kSharedBanks] = {};
  uint32_t largest = 0;
  uint32_t neighbours = ~uint32_t{0};
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const uint32_t first_word = static_cast<uint32_t>(address[std::countr_zero(left)] >> 2);
    if (first_word == neighbours) continue;
    neighbours = first_word;
    for (int k = 0; k < words_per_lane; ++k) {
      const uint32_t word = first_word + static_cast<uint32_t>(k);
      const uint32_t bank = word % kSharedBanks;
      const uint32_t held = count[bank];
      bool seen = false;
      for (uint32_t i = 0; i < held; ++i) seen |= in_bank[bank][i] == word;
      if (seen) continue;
      in_bank[bank][held] = word;
      count[bank] = static_cast<uint8_t>(held + 1);
      if (held + 1 > largest) largest = held + 1;
    }
  }
  return largest;
}

// The same for an affine access of at most 4 bytes per lane, if a formula covers it; otherwise 0.
inline uint32_t AffineBankLoad(const AccessShape& shape, LaneMask mask) {
  const uint64_t step = shape.step();
  if (step <= 4) return 1;  // at most 32 neighbouring words
  if (step % 4 != 0 || !IsContiguous(mask)) return 0;
  const uint64_t words = step / 4;
  const int shift = std::countr_zero(words);
  const int banks_hit = shift >= 5 ? 1 : kSharedBanks >> shift;
  return static_cast<uint32_t>((std::popcount(mask) + banks_hit - 1) / banks_hit);
}

}  // namespace coalescing_internal

// Number of distinct 32-byte sectors that the lanes in mask touch.
inline uint32_t CountSectors(const uint64_t address[kWarpSize], LaneMask mask, int bytes) {
  if (mask == 0) return 0;
  const AccessShape shape = ShapeOf(address, mask);
  if (shape.affine) {
    const uint64_t step = shape.step();
    if (step == 0) return 1;
    if (step >= (uint64_t{1} << kSectorShift)) return static_cast<uint32_t>(std::popcount(mask));
    if (IsContiguous(mask)) {
      const uint64_t a = address[std::countr_zero(mask)];
      const uint64_t b = address[kWarpSize - 1 - std::countl_zero(mask)];
      const uint64_t low = a < b ? a : b;
      const uint64_t high = (a < b ? b : a) + static_cast<uint64_t>(bytes) - 1;
      return static_cast<uint32_t>((high >> kSectorShift) - (low >> kSectorShift) + 1);
    }
  }
  return coalescing_internal::CountDistinctSectors(address, mask);
}

// Sectors needed if the active lanes' bytes were contiguous and sector-aligned. Capped at the sectors actually touched,
// so a broadcast, which touches fewer bytes than its lanes read, counts as ideal.
inline uint32_t IdealSectors(LaneMask mask, int bytes, uint32_t sectors) {
  const uint32_t ideal = (static_cast<uint32_t>(std::popcount(mask) * bytes) + 31) >> kSectorShift;
  return ideal < sectors ? ideal : sectors;
}

struct Wavefronts {
  uint32_t actual = 0, ideal = 0;
};

// Wavefronts needed if the active lanes' bytes were contiguous, at 128 bytes each. Capped at the actual number.
inline uint32_t IdealWavefronts(LaneMask mask, int bytes, uint32_t actual) {
  const uint32_t ideal = (static_cast<uint32_t>(std::popcount(mask) * bytes) + 127) >> 7;
  return ideal < actual ? ideal : actual;
}

// Whether each active lane has the same address as its partner, the lane whose number differs in `bit`, if the partner
// is active.
inline bool PartnersShare(const uint64_t address[kWarpSize], LaneMask mask, int bit) {
  bool share = true;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left), partner = lane ^ bit;
    share &= ((mask >> partner) & 1) == 0 || address[lane] == address[partner];
  }
  return share;
}

// Wavefronts of an atomic on shared memory. Lanes that access the same word are serialised, like lanes that access
// different words of one bank.
inline Wavefronts CountAtomicWavefronts(const uint64_t address[kWarpSize], LaneMask mask, int bytes) {
  const int words = bytes < 4 ? 1 : bytes / 4;
  const int lanes = kWarpSize / words;
  const LaneMask phase_mask = words == 1 ? kFullMask : (LaneMask{1} << lanes) - 1;
  Wavefronts result;
  for (int phase = 0; phase < words; ++phase) {
    uint8_t count[kSharedBanks] = {};
    uint8_t largest = 0;
    for (LaneMask left = mask & (phase_mask << (phase * lanes)); left != 0; left &= left - 1) {
      const uint64_t first = address[std::countr_zero(left)] >> 2;
      for (int k = 0; k < words; ++k) {
        uint8_t& n = count[(first + static_cast<uint64_t>(k)) % kSharedBanks];
        if (++n > largest) largest = n;
      }
    }
    result.actual += largest;
  }
  result.ideal = IdealWavefronts(mask, bytes, result.actual);
  return result;
}

// Wavefronts of a shared-memory access. Up to 4 bytes per lane the whole warp is one phase; 8, 16 and 32 bytes take 2,
// 4 and 8 phases of 16, 8 and 4 consecutive lanes. For a load, phases 2k and 2k + 1 merge into one if their lanes share
// addresses with their neighbours, or with the lanes next but one. A phase costs the largest number of distinct words
// in any one bank.
inline Wavefronts CountWavefronts(const uint64_t address[kWarpSize], LaneMask mask, int bytes,
                                  AccessKind access = AccessKind::kLoad) {
  if (mask == 0) return {};
  if (access == AccessKind::kAtomic) return CountAtomicWavefronts(address, mask, bytes);
  if (bytes <= 4) {
    const AccessShape shape = ShapeOf(address, mask);
    uint32_t load = shape.affine ? coalescing_internal::AffineBankLoad(shape, mask) : 0;
    if (load == 0) load = coalescing_internal::LargestBankLoad(address, mask, 1);
    return {load, 1};
  }
  const int phases = bytes / 4;
  const int lanes = kWarpSize / phases;
  const LaneMask phase_mask = (LaneMask{1} << lanes) - 1;
  const AccessShape shape = ShapeOf(address, mask);
  if (mask == kFullMask && shape.affine && (shape.stride == bytes || shape.stride == -bytes)) {
    return {static_cast<uint32_t>(phases), static_cast<uint32_t>(phases)};
  }
  Wavefronts result;
  const LaneMask pair_mask = phase_mask << lanes | phase_mask;
  for (int phase = 0; phase < phases; phase += 2) {
    const LaneMask both = mask & (pair_mask << (phase * lanes));
    if (both == 0) continue;
    if (access == AccessKind::kLoad && (PartnersShare(address, both, 1) || PartnersShare(address, both, 2))) {
      result.actual += coalescing_internal::LargestBankLoad(address, both, bytes / 4);
      continue;
    }
    for (int k = phase; k < phase + 2; ++k) {
      const LaneMask active = mask & (phase_mask << (k * lanes));
      if (active != 0) result.actual += coalescing_internal::LargestBankLoad(address, active, bytes / 4);
    }
  }
  result.ideal = IdealWavefronts(mask, bytes, result.actual);
  return result;
}

// Sectors transferred by an atomic on global memory. Lanes at different addresses in one sector go together; lanes at
// the same address are serialised.
inline uint32_t CountAtomicSectors(const uint64_t address[kWarpSize], LaneMask mask) {
  uint32_t passes = 0;
  for (LaneMask left = mask; left != 0;) {
    // Within one sector: the largest number of lanes that share one address.
    const uint64_t sector = address[std::countr_zero(left)] >> kSectorShift;
    LaneMask together = 0;
    for (LaneMask some = left; some != 0; some &= some - 1) {
      const int lane = std::countr_zero(some);
      if (address[lane] >> kSectorShift == sector) together |= LaneMask{1} << lane;
    }
    left &= ~together;
    uint32_t most = 0;
    while (together != 0) {
      const uint64_t place = address[std::countr_zero(together)];
      uint32_t sharers = 0;
      for (LaneMask some = together; some != 0; some &= some - 1) {
        const int lane = std::countr_zero(some);
        if (address[lane] != place) continue;
        ++sharers;
        together &= ~(LaneMask{1} << lane);
      }
      if (sharers > most) most = sharers;
    }
    passes += most;
  }
  return passes;
}

// Bytes that compute capability 1.0 transfers for a global access. A half-warp coalesces if its active lanes access, in
// lane order, the words of one aligned segment of 16 words of 4, 8 or 16 bytes; then the segment is transferred once.
// Otherwise each active lane causes a transaction of the minimum size, 32 bytes.
inline uint32_t StrictCoalescingBytes(const uint64_t address[kWarpSize], LaneMask mask, int bytes) {
  constexpr int kHalf = kWarpSize / 2;
  const bool can_coalesce = bytes == 4 || bytes == 8 || bytes == 16;
  const uint64_t segment = static_cast<uint64_t>(kHalf * bytes);
  uint32_t moved = 0;
  for (int half = 0; half < 2; ++half) {
    const LaneMask active = (mask >> (half * kHalf)) & 0xffffu;
    if (active == 0) continue;
    const uint64_t* a = address + half * kHalf;
    const int first = std::countr_zero(active);
    const uint64_t base = a[first] - static_cast<uint64_t>(first * bytes);
    uint64_t difference = can_coalesce ? base & (segment - 1) : 1;
    for (int lane = 0; lane < kHalf; ++lane) {
      const uint64_t expected = base + static_cast<uint64_t>(lane * bytes);
      difference |= (a[lane] ^ expected) & (uint64_t{0} - ((active >> lane) & 1));
    }
    moved +=
        static_cast<uint32_t>(difference == 0 ? segment : uint64_t{32} * static_cast<uint64_t>(std::popcount(active)));
  }
  return moved;
}

}  // namespace lockstep::vgpu
