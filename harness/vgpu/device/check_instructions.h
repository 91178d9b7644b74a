// Refuses a text with an unknown instruction, as ptxas does when a module is loaded; a known but unsupported one only
// stops the thread that executes it.
#pragma once

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Throws ptx::PtxError with the line. A text for a PTX ISA later than 9.0 may have unknown names, so it is not checked.
void CheckInstructions(const ptx::Module& module);

}  // namespace lockstep::vgpu
