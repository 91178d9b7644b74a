#include "vgpu/isa/tensor/matrix_access.h"

#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu::tensor {
namespace {

void AccessRegion(Warp& warp, Region region, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                  uint32_t bytes, uint8_t* host[kWarpSize]) {
  if (!CheckLanes(warp, region, access, address, mask, bytes)) return;
  CountLanes(warp, region, access, address, mask, static_cast<int>(bytes));
  if (access != AccessKind::kLoad && region != Region::kLocal) warp.state->wrote = true;
  if (warp.engine->observed()) {
    Insn weak;
    weak.extra = MemoryFlags().Pack();
    ObserveLanes(warp, weak, region, access, address, mask, bytes, false);
  }
  uint64_t translated[kWarpSize] = {};
  if (region == Region::kClusterShared) TranslateCluster(warp, mask, address, translated);
  const RegionMemory memory = MemoryOf(warp, region);
  for (const int lane : EachLane(mask)) {
    const uint64_t at = region == Region::kClusterShared ? translated[lane]
                                                         : reinterpret_cast<uint64_t>(memory.origin) + address[lane] +
                                                               static_cast<uint64_t>(lane) * memory.lane_stride;
    host[lane] = reinterpret_cast<uint8_t*>(at);
  }
}

}  // namespace

AccessSpace TakeSpaceFrom(std::string& modifiers) {
  for (const auto& [word, space] : {std::pair<std::string_view, AccessSpace>{".global", AccessSpace::kGlobal},
                                    {".shared::cta", AccessSpace::kShared},
                                    {".shared", AccessSpace::kShared}}) {
    const size_t at = modifiers.find(word);
    if (at == std::string::npos) continue;
    modifiers.erase(at, word.size());
    return space;
  }
  return AccessSpace::kGeneric;
}

void ReadMatrixAddresses(const Warp& warp, const Insn& insn, RowRef base, uint64_t address[kWarpSize]) {
  if (MatrixAddress::Unpack(insn.extra).narrow) {
    ReadAddresses<true>(warp, base, insn.immediate, address);
  } else {
    ReadAddresses<false>(warp, base, insn.immediate, address);
  }
}

bool AccessMatrix(Warp& warp, const Insn& insn, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                  uint32_t bytes, uint8_t* host[kWarpSize]) {
  switch (MatrixAddress::Unpack(insn.extra).space) {
    case AccessSpace::kGlobal:
      AccessRegion(warp, Region::kGlobal, access, address, mask, bytes, host);
      break;
    case AccessSpace::kShared:
      AccessRegion(warp, Region::kShared, access, address, mask, bytes, host);
      break;
    default:
      ForRegions(warp, mask, address, [&](Region region, LaneMask lanes, const uint64_t* in_region) {
        AccessRegion(warp, region, access, in_region, lanes, bytes, host);
      });
      break;
  }
  return !warp.engine->faulted();
}

}  // namespace lockstep::vgpu::tensor
