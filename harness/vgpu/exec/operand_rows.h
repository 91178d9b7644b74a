// The rows of an instruction with more operands than an Insn has room for (kRowsInTable): Program::operand_rows has
// them, and the upper half of Insn::extra says where.
#pragma once

#include "vgpu/core/program.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {

inline const RowRef* OperandRows(const Warp& warp, const Insn& insn) {
  return warp.engine->program().operand_rows.data() + (insn.extra >> 32);
}

}  // namespace lockstep::vgpu
