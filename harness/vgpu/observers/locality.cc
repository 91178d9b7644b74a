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
  const auto count = [&](const Word& word) {
    for (size_t kind = 0; kind < 3; ++kind) pieces[kind] += Pieces(word.ever[kind]);
  };
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
      for (size_t w = 0; w < size_t{1} << kRegionShift; ++w) {
        Word sum = region->words[w];
        for (const Region* other : others) {
          for (size_t kind = 0; kind < 3; ++kind) sum.ever[kind] |= other->words[w].ever[kind];
        }
        count(sum);
      }
    }
  }
  const auto bytes = [&](AccessKind kind) { return kPieceBytes * pieces[static_cast<size_t>(kind)]; };
  return {bytes(AccessKind::kLoad), bytes(AccessKind::kStore), bytes(AccessKind::kAtomic)};
}

}  // namespace lockstep::vgpu
