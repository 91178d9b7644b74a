// atom and red.
//
// The lanes of a warp take effect one after the other, in lane order. Where several CPU threads run blocks, only
// reductions whose order does not matter are let through (see FunctionDecoder::NoteMemory); they are atomic on the
// host.
#include <cmath>
#include <cstring>

#include "vgpu/isa/memory_access.h"
#include "vgpu/isa/memory_modifiers.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr int kSpaceShift = 24;  // Insn::extra: AccessSpace
constexpr uint64_t kNarrowAddress = uint64_t{1} << 32;

template <typename Bits, typename Value>
Value As(Bits bits) {
  Value value;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// New value of the memory word from its old one and the operands. Global memory's f32 addition flushes subnormals,
// shared memory's does not; hence the region.
template <typename T>
struct Add {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return static_cast<T>(old + b); }
};
template <typename T, typename Compared>
struct Min {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return static_cast<Compared>(b) < static_cast<Compared>(old) ? b : old; }
};
template <typename T, typename Compared>
struct Max {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return static_cast<Compared>(b) > static_cast<Compared>(old) ? b : old; }
};
struct Increment {
  using Bits = uint32_t;
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  using Bits = uint32_t;
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region) { return old == 0 || old > b ? b : old - 1; }
};
template <typename T>
struct And {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return old & b; }
};
template <typename T>
struct Or {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return old | b; }
};
template <typename T>
struct Xor {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return old ^ b; }
};
template <typename T>
struct Exchange {
  using Bits = T;
  static T Apply(T, T b, T, Region) { return b; }
};
template <typename T>
struct CompareAndSwap {
  using Bits = T;
  static T Apply(T old, T b, T c, Region) { return old == b ? c : old; }
};

struct AddF32 {
  using Bits = uint32_t;
  static float Flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region region) {
    const float x = As<uint32_t, float>(old), y = As<uint32_t, float>(b);
    return As<float, uint32_t>(region == Region::kGlobal ? Flush(Flush(x) + Flush(y)) : x + y);
  }
};
struct AddF64 {
  using Bits = uint64_t;
  static uint64_t Apply(uint64_t old, uint64_t b, uint64_t, Region) {
    return As<double, uint64_t>(As<uint64_t, double>(old) + As<uint64_t, double>(b));
  }
};
struct AddF16 {
  using Bits = uint16_t;
  static uint16_t Apply(uint16_t old, uint16_t b, uint16_t, Region) {
    // One rounding: a float holds the exact sum's rounding information.
    const float sum = static_cast<float>(As<uint16_t, _Float16>(old)) + static_cast<float>(As<uint16_t, _Float16>(b));
    return As<_Float16, uint16_t>(static_cast<_Float16>(sum));
  }
};
struct AddF16x2 {
  using Bits = uint32_t;
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region region) {
    const auto half = [&](int shift) {
      return static_cast<uint32_t>(
                 AddF16::Apply(static_cast<uint16_t>(old >> shift), static_cast<uint16_t>(b >> shift), 0, region))
             << shift;
    };
    return half(0) | half(16);
  }
};

template <typename Op>
typename Op::Bits Update(typename Op::Bits* word, typename Op::Bits b, typename Op::Bits c, Region region,
                         bool parallel) {
  using T = typename Op::Bits;
  if (!parallel) {
    const T old = *word;
    *word = Op::Apply(old, b, c, region);
    return old;
  }
  T old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, Op::Apply(old, b, c, region), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return old;
}

// atom: rows d, a, b, c; red: rows a, b.
template <typename Op, bool kReturns>
void Atomic(Warp& warp, const Insn& insn, LaneMask mask) {
  using T = typename Op::Bits;
  constexpr int kAddress = kReturns ? 1 : 0;
  const auto space = static_cast<AccessSpace>(insn.extra >> kSpaceShift & 0xff);
  uint64_t address[kWarpSize];
  if ((insn.extra & kNarrowAddress) != 0) {
    const uint32_t* base = Source<uint32_t>(warp, insn.row[kAddress]);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      address[lane] = static_cast<uint32_t>(base[lane] + static_cast<uint32_t>(insn.immediate));
    }
  } else {
    const uint64_t* base = Source<uint64_t>(warp, insn.row[kAddress]);
    for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = base[lane] + insn.immediate;
  }
  const auto update = [&](Region region, LaneMask lanes, const uint64_t* where) {
    if (!CheckLanes(warp, region, AccessKind::kAtomic, where, lanes, sizeof(T))) return;
    CountLanes(warp, region, AccessKind::kAtomic, where, lanes, sizeof(T));
    if (warp.engine->observed()) {
      ObserveLanes(warp, insn, region, AccessKind::kAtomic, where, lanes, sizeof(T), false);
    }
    const RegionMemory memory = MemoryOf(warp, region);
    const bool parallel = region == Region::kGlobal && warp.engine->launch().parallel;
    const T* b = Source<T>(warp, insn.row[kAddress + 1]);
    const T* c = kReturns && insn.row[3] != kNoRow ? Source<T>(warp, insn.row[3]) : b;
    bool wrote = !kReturns;
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      T* word = reinterpret_cast<T*>(reinterpret_cast<uint64_t>(memory.origin) + where[lane] +
                                     static_cast<uint64_t>(lane) * memory.lane_stride);
      const T bits = b[lane], other = c[lane];
      const T old = Update<Op>(word, bits, other, region, parallel);
      if constexpr (kReturns) {
        Destination<T>(warp, insn.row[0])[lane] = old;
        wrote |= Op::Apply(old, bits, other, region) != old;
      }
    }
    warp.state->wrote |= wrote;
  };
  switch (space) {
    case AccessSpace::kGlobal:
      update(Region::kGlobal, mask, address);
      break;
    case AccessSpace::kShared:
      update(Region::kShared, mask, address);
      break;
    default:
      ForRegions(warp, mask, address, update);
      break;
  }
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
        return Atomic<AddF16, kReturns>;
      case Type::kF16x2:
        return Atomic<AddF16x2, kReturns>;
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
      return word ? Atomic<Exchange<uint32_t>, true> : wide ? Atomic<Exchange<uint64_t>, true> : nullptr;
    }
    if (operation == "cas") {
      if (type == Type::kB16) return Atomic<CompareAndSwap<uint16_t>, true>;
      return word ? Atomic<CompareAndSwap<uint32_t>, true> : wide ? Atomic<CompareAndSwap<uint64_t>, true> : nullptr;
    }
  }
  return nullptr;
}

template <bool kReturns>
Selection SelectAtomic(Modifiers& m) {
  MemoryFlags flags;
  if (!TakeSemantics(m, &flags)) return {};
  if (flags.order == MemoryOrder::kWeak) flags.order = MemoryOrder::kRelaxed;
  if (flags.order == MemoryOrder::kVolatile || m.type_count() != 1) return {};
  flags.returns_value = kReturns;
  const AccessSpace space = TakeSpace(m);
  if (space != AccessSpace::kGlobal && space != AccessSpace::kShared && space != AccessSpace::kGeneric) return {};
  const std::string operation = m.TakeAny({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  const Type type = m.type(0);
  if (operation == "add" && (type == Type::kF16 || type == Type::kF16x2) && !m.Take("noftz")) return {};
  // atom.cas alone has a third source; the operand count says so.
  const int sources = m.operand_count() - (kReturns ? 2 : 1);
  if (sources != (operation == "cas" ? 2 : 1)) return {};
  const bool narrow = m.operand_bytes(kReturns ? 1 : 0) == 4;
  if (narrow && space != AccessSpace::kShared) return {};
  Selection selection;
  selection.handler = SelectOperation<kReturns>(operation, type);
  selection.extra = flags.Pack() | static_cast<uint64_t>(space) << kSpaceShift | (narrow ? kNarrowAddress : 0);
  return selection;
}

LOCKSTEP_OPCODES(memory_atomic, {
                                    {"atom", "d0 a s0 s0?", SelectAtomic<true>, InsnClass::kAtomic},
                                    {"red", "a s0", SelectAtomic<false>, InsnClass::kAtomic},
                                });

}  // namespace
}  // namespace lockstep::vgpu
