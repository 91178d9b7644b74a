// One decoded instruction, and what a handler sees of a warp.
//
// Decoding happens once a module. An Insn is one cache line: a handler and the places of its operands.
// A handler executes the instruction for the lanes in `mask`, which is never 0 except where the opcode's
// row says so (branches).
//
// Registers lie in structure-of-arrays order: one *row* holds one virtual register for the 32 lanes of a
// warp, 32 elements side by side: 64 bytes (16-bit), 128 (32-bit), 256 (64-bit). 8-bit registers take
// 16-bit rows. A predicate's row is one uint32_t, a bit a lane. Rows of 16 bits and more are 64-byte
// aligned. An operand is a row's byte offset; the top bit says which base it counts from: the current
// call frame of the warp, or the program's constant pool, in which immediates are rows of 32 equal
// elements. So a handler needs no variant for immediates.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

inline constexpr int kWarpSize = 32;
using LaneMask = uint32_t;
inline constexpr LaneMask kFullMask = 0xffffffffu;

class Warp;
struct Insn;

using Handler = void (*)(Warp& warp, const Insn& insn, LaneMask mask);

using RowRef = uint32_t;
inline constexpr RowRef kConstantPool = 0x80000000u;  // set: offset into the constant pool
inline constexpr RowRef kNoRow = 0x7fffffffu;         // the operand is absent, or the sink _

// What an instruction is, for counting and for the time model. One a static instruction.
enum class InsnClass : uint8_t {
  kInteger,
  kIntegerMultiply,  // unless by a constant power of two
  kIntegerDivide,    // unless by a constant
  kFloat32,
  kFloat64,
  kFloat16,
  kSpecialFunction,
  kConvert,
  kMove,
  kPredicate,
  kLoad,
  kStore,
  kAtomic,
  kBranch,
  kCall,
  kBarrier,
  kWarpSync,
  kFence,
  kOther,
};

enum InsnFlag : uint8_t {
  kGuardNegated = 1,
  kAlwaysCall = 2,       // the handler runs even when no lane passes the guard
  kWarpSynchronous = 4,  // .sync: the engine first gathers the lanes that the member mask names
};

struct alignas(64) Insn {
  Handler handler = nullptr;
  RowRef guard = kNoRow;  // predicate row
  InsnClass insn_class = InsnClass::kOther;
  uint8_t flags = 0;               // InsnFlag
  uint8_t count = 0;               // vector elements of a load or store, and the like
  uint8_t negated_predicates = 0;  // bit k: predicate operand row[k] is read negated (!%p)
  RowRef row[8] = {kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow};  // in PTX order, vectors flattened
  uint64_t immediate = 0;  // address offset, branch target, lut, …: the family's own
  uint64_t extra = 0;      // a second one; its upper half is the ninth row of an instruction that has so many

  RowRef Row(int k) const { return k < 8 ? row[k] : static_cast<RowRef>(extra >> 32); }
};
static_assert(sizeof(Insn) == 64);

}  // namespace lockstep::vgpu
