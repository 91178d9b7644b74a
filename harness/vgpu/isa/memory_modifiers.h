// The modifiers that memory instructions have in common.
#pragma once

#include "vgpu/isa/memory_access.h"
#include "vgpu/isa/opcode_table.h"

namespace lockstep::vgpu {

enum class AccessSpace : uint8_t { kGeneric, kGlobal, kConst, kShared, kLocal, kParameters, kArea };

AccessSpace TakeSpace(Modifiers& modifiers);  // kGeneric where none is named
// Takes .weak .volatile .relaxed .acquire .release .acq_rel .mmio and the scope. False: they contradict each other.
bool TakeSemantics(Modifiers& modifiers, MemoryFlags* flags);
MemoryScope TakeScope(Modifiers& modifiers);
// Takes what changes speed only: cache operators, eviction priorities, prefetch sizes.
void TakeCacheHints(Modifiers& modifiers);

}  // namespace lockstep::vgpu
