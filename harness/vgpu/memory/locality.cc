#include "vgpu/memory/locality.h"

namespace lockstep::vgpu {
namespace {

// The number of two-sector pieces with at least one sector set.
uint64_t Pieces(uint64_t sectors) {
  static_assert(Locality::kPieceBytes == 2 << kSectorShift);
  return static_cast<uint64_t>(std::popcount((sectors | sectors >> 1) & 0x5555555555555555u));
}

}  // namespace

Locality::Footprint Locality::FootprintOf(const std::vector<const Locality*>& engines) {
  uint64_t pieces[3] = {};
  for (size_t k = 0; k < engines.size(); ++k) {
    for (const auto& [number, region] : engines[k]->regions_) {
      // A region is counted with the first engine that has it.
      std::vector<const Region*> others;
      bool counted = false;
      for (size_t j = 0; j < engines.size(); ++j) {
        if (j == k) continue;
        const auto found = engines[j]->regions_.find(number);
        if (found == engines[j]->regions_.end()) continue;
        counted |= j < k;
        others.push_back(found->second.get());
      }
      if (counted) continue;
      for (size_t kind = 0; kind < 3; ++kind) {
        for (size_t word = 0; word < kRegionWords; ++word) {
          uint64_t sectors = region->words[word].ever[kind];
          for (const Region* other : others) sectors |= other->words[word].ever[kind];
          pieces[kind] += Pieces(sectors);
        }
      }
    }
  }
  const auto bytes = [&](AccessKind kind) { return kPieceBytes * pieces[static_cast<size_t>(kind)]; };
  return {bytes(AccessKind::kLoad), bytes(AccessKind::kStore), bytes(AccessKind::kAtomic)};
}

void Locality::AddTo(TouchedRange& range) const {
  if (range.bytes == 0) return;
  const uint64_t first = range.base >> kSectorShift, last = (range.base + range.bytes - 1) >> kSectorShift;
  const Region* region = nullptr;
  for (uint64_t word = first >> kWordShift; word <= last >> kWordShift; ++word) {
    if (region == nullptr || word % kRegionWords == 0) {
      const auto found = regions_.find(word >> kRegionShift);
      region = found == regions_.end() ? nullptr : found->second.get();
    }
    if (region == nullptr) {
      word |= kRegionWords - 1;  // on to the next region
      continue;
    }
    const uint64_t (&ever)[3] = region->words[word % kRegionWords].ever;
    const auto bits = [&](AccessKind kind) { return ever[static_cast<size_t>(kind)]; };
    const auto at = static_cast<int64_t>(word << kWordShift) - static_cast<int64_t>(first);
    TouchedRange::Add(range.loaded, at, bits(AccessKind::kLoad));
    TouchedRange::Add(range.stored, at, bits(AccessKind::kStore) | bits(AccessKind::kAtomic));
  }
}

}  // namespace lockstep::vgpu
