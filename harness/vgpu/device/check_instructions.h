// Refuses a text with an unknown instruction or type, as ptxas does when a module is loaded. An instruction that is
// known but unsupported is a fault only when it is executed.
#pragma once

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Throws ptx::PtxError with the line. A text for a PTX ISA later than 9.0 may have unknown names, so it is not checked.
void CheckInstructions(const ptx::Module& module);

}  // namespace lockstep::vgpu
