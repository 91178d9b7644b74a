// What the decoder, the analyses and the engine need to know about an opcode besides its operands, class and handler.
// Each row of the opcode table states it (core/opcode_table.h).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

namespace lockstep::vgpu {

// X(constant, "word", "what is true of an opcode with this trait"). An opcode that does more than compute registers
// from registers has exactly one of the first four. They say when blocks must take turns on one thread so that the
// result does not depend on which thread runs which block (Program::order_sensitive).
#define LOCKSTEP_TRAITS(X)                                                                                    \
  X(AnyOrder, "any order", "blocks may execute it in any order")                                              \
  X(OrderIfStrong, "order if strong",                                                                         \
    "order matters where it is volatile, relaxed, acquire, release or mmio, and other blocks see the memory") \
  X(OrderUnlessCommutes, "order unless it commutes",                                                          \
    "order matters, except in shared memory and for unread integer reductions of one kind on global memory")  \
  X(OrderUnlessOfBlock, "order unless .cta", "order matters unless it is for the threads of one block")       \
  X(Loads, "loads", "reads memory at its address")                                                            \
  X(Stores, "stores", "writes memory at its address")                                                         \
  X(Atomic, "atomic", "reads memory at its address and writes it in one step")                                \
  X(Asynchronous, "asynchronous", "memory may change after the instruction")                                  \
  X(Barrier, "barrier", "warps of a block or of a cluster meet")                                              \
  X(Arrives, "arrives", "counts threads at a barrier in memory")                                              \
  X(Fence, "fence", "orders what is before it and what is after it")                                          \
  X(ExchangesLanes, "exchanges lanes", "lanes see what others of their warp hold, whether active or not")     \
  X(WholeWarp, "whole warp", "all 32 lanes of a warp execute it together")                                    \
  X(Polls, "polls", "a loop around it may wait for another thread; a load only if it is strong")              \
  X(ByHandle, "by handle", "its address is the handle of a texture or surface, and coordinates follow")       \
  X(WiderRegisters, "wider registers", "its registers may be wider than its type")                            \
  X(CarryIn, "carry in", "reads the condition code")                                                          \
  X(GrowsStack, "grows the stack", "takes local memory while it runs")

enum class Trait : uint8_t {
#define LOCKSTEP_TRAIT_INDEX(name, word, text) k##name,
  LOCKSTEP_TRAITS(LOCKSTEP_TRAIT_INDEX)
#undef LOCKSTEP_TRAIT_INDEX
};

// A set of traits. A separate type, so that other constants do not convert to it.
struct Traits {
  uint32_t bits = 0;

  constexpr Traits() = default;
  constexpr Traits(Trait trait) : bits(uint32_t{1} << static_cast<int>(trait)) {}  // NOLINT: a set of one
  constexpr bool Any(Traits some) const { return (bits & some.bits) != 0; }
  constexpr int Count(Traits of) const { return std::popcount(bits & of.bits); }
  friend constexpr Traits operator|(Traits a, Traits b) {
    a.bits |= b.bits;
    return a;
  }
};

// kAnyOrder, kOrderIfStrong and so on.
#define LOCKSTEP_TRAIT_NAME(name, word, text) inline constexpr Traits k##name = Trait::k##name;
LOCKSTEP_TRAITS(LOCKSTEP_TRAIT_NAME)
#undef LOCKSTEP_TRAIT_NAME
inline constexpr Traits kOrders = kAnyOrder | kOrderIfStrong | kOrderUnlessCommutes | kOrderUnlessOfBlock;

// What an opcode computes, for code that reasons about it: where control goes (analysis/control_flow_graph.h), which
// bits of a value are used (analysis/bit_uses.h, value_use.cc, definedness.cc), which constant operands make it cheaper
// (decode/cost_class.h). Leaving it out is safe: then all operands count as used, and control continues at the next
// instruction.
enum class Meaning : uint8_t {
  kOther,
  kBranch,       // bra
  kBranchTable,  // brx.idx
  kReturn,
  kExit,
  kTrap,
  kMove,
  kMoveVector,  // element by element
  kConvert,
  kAdd,
  kSubtract,
  kMultiply,
  kMultiplyAdd,
  kDivide,
  kRemainder,
  kAnd,
  kOr,
  kXor,
  kNot,
  kShiftLeft,
  kShiftRight,
  kExtract,       // bit field: bfe
  kInsert,        // bit field: bfi
  kPermute,       // bytes: prmt
  kCompare,       // result in a predicate: setp
  kCompareValue,  // result in a register: set
  kSelect,        // by a predicate: selp
  kSelectBySign,  // slct
  kShuffle,
};

struct TraitInfo {
  const char* word;
  const char* text;
};
std::span<const TraitInfo> AllTraits();  // element k is bit k

// "loads, polls, wider registers"
std::string TraitsText(Traits traits);

}  // namespace lockstep::vgpu
