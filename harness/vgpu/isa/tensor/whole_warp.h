// What instructions have in common that all lanes of a warp execute together. Their registers are in
// Program::operand_rows, since most have more than an Insn has room for; the upper half of Insn::extra says where.
#pragma once

#include "vgpu/core/program.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu::tensor {

inline const RowRef* OperandRows(const Warp& warp, const Insn& insn) {
  return warp.engine->program().operand_rows.data() + (insn.extra >> 32);
}

inline const uint8_t* Row(const Warp& warp, RowRef row) { return Source<uint8_t>(warp, row); }

// Faults unless all 32 lanes are there.
bool IsWhole(Warp& warp, LaneMask mask);

}  // namespace lockstep::vgpu::tensor
