// mbarrier: barrier objects in shared memory. Source: PTX ISA 9.0, 9.7.13.15.
//
// An object is 64 bits. PTX calls it opaque, so the layout is free:
//   0-19   arrivals that the current phase still waits for
//   20-39  arrivals that each phase expects
//   40-61  outstanding transaction bytes, signed
//   63     parity of the phase
// A phase ends when nothing is outstanding; then the parity flips and the next phase expects the same number of
// arrivals. mbarrier.arrive returns the object's previous value.
//
// Lanes are processed one after the other. Observers see an arrival as a releasing atomic and a successful test as an
// acquiring one, so the race checker knows the order that a barrier establishes.
#include "vgpu/isa/memory/mbarrier.h"

#include "vgpu/isa/memory/bulk_copy.h"
#include "vgpu/isa/memory/memory_access.h"
#include "vgpu/isa/memory/memory_modifiers.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr uint64_t kMostArrivals = (uint64_t{1} << 20) - 1;

struct Object {
  uint32_t pending = 0, expected = 0;
  int32_t transactions = 0;
  bool parity = false;

  static Object From(uint64_t bits) {
    Object o;
    o.pending = static_cast<uint32_t>(bits & kMostArrivals);
    o.expected = static_cast<uint32_t>(bits >> 20 & kMostArrivals);
    o.transactions = static_cast<int32_t>(static_cast<int64_t>(bits << 2) >> 42);
    o.parity = bits >> 63 != 0;
    return o;
  }
  uint64_t Bits() const {
    return pending | uint64_t{expected} << 20 | (static_cast<uint64_t>(transactions) & 0x3fffff) << 40 |
           uint64_t{parity} << 63;
  }
  void EndPhaseIfDone() {
    if (pending != 0 || transactions != 0) return;
    pending = expected;
    parity = !parity;
  }
};

// Checks the addresses and converts them to offsets in shared memory; false: the warp has faulted.
bool Locate(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t* address, uint64_t* object) {
  const uint64_t base = (insn.extra & kGenericMbarrier) != 0 ? kSharedWindow : 0;
  uint64_t offset[kWarpSize] = {};
  bool far = false;
  ForActive(mask, [&](int lane) {
    offset[lane] = address[lane] - base;
    far |= IsOfOtherBlock(offset[lane]);
  });
  const bool cluster = far && (insn.extra & (kClusterMbarrier | kGenericMbarrier)) != 0;
  const Region region = cluster ? Region::kClusterShared : Region::kShared;
  if (!CheckLanes(warp, region, AccessKind::kAtomic, offset, mask, 8)) return false;
  if (cluster) {
    TranslateCluster(warp, mask, offset, object);
    return true;
  }
  ForActive(mask, [&](int lane) { object[lane] = reinterpret_cast<uint64_t>(warp.block->shared) + offset[lane]; });
  return true;
}

void Fault(Warp& warp, int lane, const char* what) {
  warp.engine->Fault(warp, warp.engine->MakeFinding(warp, warp.pc - 1, lane, FindingKind::kTrap, what));
}

// For objects in the block's own shared memory; objects in other blocks are not observed.
void Observe(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t* object, AccessKind kind) {
  if (!warp.engine->observed()) return;
  uint64_t offset[kWarpSize];
  LaneMask own = 0;
  ForActive(mask, [&](int lane) {
    offset[lane] = object[lane] - reinterpret_cast<uint64_t>(warp.block->shared);
    own |= static_cast<LaneMask>(offset[lane] < warp.block->shared_bytes) << lane;
  });
  if (own != 0) ObserveLanes(warp, insn, Region::kShared, kind, offset, own, 8, true);
}

// Calls f(lane, object, previous bits) for each lane. False: the warp has faulted.
template <bool kNarrow, typename F>
bool ForObjects(Warp& warp, const Insn& insn, LaneMask mask, int row, AccessKind kind, const F& f) {
  uint64_t address[kWarpSize], object[kWarpSize];
  ReadAddresses<kNarrow>(warp, insn.row[row], insn.immediate, address);
  if (!Locate(warp, insn, mask, address, object)) return false;
  Observe(warp, insn, mask, object, kind);
  for (LaneMask left = mask; left != 0 && !warp.stop; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint64_t* bits = reinterpret_cast<uint64_t*>(object[lane]);
    Object o = Object::From(*bits);
    f(lane, o, *bits);
    *bits = o.Bits();
  }
  if (kind != AccessKind::kLoad) warp.state->wrote = true;
  return !warp.stop;
}

template <bool kNarrow>
void Initialise(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint32_t* count = Source<uint32_t>(warp, insn.row[1]);
  ForObjects<kNarrow>(warp, insn, mask, 0, AccessKind::kStore, [&](int lane, Object& o, uint64_t) {
    if (count[lane] == 0 || count[lane] > kMostArrivals) {
      Fault(warp, lane, "an mbarrier is initialised with a count outside of 1 to 1048575");
      return;
    }
    o = {count[lane], count[lane], 0, false};
  });
}

// The memory may be reused; its bytes do not change.
template <bool kNarrow>
void Invalidate(Warp& warp, const Insn& insn, LaneMask mask) {
  ForObjects<kNarrow>(warp, insn, mask, 0, AccessKind::kStore, [](int, Object&, uint64_t) {});
}

bool Arrive(Warp& warp, int lane, Object& o, uint32_t count, bool drop) {
  if (count == 0 || count > o.pending) {
    Fault(warp, lane, "an arrival at an mbarrier counts 0 threads, or more than its phase still expects");
    return false;
  }
  o.pending -= count;
  if (drop) o.expected -= count;
  o.EndPhaseIfDone();
  return true;
}

enum class ArriveKind : uint8_t { kPlain, kDrop, kExpect, kDropExpect };

bool AddTransactions(Warp& warp, int lane, Object& o, uint32_t bytes) {
  const int64_t sum = int64_t{o.transactions} + bytes;
  if (bytes > kMostArrivals || sum > static_cast<int64_t>(kMostArrivals)) {
    Fault(warp, lane, "an mbarrier expects more than 1048575 bytes");
    return false;
  }
  o.transactions = static_cast<int32_t>(sum);
  return true;
}

// Rows: state, object, count or bytes.
template <bool kNarrow, ArriveKind kKind>
void ArriveHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  constexpr bool kExpects = kKind == ArriveKind::kExpect || kKind == ArriveKind::kDropExpect;
  const uint32_t* number = insn.row[2] == kNoRow ? nullptr : Source<uint32_t>(warp, insn.row[2]);
  uint64_t* state = Destination<uint64_t>(warp, insn.row[0]);
  ForObjects<kNarrow>(warp, insn, mask, 1, AccessKind::kAtomic, [&](int lane, Object& o, uint64_t before) {
    const uint32_t n = number == nullptr ? 1 : number[lane];
    if (kExpects && !AddTransactions(warp, lane, o, n)) return;
    if (!Arrive(warp, lane, o, kExpects ? 1 : n, kKind == ArriveKind::kDrop || kKind == ArriveKind::kDropExpect))
      return;
    state[lane] = before;
  });
}

template <bool kNarrow, bool kComplete>
void TransactionHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint32_t* bytes = Source<uint32_t>(warp, insn.row[1]);
  ForObjects<kNarrow>(warp, insn, mask, 0, AccessKind::kAtomic, [&](int lane, Object& o, uint64_t) {
    if (!kComplete) {
      AddTransactions(warp, lane, o, bytes[lane]);
      return;
    }
    uint64_t bits = o.Bits();
    CompleteTransaction(&bits, bytes[lane]);
    o = Object::From(bits);
  });
}

// Rows: p, object, state or parity.
template <bool kNarrow, bool kParity>
void Test(Warp& warp, const Insn& insn, LaneMask mask) {
  const auto* state = kParity ? nullptr : Source<uint64_t>(warp, insn.row[2]);
  const auto* parity = kParity ? Source<uint32_t>(warp, insn.row[2]) : nullptr;
  uint64_t address[kWarpSize], object[kWarpSize];
  ReadAddresses<kNarrow>(warp, insn.row[1], insn.immediate, address);
  if (!Locate(warp, insn, mask, address, object)) return;
  if (warp.engine->program().copies_async) {
    ForActive(mask, [&](int lane) { CompleteBulkLoads(warp, reinterpret_cast<const uint64_t*>(object[lane])); });
  }
  LaneMask done = 0;
  ForActive(mask, [&](int lane) {
    const bool now = Object::From(*reinterpret_cast<const uint64_t*>(object[lane])).parity;
    const bool then = kParity ? (parity[lane] & 1) != 0 : Object::From(state[lane]).parity;
    done |= static_cast<LaneMask>(now != then) << lane;
  });
  if (done != 0) Observe(warp, insn, done, object, AccessKind::kLoad);
  WritePredicate(warp, insn.row[0], done, mask);
  if (done != mask) {  // test_wait may report completion late, too, and is usually called in a loop
    warp.state->reason = StopReason::kSpun;
    warp.stop = true;
  }
}

void PendingCount(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* state = Source<uint64_t>(warp, insn.row[1]);
  ForLanes<uint32_t>(warp, insn.row[0], mask, [=](int lane) { return Object::From(state[lane]).pending; });
}

// Takes the common modifiers: order, scope, space, type. False: not supported in this combination. `row`: the index of
// the address among the operands.
bool TakeCommon(Modifiers& m, int row, MemoryOrder order, uint64_t* extra, bool* narrow) {
  const std::string word = m.TakeAny({"relaxed", "release", "acquire"});
  MemoryFlags flags{word == "relaxed" ? MemoryOrder::kRelaxed : order, TakeScope(m), false};
  flags.waits = true;  // a barrier is for waiting: it holds no data
  const std::string space = m.TakeAny({"shared", "shared::cta", "shared::cluster"});
  *narrow = m.operand_bytes(row) == 4;
  *extra = flags.Pack() | (space.empty() ? kGenericMbarrier : 0) | (space == "shared::cluster" ? kClusterMbarrier : 0);
  return m.type_count() == 1 && m.type(0) == Type::kB64 && !(*narrow && space.empty());
}

template <Handler kWide, Handler kNarrowed, int kRow>
Selection SelectBy(Modifiers& m, MemoryOrder order) {
  Selection selection;
  bool narrow = false;
  if (TakeCommon(m, kRow, order, &selection.extra, &narrow)) selection.handler = narrow ? kNarrowed : kWide;
  return selection;
}

Selection SelectInit(Modifiers& m) { return SelectBy<Initialise<false>, Initialise<true>, 0>(m, MemoryOrder::kWeak); }
Selection SelectInval(Modifiers& m) { return SelectBy<Invalidate<false>, Invalidate<true>, 0>(m, MemoryOrder::kWeak); }

template <ArriveKind kPlain, ArriveKind kExpecting>
Selection SelectArrive(Modifiers& m) {
  m.Take("noComplete");
  if (m.Take("expect_tx")) {
    if (m.operand_count() != 3) return {};
    return SelectBy<ArriveHandler<false, kExpecting>, ArriveHandler<true, kExpecting>, 1>(m, MemoryOrder::kRelease);
  }
  return SelectBy<ArriveHandler<false, kPlain>, ArriveHandler<true, kPlain>, 1>(m, MemoryOrder::kRelease);
}

template <bool kComplete>
Selection SelectTransaction(Modifiers& m) {
  return SelectBy<TransactionHandler<false, kComplete>, TransactionHandler<true, kComplete>, 0>(m,
                                                                                                MemoryOrder::kRelaxed);
}

// has_limit: a further operand limits the wait.
Selection SelectTest(Modifiers& m, bool has_limit) {
  const bool parity = m.Take("parity");
  Selection selection = parity ? SelectBy<Test<false, true>, Test<true, true>, 1>(m, MemoryOrder::kAcquire)
                               : SelectBy<Test<false, false>, Test<true, false>, 1>(m, MemoryOrder::kAcquire);
  if (parity) {
    selection.form = has_limit ? "dpred a su32 su32?" : "dpred a su32";
  } else {
    selection.form = has_limit ? "dpred a s0 su32?" : "dpred a s0";
  }
  return selection;
}
Selection SelectTestWait(Modifiers& m) { return SelectTest(m, false); }
Selection SelectTryWait(Modifiers& m) { return SelectTest(m, true); }

Selection SelectPendingCount(Modifiers& m) {
  return m.type_count() == 1 && m.type(0) == Type::kB64 ? Selection{PendingCount} : Selection{};
}

LOCKSTEP_OPCODES(mbarrier,
                 {
                     {"mbarrier.init", "a su32", SelectInit, InsnClass::kAtomic, kAnyOrder | kPolls},
                     {"mbarrier.inval", "a", SelectInval, InsnClass::kAtomic, kAnyOrder | kPolls},
                     {"mbarrier.arrive", "d0 a su32?", SelectArrive<ArriveKind::kPlain, ArriveKind::kExpect>,
                      InsnClass::kBarrier, kAnyOrder | kPolls | kArrives},
                     {"mbarrier.arrive_drop", "d0 a su32?", SelectArrive<ArriveKind::kDrop, ArriveKind::kDropExpect>,
                      InsnClass::kBarrier, kAnyOrder | kPolls | kArrives},
                     {"mbarrier.expect_tx", "a su32", SelectTransaction<false>, InsnClass::kAtomic, kAnyOrder | kPolls},
                     {"mbarrier.complete_tx", "a su32", SelectTransaction<true>, InsnClass::kAtomic,
                      kAnyOrder | kPolls},
                     {"mbarrier.test_wait", "dpred a s0", SelectTestWait, InsnClass::kAtomic, kAnyOrder | kPolls},
                     {"mbarrier.try_wait", "dpred a s0 su32?", SelectTryWait, InsnClass::kAtomic, kAnyOrder | kPolls},
                     {"mbarrier.pending_count", "du32 s0", SelectPendingCount, InsnClass::kInteger},
                 });

}  // namespace

void ArriveAtMbarrier(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t address[kWarpSize]) {
  uint64_t object[kWarpSize];
  if (!Locate(warp, insn, mask, address, object)) return;
  Observe(warp, insn, mask, object, AccessKind::kAtomic);
  for (const int lane : EachLane(mask)) {
    uint64_t* bits = reinterpret_cast<uint64_t*>(object[lane]);
    Object o = Object::From(*bits);
    if (!Arrive(warp, lane, o, 1, false)) return;
    *bits = o.Bits();
  }
  warp.state->wrote = true;
}

void CompleteTransaction(uint64_t* object, uint32_t bytes) {
  Object o = Object::From(*object);
  // The 22-bit field wraps around; only an invalid program gets there.
  o.transactions = static_cast<int32_t>((static_cast<uint32_t>(o.transactions) - bytes) << 10) >> 10;
  o.EndPhaseIfDone();
  *object = o.Bits();
}

}  // namespace lockstep::vgpu
