// Address instructions: cvta, isspacep; and prefetches and cache hints, which have no effect.

#include "vgpu/core/opcode_table.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// d = a plus or minus the window's base, which is in Insn::extra.
void MoveWindow(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* a = Source<uint64_t>(warp, insn.row[1]);
  const uint64_t base = insn.extra;
  ForLanes<uint64_t>(warp, insn.row[0], mask, [=](int lane) { return a[lane] + base; });
}

// The base of a space's window; global and const addresses are already generic. False: no such space.
bool TakeWindow(Modifiers& m, uint64_t* base) {
  const std::string word =
      m.TakeAny({"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"});
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

// p = whether a is in the window whose base is Insn::extra.
void IsInWindow(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* a = Source<uint64_t>(warp, insn.row[1]);
  LaneMask value = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    value |= static_cast<LaneMask>(InWindow(a[lane], insn.extra)) << lane;
  }
  WritePredicate(warp, insn.row[0], value, mask);
}

// Const variables are allocated among global ones and recognised by being read-only.
template <bool kConst>
void IsInArena(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* a = Source<uint64_t>(warp, insn.row[1]);
  LaneMask value = 0;
  for (const int lane : EachLane(mask)) {
    const Allocation* allocation = warp.engine->launch().memory->Find(a[lane]);
    const bool is_const = allocation != nullptr && allocation->read_only;
    // Global is everything else, including null.
    const bool is_beyond = a[lane] >= kArenaWindow;
    const bool is_none = !kConst && !is_beyond && !InWindow(a[lane], kSharedWindow) && !InWindow(a[lane], kLocalWindow);
    value |= static_cast<LaneMask>(is_none || (is_beyond && is_const == kConst)) << lane;
  }
  WritePredicate(warp, insn.row[0], value, mask);
}

// The block's own part of the window, which holds the shared memory of the whole cluster.
void IsInOwnShared(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* a = Source<uint64_t>(warp, insn.row[1]);
  const uint64_t own = RankOf(*warp.block) + 1;
  LaneMask value = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t rank = (a[lane] - kSharedWindow) >> kRankShift;
    value |= static_cast<LaneMask>(InWindow(a[lane], kSharedWindow) && (rank == 0 || rank == own)) << lane;
  }
  WritePredicate(warp, insn.row[0], value, mask);
}

Selection SelectIsspacep(Modifiers& m) {
  uint64_t base = 0;
  if (m.type_count() != 0) return {};
  if (m.Take("global")) return {IsInArena<false>};
  if (m.Take("const")) return {IsInArena<true>};
  if (!m.TakeAny({"shared", "shared::cta"}).empty()) return {IsInOwnShared};
  return TakeWindow(m, &base) ? Selection{IsInWindow, InsnClass::kOther, 0, base} : Selection{};
}

void Nothing(Warp&, const Insn&, LaneMask) {}

Selection SelectPrefetch(Modifiers& m) {
  m.TakeAny({"global", "local"});
  if (m.TakeAny({"L1", "L2", "L2::evict_last", "L2::evict_normal"}).empty()) return {};
  return {Nothing};
}

// A cache hint, which has no effect here: any value will do.
void CreatePolicy(Warp& warp, const Insn& insn, LaneMask mask) {
  ForLanes<uint64_t>(warp, insn.row[0], mask, [](int) { return uint64_t{0}; });
}
Selection SelectPolicy(Modifiers& m) {
  m.TakeAny({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
  m.TakeAny({"L2::evict_first", "L2::evict_unchanged"});
  return m.type_count() == 1 && m.type(0) == Type::kB64 ? Selection{CreatePolicy} : Selection{};
}

Selection SelectRangePolicy(Modifiers& m) {
  m.Take("global");
  return SelectPolicy(m);
}
Selection SelectConvertedPolicy(Modifiers& m) {
  return m.Take("L2") && m.type_count() == 1 && m.type(0) == Type::kB64 ? Selection{CreatePolicy} : Selection{};
}

Selection SelectPriority(Modifiers& m) {
  m.Take("global");
  if (m.TakeAny({"L2", "L2::evict_normal"}).empty()) return {};
  return {Nothing};
}

LOCKSTEP_OPCODES(memory_address,
                 {
                     {"cvta", "d0 s0", SelectCvta, InsnClass::kMove},
                     {"isspacep", "dpred su64", SelectIsspacep, InsnClass::kPredicate},
                     {"prefetch", "a", SelectPrefetch, InsnClass::kOther, kAnyOrder},
                     {"prefetchu", "a", SelectPrefetch, InsnClass::kOther, kAnyOrder},
                     {"applypriority", "a su64", SelectPriority, InsnClass::kOther, kAnyOrder},
                     {"discard", "a su64", SelectPriority, InsnClass::kOther, kAnyOrder},
                     {"createpolicy.fractional", "d0 sf32?", SelectPolicy, InsnClass::kOther, kAnyOrder},
                     {"createpolicy.range", "d0 a su32 su32", SelectRangePolicy, InsnClass::kOther, kAnyOrder},
                     {"createpolicy.cvt", "d0 su64", SelectConvertedPolicy, InsnClass::kOther, kAnyOrder},
                 });

}  // namespace
}  // namespace lockstep::vgpu
