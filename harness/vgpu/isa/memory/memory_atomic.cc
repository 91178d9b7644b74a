// atom and red.
//
// The lanes of a warp are processed in lane order; under checkers backwards where they receive values, since a GPU
// promises no order. If blocks run on several CPU threads, only reductions whose order does not matter are allowed (see
// FunctionDecoder::NoteOrder); these are atomic on the host. Source: PTX ISA 9.0, 9.7.13.5 and 9.7.13.6.

#include "vgpu/core/half_format.h"
#include "vgpu/isa/memory/memory_access.h"
#include "vgpu/isa/memory/memory_modifiers.h"
#include "vgpu/isa/memory/memory_operations.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr int kSpaceShift = 24;  // Insn::extra: AccessSpace
constexpr uint64_t kNarrowAddress = uint64_t{1} << 31;

template <typename Op>
struct Pair {
  using Bits = uint32_t;
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region region) {
    const auto half = [&](int shift) {
      return static_cast<uint32_t>(
                 Op::Apply(static_cast<uint16_t>(old >> shift), static_cast<uint16_t>(b >> shift), 0, region))
             << shift;
    };
    return half(0) | half(16);
  }
};

template <typename Op>
typename Op::Bits Update(typename Op::Bits* word, typename Op::Bits b, typename Op::Bits c, Region region,
                         bool parallel) {
  using T = typename Op::Bits;
  if constexpr (sizeof(T) <= 8) {  // 128 bits: only exch and cas, which never run in parallel
    if (parallel) {
      T old = __atomic_load_n(word, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(word, &old, Op::Apply(old, b, c, region), true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
      }
      return old;
    }
  }
  const T old = *word;
  *word = Op::Apply(old, b, c, region);
  return old;
}

// Calls update(region, lanes, addresses) for the space in Insn::extra.
template <typename F>
void ForSpace(Warp& warp, const Insn& insn, LaneMask mask, RowRef row, const F& update) {
  uint64_t address[kWarpSize];
  if ((insn.extra & kNarrowAddress) != 0) {
    ReadAddresses<true>(warp, row, insn.immediate, address);
  } else {
    ReadAddresses<false>(warp, row, insn.immediate, address);
  }
  switch (static_cast<AccessSpace>(insn.extra >> kSpaceShift & 0x7f)) {
    case AccessSpace::kGlobal:
      update(Region::kGlobal, mask, address);
      break;
    case AccessSpace::kShared:
      update(Region::kShared, mask, address);
      break;
    case AccessSpace::kCluster:
      update(Region::kClusterShared, mask, address);
      break;
    default:
      ForRegions(warp, mask, address, update);
      break;
  }
}

// Checks, counts and notifies observers; `host`: host addresses of the lanes' bytes. False: the warp has faulted.
// `test` may use `host`, which is filled in before.
bool Begin(Warp& warp, const Insn& insn, LaneMask lanes, Region region, const uint64_t* where, uint32_t bytes,
           uint64_t host[kWarpSize], const StoreTest* test = nullptr) {
  if (!CheckLanes(warp, region, AccessKind::kAtomic, where, lanes, bytes)) return false;
  CountLanes(warp, region, AccessKind::kAtomic, where, lanes, static_cast<int>(bytes));
  if (region == Region::kClusterShared) {
    TranslateCluster(warp, lanes, where, host);
  } else {
    const RegionMemory memory = MemoryOf(warp, region);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      host[lane] =
          reinterpret_cast<uint64_t>(memory.origin) + where[lane] + static_cast<uint64_t>(lane) * memory.lane_stride;
    }
  }
  if (warp.engine->observed()) {
    const AccessForm form = FormOf(where, lanes, bytes, false);
    ObserveLanes(warp, insn, region, AccessKind::kAtomic, where, lanes, bytes, false, form, test);
  }
  return true;
}

// Whether a lane's update leaves its word as it is.
template <typename Op>
struct UpdateTest : StoreTest {
  using T = typename Op::Bits;
  const uint64_t* host;
  const T *b, *c;
  Region region;
  static bool Keeps(const StoreTest& test, int lane) {
    const auto& t = static_cast<const UpdateTest&>(test);
    const T old = *reinterpret_cast<const T*>(t.host[lane]);
    return Op::Apply(old, t.b[lane], t.c[lane], t.region) == old;
  }
};

// atom: rows d, a, b, c; red: rows a, b.
template <typename Op, bool kReturns>
void Atomic(Warp& warp, const Insn& insn, LaneMask mask) {
  using T = typename Op::Bits;
  constexpr int kAddress = kReturns ? 1 : 0;
  ForSpace(warp, insn, mask, insn.row[kAddress], [&](Region region, LaneMask lanes, const uint64_t* where) {
    uint64_t host[kWarpSize];
    const T* b = Source<T>(warp, insn.row[kAddress + 1]);
    const T* c = kReturns && insn.row[3] != kNoRow ? Source<T>(warp, insn.row[3]) : b;
    const UpdateTest<Op> test{{UpdateTest<Op>::Keeps}, host, b, c, region};
    if (!Begin(warp, insn, lanes, region, where, sizeof(T), host, kReturns ? &test : nullptr)) return;
    const bool parallel = region == Region::kGlobal && warp.engine->launch().parallel;
    const bool backwards = kReturns && warp.engine->PerturbsSchedule();
    bool wrote = !kReturns;
    for (LaneMask left = lanes; left != 0;) {
      const int lane = backwards ? kWarpSize - 1 - std::countl_zero(left) : std::countr_zero(left);
      left &= ~(LaneMask{1} << lane);
      const T bits = b[lane], other = c[lane];
      const T old = Update<Op>(reinterpret_cast<T*>(host[lane]), bits, other, region, parallel);
      if constexpr (kReturns) {
        Destination<T>(warp, insn.row[0])[lane] = old;
        wrote |= Op::Apply(old, bits, other, region) != old;
      }
    }
    warp.state->wrote |= wrote;
  });
}

// Vectors: rows d0 … dn, a, b0 … bn; each element is updated separately. Never executed in parallel
// (FunctionDecoder::NoteOrder).
template <typename Op, bool kReturns>
void AtomicVector(Warp& warp, const Insn& insn, LaneMask mask) {
  using T = typename Op::Bits;
  const int count = insn.count;
  const int address_row = kReturns ? count : 0;
  ForSpace(warp, insn, mask, insn.row[address_row], [&](Region region, LaneMask lanes, const uint64_t* where) {
    uint64_t host[kWarpSize];
    if (!Begin(warp, insn, lanes, region, where, static_cast<uint32_t>(sizeof(T)) * insn.count, host)) return;
    for (const int lane : EachLane(lanes)) {
      for (int k = 0; k < count; ++k) {
        const T b = Source<T>(warp, insn.Row(address_row + 1 + k))[lane];
        const T old = Update<Op>(reinterpret_cast<T*>(host[lane]) + k, b, b, region, false);
        if constexpr (kReturns) Destination<T>(warp, insn.Row(k))[lane] = old;
      }
    }
    warp.state->wrote = true;
  });
}

template <bool kReturns>
Handler SelectOperation(std::string_view operation, Type type) {
  const bool is_signed = type == Type::kS32 || type == Type::kS64;
  const int bytes = ptx::SizeOf(type);
  const bool bits = type == Type::kB32 || type == Type::kB64;
  const bool integer = type == Type::kU32 || type == Type::kU64 || is_signed;
  if (operation == "add") {
    switch (type) {
      case Type::kU32:
      case Type::kS32:
        return Atomic<Add<uint32_t>, kReturns>;
      case Type::kU64:
      case Type::kS64:
        return Atomic<Add<uint64_t>, kReturns>;
      case Type::kF32:
        return Atomic<AddF32, kReturns>;
      case Type::kF64:
        return Atomic<AddF64, kReturns>;
      case Type::kF16:
        return Atomic<AddHalf<Half>, kReturns>;
      case Type::kF16x2:
        return Atomic<Pair<AddHalf<Half>>, kReturns>;
      case Type::kBF16:
        return Atomic<AddHalf<Bfloat>, kReturns>;
      case Type::kBF16x2:
        return Atomic<Pair<AddHalf<Bfloat>>, kReturns>;
      default:
        return nullptr;
    }
  }
  if ((operation == "min" || operation == "max") && integer) {
    const bool min = operation == "min";
    if (bytes == 4) {
      if (is_signed) return min ? Atomic<Min<uint32_t, int32_t>, kReturns> : Atomic<Max<uint32_t, int32_t>, kReturns>;
      return min ? Atomic<Min<uint32_t, uint32_t>, kReturns> : Atomic<Max<uint32_t, uint32_t>, kReturns>;
    }
    if (is_signed) return min ? Atomic<Min<uint64_t, int64_t>, kReturns> : Atomic<Max<uint64_t, int64_t>, kReturns>;
    return min ? Atomic<Min<uint64_t, uint64_t>, kReturns> : Atomic<Max<uint64_t, uint64_t>, kReturns>;
  }
  if (operation == "inc") return type == Type::kU32 ? Atomic<Increment, kReturns> : nullptr;
  if (operation == "dec") return type == Type::kU32 ? Atomic<Decrement, kReturns> : nullptr;
  if (operation == "and" && bits) return bytes == 4 ? Atomic<And<uint32_t>, kReturns> : Atomic<And<uint64_t>, kReturns>;
  if (operation == "or" && bits) return bytes == 4 ? Atomic<Or<uint32_t>, kReturns> : Atomic<Or<uint64_t>, kReturns>;
  if (operation == "xor" && bits) return bytes == 4 ? Atomic<Xor<uint32_t>, kReturns> : Atomic<Xor<uint64_t>, kReturns>;
  if constexpr (kReturns) {
    const bool word = bytes == 4 && (bits || integer), wide = bytes == 8 && (bits || integer);
    if (operation == "exch") {
      if (type == Type::kB128) return Atomic<Exchange<unsigned __int128>, true>;
      return word ? Atomic<Exchange<uint32_t>, true> : wide ? Atomic<Exchange<uint64_t>, true> : nullptr;
    }
    if (operation == "cas") {
      if (type == Type::kB16) return Atomic<CompareAndSwap<uint16_t>, true>;
      if (type == Type::kB128) return Atomic<CompareAndSwap<unsigned __int128>, true>;
      return word ? Atomic<CompareAndSwap<uint32_t>, true> : wide ? Atomic<CompareAndSwap<uint64_t>, true> : nullptr;
    }
  }
  return nullptr;
}

// Vectors exist for floats in global memory; halves also have .min and .max there.
template <bool kReturns>
Handler SelectVector(std::string_view operation, Type type, int count) {
  const int bytes = count * ptx::SizeOf(type);
  if (type == Type::kF32) {
    return operation == "add" && (bytes == 8 || bytes == 16) ? AtomicVector<AddF32, kReturns> : nullptr;
  }
  if (bytes < 4 || bytes > 16) return nullptr;
  const auto pick = [&]<typename Format>() -> Handler {
    const bool pair = type == Type::kF16x2 || type == Type::kBF16x2;
    if (operation == "add") {
      return pair ? AtomicVector<Pair<AddHalf<Format>>, kReturns> : AtomicVector<AddHalf<Format>, kReturns>;
    }
    if (operation == "min") {
      return pair ? AtomicVector<Pair<ExtremeHalf<Format, false>>, kReturns>
                  : AtomicVector<ExtremeHalf<Format, false>, kReturns>;
    }
    if (operation != "max") return nullptr;
    return pair ? AtomicVector<Pair<ExtremeHalf<Format, true>>, kReturns>
                : AtomicVector<ExtremeHalf<Format, true>, kReturns>;
  };
  if (type == Type::kF16 || type == Type::kF16x2) return pick.template operator()<Half>();
  if (type == Type::kBF16 || type == Type::kBF16x2) return pick.template operator()<Bfloat>();
  return nullptr;
}

template <bool kReturns>
Selection SelectAtomic(Modifiers& m) {
  MemoryFlags flags;
  const bool ordered = kReturns ? TakeSemantics(m, {"relaxed", "acquire", "release", "acq_rel"}, &flags)
                                : TakeSemantics(m, {"relaxed", "release"}, &flags);
  if (!ordered) return {};
  if (flags.order == MemoryOrder::kWeak) flags.order = MemoryOrder::kRelaxed;
  if (m.type_count() != 1) return {};
  flags.returns_value = kReturns;
  const AccessSpace space = TakeSpace(m);
  if (space != AccessSpace::kGlobal && space != AccessSpace::kShared && space != AccessSpace::kCluster &&
      space != AccessSpace::kGeneric) {
    return {};
  }
  const std::string operation = m.TakeAny({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  const Type type = m.type(0);
  const bool half = type == Type::kF16 || type == Type::kF16x2 || type == Type::kBF16 || type == Type::kBF16x2;
  if (half && !m.Take("noftz")) return {};
  const int count = m.Take("v2") ? 2 : m.Take("v4") ? 4 : m.Take("v8") ? 8 : 1;
  // Only atom.cas has a third source; the operand count shows it.
  const bool hint = m.Take("L2::cache_hint");
  const int sources = m.operand_count() - (kReturns ? count + 1 : 1) - (hint ? 1 : 0);
  if (sources != (operation == "cas" ? 2 : count)) return {};
  const bool narrow = m.operand_bytes(kReturns ? count : 0) == 4;
  if (narrow && space != AccessSpace::kShared && space != AccessSpace::kCluster) return {};
  Selection selection;
  selection.extra = flags.Pack() | static_cast<uint64_t>(space) << kSpaceShift | (narrow ? kNarrowAddress : 0);
  if (count > 1) {
    if (space != AccessSpace::kGlobal && space != AccessSpace::kGeneric) return {};
    if (hint || (kReturns && count == 8)) return {};  // too many rows for an instruction
    selection.handler = SelectVector<kReturns>(operation, type, count);
    selection.form = kReturns ? "dv0 a sv0" : "a sv0";
    return selection;
  }
  selection.handler = SelectOperation<kReturns>(operation, type);
  selection.form = operation == "cas" ? (hint ? "d0 a s0 s0 su64" : "d0 a s0 s0")
                   : kReturns         ? (hint ? "d0 a s0 su64" : "d0 a s0")
                                      : (hint ? "a s0 su64" : "a s0");
  // The policy must not be mistaken for a third operand.
  if (hint && kReturns && operation != "cas") return {};
  return selection;
}

LOCKSTEP_OPCODES(memory_atomic,
                 {
                     {"atom", "dv0 a sv0 s0? su64?", SelectAtomic<true>, InsnClass::kAtomic,
                      kOrderUnlessCommutes | kAtomic | kPolls},
                     {"red", "a sv0 su64?", SelectAtomic<false>, InsnClass::kAtomic, kOrderUnlessCommutes | kAtomic},
                 });

}  // namespace
}  // namespace lockstep::vgpu
