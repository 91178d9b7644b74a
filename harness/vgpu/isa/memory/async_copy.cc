#include "vgpu/isa/memory/async_copy.h"

#include <cstring>
#include <utility>

#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {
namespace {

void Complete(Warp& warp, AsyncCopy& copy, LaneMask lanes) {
  for (const int lane : EachLane(lanes)) {
    std::memcpy(warp.block->shared + copy.address[lane], copy.data[lane], copy.bytes);
  }
  copy.mask &= ~lanes;
  warp.state->wrote = true;
  if (!warp.engine->observed()) return;
  const uint32_t pc = std::exchange(warp.pc, copy.pc + 1);  // the store belongs to the copy, not the wait
  ObserveLanes(warp, Insn(), Region::kShared, AccessKind::kStore, copy.address, lanes, copy.bytes, false);
  warp.pc = pc;
}

template <typename F>
void CompleteWhere(Warp& warp, LaneMask lanes, const F& is_due) {
  AsyncCopies& copies = AsyncCopiesOf(warp);
  for (AsyncCopy& copy : copies.pending) {
    LaneMask due = 0;
    for (const int lane : EachLane(copy.mask & lanes)) {
      due |= static_cast<LaneMask>(is_due(copy, lane)) << lane;
    }
    if (due != 0) Complete(warp, copy, due);
  }
  std::erase_if(copies.pending, [](const AsyncCopy& copy) { return copy.mask == 0; });
}

}  // namespace

AsyncCopies& AsyncCopiesOf(Warp& warp) {
  auto& copies = warp.state->async_copies;
  if (copies == nullptr) copies = std::make_unique<AsyncCopies>();
  return *copies;
}

void CompleteAllCopies(Warp& warp, LaneMask lanes) {
  CompleteWhere(warp, lanes, [](const AsyncCopy&, int) { return true; });
}

void CompleteGroups(Warp& warp, LaneMask lanes, const uint32_t keep[kWarpSize]) {
  const uint32_t* committed = AsyncCopiesOf(warp).committed;
  CompleteWhere(warp, lanes, [&](const AsyncCopy& copy, int lane) {
    return uint64_t{copy.group[lane]} + keep[lane] < committed[lane];
  });
}

}  // namespace lockstep::vgpu
