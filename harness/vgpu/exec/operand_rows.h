// The rows of an instruction with more operands than an Insn has room for (kRowsInTable): they are in
// Program::operand_rows, at the index in the upper half of Insn::extra.
#pragma once

#include "vgpu/core/program.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {

inline const RowRef* OperandRows(const Warp& warp, const Insn& insn) {
  return warp.engine->program().operand_rows.data() + (insn.extra >> 32);
}

}  // namespace lockstep::vgpu
