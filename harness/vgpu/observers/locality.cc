#include "vgpu/observers/locality.h"

namespace lockstep::vgpu {
namespace {

// Pieces of two sectors that have at least one.
uint64_t Pieces(uint64_t sectors) {
  static_assert(Locality::kPieceBytes == 2 << kSectorShift);
  return static_cast<uint64_t>(std::popcount((sectors | sectors >> 1) & 0x5555555555555555u));
}

}  // namespace

Locality::Footprint Locality::FootprintOf(const std::vector<const Locality*>& engines) {
  uint64_t pieces[3] = {};
  for (size_t k = 0; k < engines.size(); ++k) {
    for (const auto& [number, region] : engines[k]->regions_) {
      // A region counts where the first engine that has it comes up.
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

}  // namespace lockstep::vgpu
