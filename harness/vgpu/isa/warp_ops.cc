// Operations that exchange data between the lanes of a warp: shfl, vote, match, redux, activemask, elect. Source: PTX
// ISA 9.0, 9.7.9.6 and 9.7.13.
//
// The .sync forms take a member mask as last operand, which may differ between lanes; each lane operates within its own
// members. The engine gathers the members first: the handler's mask contains the lanes that execute together.
#include <bit>

#include "vgpu/exec/definedness_tracker.h"
#include "vgpu/exec/engine.h"
#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// Calls f(members, lanes) for each set of lanes with the same members; `members` is restricted to the lanes that take
// part.
template <typename F>
void ForMemberGroups(const Warp& warp, RowRef row, LaneMask mask, F f) {
  const uint32_t* members = Source<uint32_t>(warp, row);
  LaneMask left = mask;
  while (left != 0) {
    const uint32_t first = members[std::countr_zero(left)];
    LaneMask lanes = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) lanes |= LaneMask{members[lane] == first} << lane;
    lanes &= left;
    f(first & mask, lanes);
    left &= ~lanes;
  }
}

enum class ShuffleMode : uint8_t { kUp, kDown, kButterfly, kIndex };

// Rows: d, p, a, b, c, members. c holds the clamp value and, from bit 8 on, the mask that divides the warp into
// segments. A source lane that does not take part gives 0, as on the hardware (measured on an H200; undefined by the
// documentation; exec/definedness_tracker.h finds programs that rely on it).
template <ShuffleMode kMode>
void Shuffle(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint32_t* a = Source<uint32_t>(warp, insn.row[2]);
  const uint32_t* b = Source<uint32_t>(warp, insn.row[3]);
  const uint32_t* c = Source<uint32_t>(warp, insn.row[4]);
  int32_t source[kWarpSize];
  LaneMask in_range = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const int32_t offset = static_cast<int32_t>(b[lane] & 31);
    const int32_t clamp = static_cast<int32_t>(c[lane] & 31);
    const int32_t segment = static_cast<int32_t>((c[lane] >> 8) & 31);
    const int32_t limit = (lane & segment) | (clamp & ~segment);
    int32_t from = 0;
    switch (kMode) {
      case ShuffleMode::kUp:
        from = lane - offset;
        break;
      case ShuffleMode::kDown:
        from = lane + offset;
        break;
      case ShuffleMode::kButterfly:
        from = lane ^ offset;
        break;
      case ShuffleMode::kIndex:
        from = (lane & segment) | (offset & ~segment);
        break;
    }
    const bool valid = kMode == ShuffleMode::kUp ? from >= limit : from <= limit;
    in_range |= LaneMask{valid} << lane;
    source[lane] = (valid ? from : lane) & 31;
  }
  // There is no engine when a single instruction is tested.
  if (warp.engine != nullptr) {
    DefinednessTracker* tracker = warp.engine->definedness_tracker();
    if (tracker != nullptr && tracker->Concerns(warp, mask, insn.row[5])) {
      tracker->Shuffle(warp, mask, source, insn.row[5] == kNoRow ? nullptr : Source<uint32_t>(warp, insn.row[5]));
    }
  }
  if (mask == kFullMask) {
    ForLanes<uint32_t>(warp, insn.row[0], mask, [&](int lane) { return a[source[lane]]; });
  } else {
    ForLanes<uint32_t>(warp, insn.row[0], mask,
                       [&](int lane) { return (mask >> source[lane] & 1) != 0 ? a[source[lane]] : 0; });
  }
  WritePredicate(warp, insn.row[1], in_range, mask);
}

Selection SelectShfl(Modifiers& modifiers) {
  const bool sync = modifiers.Take("sync");
  if (modifiers.type_count() != 1 || modifiers.type(0) != Type::kB32) return {};
  Selection selection;
  selection.flags = sync ? kWarpSynchronous : 0;
  selection.form = sync ? "d0|dpred s0 su32 su32 su32" : "d0|dpred s0 su32 su32";
  if (modifiers.Take("up")) {
    selection.handler = Shuffle<ShuffleMode::kUp>;
  } else if (modifiers.Take("down")) {
    selection.handler = Shuffle<ShuffleMode::kDown>;
  } else if (modifiers.Take("bfly")) {
    selection.handler = Shuffle<ShuffleMode::kButterfly>;
  } else if (modifiers.Take("idx")) {
    selection.handler = Shuffle<ShuffleMode::kIndex>;
  }
  return selection;
}

enum class VoteMode : uint8_t { kAll, kAny, kUniform, kBallot };

// Rows: d, a, members; the form without .sync has no members row, and the active lanes are the members.
template <VoteMode kMode, bool kSync>
void Vote(Warp& warp, const Insn& insn, LaneMask mask) {
  const LaneMask a = PredicateSource(warp, insn, 1);
  const auto vote = [&](LaneMask members, LaneMask lanes) {
    const LaneMask set = a & members;
    if constexpr (kMode == VoteMode::kBallot) {
      ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), lanes, [=](int) { return set; });
    } else {
      const bool all = set == members;
      const bool any = set != 0;
      const bool result = kMode == VoteMode::kAll ? all : kMode == VoteMode::kAny ? any : all || !any;
      WritePredicate(warp, insn.row[0], result ? kFullMask : 0, lanes);
    }
  };
  if constexpr (kSync) {
    ForMemberGroups(warp, insn.row[2], mask, vote);
  } else {
    vote(mask, mask);
  }
}

template <bool kSync>
Handler PickVote(Modifiers& modifiers) {
  if (modifiers.type(0) == Type::kB32) return modifiers.Take("ballot") ? Vote<VoteMode::kBallot, kSync> : nullptr;
  if (modifiers.type(0) != Type::kPred) return nullptr;
  if (modifiers.Take("all")) return Vote<VoteMode::kAll, kSync>;
  if (modifiers.Take("any")) return Vote<VoteMode::kAny, kSync>;
  if (modifiers.Take("uni")) return Vote<VoteMode::kUniform, kSync>;
  return nullptr;
}

Selection SelectVote(Modifiers& modifiers) {
  if (modifiers.type_count() != 1) return {};
  const bool sync = modifiers.Take("sync");
  Selection selection;
  selection.handler = sync ? PickVote<true>(modifiers) : PickVote<false>(modifiers);
  selection.flags = sync ? kWarpSynchronous : 0;
  selection.form = sync ? "d0 spred su32" : "d0 spred";
  return selection;
}

// Rows: d, a, members. match.any: the members with the same value as the lane.
template <typename T>
void MatchAny(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[1]);
  uint32_t result[kWarpSize] = {};
  ForMemberGroups(warp, insn.row[2], mask, [&](LaneMask members, LaneMask lanes) {
    LaneMask left = lanes;
    while (left != 0) {
      const T value = a[std::countr_zero(left)];
      LaneMask equal = 0;
      for (int lane = 0; lane < kWarpSize; ++lane) equal |= LaneMask{a[lane] == value} << lane;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        if ((lanes & equal & left) >> lane & 1) result[lane] = equal & members;
      }
      left &= ~equal;
    }
  });
  ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [&](int lane) { return result[lane]; });
}

// Rows: d, p, a, members. match.all: all members and true if their values agree, otherwise no members and false.
template <typename T>
void MatchAll(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[2]);
  uint32_t result[kWarpSize] = {};
  LaneMask agree = 0;
  ForMemberGroups(warp, insn.row[3], mask, [&](LaneMask members, LaneMask lanes) {
    // No members: the lanes are outside of their own mask, and any value will do.
    const T value = a[std::countr_zero(members != 0 ? members : lanes)];
    LaneMask equal = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) equal |= LaneMask{a[lane] == value} << lane;
    if ((members & ~equal) != 0) return;
    agree |= lanes;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if ((lanes >> lane) & 1) result[lane] = members;
    }
  });
  ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [&](int lane) { return result[lane]; });
  WritePredicate(warp, insn.row[1], agree, mask);
}

Selection SelectMatch(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (!modifiers.Take("sync") || modifiers.type_count() != 1 || (type != Type::kB32 && type != Type::kB64)) return {};
  Selection selection;
  selection.flags = kWarpSynchronous;
  if (modifiers.Take("any")) {
    selection.form = "db32 s0 su32";
    selection.handler = type == Type::kB32 ? MatchAny<uint32_t> : MatchAny<uint64_t>;
  } else if (modifiers.Take("all")) {
    selection.handler = type == Type::kB32 ? MatchAll<uint32_t> : MatchAll<uint64_t>;
  }
  return selection;
}

constexpr auto kAdd = [](uint32_t a, uint32_t b) { return a + b; };
constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kMax = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kAnd = [](uint32_t a, uint32_t b) { return a & b; };
constexpr auto kOr = [](uint32_t a, uint32_t b) { return a | b; };
constexpr auto kXor = [](uint32_t a, uint32_t b) { return a ^ b; };

// Rows: d, a, members. Lanes are processed in ascending order.
template <auto kOp, typename T>
void Redux(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[1]);
  T result[kWarpSize] = {};
  ForMemberGroups(warp, insn.row[2], mask, [&](LaneMask members, LaneMask lanes) {
    if (members == 0) return;
    T value = a[std::countr_zero(members)];
    for (LaneMask left = members & (members - 1); left != 0; left &= left - 1) {
      value = static_cast<T>(kOp(value, a[std::countr_zero(left)]));
    }
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if ((lanes >> lane) & 1) result[lane] = value;
    }
  });
  ForLanesInPlace<T>(Destination<T>(warp, insn.row[0]), mask, [&](int lane) { return result[lane]; });
}

Handler PickRedux(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (type == Type::kB32) {
    if (modifiers.Take("and")) return Redux<kAnd, uint32_t>;
    if (modifiers.Take("or")) return Redux<kOr, uint32_t>;
    if (modifiers.Take("xor")) return Redux<kXor, uint32_t>;
  } else if (type == Type::kU32 || type == Type::kS32) {
    const bool is_signed = type == Type::kS32;
    if (modifiers.Take("add")) return Redux<kAdd, uint32_t>;
    if (modifiers.Take("min")) return is_signed ? Redux<kMin, int32_t> : Redux<kMin, uint32_t>;
    if (modifiers.Take("max")) return is_signed ? Redux<kMax, int32_t> : Redux<kMax, uint32_t>;
  }
  return nullptr;
}

Selection SelectRedux(Modifiers& modifiers) {
  if (!modifiers.Take("sync") || modifiers.type_count() != 1) return {};
  Selection selection;
  selection.handler = PickRedux(modifiers);
  selection.flags = kWarpSynchronous;
  selection.steps = 5;
  return selection;
}

void Activemask(Warp& warp, const Insn& insn, LaneMask mask) {
  ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [=](int) { return mask; });
}

Selection SelectActivemask(Modifiers& modifiers) {
  return modifiers.type_count() == 1 && modifiers.type(0) == Type::kB32 ? Selection{Activemask} : Selection{};
}

// Rows: d, p, members. The lowest member is elected.
void Elect(Warp& warp, const Insn& insn, LaneMask mask) {
  uint32_t leader[kWarpSize] = {};
  LaneMask elected = 0;
  ForMemberGroups(warp, insn.row[2], mask, [&](LaneMask members, LaneMask lanes) {
    const int first = std::countr_zero(members != 0 ? members : lanes);
    elected |= LaneMask{1} << first;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if ((lanes >> lane) & 1) leader[lane] = static_cast<uint32_t>(first);
    }
  });
  ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [&](int lane) { return leader[lane]; });
  WritePredicate(warp, insn.row[1], elected, mask);
}

Selection SelectElect(Modifiers& modifiers) {
  if (!modifiers.Take("sync") || modifiers.type_count() != 0) return {};
  Selection selection;
  selection.handler = Elect;
  selection.flags = kWarpSynchronous;
  return selection;
}

LOCKSTEP_OPCODES(warp_ops,
                 {
                     {"shfl", "d0|dpred s0 su32 su32 su32?", SelectShfl, InsnClass::kWarpSync,
                      kAnyOrder | kExchangesLanes, Meaning::kShuffle},
                     {"vote", "d0 spred su32?", SelectVote, InsnClass::kWarpSync, kAnyOrder | kExchangesLanes},
                     {"match", "db32|dpred s0 su32", SelectMatch, InsnClass::kWarpSync, kAnyOrder | kExchangesLanes},
                     {"redux", "d0 s0 su32", SelectRedux, InsnClass::kWarpSync, kAnyOrder | kExchangesLanes},
                     {"activemask", "d0", SelectActivemask, InsnClass::kWarpSync, kAnyOrder},
                     {"elect", "db32|dpred su32", SelectElect, InsnClass::kWarpSync, kAnyOrder | kExchangesLanes},
                 });

}  // namespace
}  // namespace lockstep::vgpu
