// Modifiers shared by memory instructions.
#pragma once

#include <initializer_list>
#include <string_view>

#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {

enum class AccessSpace : uint8_t { kGeneric, kGlobal, kConst, kShared, kCluster, kLocal, kParameters, kArea };

AccessSpace TakeSpace(Modifiers& modifiers);  // kGeneric if none is named
// Takes the order (one of `allowed`), .mmio and the scope. False: they contradict each other.
bool TakeSemantics(Modifiers& modifiers, std::initializer_list<std::string_view> allowed, MemoryFlags* flags);
MemoryScope TakeScope(Modifiers& modifiers);
// Takes modifiers that only affect speed: cache operators, eviction priorities, prefetch sizes. Returns whether .nc is
// among them, which promises that the kernel does not store there; it does not change the loaded value here.
bool TakeCacheHints(Modifiers& modifiers, bool stores);

}  // namespace lockstep::vgpu
