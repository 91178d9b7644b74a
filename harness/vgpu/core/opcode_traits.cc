#include "vgpu/core/opcode_traits.h"

namespace lockstep::vgpu {

std::span<const TraitInfo> AllTraits() {
#define LOCKSTEP_TRAIT_INFO(name, word, text) {word, text},
  static constexpr TraitInfo kTraitInfo[] = {LOCKSTEP_TRAITS(LOCKSTEP_TRAIT_INFO)};
#undef LOCKSTEP_TRAIT_INFO
  return kTraitInfo;
}

std::string TraitsText(Traits traits) {
  std::string words;
  for (const TraitInfo& trait : AllTraits()) {
    if ((traits.bits & 1) != 0) words += (words.empty() ? "" : ", ") + std::string(trait.word);
    traits.bits >>= 1;
  }
  return words;
}

}  // namespace lockstep::vgpu
