// Addresses: cvta, isspacep, and the prefetches, which change nothing.
#include "vgpu/exec/address_space.h"
#include "vgpu/isa/opcode_table.h"
#include "vgpu/isa/row.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// d = a + the window's base, or minus it; Selection::extra.
void MoveWindow(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* a = Source<uint64_t>(warp, insn.row[1]);
  const uint64_t base = insn.extra;
  ForLanes<uint64_t>(warp, insn.row[0], mask, [=](int lane) { return a[lane] + base; });
}

// The base of a space's window; global and const addresses are generic ones already. False: no such space.
bool TakeWindow(Modifiers& m, uint64_t* base) {
  const std::string word = m.TakeAny({"global", "const", "shared", "shared::cta", "local", "param", "param::entry"});
  *base = word.starts_with("shared")  ? kSharedWindow
          : word == "local"           ? kLocalWindow
          : word.starts_with("param") ? kParamWindow
                                      : 0;
  return !word.empty();
}

Selection SelectCvta(Modifiers& m) {
  const bool to = m.Take("to");
  uint64_t base = 0;
  if (m.type_count() != 1 || m.type(0) != Type::kU64 || !TakeWindow(m, &base)) return {};
  return {MoveWindow, InsnClass::kOther, 0, to ? uint64_t{0} - base : base};
}

// p = a lies in the window; extra: its base, or 0 for global memory.
void IsInWindow(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* a = Source<uint64_t>(warp, insn.row[1]);
  LaneMask value = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool inside = insn.extra == 0 ? a[lane] >= kArenaWindow : InWindow(a[lane], insn.extra);
    value |= static_cast<LaneMask>(inside) << lane;
  }
  WritePredicate(warp, insn.row[0], value, mask);
}

Selection SelectIsspacep(Modifiers& m) {
  uint64_t base = 0;
  // Const variables lie among the global ones here, and isspacep could not tell them apart.
  if (m.Take("const") || !TakeWindow(m, &base)) return {};
  return {IsInWindow, InsnClass::kOther, 0, base};
}

void Nothing(Warp&, const Insn&, LaneMask) {}

Selection SelectPrefetch(Modifiers& m) {
  m.TakeAny({"global", "local"});
  if (m.TakeAny({"L1", "L2", "L2::evict_last", "L2::evict_normal"}).empty()) return {};
  return {Nothing};
}

Selection SelectPriority(Modifiers& m) {
  m.Take("global");
  if (m.TakeAny({"L2", "L2::evict_normal"}).empty()) return {};
  return {Nothing};
}

LOCKSTEP_OPCODES(memory_address, {
                                     {"cvta", "d0 s0", SelectCvta, InsnClass::kMove},
                                     {"isspacep", "dpred su64", SelectIsspacep, InsnClass::kPredicate},
                                     {"prefetch", "a", SelectPrefetch, InsnClass::kOther},
                                     {"prefetchu", "a", SelectPrefetch, InsnClass::kOther},
                                     {"applypriority", "a su64", SelectPriority, InsnClass::kOther},
                                 });

}  // namespace
}  // namespace lockstep::vgpu
