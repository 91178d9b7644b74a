// What one warp access adds to its instruction's counters, except for what depends on earlier accesses
// (memory/locality.h).
//
// The first four functions are the definition and handle any access shape. The others are closed formulas for the most
// common shapes. access_cost_test compares each with the definition, counter by counter, so that a new counter cannot
// be forgotten in them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "vgpu/core/finding.h"
#include "vgpu/core/lane_mask.h"
#include "vgpu/core/pc_counters.h"
#include "vgpu/memory/coalescing.h"

namespace lockstep::vgpu {

// mask must not be 0. bytes: per lane.
inline void AddGlobalCost(AccessKind access, const uint64_t address[kWarpSize], LaneMask mask, int bytes, PcMemory& c) {
  const uint32_t sectors =
      access == AccessKind::kAtomic ? CountAtomicSectors(address, mask) : CountSectors(address, mask, bytes);
  c.requests += 1;
  c.sectors += sectors;
  c.sectors_ideal += IdealSectors(mask, bytes, sectors);
  c.bytes += static_cast<uint64_t>(std::popcount(mask) * bytes);
  c.strict_bytes += StrictCoalescingBytes(address, mask, bytes);
}

inline void AddSharedCost(AccessKind access, const uint64_t address[kWarpSize], LaneMask mask, int bytes, PcMemory& c) {
  const Wavefronts w = CountWavefronts(address, mask, bytes, access);
  c.shared_requests += 1;
  c.wavefronts += w.actual;
  c.wavefronts_ideal += w.ideal;
}

// Constant memory broadcasts the value at one address to all lanes that read it; each further address takes a pass.
inline void AddConstCost(const uint64_t address[kWarpSize], LaneMask mask, int bytes, PcMemory& c) {
  const int words = bytes < 4 ? 1 : bytes / 4;
  uint64_t seen[kWarpSize];
  uint64_t different = 0;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const uint64_t place = address[std::countr_zero(left)] / static_cast<uint64_t>(std::max(bytes, 4));
    if (std::find(seen, seen + different, place) == seen + different) seen[different++] = place;
  }
  c.const_replays += (different - 1) * static_cast<uint64_t>(words);
}

// Addresses are offsets in each lane's own local memory. The hardware interleaves local memory: word w of lane l is at
// w * 128 + l * 4.
inline void AddLocalCost(const uint64_t address[kWarpSize], LaneMask mask, int bytes, PcMemory& c) {
  c.local_requests += 1;
  const int words = bytes < 4 ? 1 : bytes / 4;
  uint64_t word[kWarpSize];
  for (int k = 0; k < words; ++k) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      word[lane] = (address[lane] / 4 + static_cast<uint64_t>(k)) * 128 + static_cast<uint64_t>(lane) * 4;
    }
    c.local_sectors += CountSectors(word, mask, 4);
  }
}

// A full warp with consecutive addresses, aligned to the whole access. All such accesses cost the same, so the engine
// only keeps their number.
inline PcMemory CostCoalesced(bool global, AccessKind access, int bytes) {
  uint64_t address[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = static_cast<uint64_t>(lane * bytes);
  PcMemory c;
  global ? AddGlobalCost(access, address, kFullMask, bytes, c) : AddSharedCost(access, address, kFullMask, bytes, c);
  return c;
}

// A load or store by consecutive lanes at consecutive addresses; `low` is the lowest.
inline void AddContiguousGlobalCost(uint64_t low, LaneMask mask, int bytes, PcMemory& c) {
  const uint64_t width = static_cast<uint64_t>(bytes);
  const uint64_t moved = static_cast<uint64_t>(std::popcount(mask)) * width;
  const uint32_t sectors = static_cast<uint32_t>(((low + moved - 1) >> kSectorShift) - (low >> kSectorShift) + 1);
  const uint64_t first = low - static_cast<uint64_t>(std::countr_zero(mask)) * width;  // lane 0's
  const bool coalesced = (bytes == 4 || bytes == 8 || bytes == 16) && (first & (16 * width - 1)) == 0;
  c.requests += 1;
  c.sectors += sectors;
  c.sectors_ideal += IdealSectors(mask, bytes, sectors);
  c.bytes += moved;
  for (const LaneMask half : {mask & 0xffffu, mask >> 16}) {
    if (half != 0) c.strict_bytes += coalesced ? 16 * width : 32 * static_cast<uint64_t>(std::popcount(half));
  }
}

// A load or store of shared memory in which lane l accesses first + l * bytes: at most 4 bytes per lane, or a full
// warp.
inline void AddUnitSharedCost(int bytes, PcMemory& c) {
  const uint64_t phases = bytes <= 4 ? 1 : static_cast<uint64_t>(bytes) / 4;
  c.shared_requests += 1;
  c.wavefronts += phases;
  c.wavefronts_ideal += phases;
}

// A full warp in which each half-warp's lanes access consecutive addresses, or all the same one. Typical of blocks 16
// threads wide.
struct Halves {
  uint64_t first[2];  // address of lane 0 and of lane 16
  bool uniform[2];    // all lanes of the half use one address
  uint64_t bytes;     // per lane

  uint64_t Span(int half) const { return uniform[half] ? bytes : bytes * (kWarpSize / 2); }
};

void AddressesOf(const Halves& halves, uint64_t address[kWarpSize]);
void AddHalvesGlobalCost(const Halves& halves, PcMemory& c);
void AddHalvesSharedCost(AccessKind access, const Halves& halves, PcMemory& c);
void AddHalvesConstCost(const Halves& halves, PcMemory& c);

}  // namespace lockstep::vgpu
