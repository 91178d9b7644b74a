// The sectors of a range of global memory that kernels have loaded and stored; the judge checks a task's buffers with
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/memory/coalescing.h"

namespace lockstep::vgpu {

struct TouchedRange {
  static constexpr uint64_t kSectorBytes = uint64_t{1} << kSectorShift;

  // base: a multiple of the sector size, like every allocation's.
  TouchedRange(uint64_t range_base, uint64_t range_bytes)
      : base(range_base), bytes(range_bytes), loaded(Words(range_bytes)), stored(Words(range_bytes)) {}

  // Adds a word of 64 sector bits that starts at first_sector; some may be outside the range.
  static void Add(std::vector<uint64_t>& bits, int64_t first_sector, uint64_t word) {
    const auto put = [&](int64_t index, uint64_t part) {
      if (part != 0 && index >= 0 && index < static_cast<int64_t>(bits.size()))
        bits[static_cast<size_t>(index)] |= part;
    };
    const int64_t index = first_sector >> 6;  // rounded down, also below zero
    const int shift = static_cast<int>(first_sector & 63);
    put(index, word << shift);
    if (shift != 0) put(index + 1, word >> (64 - shift));
  }
  static void Set(std::vector<uint64_t>& bits, uint64_t from, uint64_t length) {
    if (length == 0) return;
    for (uint64_t sector = from >> kSectorShift; sector <= (from + length - 1) >> kSectorShift; ++sector) {
      bits[sector / 64] |= uint64_t{1} << (sector % 64);
    }
  }
  // Number of sectors in bytes [from, from + length) of the range whose bit is not set; *first gets the byte offset of
  // the first one.
  static uint64_t Missing(const std::vector<uint64_t>& bits, uint64_t from, uint64_t length, uint64_t* first) {
    uint64_t missing = 0;
    if (length == 0) return 0;
    for (uint64_t sector = from >> kSectorShift; sector <= (from + length - 1) >> kSectorShift; ++sector) {
      if ((bits[sector / 64] >> (sector % 64) & 1) != 0) continue;
      if (missing++ == 0) *first = sector << kSectorShift;
    }
    return missing;
  }

  // These bytes of the range are overwritten: sectors that are completely inside count as not stored.
  void ForgetStores(uint64_t from, uint64_t length) {
    const uint64_t end = from + length == bytes ? from + length + kSectorBytes - 1 : from + length;
    for (uint64_t sector = (from + kSectorBytes - 1) >> kSectorShift; sector < end >> kSectorShift; ++sector) {
      stored[sector / 64] &= ~(uint64_t{1} << (sector % 64));
    }
  }

  uint64_t base, bytes;
  std::vector<uint64_t> loaded, stored;  // one bit per sector; atomics count as stores

 private:
  static size_t Words(uint64_t bytes) { return static_cast<size_t>(((bytes >> kSectorShift) + 64) / 64); }
};

}  // namespace lockstep::vgpu
