// Extended-precision integer arithmetic: add.cc, addc, sub.cc, subc, mad.cc, madc. The condition code is one bit per
// lane in Warp::carry. As on the hardware there is only an adder: a subtraction adds the complement, so sub.cc leaves
// the carry of a + ~b + 1, and subc uses the last instruction's carry instead of that 1. The PTX manual speaks of a
// borrow; both readings agree as long as only subc follows sub.cc. In nvcc's own 128-bit integer division addc follows
// sub.cc. For that, and for subc after add.cc, ptxas emits a single carry that is never inverted (ptxas 13.0: IADD3 R,
// P0, a, -b; IADD3.X R, c, d, P0; nothing in between).
// Source: PTX ISA 9.0, 9.7.2; machine code for sm_75 and sm_90.
#include <type_traits>

#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

template <typename T>
struct Step {
  T value;
  bool carry;
};

template <typename T>
Step<T> AddWithCarry(T a, T b, bool carry_in) {
  const T partial = a + b;
  const T sum = partial + static_cast<T>(carry_in);
  return {sum, partial < a || sum < partial};
}

template <typename T>
T MultiplyLow(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
template <typename T>
T MultiplyHigh(T a, T b) {
  return static_cast<T>((static_cast<__int128>(a) * static_cast<__int128>(b)) >> (8 * sizeof(T)));
}
template <>
uint64_t MultiplyHigh(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

enum CarryUse : uint8_t { kCarryOut = 1, kCarryIn = 2 };

// kSubtract: subtracts the last operand from the one before. For mad, the first two operands are multiplied first.
template <bool kSubtract, auto kMultiply, typename T, int kUse>
void Carried(Warp& warp, const Insn& insn, LaneMask mask) {
  using U = std::make_unsigned_t<T>;
  constexpr bool kMad = !std::is_null_pointer_v<decltype(kMultiply)>;
  const T* sources[3] = {};
  for (int k = 0; k < (kMad ? 3 : 2); ++k) sources[k] = Source<T>(warp, insn.row[k + 1]);
  U* d = Destination<U>(warp, insn.row[0]);
  LaneMask carry = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!((mask >> lane) & 1)) continue;
    T left = sources[0][lane];
    T right = sources[1][lane];
    if constexpr (kMad) {
      left = kMultiply(left, right);
      right = sources[2][lane];
    }
    const bool carry_in = (kUse & kCarryIn) != 0 ? ((warp.carry >> lane) & 1) != 0 : kSubtract;
    const U addend = kSubtract ? static_cast<U>(~static_cast<U>(right)) : static_cast<U>(right);
    const Step<U> step = AddWithCarry(static_cast<U>(left), addend, carry_in);
    d[lane] = step.value;
    carry |= LaneMask{step.carry} << lane;
  }
  if (kUse & kCarryOut) warp.carry = (warp.carry & ~mask) | carry;
}

constexpr bool kAdd = false, kSub = true;
constexpr auto kLow = [](auto a, auto b) { return MultiplyLow(a, b); };
constexpr auto kHigh = [](auto a, auto b) { return MultiplyHigh(a, b); };

template <bool kSubtract, auto kMultiply, int kUse>
Selection Pick(Type type) {
  if (type == Type::kU16 || type == Type::kS16) return {};
  return {ForIntegerType(type, [](auto x) -> Handler { return Carried<kSubtract, kMultiply, decltype(x), kUse>; })};
}

template <int kUse>
Selection PickMad(Modifiers& modifiers) {
  if (modifiers.Take("lo")) return Pick<kAdd, kLow, kUse>(modifiers.type(0));
  if (modifiers.Take("hi")) return Pick<kAdd, kHigh, kUse>(modifiers.type(0));
  return {};
}

// addc and subc, with or without .cc.
template <bool kSubtract>
Selection SelectCarryIn(Modifiers& modifiers) {
  return modifiers.Take("cc") ? Pick<kSubtract, nullptr, kCarryIn | kCarryOut>(modifiers.type(0))
                              : Pick<kSubtract, nullptr, kCarryIn>(modifiers.type(0));
}

Selection SelectMadc(Modifiers& modifiers) {
  return modifiers.Take("cc") ? PickMad<kCarryIn | kCarryOut>(modifiers) : PickMad<kCarryIn>(modifiers);
}

LOCKSTEP_OPCODES(integer_carry, {
                                    {"addc", "d0 s0 s0", SelectCarryIn<kAdd>, InsnClass::kInteger, Trait::kCarryIn},
                                    {"subc", "d0 s0 s0", SelectCarryIn<kSub>, InsnClass::kInteger, Trait::kCarryIn},
                                    {"madc", "d0 s0 s0 s0", SelectMadc, InsnClass::kIntegerMultiply, Trait::kCarryIn},
                                });

}  // namespace

Selection SelectCarryAdd(Modifiers& modifiers) { return Pick<kAdd, nullptr, kCarryOut>(modifiers.type(0)); }
Selection SelectCarrySub(Modifiers& modifiers) { return Pick<kSub, nullptr, kCarryOut>(modifiers.type(0)); }
Selection SelectCarryMad(Modifiers& modifiers) { return PickMad<kCarryOut>(modifiers); }

}  // namespace lockstep::vgpu
