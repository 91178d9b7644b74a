// ld, ldu, st: their modifiers, and kernel parameters.
#include "vgpu/isa/memory/memory.h"

#include <cstring>

#include "vgpu/isa/memory/memory_in_space.h"
#include "vgpu/isa/memory/memory_modifiers.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// A kernel parameter at a fixed offset: the same for all lanes.
template <typename M, typename R>
void LoadParameter(Warp& warp, const Insn& insn, LaneMask mask) {
  const LaunchState& launch = warp.engine->launch();
  const uint64_t bytes = sizeof(M) * insn.count;
  const uint64_t offset = *Source<uint64_t>(warp, insn.row[insn.count]) + insn.immediate;
  if (offset > launch.parameter_bytes || bytes > launch.parameter_bytes - offset || offset % bytes != 0) {
    const bool inside = offset <= launch.parameter_bytes && bytes <= launch.parameter_bytes - offset;
    warp.engine->MemoryFault(warp, std::countr_zero(mask),
                             inside ? FindingKind::kMisaligned : FindingKind::kOutOfBounds, AccessKind::kLoad,
                             MemorySpace::kParam, offset, static_cast<uint32_t>(bytes));
    return;
  }
  for (int k = 0; k < insn.count; ++k) {
    M element;
    std::memcpy(&element, launch.parameters + offset + static_cast<uint64_t>(k) * sizeof(M), sizeof element);
    const R value = static_cast<R>(element);
    ForLanes<R>(warp, insn.row[k], mask, [value](int) { return value; });
  }
}

// Takes the common modifiers of ld and st. False: the combination is not supported.
bool TakeShape(Modifiers& m, bool stores, MoveShape& s) {
  const Type type = m.type(0);
  if (m.type_count() != 1 || type == Type::kPred) return false;
  s.element_bytes = ptx::SizeOf(type);
  s.is_signed = type == Type::kS8 || type == Type::kS16 || type == Type::kS32;
  s.count = m.Take("v2") ? 2 : m.Take("v4") ? 4 : m.Take("v8") ? 8 : 1;
  const int bytes_in_all = s.count * s.element_bytes;
  if (bytes_in_all > 32 || (s.count == 8 && bytes_in_all != 32)) return false;
  const int value = stores ? 1 : 0;
  for (int k = 0; k < s.count; ++k) {  // a vector's registers are of one width; sinks and immediates have none
    const int bytes = m.operand_bytes(value + k);
    if (bytes != 0 && s.register_bytes != 0 && bytes != s.register_bytes) return false;
    if (bytes != 0) s.register_bytes = bytes;
  }
  if (s.register_bytes == 0) s.register_bytes = s.element_bytes;
  s.address_bytes = m.operand_bytes(stores ? 0 : s.count);
  return true;
}

Selection Select(Modifiers& m, bool stores) {
  MoveShape s{};
  MemoryFlags flags;
  const bool ordered = stores ? TakeSemantics(m, {"weak", "volatile", "relaxed", "release"}, &flags)
                              : TakeSemantics(m, {"weak", "volatile", "relaxed", "acquire"}, &flags);
  if (!TakeShape(m, stores, s) || !ordered) return {};
  flags.constant = TakeCacheHints(m, stores);
  s.space = TakeSpace(m);
  if (stores && s.space == AccessSpace::kConst) return {};
  Selection selection{stores ? SelectStore(s) : SelectLoad(s), InsnClass::kOther, 0, flags.Pack()};
  selection.form = stores ? "a sv0" : "dv0 a";
  if (m.Take("L2::cache_hint")) {
    selection.form = stores ? "a sv0 su64" : "dv0 a su64";
    if (s.count == 8) return {};
  }
  return selection;
}

Selection SelectLd(Modifiers& m) { return Select(m, false); }
Selection SelectSt(Modifiers& m) { return Select(m, true); }

LOCKSTEP_OPCODES(memory,
                 {
                     {"ld", "dv0 a su64?", SelectLd, InsnClass::kLoad,
                      kOrderIfStrong | kLoads | kPolls | kWiderRegisters},
                     {"ldu", "dv0 a", SelectLd, InsnClass::kLoad, kOrderIfStrong | kLoads | kPolls | kWiderRegisters},
                     {"st", "a sv0 su64?", SelectSt, InsnClass::kStore, kOrderIfStrong | kStores | kWiderRegisters},
                 });

}  // namespace

Selection SelectParameterAccess(Modifiers& m, ParameterPlace place, bool stores) {
  const bool kernel = place == ParameterPlace::kKernel;
  MoveShape s{};
  if (!TakeShape(m, stores, s)) return {};
  for (const char* word : {"param", "param::entry", "param::func"}) m.Take(word);
  Selection selection;
  selection.form = stores ? "a sv0" : "dv0 a";
  selection.insn_class = InsnClass::kMove;  // parameters do not count as memory
  s.space = kernel                            ? AccessSpace::kParameters
            : place == ParameterPlace::kLocal ? AccessSpace::kLocal
                                              : AccessSpace::kArea;
  if (kernel && !stores && s.address_bytes == 0) {
    selection.handler = s.element_bytes == 16
                            ? LoadParameter<unsigned __int128, unsigned __int128>
                            : ForTypes(s, []<typename M, typename R>() -> Handler { return LoadParameter<M, R>; });
  } else if (!(kernel && stores)) {
    selection.handler = stores ? SelectStore(s) : SelectLoad(s);
  }
  return selection;
}

}  // namespace lockstep::vgpu
