// The modifiers that memory instructions have in common.
#pragma once

#include <initializer_list>
#include <string_view>

#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {

enum class AccessSpace : uint8_t { kGeneric, kGlobal, kConst, kShared, kCluster, kLocal, kParameters, kArea };

AccessSpace TakeSpace(Modifiers& modifiers);  // kGeneric where none is named
// Takes the order, one of `allowed`, .mmio and the scope. False: they contradict each other.
bool TakeSemantics(Modifiers& modifiers, std::initializer_list<std::string_view> allowed, MemoryFlags* flags);
MemoryScope TakeScope(Modifiers& modifiers);
// Takes what changes speed only: cache operators, eviction priorities, prefetch sizes. Whether .nc is among them, which
// changes no value here: it promises that the kernel stores nothing there.
bool TakeCacheHints(Modifiers& modifiers, bool stores);

}  // namespace lockstep::vgpu
