// One decoded instruction, and a handler's view of a warp.
//
// A module is decoded once. An Insn is one cache line: a handler and the locations of its operands. A handler executes
// the instruction for the lanes in `mask`, which is never 0 unless the instruction has kAlwaysCall.
//
// Registers are stored as structure of arrays: a *row* holds one virtual register of all 32 lanes of a warp, 32
// adjacent elements of 2, 4, 8 or 16 bytes: 64 to 512 bytes. 8-bit registers use 16-bit rows. A predicate's row is one
// uint32_t with a bit per lane. Rows of 16-bit and wider elements are 64-byte aligned. An operand is the byte offset of
// a row; its top bit selects the base: the warp's current call frame, or the program's constant pool. The pool holds
// immediates as rows of 32 equal elements, so handlers need no variant for immediates.
#pragma once

#include <cstdint>

#include "vgpu/core/insn_class.h"
#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

class Warp;
struct Insn;

using Handler = void (*)(Warp& warp, const Insn& insn, LaneMask mask);

using RowRef = uint32_t;
inline constexpr RowRef kConstantPool = 0x80000000u;  // top bit: the offset is in the constant pool
inline constexpr RowRef kNoRow = 0x7fffffffu;         // the operand is absent, or the sink _ for a predicate

enum InsnFlag : uint8_t {
  kGuardNegated = 1,
  kAlwaysCall = 2,       // the handler runs even if no lane passes the guard
  kWarpSynchronous = 4,  // .sync: the engine first gathers the lanes in the member mask
  kRowsInTable = 8,      // its rows are in Program::operand_rows; with kWarpSynchronous, all lanes are members
};

struct alignas(64) Insn {
  Handler handler = nullptr;
  RowRef guard = kNoRow;  // predicate row
  InsnClass insn_class = InsnClass::kOther;
  uint8_t flags = 0;               // InsnFlag
  uint8_t count = 0;               // vector elements of a load or store, and the like
  uint8_t negated_predicates = 0;  // bit k: predicate operand row[k] is read negated (!%p)
  RowRef row[8] = {kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow};  // in PTX order, vectors flattened
  uint64_t immediate = 0;  // address offset, branch target, lut, …: depends on the opcode family
  uint64_t extra = 0;      // a second immediate; an instruction with nine rows keeps the ninth in the upper half,
                           // and one with kRowsInTable the index of its first row

  RowRef Row(int k) const { return k < 8 ? row[k] : static_cast<RowRef>(extra >> 32); }
};
static_assert(sizeof(Insn) == 64);

}  // namespace lockstep::vgpu
