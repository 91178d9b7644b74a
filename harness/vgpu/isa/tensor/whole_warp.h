// The common part of instructions that all lanes of a warp execute together.
#pragma once

#include "vgpu/core/row.h"
#include "vgpu/exec/operand_rows.h"

namespace lockstep::vgpu::tensor {

inline const uint8_t* Row(const Warp& warp, RowRef row) { return Source<uint8_t>(warp, row); }

// Faults unless all 32 lanes are there.
bool IsWhole(Warp& warp, LaneMask mask);

}  // namespace lockstep::vgpu::tensor
