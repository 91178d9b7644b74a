#include "vgpu/core/finding_kind.h"

#include "vgpu/core/hint.h"

namespace lockstep::vgpu {

std::span<const FindingKindInfo> AllFindingKinds() {
#define LOCKSTEP_FINDING_KIND_INFO(kind, heading, name, error, hint) \
  {FindingKind::k##kind, heading, name, LaunchError::k##error, hint},
  static constexpr FindingKindInfo kKinds[] = {LOCKSTEP_FINDING_KINDS(LOCKSTEP_FINDING_KIND_INFO)};
#undef LOCKSTEP_FINDING_KIND_INFO
  return kKinds;
}

const FindingKindInfo& InfoOf(FindingKind kind) {
  const std::span<const FindingKindInfo> kinds = AllFindingKinds();
  const size_t row = static_cast<size_t>(kind);
  return kinds[row < kinds.size() ? row : static_cast<size_t>(FindingKind::kTrap)];
}

}  // namespace lockstep::vgpu
